import { readFileSync } from 'node:fs';
import { quantile } from '../src/bench/race.ts';
import { beginStreamable, INITIALIZE, INITIALIZED, openSseStream, type Target } from '../test/support/mcp-wire.ts';
import type { Server } from '../test/support/process.ts';
import { requestText, Wire } from '../test/support/wire.ts';

export interface StreamOptions {
  /** Number of streams that are open at once. */
  readonly streams: number;
  /** Number of runs, in each of which the streams are opened and closed. The figures are medians over the runs. */
  readonly crowds: number;
  /** Number of requests to /health: first without the streams, then as many with the streams open. */
  readonly asks: number;
  /** The longest wait until the memory no longer changes, s. */
  readonly settleS: number;
  /** The longest wait for the release of the memory, s. */
  readonly backS: number;
}

export interface StreamFigures {
  readonly kind: keyof typeof KINDS;
  readonly streams: number;
  /** Resident memory of each stream, bytes. NaN if the system has no /proc. */
  readonly bytes: number;
  /** Times of the requests to /health without the streams, ms. */
  readonly alone: Latency;
  /** Times of the requests to /health with the streams open, in the first run, ms. */
  readonly beside: Latency;
  /**
   * Share of the memory that the server has released when the wait ends: after `backS`, or as soon as the share reaches BACK_SHARE. NaN if
   * the system has no /proc.
   */
  readonly back: number;
  /** Time until BACK_SHARE was released, s. Infinity if this did not happen within `backS` in the median run. */
  readonly backAfterS: number;
  /** Number of streams that the server ended before their clients did. */
  readonly lost: number;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Target: the share of the memory that the server releases within `backS`. */
export const BACK_SHARE = 0.95;

interface Idle {
  readonly stream: Wire;
  /** The request that the client sends before it closes the stream. */
  readonly farewell?: string;
}

/** Functions that open an idle stream, by kind. POST requests go over a connection that many streams share. */
const KINDS = {
  'GET /sse': async (target: Target): Promise<Idle> => openSseStream(target),
  'GET /sse, after `initialize`': async (target: Target, shared: Wire): Promise<Idle> => {
    const answered = Promise.withResolvers<string>();
    const { stream, endpoint } = await openSseStream(target, answered.resolve);
    await shared.ask(requestText('POST', endpoint, { 'X-API-Key': target.key }, INITIALIZE));
    await answered.promise;
    await shared.ask(requestText('POST', endpoint, { 'X-API-Key': target.key }, INITIALIZED));
    return { stream };
  },
  'session of /mcp with its GET stream': async (target: Target, shared: Wire): Promise<Idle> => {
    const headers = await beginStreamable(shared, target);
    const stream = await Wire.open(target.url, () => {});
    const { status } = await stream.ask(requestText('GET', '/mcp', headers));
    if (status !== 200) throw new Error(`GET /mcp: status ${status}`);
    return { stream, farewell: requestText('DELETE', '/mcp', headers) };
  },
} as const;

export const STREAM_KINDS = Object.keys(KINDS) as (keyof typeof KINDS)[];

/** Opens streams to a server that has no other clients, leaves them idle, and closes them. Measures memory and /health. */
export async function measureStreams(
  server: Server,
  key: string,
  kind: keyof typeof KINDS,
  { streams, crowds: runCount, asks, settleS, backS }: StreamOptions,
): Promise<StreamFigures> {
  const target = { url: server.url, key };
  // Compiled code, and objects that are created once, are not memory of a stream. These first streams let the server create them.
  await closeAll(target, await openAll(target, kind, Math.min(streams, WARM_STREAMS)));
  const alone = await askHealth(target.url, asks);
  const runs: Run[] = [];
  // A process sometimes releases as much memory by itself as a thousand streams take. So a small number of streams needs several runs.
  while (runs.length < runCount) runs.push(await measureRun());
  const middle = (of: (each: Run) => number) => quantile(runs.map(of), 0.5);
  return {
    ...{ kind, streams, alone, beside: runs[0]!.beside, bytes: middle(({ bytes }) => bytes) },
    ...{ back: middle(({ back }) => back), backAfterS: middle(({ backAfterS }) => backAfterS) },
    lost: runs.reduce((sum, { lost }) => sum + lost, 0),
  };

  async function measureRun(): Promise<Run> {
    const before = await settledBytes(server.pid, settleS);
    const opened = await openAll(target, kind, streams);
    const beside = await askHealth(target.url, asks);
    const open = await settledBytes(server.pid, settleS);
    const lost = opened.filter(({ stream }) => stream.isEnded).length;
    await closeAll(target, opened);
    const share = () => (open - residentBytes(server.pid)) / (open - before);
    const closedAt = performance.now();
    let backAfterS = Number.POSITIVE_INFINITY;
    for (let passedS = 0; passedS < backS && backAfterS === Number.POSITIVE_INFINITY; ) {
      await Bun.sleep(LOOK_MS);
      passedS = (performance.now() - closedAt) / 1_000;
      if (share() >= BACK_SHARE) backAfterS = passedS;
    }
    return { bytes: (open - before) / streams, beside, back: share(), backAfterS, lost };
  }
}

type Run = Pick<StreamFigures, 'bytes' | 'beside' | 'back' | 'backAfterS' | 'lost'>;
/** Number of streams that are opened and closed before the memory is measured for the first time. */
export const WARM_STREAMS = 200;
/** Number of streams that are opened at the same time. */
const AT_ONCE = 50;
/** Time between two measurements of the memory, ms. */
const LOOK_MS = 250;

/** Opens `count` streams. */
async function openAll(target: Target, kind: keyof typeof KINDS, count: number): Promise<Idle[]> {
  const opened: Idle[] = [];
  let left = count;
  await overShared(target, async (shared) => {
    while (left-- > 0) opened.push(await KINDS[kind](target, shared));
  });
  return opened;
}

/** Closes the streams. */
async function closeAll(target: Target, opened: readonly Idle[]): Promise<void> {
  const left = [...opened];
  await overShared(target, async (shared) => {
    for (let idle = left.pop(); idle; idle = left.pop()) {
      if (idle.farewell) await shared.ask(idle.farewell);
      idle.stream.cut();
    }
  });
}

/** Runs `work` AT_ONCE times in parallel, each time with a connection of its own. */
async function overShared(target: Target, work: (shared: Wire) => Promise<void>): Promise<void> {
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const shared = await Wire.open(target.url);
      await work(shared);
      shared.cut();
    }),
  );
}

