import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distance, type LinearRgb, linearRgb, oklab } from '../support/oklab.ts';

// Reads the colours from the style sheets, so that a change of a colour is held to the limits of WCAG and to colour-blind eyes.

const read = (file: string) => readFileSync(join(import.meta.dir, '../../web', file), 'utf8');

/** The custom properties of a block that begins with a selector. */
function tokensOf(css: string, selector: string): Record<string, string> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf('}', start));
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]),
  );
}

const colors = read('style/colors.css');
const THEMES = { light: tokensOf(colors, ':root'), dark: tokensOf(colors, ':root[data-theme="dark"]') };

const linear = (hex: string) =>
  linearRgb([1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as [number, number, number]);

/** The contrast of two colours (WCAG 2.2, relative luminance). */
function contrast(a: string, b: string): number {
  const luminance = ([r, g, blue]: LinearRgb) => 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  const [x, y] = [luminance(linear(a)), luminance(linear(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** What eyes with full colour blindness of a kind see, by Machado, Oliveira and Fernandes (2009), in linear RGB. */
const SIGHT: Readonly<Record<string, readonly LinearRgb[]>> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** The distance of two colours in OKLab times 100, as an eye sees them. */
function seenDistance(a: string, b: string, sight: keyof typeof SIGHT): number {
  const seen = (hex: string) => {
    const rgb = linear(hex);
    return oklab(
      SIGHT[sight]!.map((row) =>
        Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]),
      ) as unknown as LinearRgb,
    );
  };
  return distance(seen(a), seen(b));
}

test('each series of a chart has a line style of its own', () => {
  const chart = read('chart/chart.css');
  const dashes = [2, 3, 4].map((n) => new RegExp(`\\.series-${n} \\{[^}]*stroke-dasharray: ([^;]+);`).exec(chart)?.[1]);
  expect(new Set(dashes.filter(Boolean)).size).toBe(3);
});

describe.each(Object.entries(THEMES))('colours of the %s theme', (_, tokens) => {
  test.each(['ground', 'surface', 'raised'])('texts on %s have a contrast of at least 4.5', (ground) => {
    for (const name of ['text', 'muted', 'positive', 'negative']) {
      expect({ name, contrast: contrast(tokens[name]!, tokens[ground]!) >= 4.5 }).toEqual({ name, contrast: true });
    }
  });

  test.each(['simulated', 'warning', 'bad'])('%s has a contrast of at least 4.5 on ground and surface', (name) => {
    expect(contrast(tokens[name]!, tokens.ground!)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(tokens[name]!, tokens.surface!)).toBeGreaterThanOrEqual(4.5);
  });

  test('the focus has a contrast of at least 3', () => {
    expect(contrast(tokens.focus!, tokens.ground!)).toBeGreaterThanOrEqual(3);
  });

  test.each(Object.keys(SIGHT))('positive and negative are apart for %s sight', (sight) => {
    expect(seenDistance(tokens.positive!, tokens.negative!, sight)).toBeGreaterThan(20);
  });

  test.each(Object.keys(SIGHT))('each series of a chart is apart from the others for %s sight', (sight) => {
    const series = ['text', 'series-2', 'series-3', 'series-4'].map((name) => tokens[name]!);
    for (const [i, color] of series.entries()) {
      expect(contrast(color, tokens.ground!)).toBeGreaterThanOrEqual(3);
      for (const other of series.slice(i + 1))
        expect({ color, other, isApart: seenDistance(color, other, sight) > 16 }).toEqual({
          color,
          other,
          isApart: true,
        });
    }
  });

  test.each(Object.keys(SIGHT))('each step of the ramp is apart from the next for %s sight', (sight) => {
    for (let i = 0; i < 8; i++) {
      const [a, b] = [tokens[`ramp-${i}`]!, tokens[`ramp-${i + 1}`]!];
      expect({ i, isApart: seenDistance(a, b, sight) > 7 }).toEqual({ i, isApart: true });
    }
  });

  test('without any hue, the size of a value can be read: each step of the ramp is further from the neutral one in lightness', () => {
    const lightness = (step: number) => oklab(linear(tokens[`ramp-${step}`]!))[0];
    for (const sign of [1, -1]) {
      const away = [0, 1, 2, 3, 4].map((size) => Math.abs(lightness(4 + sign * size) - lightness(4)));
      for (let size = 1; size <= 4; size++) expect(away[size]! - away[size - 1]!).toBeGreaterThan(5);
    }
  });
});
