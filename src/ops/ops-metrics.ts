import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Observation } from '../core/events.ts';
import type { FeedReport } from '../operations/feed-status.ts';

/** The values that a scrape reads from the service. */
export interface MetricSources {
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
}

/** Bounds of the histogram of request times, s. Most answers take 0.1 to 50 ms, and a first analysis takes some hundred ms. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bounds of the histogram of event-loop delays, seconds. */
const DELAY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STREAM_ENDS = ['client', 'behind', 'silent', 'access', 'age', 'share', 'shutdown'] as const;
const FEED_STATES = ['ok', 'degraded', 'empty', 'down'] as const;

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of the service, with Prometheus names and units. No label contains an account, a key or a path from a caller. */
export function createMetrics(sources: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers });
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

  const { version, commit, schema } = sources;
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
  const loopDelay = new Histogram({
    name: 'zomma_event_loop_delay_seconds',
    help: 'By how much a timer was late, while the service had work.',
    buckets: DELAY_SECONDS,
    registers,
  });
  const defects = counter('zomma_internal_errors_total', 'Requests and tools that failed by a defect of the service.', [
    'of',
  ]);
  const clockSteps = counter('zomma_clock_steps_total', 'How often the clock of the machine was set.', ['direction']);
  const keysRefused = counter('zomma_keys_refused_total', 'Refused keys and UUIDs.');
  const feedState = gauge('zomma_feed_state', '1 for the present state of a feed, 0 for its other states.', [
    'feed',
    'state',
  ]);
  const feedAge = gauge('zomma_feed_last_data_age_seconds', 'Time since the last delivery of a feed.', ['feed']);
  const feedCompletedAge = gauge(
    'zomma_feed_last_completed_age_seconds',
    'Time since the last poll of a feed that completed without an error.',
    ['feed'],
  );
  const feedQuiet = gauge('zomma_feed_quiet_seconds', 'Trading time since a feed last delivered newer quotes.', [
    'feed',
  ]);
  const feedStaleAfter = gauge(
    'zomma_feed_stale_after_seconds',
    'Trading time without newer quotes after which the feed is late, from its own pace.',
    ['feed'],
  );
  const feedStream = gauge(
    'zomma_feed_stream_up',
    '1 if the stream of a feed is connected. Only for feeds with a stream.',
    ['feed'],
  );
  const tickers = gauge('zomma_feed_tickers', 'Tickers of a feed, by their state.', ['feed', 'state']);
  const expected = gauge('zomma_feed_contracts_expected', 'Contracts that the sources of a feed list.', ['feed']);
  const received = gauge('zomma_feed_contracts_received', 'Usable contracts of the newest snapshots.', ['feed']);
  const rejections = gauge('zomma_feed_rejections', 'Files, tickers and answers that a feed rejects at present.', [
    'feed',
  ]);
  const rows = counter('zomma_rows_refused_total', 'Rows of chains that were left out, by reason.', ['reason']);
  const refusedData = counter('zomma_data_refused_total', 'Files and answers of providers that were not used.');
  const ingestFailures = counter('zomma_ingest_failures_total', 'Polls that failed.');
  const levelFailures = counter('zomma_level_failures_total', 'Snapshots whose levels could not be recorded.');
  const workFailures = counter('zomma_maintenance_failures_total', 'Maintenance that failed, by its work.', ['work']);
  const retentionWaits = counter(
    'zomma_retention_waits_total',
    'Times that the retention would have removed a large share at once, and waits.',
  );
  measured(
    'zomma_damaged_snapshots',
    'Stored snapshots that are damaged and were set aside.',
    sources.damagedSnapshots,
  );
  const certificateFailures = counter(
    'zomma_tls_refused_total',
    'Changed certificates that could not be used, while the server continued with the earlier one.',
  );
  const connectionsEnded = counter('zomma_connections_ended_total', 'Connections that were closed to make room.');
  measured('zomma_levels_due', 'Snapshots whose levels are not recorded yet.', sources.levelsDue);
  measured('zomma_live_streams', 'Open streams of live levels.', sources.liveStreams);
  const streamsClosed = counter('zomma_live_streams_closed_total', 'Closed streams of live levels, by reason.', [
    'reason',
  ]);
  const sessions = gauge('zomma_mcp_sessions', 'Open sessions of MCP.');
  const { blocked, descriptors, disk } = sources;
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
    'When the last backup was made, seconds since the epoch; 0 if never.',
    () => (sources.lastBackupMs() ?? 0) / 1000,
  );

  // Each counter starts at 0. If a counter appeared only at its first event, an alert would see no increase.
  for (const of of ['request', 'tool']) defects.inc({ of }, 0);
  for (const work of ['retention', 'packing', 'past', 'files']) workFailures.inc({ work }, 0);
  for (const direction of ['back', 'forward']) clockSteps.inc({ direction }, 0);
  for (const reason of STREAM_ENDS) streamsClosed.inc({ reason }, 0);

  const readFeeds = (): void => {
    const { feeds, checked_at } = sources.feeds();
    for (const each of [
      feedState,
      feedAge,
      feedQuiet,
      feedStaleAfter,
      feedCompletedAge,
      feedStream,
      tickers,
      expected,
      received,
      rejections,
    ])
      each.reset();
    for (const {
      feed,
      state,
      last_data,
      last_completed,
      quiet_s,
      stale_after_s,
      stream,
      tickers_by_state,
      expected_contracts,
      received_contracts,
      refusals,
    } of feeds) {
      for (const name of FEED_STATES) feedState.set({ feed, state: name }, Number(name === state));
      const ageOf = (moment: string) => (Date.parse(checked_at) - Date.parse(moment)) / 1000;
      if (last_data) feedAge.set({ feed }, ageOf(last_data));
      if (quiet_s !== null) feedQuiet.set({ feed }, quiet_s);
      feedStaleAfter.set({ feed }, stale_after_s);
      if (last_completed) feedCompletedAge.set({ feed }, ageOf(last_completed));
      if (stream) feedStream.set({ feed }, Number(stream.up));
      for (const [name, count] of Object.entries(tickers_by_state)) tickers.set({ feed, state: name }, count ?? 0);
      expected.set({ feed }, expected_contracts);
      received.set({ feed }, received_contracts);
      rejections.set({ feed }, refusals.length);
    }
  };

  const counted: { readonly [Kind in Observation['kind']]?: (seen: Extract<Observation, { kind: Kind }>) => void } = {
    request_answered: ({ method, route, status, duration_ms }) =>
      requests.observe({ method, route, status: String(status) }, duration_ms / 1000),
    request_failed: () => defects.inc({ of: 'request' }),
    tool_failed: () => defects.inc({ of: 'tool' }),
    clock_set_back: () => clockSteps.inc({ direction: 'back' }),
    clock_set_forward: () => clockSteps.inc({ direction: 'forward' }),
    key_refused: () => keysRefused.inc(),
    keys_refused: ({ count }) => keysRefused.inc(count),
    session_opened: (each) => sessions.set(each.sessions),
    session_closed: (each) => sessions.set(each.sessions),
    stream_closed: ({ reason }) => streamsClosed.inc({ reason }),
    rows_refused({ refused }) {
      for (const [reason, count] of Object.entries(refused)) rows.inc({ reason }, count);
    },
    data_refused: () => refusedData.inc(),
    ingest_failed: () => ingestFailures.inc(),
    retention_waits: () => retentionWaits.inc(),
    retention_failed: () => workFailures.inc({ work: 'retention' }),
    packing_failed: () => workFailures.inc({ work: 'packing' }),
    past_failed: () => workFailures.inc({ work: 'past' }),
    files_kept: () => workFailures.inc({ work: 'files' }),
    certificate_refused: () => certificateFailures.inc(),
    connections_ended: ({ connections }) => connectionsEnded.inc(connections),
    levels_failed: () => levelFailures.inc(),
  };

  return {
    /** Counts an observation of the service. */
    observe(observation: Observation) {
      (counted[observation.kind] as ((seen: Observation) => void) | undefined)?.(observation);
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
