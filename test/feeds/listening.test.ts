import { expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { type IngestDeps, startIngest } from '../../src/feeds/ingest.ts';
import type { Delivery, Feed } from '../../src/market/feed.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { printOf } from '../store/samples.ts';

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
    name: 'massive',
    simulated: false,
    pace: { everyMs: 1e9, hours: 'always', delayMs: 0 },
    tickers: ['SPX'],
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

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

/** Starts a listener on a store. `store` may be another view of the same data. */
function listening(script: Scripted, store: Store, overrides: Partial<IngestDeps> = {}) {
  const seen: Observation[] = [];
  const ingest = startIngest({
    ...{ feed: script.feed, store, nowMs: () => now, observe: (each: Observation) => seen.push(each) },
    ...overrides,
  });
  return { ingest, seen };
}
let now = 1_000;
const stateOf = (store: Store) => store.feedStates()[0]!;
const up: Delivery = { kind: 'connection', up: true, at: 1_000 };

function opened(): Store {
  now = 1_000;
  const store = openStore(':memory:', Date.now);
  store.openFeeds([{ name: 'massive', simulated: false, tickers: ['SPX'] }]);
  return store;
}

test('stores prints as they arrive, and records a gap from a stop on', async () => {
  const [store, script] = [opened(), scripted()];
  const { ingest } = listening(script, store);
  await until(() => script.opened() === 1);
  script.send(up);
  script.send({ kind: 'prints', prints: [printOf('a', { simulated: false })] });
  await until(() => store.prints('SPX', 0, 1e15, false, 0).length === 1);
  now = 5_000;
  await ingest.stop();
  expect(stateOf(store).gaps).toEqual([{ from: 5_000, to: null, reason: 'the service was stopped' }]);
  store.close();
});

test('a killed process leaves a gap from its last liveness record', async () => {
  const [store, script] = [opened(), scripted()];
  store.connection('massive', true, 2_000, null);
  store.pollEnded({ feed: 'massive', beganAt: 3_000, endedAt: 3_500, nextAt: 9_000, error: null });
  const { ingest } = listening(script, store);
  await until(() => script.opened() === 1);
  script.send({ ...up, at: 7_000 });
  await until(() => stateOf(store).gaps[0]?.to === 7_000);
  expect(stateOf(store).gaps).toEqual([{ from: 3_500, to: 7_000, reason: 'the service ended unexpectedly' }]);
  await ingest.stop();
  store.close();
});

test('a process that ends does not mark the stream of another process as down', async () => {
  const [store, script] = [opened(), scripted()];
  const { ingest } = listening(script, store);
  await until(() => script.opened() === 1);
  script.send(up);
  await until(() => stateOf(store).connection?.up === true);
  store.connection('massive', true, 4_000, null);
  await ingest.stop();
  expect(stateOf(store)).toMatchObject({ connection: { up: true, at: 4_000 }, gaps: [] });
  store.close();
});

test('a stream that breaks leaves its earlier prints stored, and a gap from the break on', async () => {
  const [store, script] = [opened(), scripted()];
  const { ingest, seen } = listening(script, store);
  await until(() => script.opened() === 1);
  script.send(up);
  await until(() => stateOf(store).connection?.up === true);
  script.send({ kind: 'prints', prints: [printOf('a', { simulated: false })] });
  script.end(new Error('cable pulled'));
  await until(() => stateOf(store).gaps.length === 1);
  expect(store.prints('SPX', 0, 1e15, false, 0)).toHaveLength(1);
  expect(seen.map(({ kind }) => kind)).toContain('ingest_failed');
  expect(stateOf(store).gaps[0]).toMatchObject({ to: null, reason: 'the stream ended' });
  await ingest.stop();
  store.close();
});

test('a write that another process blocks is retried, and no trade is lost', async () => {
  const [store, script] = [opened(), scripted()];
  let busyWrites = 2;
  const busy: Store = {
    ...store,
    transaction(work) {
      if (busyWrites-- > 0) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
      return store.transaction(work);
    },
  };
  const { ingest, seen } = listening(script, busy);
  await until(() => script.opened() === 1);
  script.send(up);
  script.send({ kind: 'prints', prints: [printOf('a', { simulated: false })] });
  await until(() => store.prints('SPX', 0, 1e15, false, 0).length === 1);
  expect([script.opened(), seen.filter(({ kind }) => kind === 'ingest_failed').length]).toEqual([1, 0]);
  await ingest.stop();
  store.close();
});

test('a store that refuses every write ends neither the process nor the stop', async () => {
  const [store, script] = [opened(), scripted()];
  const broken: Store = {
    ...store,
    connection() {
      throw new Error('disk full');
    },
  };
  store.connection('massive', true, 2_000, null);
  const { ingest, seen } = listening(script, broken);
  await until(() => script.opened() === 1 && seen.some(({ kind }) => kind === 'ingest_failed'));
  await ingest.stop();
  store.close();
});
