import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ClusterState } from '../cluster/join-cluster.ts';
import { type Observation, STREAM_ENDS } from '../core/events.ts';
import { recordOf } from '../core/record-of.ts';
import type { FeedReport, FeedStatus } from '../operations/feed-status.ts';

interface MetricSources {
  readonly version: string;
  readonly commit: string;
  readonly schema: number;
  readonly feeds: () => FeedReport;
  readonly liveStreams: () => number;
  /** Number of unfinished computations, over all accounts. */
  readonly jobs: () => number;
  readonly blocked: () => { readonly count: number; readonly totalMs: number; readonly longestMs: number };
  readonly levelsDue: () => number;
  /** Number of snapshots that were moved to the table of damaged snapshots. */
  readonly damagedSnapshots: () => number;
  /** Size of the database, size of its write-ahead log, and free space on its disk, bytes. */
  readonly disk: () => { readonly database: number; readonly wal: number; readonly free: number };
  /** Number of the process's open file descriptors, and the limit for this number. */
  readonly descriptors: () => { readonly open: number; readonly max: number };
  /** Returns whether the database file is still in its folder. */
  readonly hasDatabase: () => boolean;
  /** Returns whether the folder or its disk is too full to store market data. */
  readonly isFull: () => boolean;
  /** Expiry of the certificate in use, ms since the epoch. Undefined without TLS. */
  readonly certificateNotAfterMs: () => number | undefined;
  /** Time of the last backup, ms since the epoch. Undefined if no backup was made. */
  readonly lastBackupMs: () => number | undefined;
  readonly isReady: () => boolean;
  /** The state of this server among those that share a database. Undefined if it is alone. */
  readonly cluster: () => ClusterState | undefined;
}

/** Bounds of the histogram of request times, s. Most answers take 0.1 to 50 ms, and a first analysis takes some hundred ms. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bounds of the histogram of event-loop delays, seconds. */
const DELAY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FEED_STATES = ['ok', 'degraded', 'empty', 'down'] as const;

/** The gauges of the feeds: the name without `zomma_feed_`, the help, and the figure of a feed, or its figures by the label `state`. */
const FEED_GAUGES: readonly (readonly [
  name: string,
  help: string,
  figureOf: (
    feed: FeedStatus,
    ageOf: (moment: string | null) => number | null,
  ) => number | null | Readonly<Record<string, number>>,
])[] = [
  [
    'state',
    '1 for the present state of a feed, 0 for its other states.',
    ({ state }) => recordOf(FEED_STATES, (each) => Number(each === state)),
  ],
  ['last_data_age_seconds', 'Time since the last delivery of a feed.', ({ last_data }, ageOf) => ageOf(last_data)],
  [
    'last_completed_age_seconds',
    'Time since the last poll of a feed that completed without an error.',
    ({ last_completed }, ageOf) => ageOf(last_completed),
  ],
  ['quiet_seconds', 'Trading time since a feed last delivered newer quotes.', ({ quiet_s }) => quiet_s],
  [
    'stale_after_seconds',
    'Trading time without newer quotes after which the feed is late, from its own pace.',
    ({ stale_after_s }) => stale_after_s,
  ],
  [
    'stream_up',
    '1 if the stream of a feed is connected. Only for feeds with a stream.',
    ({ stream }) => stream && Number(stream.up),
  ],
  ['tickers', 'Tickers of a feed, by their state.', ({ tickers_by_state }) => tickers_by_state],
  ['contracts_expected', 'Contracts that the sources of a feed list.', (feed) => feed.expected_contracts],
  ['contracts_received', 'Usable contracts of the newest snapshots.', (feed) => feed.received_contracts],
  ['rejections', 'Files, tickers and answers that a feed rejects at present.', ({ refusals }) => refusals.length],
];

/** The gauges of a server that shares a database: the name without `zomma_cluster_`, the help, and the figure. */
const CLUSTER_GAUGES: readonly (readonly [name: string, help: string, figure: (state: ClusterState) => number])[] = [
  ['leading', '1 if this server leads: it runs the feeds.', ({ isLeading }) => Number(isLeading)],
  ['servers', 'Servers that share the database and have lately been seen.', ({ servers }) => servers],
  ['place', 'Place in the log up to which this server has the data.', ({ place }) => place],
  [
    'contact_age_seconds',
    'Time since the last contact with the database of the servers.',
    ({ sinceContactMs }) => sinceContactMs / 1000,
  ],
  [
    'follow_age_seconds',
    'Time since this server last had all data of the log.',
    ({ sinceFollowedMs }) => sinceFollowedMs / 1000,
  ],
  [
    'clock_offset_seconds',
    'How far the clock of this machine is ahead of that of the database.',
    ({ clockMs }) => clockMs / 1000,
  ],
];

