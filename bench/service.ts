import { type LiveFigures, type LiveOptions, measureLive } from './live.ts';
import { generatedBy, runSection } from './turns.ts';

const HEADING = '## The service: live levels';
/** Target: the 99th percentile of the time from before a snapshot is stored until a client has read its event, ms. */
const LATENCY_P99_MS = 1_000;
const FULL: LiveOptions = {
  ...{ subscribers: 200, tickers: 59, seconds: 60, moveMs: 1_000, dropsPerS: 5 },
  ...{ slow: 3, logged: 40_000 },
};

/** Returns the section of docs/benchmarks.md with these figures. `options` are those of the measurement of live levels. */
export function sectionOf(live: LiveFigures, options: LiveOptions): string {
  const reached = (holds: boolean) => (holds ? 'reached' : 'missed');
  return `${HEADING}

${generatedBy('bun bench/service.ts')}

${options.subscribers} clients in another process have streams of the live levels of ${options.tickers} tickers over loopback sockets. Every ${options.moveMs} ms, for ${options.seconds} s, all tickers get
a new snapshot: ${live.snapshots} snapshots of each ticker. The chains of all tickers are stored in one transaction, and the recorder computes and stores
their levels. Each second, ${options.dropsPerS} random clients are disconnected. They reconnect within two seconds and send the id of their last event. ${options.slow}
more clients request many past events and never read them.

A time begins before the snapshot is stored, and ends when the client has read the event. For clients that were disconnected, only snapshots
after the reconnection count.

| | |
|---|---|
| events read: the levels at the start, and those of each snapshot | ${live.events.toLocaleString('en-US')} |
| snapshot to client, median | ${live.p50.toFixed(0)} ms |
| 99th percentile | ${live.p99.toFixed(0)} ms |
| worst | ${live.max.toFixed(0)} ms |
| reconnections with an id | ${live.drops} |
| events lost; events twice or out of order | ${live.lost}; ${live.doubled} |
| clients that read nothing, disconnected by the server | ${live.evicted} of ${options.slow} |
| memory of the process with the server, which also drives the run, after a third of the run; at the end | ${live.memory[0].toFixed(0)} MB; ${live.memory[1].toFixed(0)} MB |

- 99 % of events within ${LATENCY_P99_MS} ms: ${reached(live.p99 <= LATENCY_P99_MS)}
- no event lost or doubled: ${reached(live.lost + live.doubled === 0)}
- clients that read nothing are disconnected, without harm to others: ${reached(live.evicted === options.slow)}
`;
}

/** `bun bench/service.ts [--write]` takes two minutes. */
if (import.meta.main) {
  await runSection(HEADING, async () => sectionOf(await measureLive(FULL), FULL));
}
