import { describe, expect, test } from 'bun:test';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { gammaFlip } from '../../../src/analytics/exposure/gamma-flip.ts';
import { netGammaProfile } from '../../../src/analytics/exposure/gamma-profile.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { nearestSignChange, netGex } from '../plain.ts';
import { contract, contractsIn, EXPIRY, LATER, prepared, quoted, range, TODAY } from '../small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'own' } as const;

const flipOf = (ready: PreparedChain) => runToCompletion(gammaFlip(ready));
const call = (strike: number, openInterest: number, iv = 0.3) => contract({ strike, iv, openInterest });
const put = (strike: number, openInterest: number, iv = 0.3) => contract({ strike, iv, openInterest, callPut: -1 });

describe('finds the crossing nearest spot, like a fine scan of bumped prices', () => {
  test.each([
    ['puts below, calls above', [put(95, 10), call(105, 10)], FLAT],
    ['calls below, puts above', [call(95, 10), put(105, 10)], FLAT],
    ['more puts', [put(95, 30), call(105, 10)], FLAT],
    ['two crossings: the lower is nearer', [put(85, 10), call(97, 10), put(106, 30)], FLAT],
    ['two crossings: the higher is nearer', [put(94, 30), call(103, 10), put(115, 10)], FLAT],
    ['a volatility skew', [put(90, 20, 0.5), call(110, 12, 0.2)], FLAT],
    ['rates and a dividend yield', [put(95, 30), call(105, 10)], { ...FLAT, rate: 0.08, dividend: 0.02 }],
    ['two expiries', [put(95, 30), { ...call(105, 40), expiry: LATER }, call(110, 5)], FLAT],
    [
      'a quoted chain',
      quoted({ strikes: range(90, 110), iv: (strike) => 0.3 + 0.002 * (100 - strike) }).map((row) => ({
        ...row,
        openInterest: row.callPut === 1 ? row.strike - 85 : 2 * (115 - row.strike),
      })),
      {},
    ],
  ] as const)('%s', (_what, rows, options) => {
    const ready = prepared(rows as readonly ContractRow[], options);
    const net = (level: number) => netGex(contractsIn(ready), level);
    const { level, resolved } = flipOf(ready);
    expect(resolved).toBe(true);
    expect(level).toBeCloseTo(nearestSignChange(net, 100, 0.02), 2);
    // At spot the profile equals the chain's net gamma.
    const { gex, grossGex } = runToCompletion(exposuresOf(ready));
    expect(Math.abs(net(100) - gex)).toBeLessThan(1e-7 * grossGex);
    const profile = runToCompletion(netGammaProfile(ready, 0.2));
    for (const i of [40, 80, 95]) {
      expect(Math.abs(net(profile.level[i]!) - profile.gex[i]!)).toBeLessThan(1e-6 * grossGex);
    }
  });
});

describe('widens the grid until it finds a crossing', () => {
  // Contracts of equal size: the sign changes between the two strikes at any position.
  test.each([
    ['within 20 %', 80, 84, 0.2],
    ['within 35 %', 70, 74, 0.35],
    ['within 50 %', 55, 59, 0.5],
    ['above spot', 128, 134, 0.35],
  ])('%s', (_what, low, high, halfWidth) => {
    const ready = prepared([put(low, 10), call(high, 10)], FLAT);
    const { level, resolved } = flipOf(ready);
    expect(resolved).toBe(true);
    expect(level).toBeGreaterThan(low);
    expect(level).toBeLessThan(high);
    expect(Math.abs(level / 100 - 1)).toBeLessThan(halfWidth);
  });

  test('beyond 50 %: returns the level of the smallest gamma, not resolved', () => {
    const ready = prepared([put(100, 10), call(200, 10, 0.05)], FLAT);
    const { level, resolved } = flipOf(ready);
    expect(resolved).toBe(false);
    const profile = runToCompletion(netGammaProfile(ready, 0.5));
    const found = profile.gex[profile.level.indexOf(level)]!;
    expect(found).not.toBe(0);
    expect(Math.abs(found)).toBe(Math.min(...profile.gex.map(Math.abs)));
  });
});

describe('exact zeros', () => {
  test('gamma of 0 everywhere: returns spot, not resolved', () => {
    expect(flipOf(prepared([call(100, 0), put(100, 0)], FLAT))).toEqual({
      level: 100,
      resolved: false,
    });
  });

  test('calls and puts that cancel each other exactly: returns spot, not resolved', () => {
    const rows = [90, 100, 110].flatMap((strike) => [call(strike, 7), put(strike, 7)]);
    expect(flipOf(prepared(rows, FLAT))).toEqual({ level: 100, resolved: false });
  });

  test('a zero range between two signs is one crossing at its middle', () => {
    // An hour before settlement, gamma underflows to 0 within a percent of the strikes.
    const ready = prepared([put(92, 10, 0.02), call(108, 10, 0.02)].map(inAnHour), FLAT);
    const { gex, level: levels } = runToCompletion(netGammaProfile(ready, 0.2));
    expect(levels.filter((each, i) => gex[i] === 0 && each > 94 && each < 106)).toHaveLength(47);
    const { level, resolved } = flipOf(ready);
    expect(resolved).toBe(true);
    expect(Math.abs(level - 100)).toBeLessThan(0.3);
  });

  test('touching zero without a change of sign is not a crossing', () => {
    const ready = prepared([put(92, 10, 0.02), put(108, 10, 0.02)].map(inAnHour), FLAT);
    expect(flipOf(ready).resolved).toBe(false);
  });
});

