import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Observation } from '../core/events.ts';
import type { FeedReport } from '../operations/feed-status.ts';

/** What a scrape reads from the service. */
export interface MetricSources {
  readonly version: string;
  readonly commit: string;
  readonly schema: number;
  readonly feeds: () => FeedReport;
  readonly liveStreams: () => number;
  /** Incomplete computations of all accounts. */
  readonly jobs: () => number;
  readonly blocked: () => { readonly count: number; readonly totalMs: number; readonly longestMs: number };
  readonly levelsDue: () => number;
  /** Stored snapshots that are damaged and were set aside. */
  readonly damagedSnapshots: () => number;
  /** Bytes of the database, of its write-ahead log, and free on its disk. */
  readonly disk: () => { readonly database: number; readonly wal: number; readonly free: number };
  /** Open file descriptors of the process, and how many it may have. */
  readonly descriptors: () => { readonly open: number; readonly max: number };
  /** Whether the database is still in its folder. */
  readonly hasDatabase: () => boolean;
  /** Whether market data is not stored, because the folder or its disk is full. */
  readonly isFull: () => boolean;
  /** When the certificate in use expires, ms since the epoch. Undefined without TLS. */
  readonly certificateNotAfterMs: () => number | undefined;
  /** When the last backup was made, ms since the epoch. Undefined if no backup was made. */
  readonly lastBackupMs: () => number | undefined;
  readonly isReady: () => boolean;
}

/** Bounds of the histogram of request times, seconds. Most answers take 0.1 to 50 ms, and a first analysis some hundreds. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bounds of the histogram of delays of the event loop, seconds. */
const DELAY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STREAM_ENDS = ['client', 'behind', 'silent', 'access', 'age', 'share', 'shutdown'] as const;
const FEED_STATES = ['ok', 'degraded', 'empty', 'down'] as const;

export interface Metrics {
  /** Counts an observation of the service. */
  observe(observation: Observation): void;
  /** Counts by how much a timer of the event loop was late, ms. */
  countDelay(ms: number): void;
  /** Returns the metrics in the text format of Prometheus. */
  text(): Promise<{ readonly text: string; readonly type: string }>;
}

