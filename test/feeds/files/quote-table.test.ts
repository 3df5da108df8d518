import { describe, expect, test } from 'bun:test';
import { chain, rejections } from './reading.ts';

const TITLE = 'Standard & Poors 500 Index,Last: 3990.5601,Change:  56.1801';
const DATE = '"Date: December 12, 2022 at 8:30 PM EST",Bid: 3962.01,Ask: 4016.6299,Size: 1*1,"Volume: 89,468,957"';
const HEADER =
  'Expiration Date,Calls,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest,Strike,' +
  'Puts,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
const WEEKLY =
  'Fri Dec 16 2022,SPXW221216C04000000,41.5,0.25,41,42,800,0.3,0.48,0.002,1200,4000.00,' +
  'SPXW221216P04000000,50.5,0,50,51,900,0.31,-0.52,0.0021,3400';
const MONTHLY = WEEKLY.replaceAll('SPXW', 'SPX').replaceAll('800', '1').replaceAll(',900', ',2');
const table = (...lines: string[]) => `${lines.join('\n')}\n`;

test('reads calls on the left and puts on the right, and separates the roots', () => {
  const read = chain(table(TITLE, DATE, HEADER, WEEKLY, MONTHLY));
  expect(read).toMatchObject({ underlying: 'SPX', spot: 3990.5601, count: 4, refused: {}, simulated: false });
  expect(read.asOf).toBe(Date.parse('2022-12-13T01:30:00Z'));
  expect(read.series.map(({ root, settlement }) => [root, settlement])).toEqual([
    ['SPX', 'AM'],
    ['SPXW', 'PM'],
  ]);
  const row = (i: number) =>
    [
      read.callPut,
      read.strike,
      read.last,
      read.bid,
      read.ask,
      read.volume,
      read.iv,
      read.delta,
      read.gamma,
      read.openInterest,
    ].map((column) => column[i]);
  expect(row(2)).toEqual([1, 4000, 41.5, 41, 42, 800, 0.3, 0.48, 0.002, 1200]);
  expect(row(3)).toEqual([-1, 4000, 50.5, 50, 51, 900, 0.31, -0.52, 0.0021, 3400]);
});

describe('the date line', () => {
  test.each([
    ['Date: December 12, 2022 at 8:30 PM EST', '2022-12-13T01:30:00Z'],
    ['"Date: December 12, 2022 at 8:30 PM EST"', '2022-12-13T01:30:00Z'],
    ['Date: February 5 2022, 8:26 PM EST', '2022-02-06T01:26:00Z'],
    ['Date: 9 June 2023, 1:40 PM EDT', '2023-06-09T17:40:00Z'],
    ['"Date: 9 June 2023, 1:40 PM EDT",Bid: 1', '2023-06-09T17:40:00Z'],
    ['Date: 9 June 2023 at 13:40 GMT-4', '2023-06-09T17:40:00Z'],
    ['Date: 9 June 2023 at 19:40:30 GMT+2', '2023-06-09T17:40:30Z'],
    ['Date: June 9, 2023 at 1:40 p.m. EDT', '2023-06-09T17:40:00Z'],
    ['Date: June 9, 2023 at 1:40\u202fPM EDT', '2023-06-09T17:40:00Z'],
    ['Date: June 9, 2023 at 12:05 AM CDT', '2023-06-09T05:05:00Z'],
    ['Date: June 9, 2023 at 12:05 PM PDT', '2023-06-09T19:05:00Z'],
    ['Date: December 9, 2023 at 1:40 PM UTC', '2023-12-09T13:40:00Z'],
    ['Date: December 9, 2023 at 1:40 PM', '2023-12-09T18:40:00Z'],
    ['"Jul 17 2026 @ 15:45 ET,Last: 601.23,Change: +1.10"', '2026-07-17T19:45:00Z'],
    ['Jan 30 2026 @ 15:45 ET', '2026-01-30T20:45:00Z'],
    ['Date: Feb 29 2024, 4:00 PM EST', '2024-02-29T21:00:00Z'],
  ])('%s', (line, instant) => {
    expect(new Date(chain(table(TITLE, line, HEADER, WEEKLY)).asOf).toISOString()).toBe(
      new Date(instant).toISOString(),
    );
  });

  test.each([
    ['Date: February 30, 2023 at 8:30 PM EST', /the date line cannot be read: .*February 30/],
    ['Date: 13 Thermidor 2023, 8:30 PM EST', /the date line cannot be read/],
    ['Date: June 9, 2023 at 13:40 PM EDT', /the date line cannot be read/],
    ['Date: June 9, 2023 at 25:40 EDT', /the date line cannot be read/],
    ['Date: yesterday', /the date line cannot be read/],
    ['Date: June 9, 2023 at 1:40 PM JST', /the time zone .* is unknown: JST/],
    ['nothing of the kind', /no date line/],
  ])('refuses %s', (line, reason) => {
    expect(rejections(table(TITLE, line, HEADER, WEEKLY))).toEqual([expect.stringMatching(reason)]);
  });
});

