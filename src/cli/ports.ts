import type { Access } from '../access/access.ts';
import type { MemberStore } from '../access/members.ts';
import type { Delivery, LoadedFile } from '../market/feed.ts';
import type { MarketStore } from '../market/store.ts';
import type { Context } from '../operations/operation.ts';

/** What the command line needs of the composition root. */
export interface Ports {
  /** Runs the service until it is told to stop; `demo` adds the demo member and prints its key. */
  serve(settings: Settings, options: { readonly demo: boolean }): Promise<void>;
  /** Serves MCP on standard input and output until the client closes its end. */
  serveStdio(settings: Settings): Promise<void>;
  /** The same from a running server. */
  bridge(server: { readonly url: URL; readonly key: string }): Promise<void>;
  /** What a single file holds, a tape batch by batch. */
  readFile(path: string): AsyncIterable<Delivery>;
  /**
   * Loads files and folders into the stored market of a data folder, beside a running server or without one; answers
   * for each path the files that are market data. `reached` hears how far it is. Throws `OperatorError` where a path is not there,
   * before anything is loaded.
   */
  load(
    settings: Settings,
    paths: readonly string[],
    reached: (bytes: number, ofBytes: number, rows: number) => void,
  ): Promise<readonly (readonly LoadedFile[])[]>;
  /** Works on the stored market of a data folder, beside a running server or without one. */
  withMarket<T>(settings: Settings, work: (context: Context) => T): Promise<T>;
  withStore<T>(settings: Settings, work: (store: MarketStore) => T): Promise<T>;
  withMembers<T>(settings: Settings, work: (access: Access, members: MemberStore) => T): Promise<T>;
}

/** Flags as given, by the names of `SETTINGS`. */
export type Settings = Readonly<Record<string, string | boolean | undefined>>;
