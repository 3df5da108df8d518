import { expect, test } from 'bun:test';
import { encodePng } from '../../src/picture/png.ts';
import { decodePng } from './decode-png.ts';

const PALETTE = Uint8Array.of(255, 255, 255, 10, 20, 30, 200, 0, 100);

test('a decoder reads the pixels that were encoded', () => {
  const pixels = Uint8Array.of(0, 1, 2, 2, 1, 0);
  const png = decodePng(encodePng(3, 2, pixels, PALETTE));
  expect([png.width, png.height, png.colours]).toEqual([3, 2, 3]);
  expect(png.chunks).toEqual(['IHDR', 'sRGB', 'PLTE', 'IDAT', 'IEND']);
  const colours = [0, 1].flatMap((y) => [0, 1, 2].map((x) => png.at(x, y)));
  expect(colours).toEqual([...pixels].map((index) => [...PALETTE.subarray(3 * index, 3 * index + 3)]) as never);
});

test('the decoder of the tests finds a changed byte', () => {
  const png = encodePng(3, 2, new Uint8Array(6), PALETTE);
  for (const at of [0, 20, png.length - 30]) {
    const damaged = Uint8Array.from(png);
    damaged[at]! ^= 1;
    expect(() => decodePng(damaged)).toThrow();
  }
});

test.each([
  ['too few pixels', 5, PALETTE.length],
  ['part of a colour', 6, 4],
  ['257 colours', 6, 771],
])('throws RangeError for %s', (_what, pixels, samples) => {
  expect(() => encodePng(3, 2, new Uint8Array(pixels), new Uint8Array(samples))).toThrow(RangeError);
});
