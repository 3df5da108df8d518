/**
 * Everything that Zomma reports about itself. Modules emit observations, and the log selects which ones to show. No observation contains a
 * key, a UUID or the path of a request. Instead, an observation has the pattern of the route and the opaque id of the account.
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
      readonly client: string;
      readonly bytes: number | undefined;
      /** The trace of the request, 32 hex digits. Undefined if its sender has named none and nobody collects spans. */
      readonly trace_id: string | undefined;
    }
  | {
      readonly kind: 'request_failed';
      readonly route: string;
      readonly request_id: string;
      readonly trace_id: string | undefined;
      readonly error: unknown;
    }
  | { readonly kind: 'session_opened'; readonly account: string; readonly sessions: number }
  | { readonly kind: 'session_closed'; readonly account: string; readonly sessions: number }
  | { readonly kind: 'stream_opened'; readonly account: string; readonly streams: number }
  | {
      readonly kind: 'stream_closed';
      readonly account: string;
      readonly reason: 'client' | 'behind' | 'silent' | 'access' | 'age' | 'share' | 'shutdown';
      readonly streams: number;
    }
  /** A tool threw. `trace_id` is the trace of the request that called it, if spans are collected. */
  | {
      readonly kind: 'tool_failed';
      readonly tool: string;
      readonly trace_id?: string | undefined;
      readonly error: unknown;
    }
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
  /** The data folder or its disk is full. Market data is not stored until there is room. */
  | { readonly kind: 'data_full'; readonly reason: string }
  | { readonly kind: 'data_has_room' }
  | { readonly kind: 'old_removed'; readonly prints: number; readonly chains: number; readonly levels: number }
  /**
   * `days` days of a kind of data are past their retention, which is a large share. These days are removed when the service has run for a
   * day.
   */
  | { readonly kind: 'retention_waits'; readonly of: string; readonly days: number }
  | { readonly kind: 'retention_failed'; readonly error: unknown }
  | { readonly kind: 'tape_packed'; readonly prints: number }
  | { readonly kind: 'packing_failed'; readonly error: unknown }
  /** The past of the simulated market is being filled: `done` of `total` snapshots are complete. Reported at each tenth. */
  | { readonly kind: 'past_filling'; readonly done: number; readonly total: number }
  /** The past is complete. `snapshots` is the number of snapshots that were completed since the start of the fill. */
  | { readonly kind: 'past_filled'; readonly snapshots: number; readonly duration_ms: number }
  /** The past could not be completed. The service tries again later. */
  | { readonly kind: 'past_failed'; readonly error: unknown }
  | { readonly kind: 'feed_connection'; readonly up: boolean; readonly reason?: string }
  /** Levels could not be recorded. `snapshot` is the id of the snapshot, or null if the error is not about one snapshot. */
  | { readonly kind: 'levels_failed'; readonly snapshot: number | null; readonly error: unknown }
  /**
   * The event loop was blocked for longer than a step may take. `step` is the longest step of that time, if the step was announced. If
   * `cpu_ms` is much below `duration_ms`, the machine gave this process no CPU time, or a write waited for the disk.
   */
  | {
      readonly kind: 'event_loop_blocked';
      readonly duration_ms: number;
      readonly cpu_ms: number;
      readonly step: string | undefined;
    }
  /**
   * The runtime runs without its compiler (JIT), which a hardened unit or kernel can forbid (`MemoryDenyWriteExecute=`). The kernels then
   * take some 30 to 90 times as long.
   */
  | { readonly kind: 'compiler_off'; readonly ns_per_option: number; readonly hint: string }
  /** A stored snapshot is damaged. The snapshot was set aside, and the one before it is served. */
  | { readonly kind: 'snapshot_damaged'; readonly underlying: string; readonly as_of: string; readonly source: string }
  /** The database had the schema `from` and was upgraded to the schema `to`. A copy of it was made first. */
  | { readonly kind: 'data_upgraded'; readonly from: number; readonly to: number }
  /** The database was removed or replaced while the server runs. What the server writes is lost when it ends. */
  | { readonly kind: 'database_gone'; readonly data_folder: string }
  /** A key or a UUID was refused. `client` is the address that sent it. The key is not reported. */
  | { readonly kind: 'key_refused'; readonly client: string; readonly route: string; readonly code: string }
  /** Further refusals of an address in the past minute, beyond those that were reported one by one. */
  | { readonly kind: 'keys_refused'; readonly client: string; readonly count: number }
  /** systemd waits for messages of this process, but they cannot be sent. A unit with `Type=notify` will not become active. */
  | { readonly kind: 'manager_unreachable'; readonly reason: string }
  /** Spans could not be sent to the collector. Reported once, and again after some could be sent. */
  | { readonly kind: 'traces_unsent'; readonly reason: string }
  /** A change to members or keys that was recorded in the audit trail, by this process or by a command. `at` is when it was made. */
  | {
      readonly kind: 'audited';
      readonly at: string;
      readonly actor: string;
      readonly client?: string;
      readonly action: string;
      readonly account?: string;
      readonly result: string;
      readonly detail?: string;
    }
  /** Liveness, readiness and metrics are served at this address. */
  | { readonly kind: 'operations_served'; readonly address: string }
  /** The certificate that the server uses from now on for new connections. */
  | { readonly kind: 'certificate_used'; readonly subject: string; readonly not_after: string }
  /** The certificate's files have changed, but cannot be used. The server continues with the certificate that it has. */
  | { readonly kind: 'certificate_refused'; readonly reason: string; readonly hint: string }
  /** The certificate expires in `days` days, or has expired if `days` is negative. */
  | { readonly kind: 'certificate_expiring'; readonly subject: string; readonly days: number }
  /** SIGHUP: the files that can be read again were read again. */
  | { readonly kind: 'reloaded'; readonly files: readonly string[] }
  /** The group of the data folder may write to the folder. `mended_by` is the command that changes this. */
  | { readonly kind: 'data_folder_open'; readonly mended_by: string }
  /** A variable of the environment begins with `ZOMMA_` and belongs to no setting. `nearest` is the name that was probably meant. */
  | { readonly kind: 'setting_unknown'; readonly variable: string; readonly nearest: string }
  | {
      readonly kind: 'started';
      readonly address: string;
      readonly feed: string;
      readonly version: string;
      readonly commit: string;
      readonly schema: number;
      readonly duration_ms: number;
    }
  /** The local data is still being loaded. Reported every few seconds. `duration_ms` counts from the start. */
  | { readonly kind: 'loading'; readonly duration_ms: number }
  /** The local data is loaded. `duration_ms` counts from the start. */
  | { readonly kind: 'loaded'; readonly duration_ms: number }
  /** Connections were closed to make room for others. `open` is the number of connections that are still open. */
  | { readonly kind: 'connections_ended'; readonly connections: number; readonly open: number }
  /** This system does not let the service inspect connections, so the connections of one address are not limited. */
  | { readonly kind: 'connections_unwatched'; readonly platform: string }
  /**
   * The limit of open file descriptors is low. `connections` and `streams` are the numbers of connections and MCP streams that it allows.
   */
  | {
      readonly kind: 'few_descriptors';
      readonly descriptors: number;
      readonly connections: number;
      readonly streams: number;
    }
  | { readonly kind: 'stopping'; readonly signal: string }
  /** A part of the service did not stop in time. The process exits without waiting for that part. */
  | { readonly kind: 'stop_forced' };

/** Receives observations. */
export interface Observe {
  (observation: Observation): void;
  /** Kinds that the observer drops. A caller need not create observations of these kinds. */
  readonly ignores?: ReadonlySet<Observation['kind']>;
}

/** Levels of the log, from the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
