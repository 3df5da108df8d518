import { describe, expect, test } from 'bun:test';
import { greeks } from '../../src/math/black-scholes.ts';
import {
  addGammaProfile,
  gammaByStrike,
  gammaProfile,
  type LogLevels,
  logLevels,
  type ProfileColumns,
  partialProfile,
  profileOf,
} from '../../src/math/gamma-exposure.ts';
import { CHUNK_ROWS } from '../../src/math/kernels.ts';
import { EPSILON } from './reference.ts';

/** More contracts and levels than one chunk holds, of every kind. The numbers come from a fixed linear congruential generator. */
function book(count: number) {
  let state = 12345;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const column = (of: () => number) => Float64Array.from({ length: count }, of);
  return {
    count,
    strike: column(() => 100 * Math.exp(uniform() - 0.5)),
    tte: column(() => 10 ** (-4 * uniform())),
    iv: column(() => 0.05 + uniform()),
    rate: 0.04,
    dividend: column(() => 0.03 * uniform()),
    weight: column(() => Math.round(1000 * (uniform() - 0.5))),
  };
}

describe('gamma profile', () => {
  test('equals the weighted sum of the Greeks’ gamma at each level', () => {
    const contracts = book(1300);
    const levels = Float64Array.from({ length: 1100 }, (_, i) => 60 + 0.08 * i);
    const profile = gammaProfile(contracts, levels);
    expect(profile).toHaveLength(levels.length);
    for (const i of [0, 1, 500, 1023, 1024, 1099]) {
      const { gamma } = greeks({ ...contracts, callPut: 1, spot: levels[i]! });
      let [sum, gross] = [0, 0];
      contracts.weight.forEach((weight, row) => {
        sum += weight * gamma[row]!;
        gross += Math.abs(weight * gamma[row]!);
      });
      expect(Math.abs(profile[i]! - sum) / gross, `level ${levels[i]}`).toBeLessThan(1e-13);
    }
  });

  test.each([
    ['listed', Float64Array.from({ length: 1100 }, (_, i) => 60 + 0.08 * i)],
    ['a fixed percentage apart', { first: 60, step: 0.001, count: 1100 }],
  ])('added up in parts equals the whole bit for bit: levels %s', (_what, levels) => {
    const whole = book(2 * CHUNK_ROWS + 301);
    const partial = partialProfile(levels);
    for (let from = 0; from < whole.count; from += CHUNK_ROWS) {
      const to = Math.min(from + CHUNK_ROWS, whole.count);
      const part = Object.entries(whole).map(([name, column]) => [
        name,
        column instanceof Float64Array ? column.subarray(from, to) : column,
      ]);
      addGammaProfile({ ...(Object.fromEntries(part) as typeof whole), count: to - from }, levels, partial);
    }
    expect(profileOf(partial)).toEqual(gammaProfile(whole, levels));
  });

  test('is accurate for levels far from the strike', () => {
    const contract = { count: 1, strike: 100, tte: 0.01, iv: 0.2, rate: 0.03, dividend: 0.01, weight: 1 };
    const levels = Float64Array.of(100, 70, 55, 180);
    const { gamma } = greeks({ ...contract, count: levels.length, callPut: 1, spot: levels });
    const profile = gammaProfile(contract, levels);
    expect(gamma[2]).toBeLessThan(1e-180);
    // One rounding of d changes the density by d^2 roundings, here up to 900.
    for (const i of levels.keys()) expect(Math.abs(profile[i]! / gamma[i]! - 1), `${levels[i]}`).toBeLessThan(1e-12);
  });

  test('a zero weight, time or volatility adds nothing, nor does an underflowing exponential', () => {
    const contracts = {
      ...{ count: 5, strike: Float64Array.of(100, 100, 100, 100, 1e6), tte: Float64Array.of(0.1, 0.1, 0, 0.1, 1e-5) },
      ...{ iv: Float64Array.of(0.2, Number.NaN, 0.2, 0, 0.01), rate: 0, dividend: 0 },
      weight: Float64Array.of(3, 0, 1, 1, 1e300),
    };
    const { gamma } = greeks({ count: 1, callPut: 1, spot: 100, strike: 100, tte: 0.1, iv: 0.2, rate: 0, dividend: 0 });
    expect(gammaProfile(contracts, Float64Array.of(100))[0]).toBeCloseTo(3 * gamma[0]!, 14);
  });

  test('is 0 without contracts, and empty without levels', () => {
    expect(gammaProfile(book(0), Float64Array.of(90, 100))).toEqual(Float64Array.of(0, 0));
    expect(gammaProfile(book(3), new Float64Array(0))).toHaveLength(0);
  });

  test('a contract with NaN makes the sum NaN', () => {
    const contracts = { ...book(2), iv: Float64Array.of(0.2, Number.NaN), weight: 1 };
    expect(gammaProfile(contracts, Float64Array.of(100))[0]).toBeNaN();
  });

  test('rejects columns of unequal length by name', () => {
    expect(() => gammaProfile({ ...book(3), weight: new Float64Array(2) }, Float64Array.of(100))).toThrow(
      'column weight has 2 rows, expected 3',
    );
  });
});

