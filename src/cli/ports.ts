import type { Access } from '../access/access.ts';
import type { MemberStore } from '../access/members.ts';
import type { Delivery } from '../market/feed.ts';
import type { MarketStore } from '../market/store.ts';
import type { Context } from '../operations/operation.ts';

/** What the command line needs of the composition root. */
export interface Ports {
  /** Runs the service until it is told to stop; `demo` adds the demo member and prints its key. */
  serve(settings: Settings, options: { readonly demo: boolean }): Promise<void>;
  /** What a single file holds. */
  readFile(path: string): Promise<readonly Delivery[]>;
  /** Works on the stored market of a data folder, beside a running server or without one. */
  withMarket<T>(settings: Settings, work: (context: Context) => T): Promise<T>;
  withStore<T>(settings: Settings, work: (store: MarketStore) => T): Promise<T>;
  withMembers<T>(settings: Settings, work: (access: Access, members: MemberStore) => T): Promise<T>;
}

/** Flags as given, by the names of `SETTINGS`. */
export type Settings = Readonly<Record<string, string | boolean | undefined>>;
