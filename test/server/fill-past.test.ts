import { afterAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NoRoom } from '../../src/feeds/data-room.ts';
import { ingestOnce } from '../../src/feeds/ingest.ts';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import { createSimulatedFeed } from '../../src/feeds/simulated/simulated-feed.ts';
import { simulatedPrintsIn } from '../../src/feeds/simulated/simulated-prints.ts';
import { DAY_MS } from '../../src/market/calendar.ts';
import { sameQuotes } from '../../src/market/chain.ts';
import type { PastProgress } from '../../src/market/feed-ledger.ts';
import { newestSimulated, pastMoments } from '../../src/market/simulated-past.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { createLevelRecorder } from '../../src/operations/history/level-recorder.ts';
import { fillPast, type PastDeps } from '../../src/server/fill-past.ts';
import { encodeChain } from '../../src/store/chain-codec.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';

/** The past of a simulated market of small tickers, filled in this process. The present is a Tuesday at noon. */
const NOW = Date.parse('2026-11-24T17:00:30Z');
const NEWEST = newestSimulated(NOW);
const MOMENTS = pastMoments(NEWEST);
const SEED = 5;
const LARGE_PRINT_MIN_USD = 100_000;
const ALWAYS = [0, Number.MAX_SAFE_INTEGER] as const;
const universeOf = (...tickers: string[]) => loadUniverse(JSON.stringify({ themes: { few: tickers } }));

function openFilled(): Store {
  const store = openStore(':memory:', () => NOW);
  store.openFeeds([{ name: 'simulated', simulated: true, tickers: [] }]);
  store.sumPrintsFrom(LARGE_PRINT_MIN_USD);
  return store;
}

function fill(store: Store, tickers: readonly string[], deps: Partial<PastDeps> = {}): Promise<void> {
  const given = {
    store,
    seed: SEED,
    universe: universeOf(...tickers),
    nowMs: NOW,
    largePrintMinUsd: LARGE_PRINT_MIN_USD,
  };
  return fillPast({ ...given, tickerInView: () => tickers[0]!, ...deps });
}

/** Everything that a fill stores of a ticker, without the numbers of rows. */
function contentOf(store: Store, ticker: string) {
  const times = store.levelTimes(ticker, ...ALWAYS, 'snapshot', true);
  return {
    snapshots: store.snapshots(ticker),
    // As digests, because columns with gaps (NaN) are never equal.
    chains: times.map((at) => Bun.hash(encodeChain(store.chain(store.chainIdAt(ticker, true, at)!)!))),
    levels: store.levels(ticker, times, true),
    prints: store.prints(ticker, ...ALWAYS, true, 0),
  };
}

describe('a whole past', async () => {
  const tickers = ['UUP', 'CHPT'];
  const store = openFilled();
  const progress: PastProgress[] = [];
  await fill(store, tickers, { onProgress: (past) => void progress.push(past) });
  afterAll(() => store.close());

  test('has the snapshots that the feed would have delivered, and no others', () => {
    for (const instrument of instrumentsOf(SEED, universeOf(...tickers))) {
      const stored = store.snapshots(instrument.ticker);
      expect(stored.map(({ asOf }) => asOf)).toEqual(MOMENTS.toReversed());
      for (const { asOf } of stored) {
        const chain = store.chain(store.chainIdAt(instrument.ticker, true, asOf)!)!;
        if (!sameQuotes(chain, simulatedChain(instrument, asOf))) throw new Error(`${instrument.ticker} at ${asOf}`);
        expect([chain.source, chain.simulated]).toEqual(['simulated', true]);
      }
    }
  });

  test('has the levels that the recorder computes when a snapshot arrives', async () => {
    const [instrument] = instrumentsOf(SEED, universeOf(...tickers));
    for (const asOf of [MOMENTS[0]!, MOMENTS[30]!, MOMENTS.at(-1)!]) {
      const live = openFilled();
      live.savePrints(simulatedPrintsIn(instrument!, asOf - 40 * DAY_MS, asOf));
      live.saveChain(simulatedChain(instrument!, asOf));
      const recorder = createLevelRecorder({ store: live, largePrintMinUsd: LARGE_PRINT_MIN_USD, observe: () => {} });
      recorder.wake();
      await recorder.idle();
      await recorder.stop();
      const [recorded] = live.levels('UUP', [asOf], true);
      expect(store.levels('UUP', [asOf], true)).toEqual([recorded!]);
      expect(recorded!.atmIv30d).toBeGreaterThan(0);
      live.close();
    }
  });

  test('has the prints of the 30 days before each snapshot, up to those that the feed delivers', () => {
    const [instrument] = instrumentsOf(SEED, universeOf(...tickers));
    const from = MOMENTS.at(-1)! - 30 * DAY_MS;
    const ids = (prints: readonly { id: string }[]) => prints.map(({ id }) => id).sort();
    const kept = simulatedPrintsIn(instrument!, from - 1, NEWEST - 30 * DAY_MS).filter(({ canceled }) => !canceled);
    expect(kept.length).toBeGreaterThan(50);
    expect(ids(store.prints('UUP', ...ALWAYS, true, 0))).toEqual(ids(kept));
  });

  test('is no news: no event, no levels that are due', () => {
    expect([store.levelEvents(0, 9, true), store.levelsDue()]).toEqual([[], []]);
  });

  test('reports its progress, also in the ledger', () => {
    const total = 2 * MOMENTS.length;
    expect(progress[0]).toEqual({ done: 0, total });
    expect(progress.every(({ done }, i) => i === 0 || done >= progress[i - 1]!.done)).toBe(true);
    expect(progress.at(-1)).toEqual({ done: total, total });
    expect(store.feedStates()[0]!.past).toEqual({ done: total, total });
  });

  test('is not filled again', async () => {
    const before = store.snapshots().map(({ underlying, asOf }) => store.chainIdAt(underlying, true, asOf));
    const again: PastProgress[] = [];
    await fill(store, tickers, { onProgress: (past) => void again.push(past) });
    expect(again).toEqual([progress.at(-1)!, progress.at(-1)!]);
    expect(store.snapshots().map(({ underlying, asOf }) => store.chainIdAt(underlying, true, asOf))).toEqual(before);
  });
});

