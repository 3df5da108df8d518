import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatDollars, formatPrice } from '../../../src/cli/plot/figures.ts';
import { historyPlot } from '../../../src/cli/plot/history-plot.ts';
import type { Style } from '../../../src/cli/plot/line.ts';
import { type TimeLine, type TimeLines, timeChart } from '../../../src/cli/plot/time-chart.ts';

const BLOCKS: Style = { unicode: true, colour: false };
const ASCII: Style = { unicode: false, colour: false };
const COLOURED: Style = { unicode: true, colour: true };

const lineOf = (name: string, ...values: number[]): TimeLine => ({ name, values: Float64Array.from(values) });
const ENDS = ['2026-01-05', '2026-01-09'] as const;
const chart = (lines: readonly TimeLine[], overrides: Partial<TimeLines> = {}): TimeLines => ({
  ...{ lines, ends: ENDS, zero: false, figure: formatPrice },
  ...overrides,
});
const net = (...values: number[]) => chart([lineOf('net', ...values)], { zero: true, figure: formatDollars });

describe('time chart', () => {
  const pictures: [name: string, given: Parameters<typeof timeChart>, lines: string[]][] = [
    [
      'a line with its name and last value at its right end',
      [chart([lineOf('spot', 100, 101, 102, 103)]), 38, 5, ASCII],
      [
        '103                      **** spot 103',
        '                 ********',
        '         ********',
        '100 *****',
        '    2026-01-05     2026-01-09',
      ],
    ],
    [
      'labels that would overlap move to the nearest free rows, the first line stays in place',
      [chart([lineOf('spot', 1, 3), lineOf('flip', 3, 3)]), 36, 4, ASCII],
      [
        '3 *************************** spot 3',
        '         *************        flip 3',
        '1 *******',
        '  2026-01-05       2026-01-09',
      ],
    ],
    [
      'a gap where values are missing, without a line across it',
      [chart([lineOf('flip', 1, 1, NaN, NaN, 3, 3)]), 36, 4, ASCII],
      ['3                      ****** flip 3', '', '1 ******', '  2026-01-05       2026-01-09'],
    ],
    [
      'equal values: in the middle',
      [chart([lineOf('spot', 5, 5)]), 36, 4, ASCII],
      ['', '5 *************************** spot 5', '', '  2026-01-05       2026-01-09'],
    ],
    [
      'no label if the last value is unknown',
      [chart([lineOf('flip', 1, NaN)]), 30, 3, ASCII],
      ['', '1 *', '  2026-01-05       2026-01-09'],
    ],
    [
      'the zero line behind, signed values',
      [net(1e6, 2e6, -1e6), 44, 6, ASCII],
      [
        '+2M           ********',
        '    **********        ****',
        '                          ****',
        '  0 --------------------------****--',
        '-1M                               ** net -1M',
        '    2026-01-05            2026-01-09',
      ],
    ],
    [
      'narrow: without labels',
      [net(1e6, 1e6), 16, 3, ASCII],
      ['+1M ************', '  0 ------------', '    2026-01-05'],
    ],
    ['no known value', [chart([lineOf('flip', NaN)]), 40, 5, ASCII], []],
  ];
  test.each(pictures)('%s', (_name, given, lines) => {
    expect(timeChart(...given)).toEqual(lines);
  });

  test('colours values above zero as positive and values below zero as negative', () => {
    const [first, , third] = timeChart(net(1e6, -1e6), 60, 4, COLOURED);
    expect(first).toContain('\u001b[32m');
    expect(first).not.toContain('\u001b[31m');
    expect(third).toContain('\u001b[31m');
    expect(third).not.toContain('\u001b[32m');
  });

  test('fits any width and height for any values', () => {
    const values = fc.array(fc.oneof(fc.double({ noDefaultInfinity: true }), fc.constantFrom(0, NaN, 1e308, -1e308)), {
      minLength: 2,
      maxLength: 30,
    });
    const lines = fc.array(values, { minLength: 1, maxLength: 5 });
    const sizes = fc.tuple(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 3, max: 30 }));
    fc.assert(
      fc.property(lines, sizes, fc.boolean(), fc.boolean(), (all, [width, height], zero, unicode) => {
        const data = chart(
          all.map((each, i) => lineOf(`line ${i}`, ...each)),
          { zero, figure: formatDollars },
        );
        const drawn = timeChart(data, width, height, { unicode, colour: false });
        const known = zero || all.flat().some((each) => !Number.isNaN(each));
        expect(drawn).toHaveLength(known ? height : 0);
        for (const each of drawn) expect(each.length).toBeLessThanOrEqual(width);
      }),
    );
  });
});

test('draws spot and levels above net GEX, and flags simulated data on both', () => {
  const lines = historyPlot(
    {
      ...{ ticker: 'SPY', simulated: true, ends: ENDS, netGex: Float64Array.of(1e9, -1e9) },
      prices: [lineOf('spot', 600, 610), lineOf('flip', NaN, NaN), lineOf('put wall', 590, 600)],
    },
    60,
    20,
    BLOCKS,
  );
  expect(lines).toHaveLength(20);
  expect(lines[0]).toBe('SIMULATED SPY  spot and levels, dollars');
  const below = lines.indexOf('SIMULATED SPY  net GEX, dollars per 1 % move');
  expect(below).toBe(13);
  const rowOf = (text: string) => lines.findIndex((each) => each.endsWith(text));
  expect([rowOf('spot 610') > 0, rowOf('put wall 600') > rowOf('spot 610'), rowOf('net -1B') > below]).toEqual([
    ...[true, true, true],
  ]);
  expect(lines.join('\n')).not.toContain('flip');
});
