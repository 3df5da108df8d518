import { expect, test } from 'bun:test';
import { parseData } from '../../../web/data/request.ts';

/** Invisible characters of each kind: a terminal escape, a direction mark, a zero-width space, a tag, a private character. */
const HIDDEN = ['\u001b[31m', '\u202e', '\u200b', '\u{e0041}', '\ue000', '\u2028'];

test.each(HIDDEN)('texts and keys lose %j, as such and as an escape', (hidden) => {
  const themes = { [`a${hidden}b`]: [`c${hidden}d`, { [`e${hidden}`]: `f${hidden}` }] };
  const json = JSON.stringify(themes);
  const escaped = json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const rest = hidden.startsWith('\u001b') ? ' [31m' : ' ';
  for (const text of [json, escaped]) {
    expect(parseData(text)).toEqual({ [`a${rest}b`]: [`c${rest}d`, { [`e${rest}`.trim()]: `f${rest}`.trim() }] });
  }
});

test('a key __proto__ stays a key, and changes no prototype', () => {
  for (const text of ['{"__proto__":{"x":1}}', '{"__proto__":{"x":1},"hidden":"\u200b"}']) {
    const parsed = parseData(text) as Record<string, unknown>;
    expect([Object.keys(parsed).includes('__proto__'), parsed.x, Object.getPrototypeOf(parsed)]).toEqual([
      ...[true, undefined, Object.prototype],
    ]);
  }
});

test('other values stay as they are', () => {
  const value = { a: [1, null, true, { b: 1.5e300 }], 'Grün 半導体': 'Größe', hidden: '' };
  expect(parseData(JSON.stringify({ ...value, hidden: '\u200b' }))).toEqual(value);
  expect(parseData(JSON.stringify(value))).toEqual(value);
});
