import { describe, expect, test } from 'bun:test';
import { CAP_HEIGHT, CHARACTERS, DESCENT, glyphOf } from '../../src/picture/glyphs.ts';
import { drawText, textWidth } from '../../src/picture/lettering.ts';
import { Raster } from '../../src/picture/raster.ts';
import { decodePng } from './decode-png.ts';

const SIZE = 16;
const STYLE = { size: SIZE, colour: [0, 0, 0] } as const;
const [WIDTH, HEIGHT, LEFT, BASELINE] = [200, 40, 10, 28];

/** Draws a text, and returns its pixels as shares of ink and the box around them. */
function drawn(text: string) {
  const raster = new Raster(WIDTH, HEIGHT, [255, 255, 255]);
  drawText(raster, text, [LEFT, BASELINE], STYLE);
  const png = decodePng(raster.toPng());
  const ink = Array.from({ length: WIDTH * HEIGHT }, (_, i) => 255 - png.at(i % WIDTH, Math.floor(i / WIDTH))[0]);
  const inked = ink.flatMap((each, i) => (each > 40 ? [{ x: i % WIDTH, y: Math.floor(i / WIDTH) }] : []));
  return {
    ink,
    left: Math.min(...inked.map(({ x }) => x)),
    right: Math.max(...inked.map(({ x }) => x)) + 1,
    top: Math.min(...inked.map(({ y }) => y)),
    bottom: Math.max(...inked.map(({ y }) => y)) + 1,
  };
}

const VISIBLE = CHARACTERS.filter((character) => character !== ' ');

test('the font has the letters, the digits, and the punctuation of prices, moments and paths', () => {
  for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:;-+$%/()_^'?!=") {
    expect([character, CHARACTERS.includes(character)]).toEqual([character, true]);
  }
});

test('no two characters look alike', () => {
  const pictures = VISIBLE.map((character) => ({ character, ink: drawn(character).ink }));
  const alike = pictures.flatMap((one, i) =>
    pictures.slice(i + 1).flatMap((other) => {
      const difference = one.ink.reduce((sum, each, at) => sum + Math.abs(each - other.ink[at]!), 0) / 255;
      return difference < 4 ? [`${one.character}${other.character} ${difference}`] : [];
    }),
  );
  expect(alike).toEqual([]);
});

test.each(VISIBLE)('%s is drawn within its width, between the heights of the font', (character) => {
  const { left, right, top, bottom } = drawn(character);
  expect(left).toBeGreaterThanOrEqual(LEFT - 1);
  expect(right).toBeLessThanOrEqual(Math.ceil(LEFT + textWidth(character, STYLE)) + 1);
  // Parentheses and the sign of the dollar reach over capitals by a tenth and a half.
  expect(top).toBeGreaterThanOrEqual(BASELINE - 1.3 * SIZE);
  expect(bottom).toBeLessThanOrEqual(BASELINE + ((DESCENT + 1) / CAP_HEIGHT) * SIZE);
});

test('capitals and digits have the height of the text, above the baseline', () => {
  for (const character of 'EHIMTXZ0178') {
    const { top, bottom } = drawn(character);
    expect([character, bottom - top >= SIZE && bottom - top <= SIZE + 4]).toEqual([character, true]);
    expect(Math.abs(bottom - BASELINE)).toBeLessThanOrEqual(2);
  }
});

test('digits have the same width, so that figures stand in columns', () => {
  expect(new Set([...'0123456789'].map((digit) => glyphOf(digit).width)).size).toBe(1);
});

test('a character that the font does not have is a box, and does not read a property of objects', () => {
  const box = drawn('\u00e9').ink;
  expect(box).toEqual(drawn('\u4e2d').ink);
  expect(glyphOf('constructor')).toBe(glyphOf('\u00e9'));
  for (const character of VISIBLE) expect(drawn(character).ink).not.toEqual(box);
});

describe('width of a text', () => {
  test.each(['Dealers buy', '-57.9M', '$3990.56', 'i', 'SIMULATED'])('%s ends where it says', (text) => {
    const { right } = drawn(text);
    expect(Math.abs(right - (LEFT + textWidth(text, STYLE)))).toBeLessThanOrEqual(2);
  });

  test('grows with size and weight, and is 0 without text', () => {
    expect(textWidth('ABC', { size: 32 })).toBeCloseTo(2 * textWidth('ABC', { size: 16 }), 9);
    expect(textWidth('ABC', { size: 16, weight: 0.2 })).toBeGreaterThan(textWidth('ABC', { size: 16 }));
    expect(textWidth('', { size: 16 })).toBe(0);
  });
});
