import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { NoDiskSpace } from '../../src/feeds/disk-space.ts';
import { ingestOnce } from '../../src/feeds/ingest.ts';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import { createSimulatedFeed } from '../../src/feeds/simulated/simulated-feed.ts';
import { simulatedPrintsIn } from '../../src/feeds/simulated/simulated-prints.ts';
import { DAY_MS } from '../../src/market/calendar.ts';
import { newestSimulated, pastMoments } from '../../src/market/simulated-past.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { fillPast, type PastDeps, startPastFill } from '../../src/server/fill-past.ts';
import { encodeChain } from '../../src/store/chain-codec.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { overriding } from '../support/overriding.ts';
import { recordLevels } from '../support/record-levels.ts';

/** The past of a simulated market of small tickers. The present is a Tuesday at noon. */
const NOW = Date.parse('2026-11-24T17:00:30Z');
const NEWEST = newestSimulated(NOW, 'real');
const MOMENTS = pastMoments(NEWEST);
const SEED = 5;
const LARGE_PRINT_MIN_USD = 100_000;
const ALWAYS = [0, Number.MAX_SAFE_INTEGER] as const;
const universeOf = (tickers: readonly string[]) => loadUniverse(JSON.stringify({ themes: { few: tickers } }));
const [UUP] = instrumentsOf({ seed: SEED, universe: universeOf(['UUP']), clock: 'real' });

/** A store with the present of the tickers: what the feed delivers with its first poll, and the levels. */
async function openPresent(tickers: readonly string[]): Promise<Store> {
  const store = openStore(':memory:', () => NOW);
  const feed = createSimulatedFeed({ seed: SEED, universe: universeOf(tickers), clock: 'real' });
  store.openFeeds([feed]);
  store.sumPrintsFrom(LARGE_PRINT_MIN_USD);
  await ingestOnce({ feed, store, observe: () => {}, nowMs: () => NOW });
  await recordLevels(store);
  return store;
}

function depsOf(store: Store, tickers: readonly string[], deps: Partial<PastDeps> = {}): PastDeps {
  return {
    ...{
      store,
      seed: SEED,
      universe: universeOf(tickers),
      clock: 'real' as const,
      largePrintMinUsd: LARGE_PRINT_MIN_USD,
      nowMs: () => NOW,
    },
    ...{ tickerInView: () => tickers[0]!, isAnswering: () => false, observe: () => {} },
    room: { fullReason: () => undefined },
    ...deps,
  };
}

/** Makes each snapshot take 5 ms at least, so that no machine is fast enough for many of them in one transaction. */
const slowly = (tickers: readonly string[]): Partial<PastDeps> => ({
  tickerInView() {
    Bun.sleepSync(5);
    return tickers[0]!;
  },
});

/** The moments of a ticker's snapshots, the newest first. */
const storedOf = (store: Store, ticker: string) =>
  store
    .snapshots(ticker)
    .map(({ asOf }) => asOf)
    .reverse();

