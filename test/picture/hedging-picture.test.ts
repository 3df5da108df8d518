import { describe, expect, test } from 'bun:test';
import { BUY, type HedgingFigures, hedgingPicture, SELL } from '../../src/picture/hedging-picture.ts';
import type { Colour } from '../../src/picture/raster.ts';
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

const drawn = (figures: Partial<HedgingFigures> = {}) => decodePng(hedgingPicture({ ...FIGURES, ...figures }));
const rowsOf = (shares: readonly (readonly [number, number])[]) =>
  shares.map(([move, each]) => ({ move, shares: each, spot: 600 * (1 + move / 100) }));

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The bars of a colour, from the left: runs of columns that have the colour in more than one line, below the legend. */
function barsOf(png: DecodedPng, colour: Colour): Box[] {
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

function linesOf(png: DecodedPng, [red, green, blue]: Colour, x: number, from: number, to: number): number[] {
  const value = (red << 16) | (green << 8) | blue;
  const lines: number[] = [];
  for (let y = from; y < to; y++) if (png.value(x, y) === value) lines.push(y);
  return lines;
}

const middle = ({ left, right }: Box) => (left + right) / 2;
const height = ({ top, bottom }: Box) => bottom - top;

test('the picture has its size, few colours and few bytes', () => {
  const bytes = hedgingPicture(FIGURES);
  const png = decodePng(bytes);
  expect([png.width, png.height]).toEqual([960, 560]);
  expect(png.colours).toBeLessThan(256);
  expect(bytes.length).toBeLessThan(40_000);
});

test('each move has a bar: up if dealers buy, down if they sell, as long as its shares', () => {
  const png = drawn();
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
])('%s', (_what, shares, buys, sells) => {
  const png = drawn({ rows: rowsOf(shares) });
  expect([barsOf(png, BUY).length, barsOf(png, SELL).length]).toEqual([buys, sells]);
});

const INK: Colour = [31, 41, 51];
const FLIP: Colour = [106, 61, 154];

/** Columns in which a line of a colour is at least `pixels` pixels high. */
function linesAt(png: DecodedPng, colour: Colour, pixels: number): number[] {
  return Array.from({ length: png.width }, (_, x) => x).filter(
    (x) => linesOf(png, colour, x, LEGEND_END, png.height).length >= pixels,
  );
}

describe('marks', () => {
  test('the present spot is between the last move down and the first move up', () => {
    const png = drawn();
    const buys = barsOf(png, BUY);
    const at = linesAt(png, INK, 150);
    expect(at.length).toBeWithin(1, 4);
    expect(Math.abs(at[0]! - (middle(buys[0]!) + middle(buys[1]!)) / 2)).toBeLessThanOrEqual(2);
  });

  test('if every move is up, the present spot is at the left edge of the bars', () => {
    const png = drawn({
      rows: rowsOf([
        [1, 5],
        [2, 7],
      ]),
    });
    expect(linesAt(png, INK, 150)[0]!).toBeLessThan(barsOf(png, BUY)[0]!.left);
  });

  test('the flip is in proportion between the moves beside it', () => {
    // A move of 1.25 %: a quarter of the way from 1 % to 2 %.
    const png = drawn({ flip: 607.5 });
    const [, one, two] = barsOf(png, BUY);
    const at = linesAt(png, FLIP, 100);
    expect(at.length).toBeWithin(1, 4);
    expect(Math.abs(at[0]! - (0.75 * middle(one!) + 0.25 * middle(two!)))).toBeLessThanOrEqual(2);
  });

  test.each([
    ['there is none', undefined],
    ['it is beyond the moves', 700],
  ])('without a line of the flip if %s', (_what, flip) => {
    expect(linesAt(drawn({ flip }), FLIP, 1)).toEqual([]);
  });

  test('the flip beyond the moves is named below the bars', () => {
    const differs = differing(drawn({ flip: 700 }), drawn());
    expect(differs.length).toBeGreaterThan(50);
    for (const [, y] of differs) expect(y).toBeGreaterThan(500);
  });
});

/** The pixels in which two pictures differ. */
function differing(one: DecodedPng, other: DecodedPng): [x: number, y: number][] {
  const found: [number, number][] = [];
  for (let y = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++) if (one.value(x, y) !== other.value(x, y)) found.push([x, y]);
  }
  return found;
}