/**
 * Creates the metrics of the service. Names and units follow the conventions of Prometheus. No label has an account, a key or a path that a
 * caller chose.
 */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });

  /** A counter whose total is counted elsewhere. */
  const totals = (name: string, help: string) => {
    const own = counter(name, help);
    let last = 0;
    return {
      set(total: number) {
        own.inc(total - last);
        last = total;
      },
    };
  };

  const build = gauge('zomma_build_info', 'Version, commit and schema of the program; always 1.', [
    'version',
    'commit',
    'schema',
  ]);
  build.set({ version: sources.version, commit: sources.commit, schema: String(sources.schema) }, 1);
  const ready = gauge('zomma_ready', '1 if the server should get requests, 0 while it loads, drains or has no data.');
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
  const damaged = gauge('zomma_damaged_snapshots', 'Stored snapshots that are damaged and were set aside.');
  const certificateFailures = counter(
    'zomma_tls_refused_total',
    'Changed certificates that could not be used, while the server continued with the earlier one.',
  );
  const connectionsEnded = counter('zomma_connections_ended_total', 'Connections that were closed to make room.');
  const due = gauge('zomma_levels_due', 'Snapshots whose levels are not recorded yet.');
  const streams = gauge('zomma_live_streams', 'Open streams of live levels.');
  const streamsClosed = counter('zomma_live_streams_closed_total', 'Closed streams of live levels, by reason.', [
    'reason',
  ]);
  const sessions = gauge('zomma_mcp_sessions', 'Open sessions of MCP.');
  const blockedCount = totals(
    'zomma_event_loop_blocked_total',
    'Times that a step blocked the event loop for more than 25 ms.',
  );
  const blockedSeconds = totals(
    'zomma_event_loop_blocked_seconds_total',
    'Time for which such steps blocked the event loop.',
  );
  const blockedMost = gauge(
    'zomma_event_loop_blocked_seconds_max',
    'Longest time for which one step blocked the event loop.',
  );
  const jobs = gauge('zomma_jobs', 'Computations that wait or run.');
  const descriptors = gauge('zomma_open_descriptors', 'Open file descriptors of the process.');
  const descriptorsMax = gauge('zomma_descriptors_max', 'File descriptors that the process may have open.');
  const cpu = totals('zomma_cpu_seconds_total', 'CPU time of the process, of all its threads.');
  const present = gauge('zomma_db_present', '1 if the database is in its folder, 0 if it was removed or replaced.');
  const full = gauge('zomma_data_full', '1 if market data is not stored, because the folder or its disk is full.');
  const database = gauge('zomma_db_bytes', 'Size of the database.');
  const wal = gauge('zomma_db_wal_bytes', 'Size of the write-ahead log of the database.');
  const free = gauge('zomma_disk_free_bytes', 'Free space of the disk of the data folder.');
  const resident = gauge('zomma_resident_memory_bytes', 'Resident memory of the process.');
  const heap = gauge('zomma_heap_used_bytes', 'Used memory of the JavaScript heap.');
  const started = gauge('zomma_process_start_time_seconds', 'When the process started, seconds since the epoch.');
  started.set(Math.round(performance.timeOrigin / 1000));
  const notAfter = gauge('zomma_tls_not_after_seconds', 'When the certificate expires, seconds since the epoch.');
  const backup = gauge(
    'zomma_last_backup_timestamp_seconds',
    'When the last backup was made, seconds since the epoch; 0 if never.',
  );

  // A counter that appears with its first event has no increase, so an alert on it would not fire.
  for (const of of ['request', 'tool']) defects.inc({ of }, 0);
  for (const work of ['retention', 'packing', 'past']) workFailures.inc({ work }, 0);
  for (const reason of STREAM_ENDS) streamsClosed.inc({ reason }, 0);

  const readSources = (): void => {
    const { feeds, checked_at } = sources.feeds();
    for (const each of [feedState, feedAge, feedCompletedAge, feedStream, tickers, expected, received, rejections])
      each.reset();
    for (const {
      feed,
      state,
      last_data,
      last_completed,
      stream,
      tickers_by_state,
      expected_contracts,
      received_contracts,
      refusals,
    } of feeds) {
      for (const name of FEED_STATES) feedState.set({ feed, state: name }, Number(name === state));
      const ageOf = (moment: string) => Math.max(0, (Date.parse(checked_at) - Date.parse(moment)) / 1000);
      if (last_data) feedAge.set({ feed }, ageOf(last_data));
      if (last_completed) feedCompletedAge.set({ feed }, ageOf(last_completed));
      if (stream) feedStream.set({ feed }, Number(stream.up));
      for (const [name, count] of Object.entries(tickers_by_state)) tickers.set({ feed, state: name }, count ?? 0);
      expected.set({ feed }, expected_contracts);
      received.set({ feed }, received_contracts);
      rejections.set({ feed }, refusals.length);
    }
    const { count, totalMs, longestMs } = sources.blocked();
    blockedCount.set(count);
    blockedSeconds.set(totalMs / 1000);
    blockedMost.set(longestMs / 1000);
    jobs.set(sources.jobs());
    const { open, max } = sources.descriptors();
    descriptors.set(open);
    descriptorsMax.set(max);
    const { user, system } = process.cpuUsage();
    cpu.set((user + system) / 1e6);
    present.set(Number(sources.hasDatabase()));
    full.set(Number(sources.isFull()));
    const bytes = sources.disk();
    database.set(bytes.database);
    wal.set(bytes.wal);
    free.set(bytes.free);
    const memory = process.memoryUsage();
    resident.set(memory.rss);
    heap.set(memory.heapUsed);
    due.set(sources.levelsDue());
    damaged.set(sources.damagedSnapshots());
    streams.set(sources.liveStreams());
    ready.set(Number(sources.isReady()));
    notAfter.reset();
    const expiry = sources.certificateNotAfterMs();
    if (expiry === undefined) notAfter.remove();
    else notAfter.set(expiry / 1000);
    backup.set((sources.lastBackupMs() ?? 0) / 1000);
  };

  return {
    observe(each) {
      switch (each.kind) {
        case 'request_answered':
          requests.observe(
            { method: each.method, route: each.route, status: String(each.status) },
            each.duration_ms / 1000,
          );
          break;
        case 'request_failed':
          defects.inc({ of: 'request' });
          break;
        case 'tool_failed':
          defects.inc({ of: 'tool' });
          break;
        case 'key_refused':
          keysRefused.inc();
          break;
        case 'keys_refused':
          keysRefused.inc(each.count);
          break;
        case 'session_opened':
        case 'session_closed':
          sessions.set(each.sessions);
          break;
        case 'stream_closed':
          streamsClosed.inc({ reason: each.reason });
          break;
        case 'rows_refused':
          for (const [reason, count] of Object.entries(each.refused)) rows.inc({ reason }, count);
          break;
        case 'data_refused':
          refusedData.inc();
          break;
        case 'ingest_failed':
          ingestFailures.inc();
          break;
        case 'retention_waits':
          retentionWaits.inc();
          break;
        case 'retention_failed':
          workFailures.inc({ work: 'retention' });
          break;
        case 'packing_failed':
          workFailures.inc({ work: 'packing' });
          break;
        case 'past_failed':
          workFailures.inc({ work: 'past' });
          break;
        case 'certificate_refused':
          certificateFailures.inc();
          break;
        case 'connections_ended':
          connectionsEnded.inc(each.connections);
          break;
        case 'levels_failed':
          levelFailures.inc();
          break;
      }
    },
    countDelay(ms) {
      loopDelay.observe(Math.max(0, ms) / 1000);
    },
    async text() {
      readSources();
      return { text: await registry.metrics(), type: registry.contentType };
    },
  };
}
