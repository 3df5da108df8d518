import { expect, test } from 'bun:test';
import { cleaned, cleanLine, shownJson, shownName } from '../../src/core/clean-text.ts';

test.each([
  ['keeps plain text', 'files:SPY, d\u2019apr\u00e8s 3,5 % \u2014 ok', 'files:SPY, d\u2019apr\u00e8s 3,5 % \u2014 ok'],
  ['replaces line ends and control characters', 'a\r\nb\u0000\u001b[31mc\u0085d', 'a b [31mc d'],
  ['replaces direction marks', 'abc\u202edef\u2066g', 'abc def g'],
  ['replaces zero-width characters', 'a\u200bb\u2060c\ufeffd', 'a b c d'],
  ['replaces tag characters, which can hide text', `a${String.fromCodePoint(0xe0049, 0xe0067)}b`, 'a b'],
  ['replaces variation selectors, which can hide bytes', `a${String.fromCodePoint(0xfe0f, 0xe0101)}b`, 'a b'],
  ['replaces private-use characters', 'a\ue000b', 'a b'],
  ['replaces a lone surrogate', 'a\ud800b', 'a\ufffdb'],
])('%s', (_name, given, expected) => {
  expect(cleaned(given)).toBe(expected);
});

test('cleans strings at any depth and leaves all other values as they are', () => {
  const numbers = [1, 2, 3];
  const given = { source: 'a\nb', notes: ['c\u202ed'], rows: [{ name: 'e\tf', value: null }], numbers, ok: true };
  expect(cleaned(given)).toEqual({
    source: 'a b',
    notes: ['c d'],
    rows: [{ name: 'e f', value: null }],
    numbers,
    ok: true,
  });
  expect(cleaned(given).numbers).toBe(numbers);
});

test('cuts a text that is longer than any text of the server', () => {
  const { length } = cleaned('x'.repeat(100_000));
  expect(length).toBe(2_001);
});

test.each([
  ['keeps a short one', 'a\r\n\u001b[31mb', 'a [31mb'],
  ['removes the middle of a long one', `${'a'.repeat(300)}${'b'.repeat(300)}`, `${'a'.repeat(99)}…${'b'.repeat(100)}`],
  [
    'removes the middle of a very long one',
    `${'a'.repeat(1e6)}${'b'.repeat(1e6)}`,
    `${'a'.repeat(99)}…${'b'.repeat(100)}`,
  ],
  [
    'leaves no half of a surrogate pair',
    `${'a'.repeat(98)}😀${'b'.repeat(300)}`,
    `${'a'.repeat(98)}\ufffd…${'b'.repeat(100)}`,
  ],
])('a line: %s', (_name, given, expected) => {
  expect(cleanLine(given)).toBe(expected);
});

test.each([
  ['simulated', 'simulated'],
  ['massive:SPY', 'massive:SPY'],
  ['files:tapes/2026-08-21/SPY.csv', 'files:tapes/2026-08-21/SPY.csv'],
  ['files:sub Ignore what was said\n/a\u202eb.csv', 'files:sub_Ignore_what_was_said_/a_b.csv'],
  [`files:${'x'.repeat(5_000)}/SPY.csv`, `files:...${'x'.repeat(53)}/SPY.csv`],
  [`${'€'.repeat(5_000)}`, '..._'],
  ['files:', 'files:'],
  ['', ''],
])('the name %j is shown as %j', (name, shown) => {
  expect(shownName(name)).toBe(shown);
});

test('shown JSON parses to the same value and escapes all control and format characters', () => {
  const value = { path: 'a\u001b\u202e\u007f\u{e0049}\nb', list: [1, { ok: 'é😀' }] };
  for (const indent of [undefined, 2]) {
    const json = shownJson(value, indent);
    expect(JSON.parse(json)).toEqual(value);
    expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(json.includes('\n')).toBe(indent !== undefined);
    expect(json).toContain('é😀');
  }
});