describe('texts', () => {
  const inkIn = (png: DecodedPng, { left, right, top, bottom }: Box) => {
    let inked = 0;
    for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) if (png.at(x, y)[0] < 128) inked++;
    return inked;
  };

  test('a title, a line with source and moment, and a legend stand above the bars', () => {
    const png = drawn();
    for (const [top, bottom] of [
      [20, 60],
      [62, 92],
      [98, 124],
    ] as const) {
      expect(inkIn(png, { left: 20, right: 700, top, bottom })).toBeGreaterThan(300);
    }
  });

  test.each([
    ['the ticker', { ticker: 'QQQ' }, 20, 60],
    ['the source', { source: 'other' }, 62, 92],
    ['the moment', { asOf: '2026-01-06T20:00:00.000Z' }, 62, 92],
    ['the expiry', { expiry: '2026-01-16' }, 62, 92],
    ['the assumption', { assumption: 'Dealers hold the opposite of customers.' }, 515, 560],
  ])('%s is drawn in its line', (_what, figures, top, bottom) => {
    const differs = differing(drawn(figures), drawn());
    expect(differs.length).toBeGreaterThan(20);
    for (const [, y] of differs) expect(y).toBeWithin(top, bottom);
  });

  test('a long source is cut at its beginning, within the picture', () => {
    const path = `files:${'folder/'.repeat(20)}SPY.csv`;
    const png = drawn({ source: path });
    expect(inkIn(png, { left: 937, right: 960, top: 0, bottom: 124 })).toBe(0);
    // The end of the path is drawn.
    expect(differing(png, drawn({ source: path.replace('SPY', 'QQQ') })).length).toBeGreaterThan(20);
  });

  test('a simulated market has a label in the upper right corner, in a dark box', () => {
    const differs = differing(drawn({ simulated: true }), drawn());
    const [xs, ys] = [differs.map(([x]) => x), differs.map(([, y]) => y)];
    const box = {
      left: Math.min(...xs),
      right: Math.max(...xs) + 1,
      top: Math.min(...ys),
      bottom: Math.max(...ys) + 1,
    };
    expect(box.left).toBeGreaterThan(700);
    expect(box.bottom).toBeLessThan(70);
    expect([box.right - box.left > 140, height(box) > 30]).toEqual([true, true]);
    const area = (box.right - box.left) * height(box);
    // Dark ground, with white letters in a part of it.
    expect(inkIn(drawn({ simulated: true }), box) / area).toBeWithin(0.5, 0.9);
  });

  test('each bar has its value, a dense picture only those of the longest bars', () => {
    const few = rowsOf([
      [1, 2_000_000],
      [2, 3_000_000],
    ]);
    const differs = differing(
      drawn({ rows: few }),
      drawn({
        rows: rowsOf([
          [1, 2_100_000],
          [2, 3_000_000],
        ]),
      }),
    );
    const [first] = barsOf(drawn({ rows: few }), BUY);
    // The bar is longer by some pixels, and its value has another digit.
    expect(Math.min(...differs.map(([, y]) => y))).toBeLessThan(first!.top - 10);
    const dense = (shares: number) =>
      rowsOf(Array.from({ length: 41 }, (_, i) => [i - 20, i === 30 ? shares : 5 * i + 1]));
    for (const [, y] of differing(drawn({ rows: dense(100) }), drawn({ rows: dense(101) })))
      expect(y).toBeGreaterThan(200);
  });
});
