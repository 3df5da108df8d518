import { expect, test } from 'bun:test';
import { maxPain } from '../../../src/analytics/exposure/max-pain.ts';
import { bruteMaxPain } from '../plain.ts';
import { contract, LATER, prepared } from '../small-chains.ts';

/** [strike, open interest of the call, open interest of the put] */
type Line = readonly [strike: number, call: number, put: number];

function painOf(lines: readonly Line[], multiplier = 100): number {
  const ready = prepared(rowsOf(lines, multiplier));
  return maxPain(ready, ready.series[0]!);
}

function rowsOf(lines: readonly Line[], multiplier = 100) {
  return lines.flatMap(([strike, call, put]) => [
    contract({ strike, callPut: 1, openInterest: call, multiplier }),
    contract({ strike, callPut: -1, openInterest: put, multiplier }),
  ]);
}

test.each([
  [
    'the middle of a strangle with more weight on the left',
    [
      [90, 0, 3],
      [100, 0, 0],
      [110, 2, 0],
    ],
    90,
  ],
  [
    'calls below and puts above: the strike at which the payouts balance',
    [
      [90, 10, 0],
      [95, 0, 0],
      [100, 0, 4],
      [110, 0, 5],
    ],
    90,
  ],
  [
    'more puts than calls in the money',
    [
      [90, 6, 0],
      [95, 0, 0],
      [100, 0, 4],
      [110, 0, 5],
    ],
    100,
  ],
  [
    'the lowest strike on a tie',
    [
      [90, 1, 0],
      [95, 0, 0],
      [100, 0, 1],
    ],
    90,
  ],
  [
    'the lowest strike on a tie between inner strikes',
    [
      [80, 0, 9],
      [90, 5, 0],
      [95, 0, 0],
      [100, 0, 5],
      [120, 9, 0],
    ],
    90,
  ],
  ['one strike', [[100, 5, 5]], 100],
  [
    'no open interest: the lowest strike',
    [
      [90, 0, 0],
      [100, 0, 0],
    ],
    90,
  ],
  [
    'strikes that are not whole dollars',
    [
      [57.5, 2, 0],
      [58, 0, 0],
      [58.5, 0, 3],
    ],
    58.5,
  ],
] as [string, Line[], number][])('%s', (_what, lines, expected) => {
  expect(painOf(lines)).toBe(expected);
  expect(bruteMaxPain(optionsOf(lines))).toBe(expected);
});

test('a tie remains a tie if the sums differ in the last digit', () => {
  // The payouts at 90.1 and 90.7 are the same sum, added in a different order.
  const lines: Line[] = [
    [90.1, 0.1, 0],
    [90.4, 0.2, 0.2],
    [90.7, 0, 0.1],
  ];
  expect(painOf(lines)).toBe(bruteMaxPain(optionsOf(lines)));
});

test('depends on the shares per contract', () => {
  const small = rowsOf([[90, 5, 0]], 10);
  const usual = rowsOf([
    [95, 0, 0],
    [100, 0, 1],
  ]);
  const ready = prepared([...small, ...usual]);
  expect(maxPain(ready, ready.series[0]!)).toBe(100);
});

test('uses only the given series', () => {
  const ready = prepared([
    ...rowsOf([
      [90, 0, 1],
      [100, 0, 5],
    ]),
    contract({ expiry: LATER, strike: 95, openInterest: 999 }),
  ]);
  expect(ready.series.map((series) => maxPain(ready, series))).toEqual([100, 95]);
});

test('agrees with brute force on random chains', () => {
  let state = 1;
  // A linear congruential generator, so that the chains are always the same.
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let chain = 0; chain < 200; chain++) {
    const lines = Array.from({ length: 1 + next(12) }, (_, i): Line => [80 + 2.5 * i, next(50), next(50)]);
    expect(painOf(lines)).toBe(bruteMaxPain(optionsOf(lines)));
  }
});

function optionsOf(lines: readonly Line[]) {
  return lines.flatMap(([strike, call, put]) => [
    { callPut: 1, strike, contracts: call },
    { callPut: -1, strike, contracts: put },
  ]);
}
