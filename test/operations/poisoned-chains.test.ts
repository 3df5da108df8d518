import { describe, expect, test } from 'bun:test';
import { buildChain } from '../../src/market/build-chain.ts';
import { addDays, daysBetween, isTradingDay, newYorkDate } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { ContractRow } from '../../src/market/contract-batch.ts';
import { calculateMertonProbability } from '../../src/operations/surface/merton-probability.ts';
import { getVolatilitySurface } from '../../src/operations/surface/surface-report.ts';
import { recordedChain, someRecorded } from '../analytics/recorded.ts';
import { rowsIn } from '../analytics/small-chains.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { call, callExtended, smallMarket } from './small-market.ts';

/** A series whose quotes do not determine a smile, at a date that the chain does not list. */
type Poison = (common: Pick<ContractRow, 'root' | 'expiry'>, spot: number) => ContractRow[];

const NONE = Number.NaN;
const EMPTY = { bid: 0, ask: 0, last: NONE, volume: 0, openInterest: 100, delta: NONE, gamma: NONE, multiplier: 100 };

const POISONS: [string, string, Poison][] = [
  [
    'a lone row of strike 1 with a placeholder',
    'no_volatility',
    (common) => [{ ...common, ...EMPTY, callPut: 1, strike: 1, iv: 0.02 }],
  ],
  [
    'a lone row of strike 1 with a volatility that could be real',
    'too_few_strikes',
    (common) => [{ ...common, ...EMPTY, callPut: -1, strike: 1, iv: 0.03 }],
  ],
  [
    'two far strikes',
    'too_few_strikes',
    (common, spot) =>
      [0.5, 2].map((factor) => ({
        ...{ ...common, ...EMPTY, callPut: factor > 1 ? 1 : -1, strike: Math.round(spot * factor) },
        ...{ bid: 0.01 * spot, ask: 0.02 * spot, iv: 1 },
      })),
  ],
  [
    'one side without bids',
    'one_sided',
    (common, spot) =>
      Array.from({ length: 40 }, (_, i) => {
        const strike = Number((spot * (0.8 + i / 100)).toFixed(2));
        return [1, -1].map((callPut) => {
          const price = Math.max(callPut * (spot - strike), 0) + 0.1 * spot * Math.exp(-i / 10);
          const quote = callPut === 1 ? { bid: 0.98 * price, ask: price } : { bid: 0, ask: price };
          return { ...common, ...EMPTY, ...quote, callPut, strike, iv: callPut === 1 ? 0.9 : 0.02 };
        });
      }).flat(),
  ],
];

describeRecorded('a series of placeholders in a recorded chain', (dir) => {
  describe.each(someRecorded(dir))('%s', (name) => {
    const chain = recordedChain(dir, name);
    const rows = rowsIn(chain);
    const { root, date } = unlistedDate(chain);
    const clean = answers(chain, date);

    test.each(POISONS)('%s: refused by name, and no answer on another date moves', (_what, reason, poison) => {
      const poisoned = answers(buildChain(chain, [...rows, ...poison({ root, expiry: date }, chain.spot)]), date);
      expect(poisoned.refused.get(`${root} ${date} ${poisoned.settlement(root, date)}`)).toBe(reason);
      expect(poisoned.figures.length).toBe(clean.figures.length);
      const errors = clean.figures.map(
        (each, i) => Math.abs(poisoned.figures[i]! - each) / Math.max(1, Math.abs(each)),
      );
      expect(Math.max(...errors)).toBeLessThanOrEqual(1e-9);
    });
  });
});

/** Every figure of the surface, and probabilities on the unlisted date and on the days around it. */
function answers(chain: Chain, date: string) {
  const { context } = smallMarket({ chains: [chain] });
  const surface = callExtended(getVolatilitySurface, { ticker: chain.underlying }, context) as unknown as {
    expiries: Record<string, unknown>;
    maturities: Record<string, unknown>;
    refused: { series: string[]; reason: string[] };
  };
  const days = daysBetween(newYorkDate(chain.asOf), date);
  const probabilities = [days - 1, days, days + 1].map(
    (days_to_expiry) =>
      call(
        calculateMertonProbability,
        {
          ...{ ticker: chain.underlying, spot_price: chain.spot },
          ...{ ambush_strike: 1.05 * chain.spot, days_to_expiry },
        },
        context,
      ).merton_probability as number,
  );
  const numbers = (table: Record<string, unknown>) =>
    Object.values(table).flatMap((column) =>
      Array.isArray(column) ? column.filter((each): each is number => typeof each === 'number') : [],
    );
  return {
    figures: [...numbers(surface.expiries), ...numbers(surface.maturities), ...probabilities],
    refused: new Map(surface.refused.series.map((series, i) => [series, surface.refused.reason[i]!])),
    settlement: (root: string, expiry: string) =>
      chain.series.find((each) => each.root === root && each.expiry === expiry)!.settlement,
  };
}

/** A trading day between two listed expiries, a month or more after the snapshot, and the root that is listed most often. */
function unlistedDate(chain: Chain): { root: string; date: string } {
  const listed = new Set(chain.series.map(({ expiry }) => expiry));
  let date = addDays(newYorkDate(chain.asOf), 32);
  while (listed.has(date) || !isTradingDay(date)) date = addDays(date, 1);
  const roots = Map.groupBy(
    chain.series.filter(({ adjusted }) => !adjusted),
    (each) => each.root,
  );
  const [root] = [...roots].toSorted(([, a], [, b]) => b.length - a.length)[0]!;
  return { root, date };
}