describe('gamma profile over levels a fixed percentage apart', () => {
  /** The largest difference from single levels, relative to the sum of the absolute terms. */
  function farthest(contracts: ProfileColumns & { readonly weight: Float64Array }, levels: LogLevels): number {
    const spots = logLevels(levels);
    const [profile, plain] = [gammaProfile(contracts, levels), gammaProfile(contracts, spots)];
    const gross = gammaProfile({ ...contracts, weight: contracts.weight.map(Math.abs) }, spots);
    expect(profile).toHaveLength(levels.count);
    return Math.max(...profile.map((sum, i) => (gross[i]! > 1e-290 ? Math.abs(sum - plain[i]!) / gross[i]! : 0)));
  }

  test.each([
    [1300, { first: 60, step: 0.0025, count: 400 }],
    [1300, { first: 60, step: 0.0006, count: 1100 }],
    [37, { first: 30, step: 0.05, count: 49 }],
    [2, { first: 99, step: 1e-5, count: 2000 }],
    [9, { first: 200, step: -0.0025, count: 600 }],
    [9, { first: 100, step: 0.0025, count: 1 }],
  ])('%d contracts, %j', (count, levels) => {
    expect(farthest(book(count), levels)).toBeLessThan(1e-12);
  });

  // One contract at a time, so that no other contract hides its error. Over levels of 1 %, a run of 48 levels goes from
  // one end of the doubles to the other and back if volatility * sqrt(T) is small. There one rounding of the level
  // itself, or of its logarithm (up to 2), changes a gamma of 1e-300 by 38 / (v sqrt(T)) roundings.
  test.each([3, 1, 0.3, 0.1, 0.05, 0.03, 0.02, 0.015, 0.0127, 0.01, 0.0075, 0.005, 0.002, 0.001, 1e-4])(
    'a gamma that rises from underflow and falls back: v sqrt(T) = %d',
    (iv) => {
      for (const strike of [20, 61, 90, 100, 101.3, 135, 160, 1000]) {
        const one = { count: 1, strike, tte: 1, iv, rate: 0.04, dividend: 0.01, weight: Float64Array.of(2) };
        expect(farthest(one, { first: 40, step: 0.01, count: 200 }), `strike ${strike}`).toBeLessThan(
          1e-12 + (EPSILON * 3 * 38) / iv,
        );
      }
    },
  );

  test('contracts that use different algorithms do not affect each other', () => {
    const levels = { first: 40, step: 0.01, count: 200 };
    const same = { tte: 1, rate: 0.04, dividend: 0.01 };
    const alone = (strike: number, iv: number, weight: number) =>
      gammaProfile({ ...same, count: 1, strike, iv, weight }, levels);
    for (const [wide, narrow] of [
      [0.4, 0.002],
      [0.4, 0],
      [0.02, 0.01],
    ] as const) {
      const [strike, iv, weight] = [Float64Array.of(100, 70), Float64Array.of(wide, narrow), Float64Array.of(1, 2)];
      const both = gammaProfile({ ...same, count: 2, strike, iv, weight }, levels);
      const [first, second] = [alone(100, wide, 1), alone(70, narrow, 2)];
      both.forEach((sum, i) => {
        expect(Math.abs(sum - first[i]! - second[i]!)).toBeLessThanOrEqual(1e-12 * (first[i]! + second[i]!));
      });
    }
  });

  test('a zero weight, time or volatility adds nothing, and NaN makes the sum NaN', () => {
    const levels = { first: 90, step: 0.0025, count: 100 };
    const none = { ...book(3), iv: Float64Array.of(0.2, 0, 0.2), tte: Float64Array.of(0, 1, 1) };
    expect(gammaProfile({ ...none, weight: Float64Array.of(1, 1, 0) }, levels)).toEqual(new Float64Array(100));
    const spoilt = gammaProfile({ ...book(2), iv: Float64Array.of(0.2, Number.NaN), weight: 1 }, levels);
    expect(spoilt.every(Number.isNaN)).toBe(true);
    expect(gammaProfile(book(0), levels)).toEqual(new Float64Array(100));
    expect(gammaProfile(book(3), { ...levels, count: 0 })).toHaveLength(0);
  });

  test.each([2.5, -1, Number.NaN])('rejects %d levels', (count) => {
    expect(() => gammaProfile(book(3), { first: 60, step: 0.01, count })).toThrow(
      `count must be a whole number, is ${count}`,
    );
  });
});