async function askHealth(url: string, asks: number): Promise<Latency> {
  const wire = await Wire.open(url);
  const request = requestText('GET', '/health', {});
  const times: number[] = [];
  for (let ask = 0; ask < asks; ask++) {
    const askedAt = performance.now();
    await wire.ask(request);
    times.push(performance.now() - askedAt);
  }
  wire.cut();
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/**
 * Returns the resident memory when it no longer changes, or after `settleS`. Right after opening or closing streams, the memory still has
 * garbage, which is not memory of the streams.
 */
async function settledBytes(pid: number, settleS: number): Promise<number> {
  const seen: number[] = [];
  for (let look = 0; look < settleS * 4; look++) {
    await Bun.sleep(LOOK_MS);
    seen.push(residentBytes(pid));
    const last = seen.slice(-STEADY_LOOKS);
    if (last.length === STEADY_LOOKS && Math.max(...last) - Math.min(...last) < STEADY_BYTES) break;
  }
  return seen.at(-1)!;
}

/** The memory no longer changes if it is steady for this time, s. An idle runtime collects garbage after a shorter time. */
export const STEADY_S = 5;
const STEADY_LOOKS = (STEADY_S * 1_000) / LOOK_MS;
/** The memory is steady if its largest and smallest measurement differ by less than this, bytes. */
export const STEADY_BYTES = 256 * 1024;
const PAGE_BYTES = 4096;

/** Returns the resident memory of a process, bytes. Returns NaN if the system has no /proc. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return Number.NaN;
  }
}