type Kind = Observation['kind'];

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of the service, with Prometheus names and units. No label contains an account, a key or a path from a caller. */
export function createMetrics(sources: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  /** Adds a gauge that each scrape reads. A gauge without a value is left out. */
  const measured = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  /** Adds a counter with a value from another module. */
  const total = (name: string, help: string, read: () => number) => {
    let last = 0;
    return new Counter({
      ...{ name, help, registers },
      collect() {
        const value = read();
        this.inc(value - last);
        last = value;
      },
    });
  };
  const actions = new Map<Kind, (observation: Observation) => void>();
  const on = <Seen extends Kind>(kind: Seen, act: (seen: Extract<Observation, { kind: Seen }>) => void) =>
    actions.set(kind, act as (observation: Observation) => void);
  const counted = (kind: Kind, name: string, help: string) => {
    const own = counter(name, help);
    on(kind, () => own.inc());
  };
  /** Adds a counter of the observations of some kinds, each with its value of the label. */
  const countedBy = (label: string, kinds: Partial<Record<Kind, string>>, name: string, help: string) => {
    const own = counter(name, help, [label]);
    for (const [kind, value] of Object.entries(kinds)) {
      // Each counter starts at 0. If a counter appeared only at its first event, an alert would see no increase.
      own.inc({ [label]: value }, 0);
      on(kind as Kind, () => own.inc({ [label]: value }));
    }
  };

  const { version, commit, schema, blocked, descriptors, disk } = sources;
  const labels = { version, commit, schema: String(schema) };
  const build = new Gauge({
    name: 'zomma_build_info',
    help: 'Version, commit and schema of the program; always 1.',
    labelNames: Object.keys(labels),
    registers,
  });
  build.set(labels, 1);
  measured('zomma_ready', '1 if the server should get requests, 0 while it loads, drains or has no data.', () =>
    Number(sources.isReady()),
  );
  const requests = new Histogram({
    name: 'zomma_http_request_duration_seconds',
    help: 'Time from a request to its answer, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  on('request_answered', ({ method, route, status, duration_ms }) =>
    requests.observe({ method, route, status: String(status) }, duration_ms / 1000),
  );
  const loopDelay = new Histogram({
    name: 'zomma_event_loop_delay_seconds',
    help: 'By how much a timer was late, while the service had work.',
    buckets: DELAY_SECONDS,
    registers,
  });
  countedBy(
    'of',
    { request_failed: 'request', tool_failed: 'tool' },
    'zomma_internal_errors_total',
    'Requests and tools that failed by a defect of the service.',
  );
  countedBy(
    'direction',
    { clock_set_back: 'back', clock_set_forward: 'forward' },
    'zomma_clock_steps_total',
    'How often the clock of the machine was set.',
  );
  const keysRefused = counter('zomma_keys_refused_total', 'Refused keys and UUIDs.');
  on('key_refused', () => keysRefused.inc());
  on('keys_refused', ({ count }) => keysRefused.inc(count));
  const feedGauges = FEED_GAUGES.map(([name, help, figureOf]) => ({
    gauge: new Gauge({ name: `zomma_feed_${name}`, help, labelNames: ['feed', 'state'], registers }),
    figureOf,
  }));
  const rows = counter('zomma_rows_refused_total', 'Rows of chains that were left out, by reason.', ['reason']);
  on('rows_refused', ({ refused }) => {
    for (const [reason, count] of Object.entries(refused)) rows.inc({ reason }, count);
  });
  counted('data_refused', 'zomma_data_refused_total', 'Files and answers of providers that were not used.');
  counted('ingest_failed', 'zomma_ingest_failures_total', 'Polls that failed.');
  counted('levels_failed', 'zomma_level_failures_total', 'Snapshots whose levels could not be recorded.');
  countedBy(
    'work',
    { retention_failed: 'retention', packing_failed: 'packing', past_failed: 'past', files_kept: 'files' },
    'zomma_maintenance_failures_total',
    'Maintenance that failed, by its work.',
  );
  counted(
    'retention_waits',
    'zomma_retention_waits_total',
    'Times that the retention would have removed a large share at once, and waits.',
  );
  measured(
    'zomma_damaged_snapshots',
    'Stored snapshots that are damaged and were set aside.',
    sources.damagedSnapshots,
  );
  counted(
    'certificate_refused',
    'zomma_tls_refused_total',
    'Changed certificates that could not be used, while the server continued with the earlier one.',
  );
  const ended = counter('zomma_connections_ended_total', 'Connections that were closed to make room.');
  on('connections_ended', ({ connections }) => ended.inc(connections));
  measured('zomma_levels_due', 'Snapshots whose levels are not recorded yet.', sources.levelsDue);
  measured('zomma_live_streams', 'Open streams of live levels.', sources.liveStreams);
  const closed = counter('zomma_live_streams_closed_total', 'Closed streams of live levels, by reason.', ['reason']);
  for (const reason of STREAM_ENDS) closed.inc({ reason }, 0);
  on('stream_closed', ({ reason }) => closed.inc({ reason }));
  const open = new Gauge({ name: 'zomma_mcp_sessions', help: 'Open sessions of MCP.', registers });
  for (const kind of ['session_opened', 'session_closed'] as const) on(kind, ({ sessions }) => open.set(sessions));
  total(
    'zomma_event_loop_blocked_total',
    'Times that a step blocked the event loop for more than 25 ms.',
    () => blocked().count,
  );
  total(
    'zomma_event_loop_blocked_seconds_total',
    'Time for which such steps blocked the event loop.',
    () => blocked().totalMs / 1000,
  );
  measured(
    'zomma_event_loop_blocked_seconds_max',
    'Longest time for which one step blocked the event loop.',
    () => blocked().longestMs / 1000,
  );
  measured('zomma_jobs', 'Computations that wait or run.', sources.jobs);
  measured('zomma_open_descriptors', 'Open file descriptors of the process.', () => descriptors().open);
  measured('zomma_descriptors_max', 'File descriptors that the process may have open.', () => descriptors().max);
  total('zomma_cpu_seconds_total', 'CPU time of the process, of all its threads.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  measured('zomma_db_present', '1 if the database is in its folder, 0 if it was removed or replaced.', () =>
    Number(sources.hasDatabase()),
  );
  measured('zomma_data_full', '1 if market data is not stored, because the folder or its disk is full.', () =>
    Number(sources.isFull()),
  );
  for (const [name, help, read] of CLUSTER_GAUGES) {
    measured(`zomma_cluster_${name}`, help, () => {
      const state = sources.cluster();
      return state && read(state);
    });
  }
  measured('zomma_db_bytes', 'Size of the database.', () => disk().database);
  measured('zomma_db_wal_bytes', 'Size of the write-ahead log of the database.', () => disk().wal);
  measured('zomma_disk_free_bytes', 'Free space of the disk of the data folder.', () => disk().free);
  measured('zomma_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  measured('zomma_heap_used_bytes', 'Used memory of the JavaScript heap.', () => process.memoryUsage().heapUsed);
  measured('zomma_process_start_time_seconds', 'When the process started, seconds since the epoch.', () =>
    Math.round(performance.timeOrigin / 1000),
  );
  measured('zomma_tls_not_after_seconds', 'When the certificate expires, seconds since the epoch.', () => {
    const expiryMs = sources.certificateNotAfterMs();
    return expiryMs === undefined ? undefined : expiryMs / 1000;
  });
  measured(
    'zomma_last_backup_timestamp_seconds',
    'The moment of the data in the last backup, seconds since the epoch; 0 if there is none.',
    () => (sources.lastBackupMs() ?? 0) / 1000,
  );

  const readFeeds = (): void => {
    const { feeds, checked_at } = sources.feeds();
    const ageOf = (moment: string | null) =>
      moment === null ? null : (Date.parse(checked_at) - Date.parse(moment)) / 1000;
    for (const { gauge, figureOf } of feedGauges) {
      gauge.reset();
      for (const status of feeds) {
        const { feed } = status;
        const figure = figureOf(status, ageOf);
        if (typeof figure === 'number') gauge.set({ feed }, figure);
        else for (const [state, each] of Object.entries(figure ?? {})) gauge.set({ feed, state }, each);
      }
    }
  };

  return {
    observe(observation: Observation) {
      actions.get(observation.kind)?.(observation);
    },
    /** Adds the delay of a timer (ms) to the histogram. */
    countDelay(ms: number) {
      loopDelay.observe(Math.max(0, ms) / 1000);
    },
    async text() {
      readFeeds();
      return { text: await registry.metrics(), type: registry.contentType };
    },
  };
}