describe('gamma by strike', () => {
  test('sums each strike’s contracts across chunks of rows and strikes', () => {
    const [count, strikes] = [5000, 2100];
    const gamma = Float64Array.from({ length: count }, (_, i) => 0.001 * ((i % 17) + 1));
    const weight = Float64Array.from({ length: count }, (_, i) => (i % 5) - 2);
    const strikeIndex = Uint32Array.from({ length: count }, (_, i) => (i * 7919) % strikes);
    const expected = new Float64Array(strikes);
    for (let i = 0; i < count; i++) expected[strikeIndex[i]!]! += gamma[i]! * weight[i]!;
    expect(gammaByStrike(gamma, weight, strikeIndex, strikes)).toEqual(expected);
  });

  test('adds to existing values in the order of the contracts', () => {
    const sums = new Float64Array(2);
    gammaByStrike(Float64Array.of(0.1, 0.2), Float64Array.of(1, 1), Uint32Array.of(1, 0), 2, sums);
    expect(gammaByStrike(Float64Array.of(0.3), Float64Array.of(1), Uint32Array.of(1), 2, sums)).toBe(sums);
    expect([...sums]).toEqual([0.2, 0.1 + 0.3]);
    const one = Float64Array.of(1);
    expect(() => gammaByStrike(one, one, Uint32Array.of(0), 1, sums)).toThrow('column into has 2 rows');
  });

  test('a strike without contracts has 0', () => {
    expect(gammaByStrike(Float64Array.of(2), Float64Array.of(3), Uint32Array.of(1), 3)).toEqual(
      Float64Array.of(0, 6, 0),
    );
    expect(gammaByStrike(new Float64Array(0), new Float64Array(0), new Uint32Array(0), 2)).toEqual(new Float64Array(2));
  });

  test('rejects an index beyond the strikes, and unequal lengths', () => {
    const two = Float64Array.of(1, 1);
    expect(() => gammaByStrike(two, two, Uint32Array.of(0, 2), 2)).toThrow('strikeIndex 2 is outside the 2 strikes');
    expect(() => gammaByStrike(two, Float64Array.of(1), Uint32Array.of(0, 1), 2)).toThrow('column weight has 1 rows');
  });
});
