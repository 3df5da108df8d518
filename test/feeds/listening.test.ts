import { expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { startIngest } from '../../src/feeds/ingest.ts';
import type { Delivery, Feed } from '../../src/market/feed.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { printOf, withStore } from '../store/samples.ts';
import { overriding } from '../support/overriding.ts';
import { until } from '../support/until.ts';

/** The deliveries of a stream, and its recorded state when the stream ends, breaks, or another process writes. */
interface Scripted {
  readonly feed: Feed;
  send(delivery: Delivery): void;
  /** Ends the stream, or makes it throw. */
  end(error?: Error): void;
  readonly opened: () => number;
}

function scripted(): Scripted {
  let opened = 0;
  let queue: (Delivery | Error | undefined)[] = [];
  let wake = () => {};
  const push = (each: Delivery | Error | undefined) => {
    queue.push(each);
    wake();
  };
  const feed: Feed = {
    ...{ name: 'massive', simulated: false, pace: { everyMs: 1e9, hours: 'always', delayMs: 0 }, tickers: ['SPX'] },
    async *poll() {},
    async *stream(signal) {
      opened++;
      queue = [];
      signal.addEventListener('abort', () => push(undefined));
      while (!signal.aborted) {
        if (queue.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const next = queue.shift();
        if (next === undefined) return;
        if (next instanceof Error) throw next;
        yield next;
      }
    },
  };
  return { feed, send: push, end: push, opened: () => opened };
}

interface Listening {
  readonly script: Scripted;
  readonly store: Store;
  /** What the listener has observed. */
  readonly seen: Observation[];
  readonly ingest: ReturnType<typeof startIngest>;
}

/** Runs work beside a listener on a store. `prepare` can write to the store before, and return another view of its data for the listener. */
function listening(work: (on: Listening) => Promise<void>, prepare: (store: Store) => Store = (store) => store) {
  now = 1_000;
  return withStore(async (store) => {
    store.openFeeds([{ name: 'massive', simulated: false, tickers: ['SPX'] }]);
    const [script, seen] = [scripted(), [] as Observation[]];
    const observe = (each: Observation) => void seen.push(each);
    const ingest = startIngest({ feed: script.feed, store: prepare(store), nowMs: () => now, observe });
    await until(() => script.opened() === 1);
    await work({ script, store, seen, ingest });
    await ingest.stop();
  });
}
let now = 1_000;
const stateOf = (store: Store) => store.feedStates()[0]!;
const up: Delivery = { kind: 'connection', up: true, at: 1_000 };
const PRINTS: Delivery = { kind: 'prints', prints: [printOf('a', { simulated: false })] };
const stored = (store: Store) => store.prints('SPX', 0, 1e15, false, 0).length;

test('stores prints as they arrive, and records a gap from a stop on', () =>
  listening(async ({ script, store, ingest }) => {
    script.send(up);
    script.send(PRINTS);
    await until(() => stored(store) === 1);
    now = 5_000;
    await ingest.stop();
    expect(stateOf(store).gaps).toEqual([{ from: 5_000, to: null, reason: 'the service was stopped' }]);
  }));

test('a killed process leaves a gap from its last liveness record', () =>
  listening(
    async ({ script, store }) => {
      script.send({ ...up, at: 7_000 });
      await until(() => stateOf(store).gaps[0]?.to === 7_000);
      expect(stateOf(store).gaps).toEqual([{ from: 3_500, to: 7_000, reason: 'the service ended unexpectedly' }]);
    },
    (store) => {
      store.connection('massive', true, 2_000, null);
      store.pollEnded({ feed: 'massive', beganAt: 3_000, endedAt: 3_500, nextAt: 9_000, error: null });
      return store;
    },
  ));

test('a process that ends does not mark the stream of another process as down', () =>
  listening(async ({ script, store, ingest }) => {
    script.send(up);
    await until(() => stateOf(store).connection?.up === true);
    store.connection('massive', true, 4_000, null);
    await ingest.stop();
    expect(stateOf(store)).toMatchObject({ connection: { up: true, at: 4_000 }, gaps: [] });
  }));

test('a stream that breaks leaves its earlier prints stored, and a gap from the break on', () =>
  listening(async ({ script, store, seen }) => {
    script.send(up);
    await until(() => stateOf(store).connection?.up === true);
    script.send(PRINTS);
    script.end(new Error('cable pulled'));
    await until(() => stateOf(store).gaps.length === 1);
    expect(stored(store)).toBe(1);
    expect(seen.map(({ kind }) => kind)).toContain('ingest_failed');
    expect(stateOf(store).gaps[0]).toMatchObject({ to: null, reason: 'the stream ended' });
  }));

test('a write that another process blocks is retried, and no trade is lost', () => {
  let busyWrites = 2;
  return listening(
    async ({ script, store, seen }) => {
      script.send(up);
      script.send(PRINTS);
      await until(() => stored(store) === 1);
      expect([script.opened(), seen.filter(({ kind }) => kind === 'ingest_failed').length]).toEqual([1, 0]);
    },
    (store) => ({
      ...store,
      async write(work) {
        if (busyWrites-- > 0) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
        return store.write(work);
      },
    }),
  );
});

test('a store that refuses every write ends neither the process nor the stop', () =>
  listening(
    async ({ seen }) => {
      await until(() => seen.some(({ kind }) => kind === 'ingest_failed'));
    },
    (store) => {
      store.connection('massive', true, 2_000, null);
      return overriding(store, {
        connection() {
          throw new Error('disk full');
        },
      });
    },
  ));