function inAnHour(row: ContractRow): ContractRow {
  return { ...row, expiry: TODAY };
}

describe('agrees with a scan of the whole grid', () => {
  const random = generator(11);
  const pick = <T>(...from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  /** A few contracts with random strikes, times from an hour to months, and widths. */
  const books = Array.from({ length: 150 }, (_, i) => {
    const rows = Array.from({ length: 1 + Math.floor(40 * random() ** 2) }, () =>
      contract({
        ...{ strike: Math.round(60 + 80 * random()) + pick(0, 0.5), callPut: pick(1, -1) },
        ...{ iv: pick(0.02, 0.05, 0.2, 0.3, 0.46, 0.8), openInterest: pick(0, 1, 10, 100, 1000) },
        expiry: pick(TODAY, TODAY, EXPIRY, LATER),
      }),
    );
    return [i, rows] as const;
  });

  test.each(books)('book %d', (_at, rows) => {
    const ready = prepared(rows, FLAT);
    const { level, resolved, isOutside } = flipOf(ready);
    const expected = [0.2, 0.35, 0.5].map((halfWidth) => crossing(runToCompletion(netGammaProfile(ready, halfWidth))));
    const first = expected.find((each) => each !== undefined);
    expect(resolved || isOutside === true).toBe(first !== undefined);
    if (first !== undefined) expect(Math.abs(level / first - 1)).toBeLessThan(1e-9);
    else {
      const profile = runToCompletion(netGammaProfile(ready, 0.5));
      const least = Math.min(...profile.gex.map(Math.abs));
      expect(Math.abs(profile.gex[profile.level.indexOf(level)]!)).toBeLessThanOrEqual(least * (1 + 1e-9));
    }
  });

  /** The sign change nearest 100, searched outward. A run of zeros is crossed at its middle. */
  function crossing({ level, gex }: { level: Float64Array; gex: Float64Array }): number | undefined {
    const signed = Array.from(level.keys()).filter((i) => gex[i] !== 0);
    const crossings = signed.slice(1).flatMap((i, each) => {
      const before = signed[each]!;
      if (gex[before]! > 0 === gex[i]! > 0) return [];
      if (i > before + 1) return [(level[before]! + level[i]!) / 2];
      const share = gex[before]! / (gex[before]! - gex[i]!);
      return [level[before]! + share * (level[i]! - level[before]!)];
    });
    return crossings.toSorted((a, b) => Math.abs(a - 100) - Math.abs(b - 100))[0];
  }
});

describe('a narrow dip between two points of the log grid', () => {
  const base = range(40, 160, 2).map((strike) => ({ ...call(strike, 100), expiry: LATER }));
  /** A put that settles in an hour, sized so that the net gamma at its strike is `share` times the net gamma without it. */
  const dip = (strike: number, share: number) => {
    const at = (rows: readonly ContractRow[]) => {
      const { level, gex } = runToCompletion(netGammaProfile(prepared(rows, FLAT), 0.2));
      return gex[level.findIndex((each) => Math.abs(each - strike) < 1e-9)]!;
    };
    const one = inAnHour(put(strike, 1, 0.56));
    return { ...one, openInterest: ((1 - share) * at(base)) / -at([one]) };
  };

  test('a dip below zero is found', () => {
    const { level, resolved } = flipOf(prepared([...base, dip(105, -0.002)], FLAT));
    expect(resolved).toBe(true);
    expect(Math.abs(level - 105)).toBeLessThan(0.25);
  });

  test('a dip that stays above zero is no crossing; of two dips the lower has the smallest gamma', () => {
    // Straight lines between the points of the log grid pass above both dips, and farther above the lower one.
    const ready = prepared([...base, dip(100, 0.03), dip(105, 0.031)], FLAT);
    expect(flipOf(ready)).toEqual({ level: 100, resolved: false });
  });
});

test('ignores contracts without a volatility', () => {
  const rows = [put(95, 10), call(105, 10)];
  const more = [...rows, contract({ strike: 101, openInterest: 1e6, gamma: 0.5 })];
  expect(flipOf(prepared(more, { ...FLAT, gamma: 'feed' }))).toEqual(flipOf(prepared(rows, FLAT)));
});
