/**
 * Everything that Zomma reports about itself. Modules emit observations, and the log selects which ones to show. No observation contains a
 * key, a UUID or the path of a request. Instead, an observation has the pattern of the route and the opaque id of the account.
 */
export type Observation = {
  readonly [Kind in keyof ObservationFields]: { readonly kind: Kind } & Readonly<ObservationFields[Kind]>;
}[keyof ObservationFields];

type NoFields = Readonly<Record<never, never>>;

/** The fields of each kind of observation. */
interface ObservationFields {
  request_answered: {
    method: string;
    route: string;
    status: number;
    duration_ms: number;
    request_id: string;
    account: string | undefined;
    client: string;
    bytes: number | undefined;
    /** The trace of the request, 32 hex digits. Undefined if the request names no trace and nobody collects spans. */
    trace_id: string | undefined;
  };
  request_failed: { route: string; request_id: string; trace_id: string | undefined; error: unknown };
  session_opened: { account: string; sessions: number };
  session_closed: { account: string; sessions: number };
  stream_opened: { account: string; streams: number };
  stream_closed: {
    account: string;
    reason: 'client' | 'behind' | 'silent' | 'access' | 'age' | 'share' | 'shutdown';
    streams: number;
  };
  /** A tool threw. `trace_id` is the trace of the request that called it, if spans are collected. */
  tool_failed: { tool: string; trace_id?: string | undefined; error: unknown };
  chain_stored: {
    underlying: string;
    contracts: number;
    as_of: string;
    source: string;
    refused: Readonly<Record<string, number>>;
  };
  rows_refused: { underlying: string; source: string; refused: Readonly<Record<string, number>> };
  data_refused: { origin: string; reason: string };
  ingest_polled: { chains: number; prints: number; refusals: number; duration_ms: number };
  ingest_failed: { error: unknown };
  /** The data folder or its disk is full. Market data is not stored until there is room. */
  data_full: { reason: string };
  data_has_room: NoFields;
  old_removed: { prints: number; chains: number; levels: number };
  /** A large share of one kind of data (`days` days) is past its retention. The service removes this data after it has run for a day. */
  retention_waits: { of: string; days: number };
  retention_failed: { error: unknown };
  tape_packed: { prints: number };
  packing_failed: { error: unknown };
  /** Progress of the simulated market's backfill: `done` of `total` snapshots are complete. Reported at each tenth. */
  past_filling: { done: number; total: number };
  /** The simulated market's backfill is complete. `snapshots` is the number of snapshots that it added. */
  past_filled: { snapshots: number; duration_ms: number };
  /** The simulated market's backfill failed. The service tries again later. */
  past_failed: { error: unknown };
  feed_connection: { up: boolean; reason?: string };
  /** Levels could not be recorded. `snapshot` is the id of the snapshot, or null if the error is not about one snapshot. */
  levels_failed: { snapshot: number | null; error: unknown };
  /**
   * The event loop was blocked for longer than a step may take. `step` is the longest step of that time, if the step was announced. If
   * `cpu_ms` is much below `duration_ms`, the machine gave this process no CPU time, or a write waited for the disk.
   */
  event_loop_blocked: { duration_ms: number; cpu_ms: number; step: string | undefined };
  /**
   * The runtime runs without its compiler (JIT), which a hardened unit or kernel can forbid (`MemoryDenyWriteExecute=`). The kernels then
   * take some 30 to 90 times as long.
   */
  compiler_off: { ns_per_option: number; hint: string };
  /** A stored snapshot is damaged. The snapshot was set aside, and the previous snapshot is served. */
  snapshot_damaged: { underlying: string; as_of: string; source: string };
  /** The database had the schema `from` and was upgraded to the schema `to`. The old database was copied first. */
  data_upgraded: { from: number; to: number };
  /** The database was removed or replaced while the server runs. All further writes are lost when the server ends. */
  database_gone: { data_folder: string };
  /** A key or a UUID was refused. `client` is the address that sent it. The key is not reported. */
  key_refused: { client: string; route: string; code: string };
  /** Number of refusals of an address in the past minute that were not reported one by one. */
  keys_refused: { client: string; count: number };
  /** systemd waits for messages of this process, but they cannot be sent. A unit with `Type=notify` will not become active. */
  manager_unreachable: { reason: string };
  /** Spans could not be sent to the collector. Reported once for each series of failures. */
  traces_unsent: { reason: string };
  /** A change to members or keys that was recorded in the audit trail, by this process or by a command. `at` is when it was made. */
  audited: {
    at: string;
    actor: string;
    client?: string;
    action: string;
    account?: string;
    result: string;
    detail?: string;
  };
  /** Liveness, readiness and metrics are served at this address. */
  operations_served: { address: string };
  /** The certificate that the server uses from now on for new connections. */
  certificate_used: { subject: string; not_after: string };
  /** The certificate's files have changed, but cannot be used. The server continues with the certificate that it has. */
  certificate_refused: { reason: string; hint: string };
  /** The certificate expires in `days` days, or has expired if `days` is negative. */
  certificate_expiring: { subject: string; days: number };
  /** The server has read `files` again after SIGHUP. */
  reloaded: { files: string[] };
  /** The group of the data folder may write to the folder. `mended_by` is the command that changes this. */
  data_folder_open: { mended_by: string };
  /** A variable of the environment begins with `ZOMMA_` and belongs to no setting. `nearest` is the name that was probably meant. */
  setting_unknown: { variable: string; nearest: string };
  started: { address: string; feed: string; version: string; commit: string; schema: number; duration_ms: number };
  /** The local data is still being loaded. Reported every few seconds. `duration_ms` counts from the start. */
  loading: { duration_ms: number };
  /** The local data is loaded. `duration_ms` counts from the start. */
  loaded: { duration_ms: number };
  /** Connections were closed to make room for others. `open` is the number of connections that are still open. */
  connections_ended: { connections: number; open: number };
  /** This system does not let the service inspect connections, so the connections of one address are not limited. */
  connections_unwatched: { platform: string };
  /**
   * The limit of open file descriptors is low. `connections` and `streams` are the numbers of connections and MCP streams that it allows.
   */
  few_descriptors: { descriptors: number; connections: number; streams: number };
  stopping: { signal: string };
  /** A part of the service did not stop in time. The process exits without waiting for that part. */
  stop_forced: NoFields;
}

/** Receives observations. */
export interface Observe {
  (observation: Observation): void;
  /** Kinds that the observer drops. A caller need not create observations of these kinds. */
  readonly ignores?: ReadonlySet<Observation['kind']>;
}

/** Levels of the log, from the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
