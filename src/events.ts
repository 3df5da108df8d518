/**
 * Everything Zomma observes of itself. Emitters say what happened; the log chooses what to show. No event carries a key, a
 * UUID or a raw path: paths are route patterns, accounts are opaque ids.
 */
export type Observation =
  | {
      readonly kind: 'request_answered';
      readonly method: string;
      readonly route: string;
      readonly status: number;
      readonly duration_ms: number;
      readonly request_id: string;
      readonly account: string | undefined;
    }
  | { readonly kind: 'request_failed'; readonly route: string; readonly request_id: string; readonly error: unknown }
  | { readonly kind: 'session_opened'; readonly account: string; readonly sessions: number }
  | { readonly kind: 'session_closed'; readonly account: string; readonly sessions: number }
  | { readonly kind: 'stream_opened'; readonly account: string; readonly streams: number }
  | {
      readonly kind: 'stream_closed';
      readonly account: string;
      readonly reason: 'client' | 'behind' | 'silent' | 'access' | 'age' | 'share' | 'shutdown';
      readonly streams: number;
    }
  | { readonly kind: 'tool_failed'; readonly tool: string; readonly error: unknown }
  | {
      readonly kind: 'chain_stored';
      readonly underlying: string;
      readonly contracts: number;
      readonly as_of: string;
      readonly source: string;
      readonly refused: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'rows_refused';
      readonly underlying: string;
      readonly source: string;
      readonly refused: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'data_refused'; readonly origin: string; readonly reason: string }
  | {
      readonly kind: 'ingest_polled';
      readonly chains: number;
      readonly prints: number;
      readonly refusals: number;
      readonly duration_ms: number;
    }
  | { readonly kind: 'ingest_failed'; readonly error: unknown }
  /** The data folder has no room: no market data is stored. */
  | { readonly kind: 'data_full'; readonly reason: string }
  | { readonly kind: 'data_has_room' }
  | { readonly kind: 'old_removed'; readonly prints: number; readonly chains: number }
  | { readonly kind: 'retention_failed'; readonly error: unknown }
  | { readonly kind: 'tape_packed'; readonly prints: number }
  | { readonly kind: 'packing_failed'; readonly error: unknown }
  | { readonly kind: 'feed_connection'; readonly up: boolean; readonly reason?: string }
  /** Levels of a snapshot could not be kept; null: none could. */
  | { readonly kind: 'levels_failed'; readonly snapshot: number | null; readonly error: unknown }
  /**
   * The event loop was held for longer than a step may take; by which step, where it was announced. Where the processors worked for much
   * less of that time, the machine had no time for this process, or the disk none for a write.
   */
  | {
      readonly kind: 'event_loop_blocked';
      readonly duration_ms: number;
      readonly cpu_ms: number;
      readonly step: string | undefined;
    }
  /** The group of the data folder may write to it. */
  | { readonly kind: 'data_folder_open'; readonly mended_by: string }
  | { readonly kind: 'started'; readonly address: string; readonly feed: string; readonly duration_ms: number }
  /** What lay at hand is loaded, since the start. */
  | { readonly kind: 'loaded'; readonly duration_ms: number }
  /** Connections were ended so that others find a place; how many are open then. */
  | { readonly kind: 'connections_ended'; readonly connections: number; readonly open: number }
  /** Connections cannot be told apart on this system: nothing bounds those of one address. */
  | { readonly kind: 'connections_unwatched'; readonly platform: string }
  /** The limit of open descriptors is low: how many connections, and streams over MCP, it allows. */
  | {
      readonly kind: 'few_descriptors';
      readonly descriptors: number;
      readonly connections: number;
      readonly streams: number;
    }
  | { readonly kind: 'stopping'; readonly signal: string }
  /** Something did not end in time: the process ends without it. */
  | { readonly kind: 'stop_forced' };

/** Takes observations. */
export interface Observe {
  (observation: Observation): void;
  /** Kinds that the observer drops, so that an emitter need not build them. */
  readonly ignores?: ReadonlySet<Observation['kind']>;
}
