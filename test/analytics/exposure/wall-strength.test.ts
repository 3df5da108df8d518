import { expect, test } from 'bun:test';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { boundedChange, TURNOVER, wallStrengths } from '../../../src/analytics/exposure/wall-strength.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { inverseNormalCdf } from '../../../src/math/normal.ts';
import { contract, FEED_GAMMA, LATER, prepared } from '../small-chains.ts';

const strengths = (of: PreparedChain) => runToCompletion(wallStrengths(of));

/** Calls at and above spot and puts at and below it, each row [distance from spot, gamma, open interest, volume]. */
const rowsOf = (rows: readonly (readonly [number, number, number, number])[], expiry?: string): ContractRow[] =>
  rows.flatMap(([distance, gamma, openInterest, volume]) =>
    [1, -1].map((callPut) =>
      contract({ strike: 100 + callPut * distance, callPut, gamma, openInterest, volume, ...(expiry && { expiry }) }),
    ),
  );

/** A generator of evenly spread numbers in (0, 1), always the same. */
function generator(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** The share of draws of tonight's open interest, contract by contract, in which the wall stays. */
function drawnStability({ chain, strike, gamma, weight, row, callPut, count }: PreparedChain, side: number): number {
  const random = generator(7);
  const wall = (weights: ArrayLike<number>) => {
    const sums = new Map<number, number>();
    for (let i = 0; i < count; i++) {
      if (callPut[i] !== side || side * (strike[i]! - chain.spot) < 0) continue;
      sums.set(strike[i]!, (sums.get(strike[i]!) ?? 0) + gamma[i]! * weights[i]!);
    }
    return [...sums].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
  };
  const today = wall(weight);
  let same = 0;
  const draws = 20_000;
  for (let draw = 0; draw < draws; draw++) {
    const tonight = weight.map((open, i) => {
      const share = TURNOVER.mean + TURNOVER.deviation * inverseNormalCdf(random());
      return Math.max(0, open + share * chain.volume[row[i]!]!);
    });
    same += Number(wall(tonight) === today);
  }
  return same / draws;
}

test.each([
  [
    'the second is near',
    [
      [2, 0.02, 1_000, 300],
      [5, 0.02, 950, 300],
      [8, 0.01, 1_000, 100],
    ],
  ],
  [
    'the second trades more',
    [
      [2, 0.02, 1_000, 100],
      [5, 0.02, 700, 900],
    ],
  ],
  [
    'many are near',
    [
      [1, 0.02, 1_000, 400],
      [2, 0.02, 980, 400],
      [3, 0.02, 960, 400],
      [4, 0.02, 940, 400],
      [5, 0.02, 900, 400],
    ],
  ],
  [
    'volume exceeds open interest',
    [
      [2, 0.02, 100, 900],
      [5, 0.02, 90, 800],
    ],
  ],
  [
    'the wall does not trade',
    [
      [2, 0.02, 1_000, 0],
      [5, 0.02, 900, 500],
    ],
  ],
] as const)('stability is the share of draws in which the wall stays: %s', (_what, rows) => {
  const chain = prepared([...rowsOf(rows), ...rowsOf(rows, LATER)], FEED_GAMMA);
  const { call, put } = strengths(chain);
  // Three standard errors of the draws, and the error of a normal sum of a bounded law.
  for (const [side, { stability }] of [
    [1, call],
    [-1, put],
  ] as const)
    expect(Math.abs(stability! - drawnStability(chain, side))).toBeLessThan(0.025);
});

test('without turnover near the lead, a wall is certain to stay, and a lead of 0 that nobody trades is a coin', () => {
  const still = strengths(
    prepared(
      rowsOf([
        [2, 0.02, 1_000, 1],
        [5, 0.01, 100, 1],
      ]),
      FEED_GAMMA,
    ),
  );
  expect(still.call).toEqual({ leadPct: expect.closeTo(95, 9), stability: 1 });
  const tied = strengths(
    prepared(
      rowsOf([
        [2, 0.02, 10, 0],
        [3, 0.02, 10, 0],
        [9, 0.001, 1, 5],
      ]),
      FEED_GAMMA,
    ),
  );
  expect(tied.put).toEqual({ leadPct: 0, stability: 0.5 });
});

test('what is not known is null', () => {
  const rows = rowsOf([
    [2, 0.02, 1_000, 10],
    [5, 0.01, 100, 10],
  ]);
  const unknown = { leadPct: expect.any(Number), stability: null };
  expect(
    strengths(
      prepared(
        rows.map((row) => ({ ...row, volume: 0 })),
        FEED_GAMMA,
      ),
    ).call,
  ).toEqual(unknown);
  expect(strengths(prepared(rows, { ...FEED_GAMMA, weight: 'volume' })).call).toEqual(unknown);
  expect(strengths({ ...prepared(rows, FEED_GAMMA), sign: 'flow' }).put).toEqual(unknown);
  // No strike at or above spot, and no gamma below it.
  const below = prepared(
    [contract({ strike: 95, openInterest: 5 }), contract({ strike: 90, callPut: -1 })],
    FEED_GAMMA,
  );
  expect(strengths(below)).toEqual({
    call: { leadPct: null, stability: null },
    put: { leadPct: null, stability: null },
  });
});

test('one strike leads by all of its gamma', () => {
  expect(strengths(prepared(rowsOf([[2, 0.02, 1_000, 10]]), FEED_GAMMA)).call).toEqual({ leadPct: 100, stability: 1 });
});

test.each([0, 0.1, 0.5, 1, 9])('a change bounded by %p of the volume has the moments of the bounded law', (most) => {
  let [sum, square] = [0, 0];
  const steps = 200_000;
  for (let i = 0; i < steps; i++) {
    const share = Math.max(-most, TURNOVER.mean + TURNOVER.deviation * inverseNormalCdf((i + 0.5) / steps));
    sum += share;
    square += share * share;
  }
  const mean = sum / steps;
  expect(boundedChange(most).mean).toBeCloseTo(mean, 5);
  expect(boundedChange(most).variance).toBeCloseTo(square / steps - mean * mean, 4);
});