/** An end of a fill: it is stopped after some looks at `isStopped`, or it breaks off in the middle of a transaction. */
const end = fc.record({ isStop: fc.boolean(), after: fc.nat(60) });

test('a fill that was interrupted is continued to the same past, whatever ticker was in view', async () => {
  const whole = openFilled();
  await fill(whole, ['UUP']);
  const expected = contentOf(whole, 'UUP');
  whole.close();
  await fc.assert(
    fc.asyncProperty(fc.array(end, { maxLength: 4 }), fc.constantFrom('UUP', 'NONE'), async (ends, view) => {
      const store = openFilled();
      for (const { isStop, after } of ends) {
        let count = 0;
        const broken: Store = {
          ...store,
          savePastLevels(...levels) {
            if (++count > after) throw new Error('killed');
            store.savePastLevels(...levels);
          },
        };
        const stopped = { isStopped: () => ++count > after, tickerInView: () => view };
        await (isStop ? fill(store, ['UUP'], stopped) : fill(broken, ['UUP']).catch(() => {}));
      }
      await fill(store, ['UUP']);
      expect(contentOf(store, 'UUP')).toEqual(expected);
      store.close();
    }),
    { numRuns: 4 },
  );
});

test('the ticker in view comes first, also if it changes', async () => {
  const store = openFilled();
  const order: string[] = [];
  let view = 'CHPT';
  const savePastLevels: Store['savePastLevels'] = (record, source) => {
    if (order.at(-1) !== record.underlying) order.push(record.underlying);
    store.savePastLevels(record, source);
    view = 'AMC';
  };
  const isStopped = () => order.includes('UUP');
  await fill({ ...store, savePastLevels }, ['UUP', 'CHPT', 'AMC'], { tickerInView: () => view, isStopped });
  expect(order.slice(0, 2)).toEqual(['CHPT', 'AMC']);
  store.close();
});

test('snapshots come before the volatilities at 30 days', async () => {
  const store = openFilled();
  const rows = () => store.levels('UUP', store.levelTimes('UUP', ...ALWAYS, 'snapshot', true), true);
  let without: number | undefined;
  const saveVolatility: Store['saveVolatility'] = (levels, volatility) => {
    without ??= rows().filter(({ atmIv30d }) => atmIv30d === null).length;
    store.saveVolatility(levels, volatility);
  };
  await fill({ ...store, saveVolatility }, ['UUP']);
  expect([without, rows().every(({ atmIv30d }) => atmIv30d! > 0)]).toEqual([MOMENTS.length, true]);
  store.close();
});

test('nothing is written before the store may be written', async () => {
  const store = openFilled();
  const { promise: mayWrite, resolve } = Promise.withResolvers<void>();
  let looks = 0;
  const filled = fill(store, ['UUP'], {
    mayWrite,
    isStopped: () => {
      // By then, the snapshots of the ticker have been computed.
      if (++looks === MOMENTS.length) {
        expect(store.snapshots()).toEqual([]);
        resolve();
      }
      return false;
    },
  });
  await filled;
  expect(store.snapshots()).toHaveLength(MOMENTS.length);
  store.close();
});

test('what the feed has delivered stays as it is', async () => {
  const store = openFilled();
  const universe = universeOf('UUP');
  const feed = createSimulatedFeed({ seed: SEED, universe });
  for (const nowMs of [NOW - 1_800_000, NOW]) await ingestOnce({ feed, store, observe: () => {}, nowMs: () => nowMs });
  const halfPast = NEWEST - 1_800_000;
  const ids = () => [halfPast, NEWEST].map((at) => store.chainIdAt('UUP', true, at));
  const before = ids();
  await fill(store, ['UUP']);
  expect(ids()).toEqual(before);
  expect(store.snapshots('UUP')).toHaveLength(MOMENTS.length + 1);
  // Their levels are still the recorder's work, and news.
  expect(store.levelsDue()).toHaveLength(2);
  store.close();
});

test('a full data folder stops the fill', async () => {
  const store = openFilled();
  let checks = 0;
  const room = { fullReason: () => (++checks > 1 ? 'full' : undefined) };
  await expect(fill(store, ['UUP'], { room })).rejects.toThrow(NoRoom);
  expect(store.feedStates()[0]!.past!.done).toBeLessThan(MOMENTS.length);
  store.close();
});
