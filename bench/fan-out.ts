import { join } from 'node:path';
import { STEP_MS_MAX } from '../src/core/event-loop-watchdog.ts';
import { BINARY } from '../test/support/process.ts';
import { withMarket } from './market.ts';
import { listMarket } from './market-files.ts';
import { startPeer } from './peer-process.ts';
import { reportedIn } from './stalls.ts';
import { generatedBy, type Median, medianOf, medianText, runSection, targetLine } from './turns.ts';

const HEADING = '## Fan-out of live levels';
/** Target: CPU of the main thread for an event and stream, µs. */
const EVENT_US = 5;
/** Streams of a member, below the limit of a key. */
const STREAMS_A_KEY = 400;

export interface FanOutOptions {
  readonly tickers: number;
  /** Numbers of streams, each with all tickers. */
  readonly streams: readonly number[];
  /** Rounds in which all tickers get new levels, for each number of streams. One more round before is a warm-up. */
  readonly rounds: number;
}

export interface FanOutFigures {
  readonly streams: number;
  /** CPU of the main thread for a round, ms. */
  readonly round: Median;
  /** CPU of the main thread for an event and stream, without the time of a round that no stream reads, µs. */
  readonly event: number;
  /** Events that streams did not get. */
  readonly lost: number;
  /** The longest step that the server's watchdog has logged, and its CPU time, ms. 0 if no step took more than STEP_MS_MAX. */
  readonly step: number;
  readonly stepCpu: number;
}

/** Measures rounds of new levels of all tickers, which clients in another process read: without streams, and with each number of streams. */
export async function measureFanOut(
  command: readonly string[],
  { tickers, streams, rounds }: FanOutOptions,
): Promise<FanOutFigures[]> {
  const now = Date.now() - 60 * 60_000;
  const market = listMarket(tickers, now, 5, () => 25);
  return withMarket(command, market, now, async ({ server, addKey, minute }) => {
    using clients = startPeer([
      process.execPath,
      join(import.meta.dir, 'fan-out-clients.ts'),
      server.url,
      market.map(({ ticker }) => ticker).join(),
    ]);
    const figures: FanOutFigures[] = [];
    let open = 0;
    for (const count of [0, ...streams]) {
      process.stderr.write(`${count} streams …\n`);
      for (; open < count; open += STREAMS_A_KEY)
        await clients.ask({ open: Math.min(STREAMS_A_KEY, count - open), key: await addKey() });
      open = count;
      await minute();
      const before = await clients.ask<{ streams: number; events: number }>({});
      if (before.streams !== count) throw new Error(`${before.streams} of ${count} streams are open`);
      const logged = server.log().length;
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) times.push((await minute()).main);
      const after = await clients.ask<{ events: number }>({});
      const steps = reportedIn(server.log().slice(logged));
      const longest = steps.toSorted((a, b) => b.cpuMs - a.cpuMs)[0];
      const round = medianOf(times);
      figures.push({
        ...{ streams: count, round, lost: count * tickers * rounds - (after.events - before.events) },
        event: (1e3 * (round[1] - (figures[0]?.round[1] ?? round[1]))) / (count * tickers),
        ...{ step: longest?.ms ?? 0, stepCpu: longest?.cpuMs ?? 0 },
      });
    }
    return figures;
  });
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf(figures: readonly FanOutFigures[], { tickers, rounds }: FanOutOptions): string {
  const fed = figures.slice(1);
  const line = ({ streams, round, event, lost, step, stepCpu }: FanOutFigures) =>
    `| ${streams.toLocaleString('en-US')} | ${medianText(round)} | ${streams > 0 ? event.toPrecision(3) : ''} | ${lost} | ${step > 0 ? `${step.toFixed(0)} (${stepCpu.toFixed(0)})` : `below ${STEP_MS_MAX}`} |`;
  return `${HEADING}

${generatedBy('bun bench/fan-out.ts')}

In each of ${rounds} rounds, ${tickers} tickers get new levels from files. Each stream has all tickers; the clients are another process. CPU is that of the server's
main thread, medians with their 95 % interval. The time for an event and stream is without the time of a round that no stream reads. Steps are
those of more than ${STEP_MS_MAX} ms that the server's watchdog has logged.

| streams | CPU of a round, ms | CPU µs an event and stream | events lost | longest step (its CPU), ms |
|---|---|---|---|---|
${figures.map(line).join('\n')}

${fed.map(({ streams, event }) => targetLine(`CPU of an event and stream at ${streams.toLocaleString('en-US')} streams, µs`, event, EVENT_US)).join('')}${targetLine('longest step, ms of its own CPU', Math.max(...fed.map(({ stepCpu }) => stepCpu)), STEP_MS_MAX)}${targetLine('events lost', Math.max(...fed.map(({ lost }) => Math.abs(lost))), 0)}`;
}

/** `bun bench/fan-out.ts [--write]` takes two minutes. It needs 3,000 file descriptors. */
if (import.meta.main) {
  const options: FanOutOptions = { tickers: 60, streams: [1_000, 2_400], rounds: 5 };
  await runSection(HEADING, async () => sectionOf(await measureFanOut(BINARY, options), options));
}
