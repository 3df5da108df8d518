import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { instrumentsOf } from '../../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../../src/feeds/simulated/simulated-chain.ts';
import { simulatedPrints } from '../../../src/feeds/simulated/simulated-prints.ts';
import { buildChain } from '../../../src/market/build-chain.ts';
import { addDays, closeOf, newYorkDate, openOf } from '../../../src/market/calendar.ts';
import { sameQuotes } from '../../../src/market/chain.ts';
import type { Print } from '../../../src/market/prints.ts';
import { loadUniverse, STANDARD_UNIVERSE } from '../../../src/market/universe.ts';
import { rowsIn } from '../../analytics/small-chains.ts';

const instruments = [
  ...instrumentsOf(1, STANDARD_UNIVERSE),
  // An index with settlements in the morning, and tickers without a profile.
  ...instrumentsOf(2, loadUniverse('{"themes":{"more":["SPX","ZZZ","BF.B"]}}')),
];
const ticker = fc.constantFrom(...instruments);
const moment = fc.tuple(fc.integer({ min: 0, max: 800 }), fc.integer({ min: 0, max: 390 })).map(([days, minutes]) => {
  const date = addDays('2025-01-02', days);
  return Math.min(closeOf(date), openOf(date) + minutes * 60_000);
});

test('a chain is in the form of `buildChain`: its order, its series and its gaps', () => {
  fc.assert(
    fc.property(ticker, moment, (instrument, asOf) => {
      const chain = simulatedChain(instrument, asOf);
      const { underlying, spot, source, simulated } = chain;
      const built = buildChain({ underlying, asOf, spot, source, simulated }, rowsIn(chain).reverse());
      expect(sameQuotes(chain, built)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('the volume of a contract includes its prints up to the moment of the chain', () => {
  fc.assert(
    fc.property(ticker, moment, (instrument, asOf) => {
      const printed = new Map<string, number>();
      const keyOf = ({ expiry, strike, callPut }: Pick<Print, 'expiry' | 'strike' | 'callPut'>) =>
        `${expiry} ${strike} ${callPut}`;
      for (const print of simulatedPrints(instrument, newYorkDate(asOf))) {
        if (print.at > asOf || print.canceled) continue;
        printed.set(keyOf(print), (printed.get(keyOf(print)) ?? 0) + print.size);
      }
      const { strike, callPut, volume, seriesIndex, series } = simulatedChain(instrument, asOf);
      for (const [row, traded] of volume.entries()) {
        const key = keyOf({
          expiry: series[seriesIndex[row]!]!.expiry,
          strike: strike[row]!,
          callPut: callPut[row] as 1,
        });
        expect(traded).toBeGreaterThanOrEqual(printed.get(key) ?? 0);
      }
    }),
    { numRuns: 50 },
  );
});

/** Few instruments and days, so that most chains have the instrument or the day of the chain before. */
const alike = fc.tuple(
  fc.constantFrom(...instruments.slice(0, 2)),
  fc.constantFrom(...['2026-11-19', '2026-11-20'].flatMap((date) => [openOf(date), closeOf(date)])),
);

test('a chain does not depend on the chains that were computed before it', () => {
  fc.assert(
    fc.property(fc.array(alike, { minLength: 2, maxLength: 6 }), (wanted) => {
      const chains = (order: typeof wanted) => order.map(([instrument, asOf]) => simulatedChain(instrument, asOf));
      const [forwards, backwards] = [chains(wanted), chains(wanted.toReversed()).reverse()];
      expect(forwards.every((chain, i) => sameQuotes(chain, backwards[i]!))).toBe(true);
    }),
    { numRuns: 30 },
  );
});
