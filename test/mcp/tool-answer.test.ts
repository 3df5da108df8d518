import { describe, expect, test } from 'bun:test';
import { ageInWords, marketInWords, toolAnswer } from '../../src/mcp/tool-answer.ts';

test.each([
  [119, '119 s'],
  [120, '2 min'],
  [7_199, '119 min'],
  [7_200, '2 h'],
  [172_799, '47 h'],
  [172_800, '2 days'],
])('writes an age of %i seconds as %s', (seconds, words) => {
  expect(ageInWords(seconds)).toBe(words);
});

test.each([
  ['2026-11-23T15:00:00Z', 'open until Mon 2026-11-23 16:00 New York'],
  ['2026-11-23T21:00:00Z', 'closed since Mon 2026-11-23 16:00, opens Tue 2026-11-24 09:30 New York'],
  ['2026-11-22T18:00:00Z', 'closed since Fri 2026-11-20 16:00, opens Mon 2026-11-23 09:30 New York'],
  // The day after Thanksgiving closes at 13:00.
  ['2026-11-28T18:00:00Z', 'closed since Fri 2026-11-27 13:00, opens Mon 2026-11-30 09:30 New York'],
])('the market at %s is %s', (at, words) => {
  expect(marketInWords(Date.parse(at))).toBe(words);
});

const PROVENANCE = {
  ...{ source: 'files:x.csv', simulated: false, as_of: '2026-11-20T20:59:00.000Z', age_s: 172_800, stale: false },
  notes: ['a'],
};

test('an answer has the keys of the contract, then the provenance with its echoes', () => {
  const answer = toolAnswer({
    body: { net: 1.23456789, count: 123456789 },
    echoes: { side: 'at_or_above', notes: ['b'] },
    provenance: PROVENANCE,
  });
  expect(answer).toEqual({
    net: 1.23457,
    count: 123456789,
    provenance: {
      ...{ as_of: '2026-11-20T20:59:00.000Z', age: '2 days', stale: false, simulated: false, source: 'files:x.csv' },
      market: 'closed since Fri 2026-11-20 16:00, opens Mon 2026-11-23 09:30 New York',
      notes: ['a', 'b'],
      side: 'at_or_above',
    },
  });
  expect(Object.keys(answer)).toEqual(['net', 'count', 'provenance']);
});

test.each([
  ['stale quotes', { stale: true, age_s: 98 * 86_400 }, {}, ['Stale: the quotes are 98 days old.', 'a']],
  ['quotes of the future', { stale: true, age_s: -7_200 }, {}, ['Stale: the quotes are dated 2 h in the future.', 'a']],
  ['fresh quotes', { stale: false, age_s: 98 * 86_400 }, {}, ['a']],
  ['a replay', { stale: true, age_s: 98 * 86_400 }, { at: '2026-11-20' }, ['a']],
])('the notes of %s', (_what, age, echoes, notes) => {
  const answer = toolAnswer({ body: {}, echoes, provenance: { ...PROVENANCE, ...age } });
  expect(answer.provenance).toMatchObject({ notes });
});

describe('without market data', () => {
  test('the source is the arguments, and nothing claims an age', () => {
    const { provenance } = toolAnswer({ body: {}, echoes: { price: 10 / 3, notes: [] }, provenance: undefined });
    expect(provenance).toEqual({
      source: 'the arguments of this call; no market data was read',
      notes: [],
      price: 3.33333,
    });
  });
});
