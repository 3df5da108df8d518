import { expect } from 'bun:test';
import type { CDPSession, Page } from 'playwright-core';
import { type LinearRgb, linearRgb, oklab } from '../support/oklab.ts';
import { type Pixels, readPixels } from './pixels.ts';
import { readAnswers } from './stored-answers.ts';

// What Chromium shows to eyes that lack a kind of cone, or all three.

export const DEFICIENCIES = ['deuteranopia', 'protanopia', 'tritanopia'] as const;
export type Sight = 'none' | 'achromatopsia' | (typeof DEFICIENCIES)[number];

type Rgb = readonly [number, number, number];

/** The colours of positive and of negative marks. */
export function tonesOf(page: Page, chart: 'ladder' | 'matrix'): Promise<{ positive: Rgb[]; negative: Rgb[] }> {
  return page.evaluate((name) => {
    const style = getComputedStyle(document.documentElement);
    const color = (token: string) =>
      [1, 3, 5].map((at) =>
        Number.parseInt(
          style
            .getPropertyValue(token)
            .trim()
            .slice(at, at + 2),
          16,
        ),
      );
    const steps = (numbers: readonly number[]) => numbers.map((each) => color(`--ramp-${each}`));
    const [positive, negative] =
      name === 'ladder' ? [[color('--positive')], [color('--negative')]] : [steps([5, 6, 7, 8]), steps([0, 1, 2, 3])];
    return { positive, negative } as unknown as { positive: Rgb[]; negative: Rgb[] };
  }, chart);
}

/** The marks of a chart, without the texts and lines over them, as an eye sees them. */
export async function seenMarks(page: Page, cdp: CDPSession, blank: Page, chart: string, type: Sight): Promise<Pixels> {
  await cdp.send('Emulation.setEmulatedVisionDeficiency', { type });
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('.plot > :not(canvas) { visibility: hidden !important }');
    document.adoptedStyleSheets = [sheet];
  });
  return readPixels(blank, await page.locator(`[data-chart="${chart}"] .plot`).screenshot());
}

/** Returns the indexes of the pixels that have one of some colours. */
export function placesOf({ data, width, height }: Pixels, tones: readonly Rgb[]): number[] {
  const places: number[] = [];
  for (let i = 0; i < width * height; i++) {
    const isTone = ([r, g, b]: Rgb) =>
      Math.abs(data[4 * i]! - r) < 3 && Math.abs(data[4 * i + 1]! - g) < 3 && Math.abs(data[4 * i + 2]! - b) < 3;
    if (tones.some(isTone)) places.push(i);
  }
  return places;
}

function labAt({ data }: Pixels, i: number): LinearRgb {
  return oklab(linearRgb([data[4 * i]!, data[4 * i + 1]!, data[4 * i + 2]!]));
}

/** The mean of the colours at some pixels, in OKLab. */
export function meanOf(pixels: Pixels, places: readonly number[]): LinearRgb {
  const sum = [0, 0, 0];
  for (const place of places) for (const [k, each] of labAt(pixels, place).entries()) sum[k]! += each;
  return sum.map((each) => each / places.length) as unknown as LinearRgb;
}

/** Lightness, 0 to 100, by which a mark stands out from its ground. */
const INK = 15;

export function expectSidesAndHatching(grey: Pixels, [positive, negative]: readonly [number[], number[]]): void {
  const { width, height } = grey;
  // The axis at the left edge takes 52 pixels, and the names of the levels at the right edge have 104.
  const middle = (52 + width - 104) / 2;
  const right = (places: readonly number[]) => places.filter((each) => each % width > middle).length / places.length;
  // The rules of the walls have the hue of their sign, over the whole width.
  expect(right(positive)).toBeGreaterThan(0.9);
  expect(right(negative)).toBeLessThan(0.1);
  const ground = labAt(grey, 0)[0];
  for (const places of [positive, negative])
    expect(Math.abs(meanOf(grey, places)[0] - ground)).toBeGreaterThan(2 * INK);
  /** How often the rows of bars go from the ground to a mark and back, at the median. */
  const changes = (places: readonly number[], from: number, to: number) => {
    const counts: number[] = [];
    const rows = Map.groupBy(places, (each) => Math.floor(each / width));
    for (const [y, of] of rows) {
      if (of.length < 60 || y >= height) continue;
      let count = 0;
      const isInk = (x: number) => Math.abs(labAt(grey, y * width + x)[0] - ground) > INK;
      for (let x = from + 1; x < to; x++) if (isInk(x) !== isInk(x - 1)) count++;
      counts.push(count);
    }
    return counts.toSorted((a, b) => a - b)[counts.length >> 1]!;
  };
  expect(changes(positive, Math.ceil(middle) + 2, width - 4)).toBeLessThanOrEqual(4);
  expect(changes(negative, 52, Math.floor(middle) - 2)).toBeGreaterThanOrEqual(10);
}

/** The text of a cell is a plus or a minus: only a plus has a stroke upward. */
export function expectSigns(grey: Pixels): void {
  const { values } = readAnswers().find(({ request }) => request.includes('/matrix?'))!.body as {
    values: (number | null)[][];
  };
  const { width, height } = grey;
  const [columns, rows, left] = [values.length, values[0]!.length, 52];
  const read: string[] = [];
  const meant: string[] = [];
  for (const [column, cells] of values.entries()) {
    for (const [row, value] of cells.entries()) {
      if (!value) continue;
      const x = Math.round(left + ((column + 0.5) * (width - left)) / columns);
      const y = Math.round(((rows - row - 0.5) * height) / rows);
      const ground = labAt(grey, (y - 8) * width + x - 12)[0];
      const isInk = (dx: number, dy: number) => Math.abs(labAt(grey, (y + dy) * width + x + dx)[0] - ground) > INK;
      const inked = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5].filter((dy) => [-1, 0, 1].some((dx) => isInk(dx, dy)));
      read.push(inked.length === 0 ? 'none' : inked.length > 4 ? '+' : '−');
      meant.push(value > 0 ? '+' : '−');
    }
  }
  expect(new Set(meant)).toEqual(new Set(['+', '−']));
  expect(read).toEqual(meant);
}
