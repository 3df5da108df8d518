/**
 * An observation: a report of Zomma about its own state. The log shows a selection of them. No observation contains a key, a UUID or the
 * path of a request, but the pattern of the route and the opaque id of the account.
 */
export type Observation = {
  readonly [Kind in keyof ObservationFields]: { readonly kind: Kind } & Readonly<ObservationFields[Kind]>;
}[keyof ObservationFields];

type NoFields = Readonly<Record<never, never>>;

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
    /** The trace of the request, as 32 hex digits. Undefined if the request names no trace and spans are not collected. */
    trace_id: string | undefined;
  };
  request_failed: { route: string; request_id: string; trace_id: string | undefined; error: unknown };
  session_opened: { account: string; sessions: number };
  session_closed: { account: string; sessions: number };
  stream_opened: { account: string; streams: number };
  stream_closed: {
    account: string;
    reason: StreamEnd;
    streams: number;
  };
  /** A tool threw an error. `trace_id` is the trace of the HTTP request behind the tool call, if spans are collected. */
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
  /** The data folder or its disk is full. Market data is not stored until there is free space again. */
  data_full: { reason: string };
  data_has_room: NoFields;
  /** Old files of the drop folder cannot be deleted, for the reason of the system. Reported once for each reason. */
  files_kept: { files: number; reason: string };
  /** The clock of the machine was set back by `by_s` seconds. The service corrects the moments that it has written since its start. */
  clock_set_back: { by_s: number };
  clock_set_forward: { by_s: number };
  old_removed: { prints: number; chains: number; levels: number };
  /** A large share of one type of data (`days` days) exceeds its retention. The old data is removed a day after the service has started. */
  retention_waits: { of: string; days: number };
  retention_failed: { error: unknown };
  tape_packed: { prints: number };
  packing_failed: { error: unknown };
  /** Progress of the simulated market's backfill: `done` of `total` snapshots are complete. Reported at each tenth. */
  past_filling: { done: number; total: number };
  /** The simulated market's backfill is complete. `snapshots` is the number of snapshots that the backfill added. */
  past_filled: { snapshots: number; duration_ms: number };
  past_failed: { error: unknown };
  feed_connection: { up: boolean; reason?: string };
  /** Levels could not be recorded. `snapshot` is the id of the snapshot, or null if the error concerns no single snapshot. */
  levels_failed: { snapshot: number | null; error: unknown };
  /**
   * The event loop was blocked for longer than the maximum duration of a step. `step` is the longest announced step in the blocked time. If
   * `cpu_ms` is much less than `duration_ms`, this process got no CPU time, or a write waited for the disk.
   */
  event_loop_blocked: { duration_ms: number; cpu_ms: number; step: string | undefined };
  /** The runtime has no compiler (JIT), e.g. by `MemoryDenyWriteExecute=`. The kernels take 30 to 90 times as long. */
  compiler_off: { ns_per_option: number; hint: string };
  /** A stored snapshot is damaged. The snapshot was set aside, and the server uses the previous snapshot. */
  snapshot_damaged: { underlying: string; as_of: string; source: string };
  /** The database had the schema `from` and was upgraded to the schema `to`. The old database was copied first. */
  data_upgraded: { from: number; to: number };
  /** The database of several servers is away, for this reason. The server answers from its copy. */
  engine_away: { reason: string };
  engine_back: { host: string };
  /** The copy of the data is filled again from the database of several servers. */
  mirror_refilled: { reason: string };
  /**
   * A fail-over of Postgres has lost the last changes, and the copy of the data has undone them, too. The feeds deliver lost market data again.
   * Lost changes of members, of which there may be audit rows, have to be made again.
   */
  writes_lost: { members: number; audit_rows: number; rows: number };
  /** The copy of the data cannot take changes, so its data gets older. */
  mirror_failed: { error: unknown };
  /** This server runs the feeds from now on. `epoch` rises with each server that does. */
  lead_began: { epoch: number };
  lead_ended: { epoch: number; reason: string };
  /** This server cannot run the feeds, for this reason, and leaves them to others. */
  lead_obstructed: { reason: string };
  lead_failed: { error: unknown };
  /** The database was removed or replaced while the server was running. All further writes are lost when the server ends. */
  database_gone: { data_folder: string };
  /** The computations before the first request failed, so the first requests take longer. */
  warm_up_failed: { error: unknown };
  /** SQLite finds the database damaged. The server goes on, but may not answer rightly. */
  database_damaged: { data_folder: string; error: unknown };
  /** No key of a member was derived from the secret of the data folder. The keys work, but `my-key` refuses every member. */
  secret_foreign: { hint: string };
  /** A key or a UUID was refused. `client` is the address of the sender. The key is not reported. */
  key_refused: { client: string; route: string; code: string };
  /** The number of refusals for one address in the last minute that were not reported one by one. */
  keys_refused: { client: string; count: number };
  /** systemd waits for messages of this process, but the messages cannot be sent. A unit with `Type=notify` will not become active. */
  manager_unreachable: { reason: string };
  /** Spans could not be sent to the collector. Reported once per series of failures. */
  traces_unsent: { reason: string };
  /** This process or a command has recorded a change to members or keys in the audit trail. `at` is the time of the change. */
  audited: {
    at: string;
    actor: string;
    client?: string;
    action: string;
    account?: string;
    result: string;
    detail?: string;
  };
  operations_served: { address: string };
  /** The operations address is not a loopback address, so other machines may reach it. */
  operations_open: { address: string; hint: string };
  certificate_used: { subject: string; sha256: string; not_after: string };
  /** The certificate of `--tls internal` lacks these names of the server, because its authority may not sign them. */
  names_uncertified: { names: readonly string[]; hint: string };
  /** The certificate's files have changed, but are not usable. The server continues to use the present certificate. */
  certificate_refused: { reason: string; hint: string };
  /** The certificate expires in `days` days. A negative number means that the certificate has expired. */
  certificate_expiring: { subject: string; days: number };
  /** The server has read `files` again after SIGHUP. */
  reloaded: { files: string[] };
  /** The group of the data folder has write permission for the folder. `mended_by` is the command that removes this permission. */
  data_folder_open: { mended_by: string };
  /** An environment variable begins with `ZOMMA_` but belongs to no setting. `nearest` is the variable with the most similar name. */
  setting_unknown: { variable: string; nearest: string };
  started: { address: string; feed: string; version: string; commit: string; schema: number; duration_ms: number };
  /** The local data is still being loaded. This observation is repeated every few seconds. `duration_ms` counts from the start. */
  loading: { duration_ms: number };
  /** The local data is loaded. `duration_ms` counts from the start. */
  loaded: { duration_ms: number };
  /** The server closed connections to make room for new connections. `open` is the number of connections that are still open. */
  connections_ended: { connections: number; open: number };
  /** The number of connections per address is not limited, because the service cannot inspect connections on this system. */
  connections_unwatched: { platform: string };
  /** The limit on open file descriptors is low. The limit allows `connections` connections and `streams` MCP streams. */
  few_descriptors: { descriptors: number; connections: number; streams: number };
  stopping: { signal: string };
  /** A part of the service did not stop in time. The process exits without waiting for this part. */
  stop_forced: NoFields;
}

/** Receives observations. */
export interface Observe {
  (observation: Observation): void;
  /** Types of observation that the observer drops. Callers need not create observations of these types. */
  readonly ignores?: ReadonlySet<Observation['kind']>;
}

/**
 * The reasons why a stream can end: the client closed it or it ended by itself (`client`), too much data waited or the client did not read
 * for too long (`behind`), the client answered no ping (`silent`), the account has lost its access, the stream was too old, another account
 * needed a stream and this one had more than its share (`AccountCounts.accountGivingWay`), or the server stops.
 */
export const STREAM_ENDS = ['client', 'behind', 'silent', 'access', 'age', 'share', 'shutdown'] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

/** The log levels, from the most verbose to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
