import { expect, test } from 'bun:test';
import { uniform } from '../../src/feeds/simulated/random.ts';
import { createMarket } from '../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { newestIvRank, yearIvRank } from '../../src/operations/reading/year-iv-rank.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { DAY_MS, keepLevels, MONDAY_MS, withStoreFile } from '../store/samples.ts';
import { IS_FULL } from '../support/size.ts';

const TICKERS = ['SPX', 'NDX', 'RUT'];
const MINUTE_MS = 60_000;
const NO_LIMITS = { presentMs: MONDAY_MS + 60 * DAY_MS };

/** One random write of levels: new, late or replaced levels, a removal of one moment or of all, or the retention of levels. */
function writeSomething(store: Store, choice: () => number): void {
  const among = <T>(values: readonly T[]) => values[Math.floor(choice() * values.length)]!;
  const underlying = among(TICKERS);
  const simulated = choice() < 0.3;
  const asOf = MONDAY_MS + among([0, 1, 2, 24, 25, 26, 27]) * DAY_MS + among([0, 1, 2, 3]) * MINUTE_MS;
  const kind = choice();
  if (kind < 0.7) keepLevels(store, { underlying, simulated, asOf, atmIv30d: among([null, 0.1, 0.2, 0.3, 0.4]) });
  else if (kind < 0.85) store.forgetSnapshots(underlying, asOf);
  else if (kind < 0.9) store.forgetSnapshots(underlying);
  else store.removeOld({ ...NO_LIMITS, levelsFromMs: MONDAY_MS + among([0, 1, 2, 24]) * DAY_MS });
}

test.each(Array.from({ length: IS_FULL ? 20 : 3 }, (_, seed) => seed))(
  'equal the stored levels after any writes of this process and of another, seed %p',
  (seed) =>
    withStoreFile((ours, path) => {
      const theirs = openStore(path, Date.now);
      let draws = 0;
      const choice = () => uniform(seed, draws++);
      // The store notices writes of other processes at most every 10 ms.
      let version = 0;
      const noticing = { ...ours, version: () => String(version++) };
      const markets = [true, false].map((simulated) => ({
        simulated,
        market: createMarket(noticing, STANDARD_UNIVERSE, simulated, Date.now),
      }));
      for (let round = 0; round < 150; round++) {
        const writer = choice() < 0.5 ? ours : theirs;
        const writes = Math.ceil(3 * choice());
        writer.transaction(() => {
          for (let i = 0; i < writes; i++) writeSomething(writer, choice);
        });
        for (const { simulated, market } of markets) {
          for (const ticker of TICKERS) {
            const [levels] = market.newestLevels([ticker]);
            const stored = ours.newestLevels(ticker, Number.MAX_SAFE_INTEGER, simulated);
            expect(levels && { ...levels, earlier: undefined }).toEqual(
              stored && ({ ...stored, earlier: undefined } as never),
            );
            if (!levels) continue;
            const { rank, days } = yearIvRank(ticker, levels.asOf, market);
            expect(newestIvRank(levels, market)).toEqual({ rank, days });
          }
        }
      }
      theirs.close();
    }),
);

test('more changes than can be applied one by one drop all levels in memory', () =>
  withStoreFile((store) => {
    const market = createMarket(store, STANDARD_UNIVERSE, false, Date.now);
    keepLevels(store);
    expect(market.newestLevels(['SPX'])[0]?.asOf).toBe(MONDAY_MS);
    store.transaction(() => {
      for (let i = 1; i <= 5_001; i++) keepLevels(store, { asOf: MONDAY_MS + i });
    });
    expect(market.newestLevels(['SPX'])[0]?.asOf).toBe(MONDAY_MS + 5_001);
  }));
