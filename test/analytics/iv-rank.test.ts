import { expect, test } from 'bun:test';
import { type IvRank, ivRange, ivRank, rankAmong } from '../../src/analytics/iv-rank.ts';

const days = (count: number, value: (day: number) => number | null = (day) => day / 100) =>
  Array.from({ length: count }, (_, day) => value(day + 1));

const CASES: [name: string, volatilities: (number | null)[], expected: IvRank][] = [
  ['no days', [], { rank: null, percentile: null, days: 0, low: null, high: null }],
  ['no volatilities', [null, null], { rank: null, percentile: null, days: 0, low: null, high: null }],
  ['19 days', days(19), { rank: null, percentile: null, days: 19, low: 0.01, high: 0.19 }],
  ['20 days, the last is the highest', days(20), { rank: 100, percentile: 100, days: 20, low: 0.01, high: 0.2 }],
  ['the last is the lowest', days(20).reverse(), { rank: 0, percentile: 0, days: 20, low: 0.01, high: 0.2 }],
  ['a quarter of the range', [...days(21), 0.06], { rank: 25, percentile: 500 / 21, days: 22, low: 0.01, high: 0.21 }],
  ['one spike', [...days(24, () => 0.1), 0.5, 0.2], { rank: 25, percentile: 2400 / 25, days: 26, low: 0.1, high: 0.5 }],
  ['all equal', days(30, () => 0.2), { rank: null, percentile: 0, days: 30, low: 0.2, high: 0.2 }],
  [
    'no volatility on the last day',
    [...days(20), null],
    { rank: null, percentile: null, days: 20, low: 0.01, high: 0.2 },
  ],
  [
    'some days without a volatility, which do not count',
    [null, ...days(19), null, 0.2],
    { rank: 100, percentile: 100, days: 20, low: 0.01, high: 0.2 },
  ],
];
test.each(CASES)('rank of %s', (_, volatilities, expected) => {
  const found = ivRank(volatilities);
  for (const name of ['rank', 'percentile', 'days', 'low', 'high'] as const) {
    const value = expected[name];
    if (value === null) expect([name, found[name]]).toEqual([name, null]);
    else expect(found[name]!, name).toBeCloseTo(value, 12);
  }
});

test.each(CASES)('the rank among the earlier days is the same: %s', (_, volatilities) => {
  const { rank, days } = ivRank(volatilities);
  expect(rankAmong(ivRange(volatilities.slice(0, -1)), volatilities.at(-1) ?? null)).toEqual({ rank, days });
});
