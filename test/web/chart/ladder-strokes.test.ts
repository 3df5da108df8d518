import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ladderBars, ladderExtent, ladderRules } from '../../../web/chart/ladder-strokes.ts';
import { priceAxis } from '../../../web/chart/price-axis.ts';
import type { Stroke } from '../../../web/chart/strokes.ts';

const axis = priceAxis(100, 10, 0, 400);
const layout = { axis, left: 0, right: 200, extent: 10 };
const bars = (strokes: readonly Stroke[]) => strokes.filter((each) => each.kind === 'bar');

describe('bars of a ladder', () => {
  test.each([
    ['calls lie right and solid, puts left and hatched', 5, -10, 'positive solid 100 50, negative hatched 0 100'],
    ['exposures of one sign stand one after the other', 4, 6, 'positive solid 100 40, positive hatched 140 60'],
    ['by signed flow, calls may lie left', -3, 0, 'negative solid 70 30'],
    ['an exposure of 0 has no bar', 0, 0, ''],
  ])('%s', (_, call, put, expected) => {
    const drawn = bars(ladderBars({ strike: [100], calls: [call], puts: [put] }, layout));
    const texts = drawn.map(({ tone, fill, x, width }) => `${tone} ${fill} ${Math.round(x)} ${Math.round(width)}`);
    expect(texts.join(', ')).toBe(expected);
  });

  test('the net exposure is a tick', () => {
    const [tick] = ladderBars({ strike: [100], calls: [5], puts: [-10] }, layout).filter(
      (each) => each.kind === 'line',
    );
    expect(tick).toMatchObject({ x1: 50, x2: 50, tone: 'text' });
  });

  test('strikes outside the axis have no bar', () => {
    expect(ladderBars({ strike: [80, 120], calls: [5, 5], puts: [-1, -1] }, layout)).toEqual([]);
  });

  test('price is upward', () => {
    const [low, high] = bars(ladderBars({ strike: [95, 105], calls: [5, 5], puts: null }, layout));
    expect(low!.y).toBeGreaterThan(high!.y);
  });

  test('the extent is the largest sum of one sign within the axis', () => {
    const rows = { strike: [95, 100, 150], calls: [3, 4, 99], puts: [-8, 5, -99] };
    expect(ladderExtent([rows], axis)).toBe(9);
    expect(ladderExtent([{ strike: [100], calls: [0], puts: [0] }], axis)).toBe(1);
  });

  test('if strikes share rows of pixels, the largest bar of each sign and row is drawn', () => {
    const value = fc.double({ min: 0.01, max: 10, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1_000, maxLength: 1_500 }), (pairs) => {
        const rows = {
          strike: pairs.map((_, i) => 91 + (18 * i) / pairs.length),
          calls: pairs.map(([call]) => Math.abs(call)),
          puts: pairs.map(([, put]) => -Math.abs(put)),
        };
        const drawn = bars(ladderBars(rows, layout));
        for (const [tone, exposures] of [
          ['positive', rows.calls],
          ['negative', rows.puts],
        ] as const) {
          const largest = new Map<number, number>();
          rows.strike.forEach((strike, i) => {
            const row = Math.round(axis.y(strike));
            largest.set(row, Math.max(largest.get(row) ?? 0, Math.abs(exposures[i]!)));
          });
          const widths = drawn.filter((each) => each.tone === tone).map(({ width }) => width / 10);
          expect(widths.length).toBe(largest.size);
          const expected = [...largest.values()].toSorted((a, b) => a - b);
          for (const [i, width] of widths.toSorted((a, b) => a - b).entries())
            expect(width).toBeCloseTo(expected[i]!, 9);
        }
      }),
      { numRuns: 20 },
    );
  });
});

test('rules of levels lie at their prices, and levels outside the axis have none', () => {
  const rules = ladderRules(
    [
      { price: 100, tone: 'text', dash: 'dashed', width: 1 },
      { price: 200, tone: 'text', dash: 'solid', width: 1 },
    ],
    axis,
    44,
    300,
  );
  expect(rules).toHaveLength(1);
  expect(rules[0]).toMatchObject({ kind: 'line', y1: 200.5, y2: 200.5, x1: 44, x2: 300, dash: 'dashed' });
});
