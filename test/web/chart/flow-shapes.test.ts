import { describe, expect, test } from 'bun:test';
import {
  boughtOf,
  describeFlow,
  type FlowRow,
  flowBars,
  flowKeyText,
  flowRange,
  flowReadout,
  flowRows,
  flowTable,
  shareText,
  signedPrintShare,
  soldOf,
} from '../../../web/chart/flow-shapes.ts';
import { linearScale } from '../../../web/chart/linear-scale.ts';
import { UNKNOWN } from '../../../web/page-format.ts';

function row(key: string, values: Partial<FlowRow> = {}): FlowRow {
  return {
    ...{ key, prints: 1, contracts: 10, premium: 0, call_bought: 0, call_sold: 0, put_bought: 0, put_sold: 0 },
    ...{ unsigned: 0, net_delta: 0 },
    ...values,
  };
}

const ROWS = [
  row('2026-11-19', { call_bought: 300, put_bought: 100, call_sold: 50, put_sold: 150, premium: 600, net_delta: -5 }),
  row('2026-11-20', { call_bought: 100, unsigned: 80, premium: 180, net_delta: 10 }),
];

test('rows are those of the answer, by manner without the sum of all', () => {
  const part = Object.fromEntries(Object.keys(ROWS[0]!).map((name) => [name, [1, 2]]));
  expect(flowRows({ ...part, manner: ['sweep', 'all'] }, 'manner').map(({ key }) => key)).toEqual(['sweep']);
  expect(flowRows({ ...part, day: ['a', 'b'] }, 'day').map(({ put_sold }) => put_sold)).toEqual([1, 2]);
  expect(flowTable(ROWS, 'day').columns.slice(0, 3)).toEqual(['day', 'prints', 'contracts']);
  expect(flowTable(ROWS, 'day').rows[1]!.slice(-2)).toEqual([80, 10]);
});

describe('bars', () => {
  const layout = (rows: readonly FlowRow[], width: number, height: number) => {
    const step = (width - 50) / rows.length;
    const x = (index: number) => 50 + (index + 0.5) * step;
    const y = linearScale(flowRange(rows), [height, 0]);
    return { bars: flowBars(rows, x, y), zero: y(0), x, step };
  };
  const { bars, zero, x: center, step } = layout(ROWS, 450, 400);
  const of = (index: number) => bars.filter(({ x }) => x >= center(index) - step / 2 && x < center(index) + step / 2);

  test('bought stands above zero and sold below, puts after calls, in the ratio of their dollars', () => {
    const [callBought, putBought, callSold, putSold] = of(0);
    expect(of(0).map(({ kind }) => kind)).toEqual(['calls', 'puts', 'calls', 'puts']);
    expect(callBought!.y + callBought!.height).toBeCloseTo(zero, 9);
    expect(putBought!.y + putBought!.height).toBeCloseTo(callBought!.y, 9);
    expect(callSold!.y).toBeCloseTo(zero, 9);
    expect(putSold!.y).toBeCloseTo(callSold!.y + callSold!.height, 9);
    expect(callBought!.height / putBought!.height).toBeCloseTo(3, 9);
    expect(callBought!.height / callSold!.height).toBeCloseTo(6, 9);
  });

  test('unsigned premium stands beside, half above and half below zero', () => {
    const [bought, unsigned] = of(1);
    expect(unsigned).toMatchObject({ kind: 'unsigned', tone: '' });
    expect(unsigned!.y + unsigned!.height / 2).toBeCloseTo(zero, 9);
    expect(unsigned!.x).toBeGreaterThanOrEqual(bought!.x + bought!.width);
  });

  test.each([
    ['nothing', []],
    ['one row of zeros', [row('a')]],
    ['only sold', [row('a', { put_sold: 7 })]],
    ['a year of days', Array.from({ length: 366 }, (_, i) => row(String(i), { call_bought: i, call_sold: 366 - i }))],
  ])('of %s are finite and within the area', (_, rows) => {
    for (const [width, tall] of [
      [1000, 300],
      [0, 0],
      [60, 10],
    ] as const) {
      const { bars, zero } = layout(rows, width, tall);
      expect(Number.isFinite(zero)).toBe(true);
      for (const { x, y, width: wide, height: high } of bars) {
        for (const each of [x, y, wide, high]) expect(Number.isFinite(each)).toBe(true);
        expect(high).toBeGreaterThan(0);
        if (tall === 300) expect([y >= -1e-9, y + high <= tall + 1e-9]).toEqual([true, true]);
      }
    }
  });

  test('the axis includes the highest bars above and below zero', () => {
    expect(flowRange(ROWS)).toEqual([-200, 400]);
    expect(flowRange([row('a', { unsigned: 80 })])).toEqual([-40, 40]);
    expect(flowRange([])).toEqual([0, 0]);
  });
});

test('texts', () => {
  expect([boughtOf(ROWS[0]!), soldOf(ROWS[0]!)]).toEqual([400, 200]);
  expect(flowReadout(ROWS[0]!, 'day')).toBe(
    'Thu 19 Nov · bought 400 (C 300, P 100) · sold 200 (C 50, P 150) · unsigned 0 · net delta −5 · 1 print, 10 contracts',
  );
  expect(describeFlow(ROWS, 'day')).toBe(
    'Premium by day from Thu 19 Nov to Fri 20 Nov: customers bought 500 and sold 200 dollars, 80 unsigned. ' +
      'Most at Thu 19 Nov, 600. Net delta +5 dollars.',
  );
  expect(describeFlow([], 'day')).toBe('No print in this window.');
});

test.each([
  ['multi_leg', 'manner', false, 'multi-leg'],
  ['2026-12-18', 'expiry', false, 'Fri 18 Dec 2026'],
  ['2026-12-18', 'expiry', true, '18 Dec ’26'],
  ['2026-12-18', 'day', false, 'Fri 18 Dec'],
  ['2026-12-18', 'day', true, '18 Dec'],
  ['<b>\u202e', 'day', true, '<b>'],
  [{ type: 'img' } as unknown as string, 'expiry', true, ''],
] as const)('the row %p by %s is named (short: %p) %p', (key, group, isShort, text) => {
  expect(flowKeyText(key, group, isShort)).toBe(text);
});

describe('the share of signed prints', () => {
  test.each([
    ['nothing', [0, 0, 0, 0], UNKNOWN, 'No print signs this chain: there is none in this window.'],
    ['all unknown', [0, 0, 0, 7], UNKNOWN, 'No print signs this chain: the side of all 7 is unknown.'],
    [
      ...(['some', [2, 0, 1, 1], '75.0 %'] as const),
      "3 of 4 prints are signed: 2 by the feed, 1 by the contract's last move. The side of 1 is unknown.",
    ],
    ['all', [0, 3, 0, 0], '100.0 %', '3 of 3 prints are signed: 3 by the quote.'],
    [
      ...(['nearly all', [99_999, 0, 0, 1], '99.9 %'] as const),
      '99,999 of 100,000 prints are signed: 99,999 by the feed. The side of 1 is unknown.',
    ],
  ] as const)('%s', (_, [feed, quote, tick, unknown], text, sentence) => {
    const share = signedPrintShare({ feed, quote, tick, unknown });
    expect([shareText(share), share.sentence]).toEqual([text, sentence]);
  });
});
