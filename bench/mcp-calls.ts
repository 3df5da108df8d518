import { quantile } from '../src/bench/race.ts';
import type { Target } from '../test/support/mcp-wire.ts';
import { CALLERS, type Session } from './mcp-sessions.ts';

export interface CallOptions {
  /** Number of sessions that call at once. */
  readonly sessions: number;
  /** Number of rounds that are measured. One more round before them is a warm-up. */
  readonly rounds: number;
  /** Time for which each way of CALLERS is measured in a round, ms. */
  readonly sliceMs: number;
}

/** Figures of one way to call a tool: medians over the rounds. Times are in ms. */
export interface CallFigures {
  readonly caller: keyof typeof CALLERS;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The 99th percentile divided by that of REST in the same round: lower quartile, median, upper quartile over the rounds. */
  readonly ratio: readonly [low: number, median: number, high: number];
  /** Number of calls in all rounds. */
  readonly calls: number;
}

/** The tools that are called: a read of the newest levels, and a computation that takes almost no time. */
export const CALLS = {
  get_live_gex_nodes: { ticker: 'SPY' },
  calculate_kelly_sizing: { win_prob: 0.6 },
} as const;

/**
 * Measures the calls of a tool in every way of CALLERS. The ways take turns against one server, so that a disturbance of the machine
 * affects all of them. The first round is a warm-up.
 */
export async function measureCalls(
  target: Target,
  tool: keyof typeof CALLS,
  { sessions, rounds, sliceMs }: CallOptions,
): Promise<CallFigures[]> {
  const callers = Object.keys(CALLERS) as (keyof typeof CALLERS)[];
  const opened = new Map<string, Session[]>();
  for (const caller of callers) {
    opened.set(caller, await Promise.all(Array.from({ length: sessions }, () => CALLERS[caller](target))));
  }
  const slices = callers.map(() => [] as Slice[]);
  for (let round = -1; round < rounds; round++) {
    for (let turn = 0; turn < callers.length; turn++) {
      const i = (Math.max(0, round) + turn) % callers.length;
      const slice = await callAll(opened.get(callers[i]!)!, tool, sliceMs);
      if (round >= 0) slices[i]!.push(slice);
    }
  }
  for (const { wires } of [...opened.values()].flat()) for (const wire of wires) wire.cut();
  return callers.map((caller, i) => {
    const own = slices[i]!;
    const ratios = own.map(({ p99 }, round) => p99 / slices[0]![round]!.p99);
    return {
      caller,
      perSecond: quantile(
        own.map((each) => each.perSecond),
        0.5,
      ),
      p50: quantile(
        own.map((each) => each.p50),
        0.5,
      ),
      p99: quantile(
        own.map((each) => each.p99),
        0.5,
      ),
      ratio: [quantile(ratios, 0.25), quantile(ratios, 0.5), quantile(ratios, 0.75)],
      calls: own.reduce((sum, { calls }) => sum + calls, 0),
    };
  });
}

interface Slice {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly calls: number;
}

/** Calls the tool for `sliceMs`. Each session sends its next call as soon as it has the answer to the last one. */
async function callAll(sessions: readonly Session[], tool: keyof typeof CALLS, sliceMs: number): Promise<Slice> {
  const times: number[] = [];
  const startedAt = performance.now();
  const callOn = async ({ call }: Session): Promise<void> => {
    for (let now = startedAt; now - startedAt < sliceMs; ) {
      const askedAt = performance.now();
      await call(tool, CALLS[tool]);
      now = performance.now();
      times.push(now - askedAt);
    }
  };
  await Promise.all(sessions.map(callOn));
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    calls: times.length,
  };
}
