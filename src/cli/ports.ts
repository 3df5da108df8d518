import type { Access } from '../access/access.ts';
import type { MemberStore } from '../access/members.ts';
import type { Delivery, LoadedFile } from '../market/feed.ts';
import type { MarketStore } from '../market/store.ts';
import type { Context } from '../operations/operation.ts';

/** The functions of the composition root that the command line calls. */
export interface Ports {
  /** Runs the service until SIGTERM or SIGINT. `demo` adds the demo member and prints its key. */
  serve(settings: Settings, options: { readonly demo: boolean }): Promise<void>;
  /** Serves MCP over standard input and output until the client closes its end, with the data of this machine. */
  serveStdio(settings: Settings): Promise<void>;
  /** Serves MCP over standard input and output until the client closes its end. Relays every message to a running server. */
  bridge(server: { readonly url: URL; readonly key: string }): Promise<void>;
  /** Yields the contents of a single file. A tape comes in batches. */
  readFile(path: string): AsyncIterable<Delivery>;
  /**
   * Loads files and folders into the stored market of a data folder. A server may run on the folder. Returns, for each path, the files that
   * are market data. Calls `reached` with the progress. Throws `OperatorError` before anything is loaded if a path does not exist.
   */
  load(
    settings: Settings,
    paths: readonly string[],
    reached: (bytes: number, ofBytes: number, rows: number) => void,
  ): Promise<readonly (readonly LoadedFile[])[]>;
  /** Calls `work` with the stored market of a data folder. A server may run on the folder. */
  withMarket<T>(settings: Settings, work: (context: Context) => T): Promise<T>;
  withStore<T>(settings: Settings, work: (store: MarketStore) => T): Promise<T>;
  withMembers<T>(settings: Settings, work: (access: Access, members: MemberStore) => T): Promise<T>;
}

/** The values of the flags, by their names in `SETTINGS`. */
export type Settings = Readonly<Record<string, string | boolean | undefined>>;
