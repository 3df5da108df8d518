import { describe, expect, test } from 'bun:test';
import { BUY, FLIP, type HedgingFigures, hedgingPicture, SELL } from '../../src/picture/hedging-picture.ts';
import { pngOf } from '../../src/picture/render-png.ts';
import { INK } from '../../src/picture/svg.ts';
import { type DecodedPng, decodePng } from './decode-png.ts';

const SHARES: readonly (readonly [move: number, shares: number])[] = [
  [-5, -8_000_000],
  [-2, -2_000_000],
  [-1, 1_000_000],
  [1, 500_000],
  [2, 4_000_000],
];

const FIGURES: HedgingFigures = {
  ...{ ticker: 'SPY', spot: 600, flip: undefined, expiry: 'all', source: 'test', simulated: false },
  asOf: '2026-01-05T20:00:00.000Z',
  assumption: 'Dealers are long calls and short puts (assumed).',
  rows: SHARES.map(([move, shares]) => ({ move, shares, spot: 600 * (1 + move / 100) })),
};

const svgOf = (figures: Partial<HedgingFigures> = {}) => hedgingPicture({ ...FIGURES, ...figures });
const drawn = async (figures: Partial<HedgingFigures> = {}) => decodePng(await pngOf(svgOf(figures)));
/** The texts of a picture, in their order. */
const textsOf = (figures: Partial<HedgingFigures> = {}) =>
  [...svgOf(figures).matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text!);
const rowsOf = (shares: readonly (readonly [number, number])[]) =>
  shares.map(([move, each]) => ({ move, shares: each, spot: 600 * (1 + move / 100) }));

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The bars of a colour, from the left: runs of columns that have the colour in more than one line, below the legend. */
function barsOf(png: DecodedPng, colour: string): Box[] {
  const bars: { left: number; right: number; top: number; bottom: number }[] = [];
  for (let x = 0; x < png.width; x++) {
    const lines = linesOf(png, colour, x, LEGEND_END, png.height);
    if (lines.length === 0) continue;
    const last = bars.at(-1);
    const [top, bottom] = [lines[0]!, lines.at(-1)! + 1];
    if (last?.right === x)
      Object.assign(last, { right: x + 1, top: Math.min(last.top, top), bottom: Math.max(last.bottom, bottom) });
    else bars.push({ left: x, right: x + 1, top, bottom });
  }
  return bars;
}

const LEGEND_END = 130;
/** A column to the right of every text of the head. */
const WIDTH_END = 944;

function linesOf(png: DecodedPng, colour: string, x: number, from: number, to: number): number[] {
  const lines: number[] = [];
  for (let y = from; y < to; y++) if (png.at(x, y) === colour) lines.push(y);
  return lines;
}

const middle = ({ left, right }: Box) => (left + right) / 2;
const height = ({ top, bottom }: Box) => bottom - top;

test('the picture has its size and few bytes, and is the same for the same figures', async () => {
  const bytes = await pngOf(svgOf());
  const png = decodePng(bytes);
  expect([png.width, png.height]).toEqual([960, 560]);
  expect(bytes.length).toBeLessThan(80_000);
  expect(await pngOf(svgOf())).toEqual(bytes);
});

test('the largest picture is bounded', async () => {
  const rows = Array.from({ length: 41 }, (_, i) => ({
    move: i - 20.123456,
    spot: 123_456.789,
    shares: (-1) ** i * 1e15,
  }));
  const svg = svgOf({
    ticker: 'W'.repeat(1e6),
    source: 'W'.repeat(1e6),
    assumption: 'W'.repeat(1e6),
    rows,
    simulated: true,
  });
  expect(svg.length).toBeLessThan(20_000);
  expect((await pngOf(svg)).length).toBeLessThan(120_000);
});

test('each move has a bar: up if dealers buy, down if they sell, as long as its shares', async () => {
  const png = await drawn();
  const [buys, sells] = [barsOf(png, BUY), barsOf(png, SELL)];
  expect([buys.length, sells.length]).toEqual([3, 2]);
  const zero = sells[0]!.top;
  for (const bar of sells) expect(Math.abs(bar.top - zero)).toBeLessThanOrEqual(1);
  for (const bar of buys) expect(Math.abs(bar.bottom - zero)).toBeLessThanOrEqual(3);
  const bars = [...sells, ...buys];
  expect(bars.map(middle)).toEqual(bars.map(middle).toSorted((a, b) => a - b));
  // The line of zero takes up to two pixels of a bar.
  const perPixel = 8_000_000 / height(bars[0]!);
  bars.forEach((bar, i) => {
    expect(Math.abs(height(bar) - Math.abs(SHARES[i]![1]) / perPixel)).toBeLessThanOrEqual(3);
  });
  const distances = bars.slice(1).map((bar, i) => middle(bar) - middle(bars[i]!));
  expect(Math.max(...distances) - Math.min(...distances)).toBeLessThanOrEqual(1);
});

