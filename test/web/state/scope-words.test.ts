import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test';
import { OPTION_VALUES } from '../../../web/state/address.ts';
import {
  expiriesText,
  expiryChoices,
  horizonChoices,
  horizonOf,
  horizonText,
  SCOPE_NAMES,
  SCOPE_WORDS,
  scopeParts,
  scopeText,
} from '../../../web/state/scope-words.ts';

// A date of another year than the present one has its year.
beforeAll(() => setSystemTime(new Date('2026-11-22T19:00:00Z')));
afterAll(() => setSystemTime());

const at = (text: string) => Date.parse(text);
/** The daily expiries of a week, the two Fridays after it, a monthly Thursday (the Friday is a holiday) and a year. */
const EXPIRY = ['2026-11-16', '2026-11-18', '2026-11-20', '2026-11-27', '2026-12-04', '2026-12-18', '2027-06-17'];

test('every option and every value has words, and no two values the same', () => {
  expect([...SCOPE_NAMES].toSorted()).toEqual((Object.keys(OPTION_VALUES) as typeof SCOPE_NAMES).toSorted());
  for (const name of SCOPE_NAMES) {
    const { values } = SCOPE_WORDS[name];
    expect([name, Object.keys(values)]).toEqual([name, [...OPTION_VALUES[name]]]);
    expect(new Set(Object.values(values)).size).toBe(OPTION_VALUES[name].length);
  }
});

const textOf = ({ value, text, count }: ReturnType<typeof expiryChoices>[number]) => `${value} ${text} ${count}`;

describe('the choices of expiries', () => {
  const of = (moment: string, expiry = EXPIRY) => ({
    switch: horizonChoices(expiry, at(moment)).map(textOf),
    others: expiryChoices(expiry, at(moment)).map(textOf),
  });

  test.each([
    [
      'a Monday morning',
      '2026-11-16T15:00:00Z',
      ['session Session 1', 'next:35 35 days 6', 'all All 7'],
      ['0dte 0DTE 1', 'next:5 This week 3', '2026-11-20 Monthly, Fri 20 Nov 1'],
    ],
    [
      'a Tuesday without an expiry',
      '2026-11-17T15:00:00Z',
      ['2026-11-18 Wed 18 Nov 1', 'next:35 35 days 6', 'all All 7'],
      ['next:4 This week 3', '2026-11-20 Monthly, Fri 20 Nov 1'],
    ],
    [
      'the monthly Friday before its close',
      '2026-11-20T15:00:00Z',
      ['session Session 1', 'next:35 35 days 6', 'all All 7'],
      ['0dte 0DTE 1', 'next:1 This week 3', '2026-12-18 Monthly, Fri 18 Dec 1'],
    ],
    [
      'after the close of a Friday, the next week',
      '2026-11-20T21:00:00Z',
      ['session Session 1', 'next:35 35 days 6', 'all All 7'],
      ['0dte 0DTE 1', 'next:7 This week 4', '2026-12-18 Monthly, Fri 18 Dec 1'],
    ],
    [
      'a weekend before a day with an expiry',
      '2026-11-15T15:00:00Z',
      ['session Session 1', 'next:35 35 days 6', 'all All 7'],
      ['next:6 This week 3', '2026-11-20 Monthly, Fri 20 Nov 1'],
    ],
  ])('%s', (_, moment, horizons, others) => {
    expect(of(moment)).toEqual({ switch: horizons, others });
  });

  test('35 days end at the minute, not at the date', () => {
    const count = (moment: string) => horizonChoices(['2026-12-18'], at(moment)).find(({ text }) => text === '35 days');
    expect(count('2026-11-13T20:59:00Z')!.count).toBe(0);
    expect(count('2026-11-13T21:00:00Z')!.count).toBe(1);
  });

  test('the monthly expiry is the Thursday if the third Friday has none, with its year', () => {
    expect(of('2026-12-21T15:00:00Z', ['2026-12-31', '2027-06-17']).others.at(-1)).toBe(
      '2027-06-17 Monthly, Thu 17 Jun 2027 1',
    );
    expect(of('2026-12-21T15:00:00Z', ['2026-12-31']).others.length).toBe(1);
  });

  test('without a later expiry the switch has 35 days and all', () => {
    expect(of('2027-11-21T15:00:00Z', []).switch).toEqual(['next:35 35 days 0', 'all All 0']);
  });
});

test.each([
  [undefined, '35d', 'next 35 days'],
  ['session', 'session', 'the session'],
  ['all', 'all', 'all expiries'],
  ['0dte', undefined, ''],
] as const)('stored levels of %p are those of %p', (expiries, horizon, text) => {
  expect(horizonOf(expiries)).toBe(horizon as never);
  if (horizon) expect(horizonText(horizon)).toBe(text);
});

test.each([
  [{}, ''],
  [{ expiries: '0dte' }, 'Expiries 0DTE'],
  [{ expiries: 'next:1' }, 'Expiries next 1 day'],
  [{ expiries: 'all', sign: 'short_both' }, 'all expiries, Dealers short both'],
  [{ smile_dynamics: 'ssr=2' }, 'If spot moves SSR 2'],
  [{ expiries: '2026-11-27', weight: 'volume' }, "Expiries Fri 27 Nov only, Weight the day's volume"],
  [{ sign: 'flow', iv: 'own' }, 'Dealers by signed flow, Volatility own of each contract'],
  [{ gamma: 'feed', forward: 'flat' }, "Gamma the feed's, Forwards flat"],
])('%p reads %s', (options, expected) => {
  expect(scopeText(options, at('2026-11-20T15:00:00Z'))).toBe(expected);
  expect(scopeParts(options, at('2026-11-20T15:00:00Z')).length).toBe(Object.keys(options).length);
});

test('an expiry of another year has its year', () => {
  expect(expiriesText('2027-06-17', at('2026-11-20T15:00:00Z'))).toBe('Thu 17 Jun 2027 only');
});