describe('the same table in another format', () => {
  const plain = table(TITLE, DATE, HEADER, WEEKLY);
  const OLD = HEADER.replaceAll('Volume', 'Vol').replaceAll('Open Interest', 'Open Int');
  const swap = (line: string) => {
    const cells = line.split(',');
    return [...cells.slice(0, 11).reverse(), cells[11], ...cells.slice(12).reverse()].join(',');
  };
  test.each([
    ['text above the table', `---Example Data---\n\n${plain}`],
    ['Windows line ends', plain.replaceAll('\n', '\r\n')],
    ['the older header', table(TITLE, DATE, OLD, WEEKLY)],
    ['commas at the ends', table(TITLE, DATE, `${HEADER},`, `${WEEKLY},`)],
    ['columns in another order', table(TITLE, DATE, swap(HEADER), swap(WEEKLY))],
    ['thousands separators', plain.replace('Last: 3990.5601', 'Last: 3,990.5601').replace(',1200,', ',"1,200",')],
    ['an older title', plain.replace(TITLE, 'SPX (S&P 500 INDEX),3990.5601,+1.2')],
  ])('%s', (_what, text) => {
    expect(chain(text)).toEqual(chain(plain));
  });
});

test('takes the spot from the quotes if the title has no price', () => {
  expect(chain(table('An index', DATE, HEADER, WEEKLY)).spot).toBe(3991);
});

test('the majority of symbols determines the underlying, the others are refused', () => {
  const foreign = WEEKLY.replaceAll('SPXW', 'QQQ');
  expect(chain(table(TITLE, DATE, HEADER, foreign, WEEKLY, MONTHLY))).toMatchObject({
    underlying: 'SPX',
    refused: { foreign_underlying: 2 },
  });
});

describe('a bad row is counted, the others are read', () => {
  test.each([
    ['half a row', MONTHLY.slice(0, 60), { malformed_row: 1 }],
    ['cells too many', `${MONTHLY},1,2`, { malformed_row: 1 }],
    ['an invalid symbol', MONTHLY.replace('SPX221216C', 'SPX22121XC'), { bad_symbol: 1 }],
    ['both sides duplicated', WEEKLY, { duplicate: 2 }],
    ['negative open interest', MONTHLY.replace(/,3400$/, ',-3400'), { bad_value: 1 }],
    ['only the call of a pair', MONTHLY.replace('SPX221216P04000000', ''), {}],
  ])('%s', (_what, row, refused) => {
    expect(chain(table(TITLE, DATE, HEADER, WEEKLY, row)).refused).toEqual(refused);
  });
});

describe('refused with a reason', () => {
  test.each([
    ['truncated above the header', table(TITLE, DATE), /no header row/],
    ['only a header', table(TITLE, DATE, HEADER), /none of 0 rows/],
    ['no strike', table(TITLE, DATE, HEADER.replace('Strike', 'K'), WEEKLY), /has no column Strike/],
    ['no puts', table(TITLE, DATE, HEADER.replace('Puts', 'P'), WEEKLY), /has no column puts/],
    [
      'no open interest',
      table(TITLE, DATE, HEADER.replace(/Open Interest$/, 'x'), WEEKLY),
      /has no column Open Interest of the puts/,
    ],
    [
      'symbols of an old format',
      table(TITLE, DATE, HEADER, WEEKLY.replaceAll(/SPXW\d+/g, 'SPX1820-E')),
      /none of 1 rows/,
    ],
  ])('%s', (_what, text, reason) => {
    expect(rejections(text)).toEqual([expect.stringMatching(reason)]);
  });
});