test.each([
  ['only purchases', SHARES.filter(([, shares]) => shares > 0), 3, 0],
  ['only sales', SHARES.filter(([, shares]) => shares < 0), 0, 2],
  ['a single move', [[2, 77]] as const, 1, 0],
  [
    'moves without a trade',
    [
      [-1, 0],
      [0, 0],
      [1, 0],
    ] as const,
    0,
    0,
  ],
  ['the most moves', Array.from({ length: 41 }, (_, i) => [i - 20, (i - 20) * 1e6] as const), 20, 20],
])('%s', async (_what, shares, buys, sells) => {
  const png = await drawn({ rows: rowsOf(shares) });
  expect([barsOf(png, BUY).length, barsOf(png, SELL).length]).toEqual([buys, sells]);
});

/** Columns in which a line of a colour is at least `pixels` pixels high. */
function linesAt(png: DecodedPng, colour: string, pixels: number): number[] {
  return Array.from({ length: png.width }, (_, x) => x).filter(
    (x) => linesOf(png, colour, x, LEGEND_END, png.height).length >= pixels,
  );
}

describe('marks', () => {
  test('the present spot is between the last move down and the first move up', async () => {
    const png = await drawn();
    const buys = barsOf(png, BUY);
    const at = linesAt(png, INK, 150);
    expect(at.length).toBeWithin(1, 4);
    expect(Math.abs(at[0]! - (middle(buys[0]!) + middle(buys[1]!)) / 2)).toBeLessThanOrEqual(2);
  });

  test('if every move is up, the present spot is at the left edge of the bars', async () => {
    const png = await drawn({
      rows: rowsOf([
        [1, 5],
        [2, 7],
      ]),
    });
    expect(linesAt(png, INK, 150)[0]!).toBeLessThan(barsOf(png, BUY)[0]!.left);
  });

  test('the flip is in proportion between the moves beside it', async () => {
    // A move of 1.25 %: a quarter of the way from 1 % to 2 %.
    const png = await drawn({ flip: 607.5 });
    const [, one, two] = barsOf(png, BUY);
    const at = linesAt(png, FLIP, 100);
    expect(at.length).toBeWithin(1, 4);
    expect(Math.abs(at[0]! - (0.75 * middle(one!) + 0.25 * middle(two!)))).toBeLessThanOrEqual(2);
    expect(textsOf({ flip: 607.5 })).toContain('flip $607.50');
  });

  test.each([
    ['there is none', undefined, 'No gamma flip within 50%.'],
    ['it is beyond the moves', 700, 'Gamma flip at $700.00.'],
  ])('without a line of the flip if %s, which the note says', async (_what, flip, note) => {
    expect(linesAt(await drawn({ flip }), FLIP, 1)).toEqual([]);
    expect(textsOf({ flip }).at(-1)).toBe(`${FIGURES.assumption} ${note}`);
  });
});

describe('texts', () => {
  test('title, moment, source, legend with units, axes, marks, values and note', () => {
    expect(textsOf({ simulated: true, flip: 606 })).toEqual([
      ...[
        'SPY: what dealers trade if spot moves',
        'As of 2026-01-05 20:00 UTC, all expiries, source test',
        'SIMULATED',
      ],
      ...['Dealers buy', 'Dealers sell', '(shares, K thousand, M million)'],
      ...['-8M', '-6M', '-4M', '-2M', '0', '2M', '4M'],
      ...['-5%', '$570.0', '-2%', '$588.0', '-1%', '$594.0', '+1%', '$606.0', '+2%', '$612.0'],
      ...['spot $600.00', 'flip $606.00'],
      ...['-8M', '-2M', '+1M', '+500K', '+4M'],
      'Dealers are long calls and short puts (assumed).',
    ]);
  });

  test.each([
    ['0dte', 'As of 2026-01-05 20:00 UTC, expiring today, source test'],
    ['session', 'As of 2026-01-05 20:00 UTC, expiring in the session, source test'],
    ['next:35', 'As of 2026-01-05 20:00 UTC, next 35 days, source test'],
    ['2026-01-16', 'As of 2026-01-05 20:00 UTC, expiry 2026-01-16, source test'],
  ])('the expiry %s is in the second line', (expiry, line) => {
    expect(textsOf({ expiry })[1]).toBe(line);
  });

  test('a long source is cut in its middle, within the picture', async () => {
    const source = `files:${'folder/'.repeat(20)}SPY.csv`;
    expect(textsOf({ source })[1]).toMatch(/source files:[a-z/]*…[a-z/]*\/SPY\.csv$/);
    const png = await drawn({ source });
    for (let y = 62; y < 92; y++) expect(png.at(WIDTH_END, y)).toBe('#ffffff');
  });

  test('a dense picture has the values of the longest bars, and labels that do not touch', () => {
    const rows = rowsOf(Array.from({ length: 41 }, (_, i) => [i - 20, i === 30 ? 100 : 2 * i - 50]));
    const texts = textsOf({ rows });
    const values = texts.slice(texts.indexOf('spot $600.00') + 1, -1);
    expect(values).toEqual(['-50', '+100']);
    const xs = [...svgOf({ rows }).matchAll(/<text x="([\d.]+)" y="474"/g)].map(([, x]) => Number(x));
    expect(xs.length).toBeGreaterThan(8);
    expect(Math.min(...xs.slice(1).map((x, i) => x - xs[i]!))).toBeGreaterThan(60);
  });
});