describe('a whole past', () => {
  let store: Store;
  /** The number of snapshots before each end: the fill is stopped, and killed in the middle of a transaction, before it completes. */
  const interrupted: number[] = [];
  const observed: Observation[] = [];
  beforeAll(async () => {
    store = await openPresent(['UUP']);
    const count = () => storedOf(store, 'UUP').length;
    await fillPast(depsOf(store, ['UUP'], slowly(['UUP'])), () => count() > 5);
    interrupted.push(count());
    const killed = overriding(store, {
      saveLevels(...args) {
        store.saveLevels(...args);
        if (count() > 60) throw new Error('killed');
      },
    });
    await expect(fillPast(depsOf(killed, ['UUP'], slowly(['UUP'])))).rejects.toThrow('killed');
    interrupted.push(count());
    await fillPast(depsOf(store, ['UUP'], { observe: (each) => void observed.push(each) }));
  });
  afterAll(() => store.close());

  test('is continued after an interruption, and stores snapshots with their levels', () => {
    expect(interrupted[0]).toBeGreaterThan(5);
    expect(interrupted[1]).toBeGreaterThan(interrupted[0]!);
    expect(interrupted[1]).toBeLessThan(MOMENTS.length);
    const times = store.levelTimes('UUP', ...ALWAYS, 'snapshot', true);
    expect(times.toReversed()).toEqual([NEWEST, ...MOMENTS]);
    expect(storedOf(store, 'UUP')).toEqual([NEWEST, ...MOMENTS]);
  });

  test('has the snapshots that the feed would have delivered', () => {
    for (const asOf of MOMENTS) {
      const chain = store.chain(store.chainIdAt('UUP', true, asOf)!)!;
      // As bytes, because columns with gaps (NaN) are never equal.
      expect(Bun.hash(encodeChain(chain))).toBe(Bun.hash(encodeChain(simulatedChain(UUP!, asOf))));
      expect([chain.asOf, chain.source, chain.simulated]).toEqual([asOf, 'simulated', true]);
    }
  });

  test('has the levels that the recorder computes when a snapshot arrives', async () => {
    for (const asOf of [MOMENTS[0]!, MOMENTS[30]!, MOMENTS.at(-1)!]) {
      const live = openStore(':memory:', () => NOW);
      live.sumPrintsFrom(LARGE_PRINT_MIN_USD);
      live.savePrints(simulatedPrintsIn(UUP!, asOf - 40 * DAY_MS, asOf));
      live.saveChain(simulatedChain(UUP!, asOf));
      await recordLevels(live);
      const [recorded] = live.levels('UUP', [asOf], true);
      expect(store.levels('UUP', [asOf], true)).toEqual([recorded!]);
      expect(recorded!.atmIv30d).toBeGreaterThan(0);
      live.close();
    }
  });

  test('has the prints of the 30 days before each snapshot', () => {
    const ids = (prints: readonly { id: string }[]) => prints.map(({ id }) => id).sort();
    const wanted = simulatedPrintsIn(UUP!, MOMENTS.at(-1)! - 30 * DAY_MS - 1, NEWEST);
    expect(ids(store.prints('UUP', ...ALWAYS, true, 0))).toEqual(ids(wanted.filter(({ canceled }) => !canceled)));
  });

  test('is no news: no event, no levels that are due', () => {
    expect(store.levelEvents(0, 9, true).map(({ asOf }) => asOf)).toEqual([NEWEST]);
    expect(store.levelsDue()).toEqual([]);
  });

  test('is reported, also in the ledger', () => {
    const total = MOMENTS.length;
    const done = interrupted[1]! - 1;
    expect(observed[0]).toEqual({ kind: 'past_filling', done, total });
    expect(observed.length).toBeLessThanOrEqual(7);
    expect(observed.at(-1)).toMatchObject({ kind: 'past_filled', snapshots: total - done });
    expect(store.feedStates()[0]!.past).toEqual({ done: total, total });
  });

  test('is not filled again, and the snapshots that the feed delivers stay as they are', async () => {
    const ids = () => [NEWEST, ...MOMENTS].map((asOf) => store.chainIdAt('UUP', true, asOf));
    const before = ids();
    const again: Observation[] = [];
    await fillPast(depsOf(store, ['UUP'], { observe: (each) => void again.push(each) }));
    expect([ids(), again]).toEqual([before, []]);
  });
});

test('the ticker in view comes first, also if it changes', async () => {
  const tickers = ['UUP', 'CHPT', 'AMC'];
  const store = await openPresent(tickers);
  const order: string[] = [];
  const saveChain: Store['saveChain'] = (chain) => {
    if (order.at(-1) !== chain.underlying) order.push(chain.underlying);
    return store.saveChain(chain);
  };
  const tickerInView = () => {
    slowly(tickers).tickerInView!();
    return order.length === 0 ? 'CHPT' : 'AMC';
  };
  await fillPast(depsOf(overriding(store, { saveChain }), tickers, { tickerInView }), () => order.includes('AMC'));
  expect(order).toEqual(['CHPT', 'AMC']);
  store.close();
});

test('other work has its turn between steps, and clients that wait come first', async () => {
  const store = await openPresent(['UUP']);
  let turns = 0;
  let isRunning = true;
  const others = (async () => {
    for (; isRunning; turns++) await new Promise(setImmediate);
  })();
  await fillPast(depsOf(store, ['UUP'], slowly(['UUP'])), () => storedOf(store, 'UUP').length > 30);
  isRunning = false;
  await others;
  // Each snapshot takes several steps.
  expect(turns).toBeGreaterThan(2 * storedOf(store, 'UUP').length);

  /** The number of snapshots at each look whether a client waits. */
  const looks: number[] = [];
  const isAnswering = () => looks.push(storedOf(store, 'UUP').length) > 0;
  await fillPast(depsOf(store, ['UUP'], { isAnswering, ...slowly(['UUP']) }), () => looks.length > 5);
  expect(new Set(looks).size).toBe(1);
  expect(storedOf(store, 'UUP').length).toBe(looks[0]!);
  store.close();
});

test('a full data folder stops the fill, which is reported', async () => {
  const store = await openPresent(['UUP']);
  let checks = 0;
  const room = { fullReason: () => (++checks > 1 ? 'full' : undefined) };
  await expect(fillPast(depsOf(store, ['UUP'], { room, ...slowly(['UUP']) }))).rejects.toThrow(NoDiskSpace);
  expect(store.feedStates()[0]!.past!.done).toBeLessThan(MOMENTS.length);
  const failed = Promise.withResolvers<Observation>();
  const observe = (each: Observation) => each.kind !== 'past_filling' && failed.resolve(each);
  const fill = startPastFill(depsOf(store, ['UUP'], { room, observe }));
  expect(await failed.promise).toEqual({ kind: 'past_failed', error: 'full' });
  await fill.stop();
  store.close();
});
