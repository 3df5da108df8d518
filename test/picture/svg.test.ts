import { describe, expect, test } from 'bun:test';
import { pngOf } from '../../src/picture/render-png.ts';
import { svgPicture, TEXT_SIZE, textAt, textWidth } from '../../src/picture/svg.ts';
import { decodePng } from './decode-png.ts';

const HEAD = { width: 600, height: 200, title: 'Title' };
/** The part of a picture of HEAD in which only the plot is. */
const LINE = 130;

describe('hostile text', () => {
  const HOSTILE = `</text><image href="file:///etc/passwd"/>&amp;<script>'"]]>\u0000\u202e\ud800\uffff`;

  test.each(['title', 'subtitle', 'source', 'note'])('in %s stays text', async (field) => {
    const svg = svgPicture({ ...HEAD, width: 2_000, [field]: HOSTILE });
    expect([...svg.matchAll(/<(\w+)/g)].map(([, name]) => name)).toEqual(['svg', 'rect', 'text', 'text', 'text']);
    expect(svg).toContain('&#60;image href=&#34;file:');
    expect(svg).toMatch(/^[\x20-\x7e\ufffd]*$/);
    expect(decodePng(await pngOf(svg)).width).toBe(2_000);
  });

  test('in an attribute stays its value', () => {
    expect(textAt(1, 2.005, 'a', { fill: "\"><image href='x'" })).toBe(
      '<text x="1" y="2" fill="&#34;&#62;&#60;image href=&#39;x&#39;">a</text>',
    );
  });

  test('of any length fits into the picture', async () => {
    const long = 'M'.repeat(100_000);
    const svg = svgPicture({
      ...HEAD,
      title: long,
      subtitle: 'Of ',
      source: `${long}.csv`,
      note: long,
      simulated: true,
    });
    expect(svg.length).toBeLessThan(2_000);
    expect(svg).toContain('M.csv</text>');
    const png = decodePng(await pngOf(svg));
    for (let y = 0; y < png.height; y++) expect(png.at(HEAD.width - 12, y)).toBe('#ffffff');
  });
});

test('a picture has its label only if the market is simulated', async () => {
  expect(svgPicture(HEAD)).not.toContain('SIMULATED');
  const svg = svgPicture({ ...HEAD, simulated: true });
  expect(svg).toContain('>SIMULATED</text>');
  expect(decodePng(await pngOf(svg)).at(HEAD.width - 26, 23)).toBe('#1f2933');
});

test.each([
  ['0123456789', 1],
  ['+57.9M', 1.1],
  ['$658.05', 1.05],
  ['As of 2026-01-05 20:00 UTC, all expiries, source simulated', 1.2],
  ['Dealers are assumed long calls and short puts.', 1.25],
  ['THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG', 1.25],
  ['the quick brown fox jumps over the lazy dog', 1.25],
  [`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`, 1.35],
])('the width of %p is its width in the picture, or up to %p times as much', async (text, most) => {
  const [width, at] = [1_400, 10];
  const png = decodePng(await pngOf(svgPicture({ ...HEAD, width, title: '' }, [textAt(at, LINE, text)])));
  let right = width;
  const isBlank = (x: number) =>
    Array.from({ length: 40 }, (_, y) => png.at(x, LINE - 30 + y)).every((c) => c === '#ffffff');
  while (isBlank(right - 1)) right--;
  const drawn = right - at;
  expect(drawn).toBeGreaterThan(0);
  // The last character has up to 2 pixels of its advance width without ink.
  expect(textWidth(text, TEXT_SIZE) / drawn).toBeWithin(0.99, most + 2 / drawn + 1e-9);
});

test('every printable ASCII character and the Latin letters have a glyph of their own', async () => {
  const inkOf = async (text: string) => {
    const png = decodePng(await pngOf(svgPicture({ ...HEAD, width: 60, title: '' }, [textAt(20, LINE, text)])));
    return Array.from({ length: 60 * 40 }, (_, i) => png.at(i % 60, LINE - 30 + Math.floor(i / 60))).join();
  };
  const missing = await inkOf('\u4e00');
  for (const text of [...'!"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~…éß']) expect(await inkOf(text)).not.toBe(missing);
});
