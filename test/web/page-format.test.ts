import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test';
import * as format from '../../web/page-format.ts';

// A moment of another year than the present one has its year.
beforeAll(() => setSystemTime(new Date('2026-11-22T19:00:00Z')));
afterAll(() => setSystemTime());

describe('figures', () => {
  test.each([
    [format.amount(-2_976_679_454), '−2.98B'],
    [format.amount(512_345), '512K'],
    [format.amount(1_234), '1.23K'],
    [format.amount(0), '0'],
    [format.amount(null), '—'],
    [format.amount(Number.NaN), '—'],
    [format.amount(1.5e12), '1.50T'],
    [format.amount(0.0123), '0.0123'],
    [format.signedAmount(7_830_000), '+7.83M'],
    [format.signedAmount(-7_830_000), '−7.83M'],
    [format.price(648.5448), '648.54'],
    [format.price(12_345.678), '12,345.68'],
    [format.price(undefined), '—'],
    [format.strikeText(650), '650'],
    [format.strikeText(637.5), '637.5'],
    [format.percent(2.7722), '+2.77 %'],
    [format.percent(-4.92), '−4.92 %'],
    [format.percent(8.6, 1, false), '8.6 %'],
    [format.volatility(0.1584), '15.8 %'],
    [format.countText(4288), '4,288'],
    [format.countsText({ crossed_quote: 3, no_bid: 1200, expired: 0 }), '1,200 no bid, 3 crossed quote'],
    [format.countsText({}), ''],
    [format.counted(1, 'day'), '1 day'],
    [format.counted(1200, 'day'), '1,200 days'],
    [format.duration(47 * 60), '47 min'],
    [format.duration(33 * 3600 + 720), '33 h 12 min'],
    [format.duration(3 * 86_400), '3 days'],
    [format.duration(-90), '-1 min'],
  ])('%p is %p', (text, expected) => {
    expect(text).toBe(expected);
  });
});

describe('moments are those of New York', () => {
  test.each([
    ['2026-11-20T21:00:00Z', 'Fri 20 Nov 16:00'],
    ['2026-07-01T20:00:00Z', 'Wed 1 Jul 16:00'],
    ['2026-11-21T04:30:00Z', 'Fri 20 Nov 23:30'],
    ['2026-11-01T05:30:00Z', 'Sun 1 Nov 01:30'],
    ['2026-11-01T06:30:00Z', 'Sun 1 Nov 01:30'],
    ['nonsense', '—'],
  ])('%s is %s', (instant, expected) => {
    expect(format.newYorkMoment(instant)).toBe(expected);
  });

  test.each([
    ['2026-11-20T21:00:00.000Z', 'Fri 20 Nov 2026 16:00:00 New York (21:00:00Z)'],
    ['2027-01-01T04:59:59Z', 'Thu 31 Dec 2026 23:59:59 New York (04:59:59Z)'],
    [undefined, '—'],
  ])('%s is exactly %s', (instant, expected) => {
    expect(format.exactMoment(instant)).toBe(expected);
  });
});

describe('texts of data', () => {
  test.each([
    ['marks of direction are removed', 'a\u202eb', 'a b'],
    ['zero-width characters are removed', 'a\u200bb', 'a b'],
    ['control characters are removed', 'a\u0007b\n', 'a b'],
    ['markup stays what it is: text', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['an object is nothing', { type: 'img', props: {} }, ''],
    ['a number is its digits', 5, '5'],
  ])('%s', (_, value, expected) => {
    expect(format.cleanText(value)).toBe(expected);
  });

  test('long texts are cut', () => {
    expect(format.cleanText('x'.repeat(1_000), 50)).toHaveLength(50);
  });
});
