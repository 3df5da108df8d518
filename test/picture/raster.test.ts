import { describe, expect, test } from 'bun:test';
import { type Colour, type Point, Raster } from '../../src/picture/raster.ts';
import { decodePng } from './decode-png.ts';

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];

/** Draws on a white raster and returns how much of each pixel is black, 0 to 1, row by row. */
function inked(width: number, height: number, draw: (raster: Raster) => void): number[][] {
  const raster = new Raster(width, height, WHITE);
  draw(raster);
  const png = decodePng(raster.toPng());
  return Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => 1 - png.at(x, y)[0] / 255));
}

const rounded = (rows: number[][]) => rows.map((row) => row.map((share) => Math.round(100 * share) / 100));

describe('fill', () => {
  test('covers the pixels between the corners, in any order of the corners', () => {
    const expected = [
      [0, 0, 0, 0],
      [0, 1, 1, 0],
      [0, 0, 0, 0],
    ];
    expect(inked(4, 3, (raster) => raster.fill([1, 1], [3, 2], BLACK))).toEqual(expected);
    expect(inked(4, 3, (raster) => raster.fill([3, 2], [1, 1], BLACK))).toEqual(expected);
  });

  test('covers pixels at its edges in part', () => {
    expect(rounded(inked(3, 2, (raster) => raster.fill([0.5, 0], [2.25, 1.5], BLACK)))).toEqual([
      [0.5, 1, 0.25],
      [0.25, 0.5, 0.13],
    ]);
  });

  test('is cut at the edges of the raster', () => {
    expect(inked(2, 2, (raster) => raster.fill([-5, -5], [9, 9], BLACK)).flat()).toEqual([1, 1, 1, 1]);
    expect(inked(2, 2, (raster) => raster.fill([5, 0], [9, 2], BLACK)).flat()).toEqual([0, 0, 0, 0]);
  });
});

const line = (from: Point, to: Point): Point[] => [from, to];

describe('stroke', () => {
  test('a line has its width, and round ends', () => {
    const rows = inked(20, 11, (raster) => raster.stroke([line([5, 5.5], [15, 5.5])], 3, BLACK));
    for (let x = 5; x < 15; x++) expect(rows.reduce((sum, row) => sum + row[x]!, 0)).toBeCloseTo(3, 6);
    expect([rows[5]![4]!, rows[5]![2]!, rows[3]![10]!, rows[7]![10]!]).toEqual([1, 0, 0, 0]);
    expect(rows[5]![3]!).toBeCloseTo(0.5, 2);
    expect(rows[4]![3]!).toBeLessThan(rows[5]![3]!);
  });

  test('an area is about length times width in every direction', () => {
    for (const angle of [0, 0.3, 0.8, 1.4, 2.5]) {
      const [dx, dy] = [10 * Math.cos(angle), 10 * Math.sin(angle)];
      const rows = inked(40, 40, (raster) => raster.stroke([line([20 - dx, 20 - dy], [20 + dx, 20 + dy])], 3, BLACK));
      const sum = rows.flat().reduce((total, share) => total + share, 0);
      // The round ends are a circle of the same diameter.
      expect(sum / (20 * 3 + Math.PI * 1.5 ** 2)).toBeCloseTo(1, 1);
    }
  });

  test('a point is a dot', () => {
    const rows = inked(5, 5, (raster) => raster.stroke([[[2.5, 2.5]]], 2, BLACK));
    expect([rows[2]![2], rows[0]![0]]).toEqual([1, 0]);
  });

  test('lines that cross are drawn once', () => {
    const twice = [line([0, 2], [5, 2]), line([5, 2], [0, 2])];
    // The line covers half of the pixels above and below it.
    const rows = inked(5, 4, (raster) => raster.stroke(twice, 1, BLACK));
    expect(rounded(rows).map((row) => row[2])).toEqual([0, 0.5, 0.5, 0]);
  });

  test('is cut at the edges of the raster', () => {
    expect(inked(3, 3, (raster) => raster.stroke([line([-10, 1.5], [30, 1.5])], 1, BLACK))).toEqual([
      [0, 0, 0],
      [1, 1, 1],
      [0, 0, 0],
    ]);
    expect(inked(3, 3, (raster) => raster.stroke([[[-9, -9]]], 1, BLACK)).flat()).toEqual(Array(9).fill(0));
  });
});

test('the nearest colour takes the place of a colour that the palette has no room for', () => {
  const raster = new Raster(300, 1, [0, 0, 0]);
  for (let x = 1; x < 256; x++) raster.fill([x, 0], [x + 1, 1], [x, 0, 0]);
  raster.fill([256, 0], [257, 1], [100, 3, 3]);
  raster.fill([257, 0], [258, 1], [250, 9, 0]);
  const png = decodePng(raster.toPng());
  expect(png.colours).toBe(256);
  expect([254, 255, 256, 257].map((x) => png.at(x, 0))).toEqual([
    [254, 0, 0],
    [255, 0, 0],
    [100, 0, 0],
    [250, 0, 0],
  ]);
});
