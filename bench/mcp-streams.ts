import { readFileSync } from 'node:fs';
import { quantile } from '../src/bench/race.ts';
import { beginStreamable, INITIALIZE, INITIALIZED, openSseStream, type Target } from '../test/support/mcp-wire.ts';
import type { Server } from '../test/support/process.ts';
import { requestText, Wire } from '../test/support/wire.ts';

export interface StreamOptions {
  readonly streams: number;
  /** How often so many come and go: the middle one counts. */
  readonly crowds: number;
  /** Requests of /health without and with the streams. */
  readonly asks: number;
  /** The longest time for memory to come to rest, before and after, and to come back, s. */
  readonly settleS: number;
  readonly backS: number;
}

export interface StreamFigures {
  readonly kind: keyof typeof KINDS;
  readonly streams: number;
  /** Resident memory that each has taken, bytes; NaN where the system has no /proc. */
  readonly bytes: number;
  /** /health without streams and with them, ms. */
  readonly alone: Latency;
  readonly beside: Latency;
  /** Share of the memory that is back in time, and after how many seconds BACK_SHARE of it was; NaN: not in time. */
  readonly back: number;
  readonly backAfterS: number;
  /** Streams that the server has ended, though their clients were there. */
  readonly lost: number;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** What must be back in time. */
export const BACK_SHARE = 0.95;

interface Idle {
  readonly stream: Wire;
  /** What its client says when it leaves. */
  readonly farewell?: string;
}

/** Opens a stream that waits. A client that initialises posts over a wire that many share. */
const KINDS = {
  'GET /sse': async (target: Target): Promise<Idle> => openSseStream(target),
  'GET /sse, initialised': async (target: Target, shared: Wire): Promise<Idle> => {
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

/** Opens streams to a server of their own, lets them wait, and closes them. */
export async function measureStreams(
  server: Server,
  key: string,
  kind: keyof typeof KINDS,
  { streams, crowds: times, asks, settleS, backS }: StreamOptions,
): Promise<StreamFigures> {
  const target = { url: server.url, key };
  // Compiled code and what is made once do not count as memory of a stream; what a first crowd leaves behind does.
  await leave(target, await openAll(target, kind, Math.min(streams, WARM_STREAMS)));
  const alone = await askHealth(target.url, asks);
  const crowds: Crowd[] = [];
  // A thousand streams take no more than what a process gives back by itself now and then: of few, several crowds are needed.
  while (crowds.length < times) crowds.push(await crowd());
  const middle = (of: (each: Crowd) => number) => quantile(crowds.map(of), 0.5);
  return {
    ...{ kind, streams, alone, beside: crowds[0]!.beside, bytes: middle(({ bytes }) => bytes) },
    ...{ back: middle(({ back }) => back), backAfterS: middle(({ backAfterS }) => backAfterS) },
    lost: crowds.reduce((sum, { lost }) => sum + lost, 0),
  };

  async function crowd(): Promise<Crowd> {
    const before = await settled(server.pid, settleS);
    const opened = await openAll(target, kind, streams);
    const beside = await askHealth(target.url, asks);
    const open = await settled(server.pid, settleS);
    const lost = opened.filter(({ stream }) => stream.isEnded).length;
    await leave(target, opened);
    const share = () => (open - residentBytes(server.pid)) / (open - before);
    const closedAt = performance.now();
    let backAfterS = Number.NaN;
    for (let passedS = 0; passedS < backS && Number.isNaN(backAfterS); ) {
      await Bun.sleep(LOOK_MS);
      passedS = (performance.now() - closedAt) / 1_000;
      if (share() >= BACK_SHARE) backAfterS = passedS;
    }
    return { bytes: (open - before) / streams, beside, back: share(), backAfterS, lost };
  }
}

type Crowd = Pick<StreamFigures, 'bytes' | 'beside' | 'back' | 'backAfterS' | 'lost'>;
/** So many come and go before memory is looked at first. */
export const WARM_STREAMS = 200;
/** So many are opened at once. */
const AT_ONCE = 50;
const LOOK_MS = 250;

async function openAll(target: Target, kind: keyof typeof KINDS, count: number): Promise<Idle[]> {
  const opened: Idle[] = [];
  let left = count;
  await overShared(target, async (shared) => {
    while (left-- > 0) opened.push(await KINDS[kind](target, shared));
  });
  return opened;
}

async function leave(target: Target, opened: readonly Idle[]): Promise<void> {
  const left = [...opened];
  await overShared(target, async (shared) => {
    for (let idle = left.pop(); idle; idle = left.pop()) {
      if (idle.farewell) await shared.ask(idle.farewell);
      idle.stream.cut();
    }
  });
}

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

/** Resident memory once it moves no more: garbage of what was just done is not what streams hold. */
async function settled(pid: number, settleS: number): Promise<number> {
  const seen: number[] = [];
  for (let look = 0; look < settleS * 4; look++) {
    await Bun.sleep(LOOK_MS);
    seen.push(residentBytes(pid));
    const last = seen.slice(-STEADY_LOOKS);
    if (last.length === STEADY_LOOKS && Math.max(...last) - Math.min(...last) < STEADY_BYTES) break;
  }
  return seen.at(-1)!;
}

/** Five seconds without a change to speak of: longer than the runtime waits before it collects when nothing happens. */
const STEADY_LOOKS = 20;
const STEADY_BYTES = 256 * 1024;
const PAGE_BYTES = 4096;

/** NaN where the system has no /proc. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return Number.NaN;
  }
}
