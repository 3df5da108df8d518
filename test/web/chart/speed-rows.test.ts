import { expect, test } from 'bun:test';
import { describeSpeed, nanoseconds, speedRows, speedTable } from '../../../web/chart/speed-rows.ts';

const times = [
  { kernel: 'price and eight Greeks', unit: 'option', ns: 82.456, spread: [80.1, 90] as const, n: 21 },
  { kernel: 'gamma profile, any levels', unit: 'contract and level', ns: 2.5, spread: [2, 3.25] as const, n: 21 },
];
const documented = {
  machine: 'AMD EPYC',
  times: { 'price and eight Greeks': 18.2 },
  workloads: [],
};
const bench = { 'gamma profile, any levels': 0.3123 };

test('a source without a time of a kernel has no bar there', () => {
  const rows = speedRows(times, bench, documented);
  expect(rows.map(({ kernel, bars }) => [kernel, bars.map(({ source, ns }) => [source, ns])])).toEqual([
    [
      'price and eight Greeks',
      [
        ['browser', 82.456],
        ['documented', 18.2],
      ],
    ],
    [
      'gamma profile, any levels',
      [
        ['browser', 2.5],
        ['bench', 0.3123],
      ],
    ],
  ]);
});

test('the sentence has every bar with its source and unit', () => {
  expect(describeSpeed(speedRows(times, bench, documented))).toBe(
    'price and eight Greeks, per option: this browser 82.5 ns, documented machine 18.2 ns. ' +
      'gamma profile, any levels, per contract and level: this browser 2.5 ns, zomma bench 0.312 ns.',
  );
});

test('the table has the columns of the sources that are known', () => {
  const head = ['kernel', 'browser ns', 'from', 'to', 'rounds', 'million/s'];
  const first = ['price and eight Greeks', 82.5, 80.1, 90, 21, 12.1];
  const second = ['gamma profile, any levels', 2.5, 2, 3.25, 21, 400];
  expect(speedTable(speedRows(times, undefined, undefined))).toEqual({
    columns: [...head, 'unit'],
    rows: [
      [...first, 'option'],
      [...second, 'contract and level'],
    ],
  });
  expect(speedTable(speedRows(times, bench, documented))).toEqual({
    columns: [...head, 'zomma bench ns', 'documented machine ns', 'unit'],
    rows: [
      [...first, null, 18.2, 'option'],
      [...second, 0.312, null, 'contract and level'],
    ],
  });
});

test.each([
  [0.30951, '0.31 ns'],
  [87.66, '87.7 ns'],
  [1019.4, '1,019 ns'],
])('%p is %p', (ns, text) => {
  expect(nanoseconds(ns)).toBe(text);
});
