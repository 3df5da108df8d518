import { describe, expect, test } from 'bun:test';
import { densityOf } from '../../../src/analytics/density/density.ts';
import { densityProbability } from '../../../src/analytics/density/density-probability.ts';
import { normalCdf } from '../plain.ts';
import { contract, EXPIRY, LATER, prepared, quoted, range, yearsTo } from '../small-chains.ts';

const [NEAR, FAR] = [yearsTo('ACME', EXPIRY), yearsTo('ACME', LATER)];
const ready = prepared([
  ...quoted({ strikes: range(80, 120), iv: (strike) => 0.3 - 0.3 * Math.log(strike / 100) }),
  ...quoted({ strikes: range(80, 120), iv: 0.4, expiry: LATER }),
]);
const [near, far] = ready.series.map((series) => densityOf(ready, series));

describe("at an expiry it is the probability of that expiry's density", () => {
  test.each([
    ['the first', NEAR, near!],
    ['the last', FAR, far!],
  ])('%s', (_what, tte, density) => {
    for (const x of [-0.2, -0.03, 0, 0.1]) {
      const found = densityProbability(ready, x, tte)!;
      expect(found.below).toBeCloseTo(density.cdf(density.forward * Math.exp(x)), 12);
      expect(found.fitError).toBe(density.fitError);
    }
  });
});

describe('between two expiries', () => {
  const times = [0.1, 0.5, 0.75].map((share) => NEAR + share * (FAR - NEAR));

  test('for flat smiles it is the lognormal probability of the interpolated variance', () => {
    const flat = prepared([
      ...quoted({ strikes: range(80, 120), iv: 0.25 }),
      ...quoted({ strikes: range(80, 120), iv: 0.4, expiry: LATER }),
    ]);
    for (const tte of times) {
      const share = (tte - NEAR) / (FAR - NEAR);
      const s = Math.sqrt((1 - share) * 0.25 ** 2 * NEAR + share * 0.4 ** 2 * FAR);
      for (const x of [-0.15, -0.02, 0, 0.1]) {
        expect(densityProbability(flat, x, tte)!.below).toBeCloseTo(normalCdf(x / s + s / 2), 4);
      }
    }
  });

  test('it lies between the probabilities of both expiries, closer to the nearer expiry', () => {
    const at = (tte: number) => {
      const share = (tte - NEAR) / (FAR - NEAR);
      const s = Math.sqrt((1 - share) * near!.atmIv ** 2 * NEAR + share * far!.atmIv ** 2 * FAR);
      return densityProbability(ready, -2 * s - s ** 2 / 2, tte)!.below;
    };
    const [first, last] = [at(NEAR), at(FAR)];
    expect(first).toBeGreaterThan(1.1 * last);
    for (const tte of times) {
      const share = (tte - NEAR) / (FAR - NEAR);
      expect(at(tte)).toBeCloseTo((1 - share) * first + share * last, 12);
    }
  });

  test('the fit error is the larger one of both', () => {
    expect(densityProbability(ready, 0, times[1]!)!.fitError).toBe(Math.max(near!.fitError, far!.fitError));
  });
});

test('never rises with the strike, and ends at 0 and 1', () => {
  let before = 0;
  for (const x of range(-3, 3, 0.01)) {
    const { below } = densityProbability(ready, x, (NEAR + FAR) / 2)!;
    expect(below).toBeWithin(before, 1 + 1e-15);
    before = below;
  }
  expect(before).toBeCloseTo(1, 9);
  expect(densityProbability(ready, -3, FAR)!.below).toBeCloseTo(0, 9);
});

test.each([
  ['before the first expiry', ready, NEAR / 2],
  ['after the last expiry', ready, FAR + 1e-9],
  ['if no series has a volatility', prepared([contract()]), NEAR],
])('is undefined %s', (_what, chain, tte) => {
  expect(densityProbability(chain, 0, tte)).toBeNull();
});
