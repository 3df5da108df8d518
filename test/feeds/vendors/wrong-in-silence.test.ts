import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { isJoinFile } from '../../../src/feeds/vendors/join-file.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import type { Stated } from '../../../src/feeds/vendors/stated.ts';
import type { Delivery } from '../../../src/market/feed.ts';

function read(text: string, stated?: Stated, origin = 'a.csv'): Delivery[] {
  return runToCompletion(readMarketFile(Buffer.from(text), { origin, stated }));
}

const at = (second: number) => Date.parse('2026-08-21T19:00:00Z') + 1_000 * second;
/** The answer of Tradier with a time of its own for each option. `more` are indices of options that stand twice. */
function tradier(more: readonly number[]): string {
  const options = Array.from({ length: 20 }, (_, i) => ({
    ...{
      symbol: `ABC260918${i % 2 ? 'P' : 'C'}00${100 + (i >> 1)}000`,
      root_symbol: 'ABC',
      option_type: i % 2 ? 'put' : 'call',
    },
    ...{
      expiration_date: '2026-09-18',
      strike: 100 + (i >> 1),
      bid: 2,
      ask: 2.2,
      open_interest: 10,
      bid_date: at(i),
      ask_date: at(i),
    },
  }));
  return JSON.stringify({ options: { option: [...options, ...more.map((i) => options[i]!)] } });
}

test('a repeated option does not make a chain of each time', () => {
  expect(read(tradier([0]))).toMatchObject([
    { kind: 'chain', chain: { count: 20, asOf: at(19), refused: { duplicate: 1 } } },
  ]);
});

test('options of two moments with times of their own are refused', () => {
  const all = Array.from({ length: 20 }, (_, i) => i);
  expect(read(tradier(all))).toMatchObject([
    {
      kind: 'rejection',
      reason: expect.stringMatching(/20 rows have the contract of another row, and each row has a time/),
    },
  ]);
});

test('a folder’s mapping leaves the JSON of the folder as it is', () => {
  const mapping = parseMapping('[columns]\nstrike = "K"', 'zomma-map.toml');
  expect(read(tradier([]), { mapping, isOfFolder: true }, 'a.json')).toMatchObject([
    { kind: 'chain', chain: { count: 20 } },
  ]);
});

const HEADER =
  'underlying,underlying_last,exchange,optionroot,type,expiration,quotedate,strike,last,bid,ask,volume,openinterest,impliedvol,delta,gamma';
const row = (expiry: string, day: string) =>
  `ABC,100,*,ABC260828C00100000,call,${expiry},${day},100,2,1.9,2.1,5,10,0.25,0.5,0.02`;

test('a date that contradicts the vendor’s order refuses the file, because other dates would swap', () => {
  const text = `${HEADER}\n${row('28/08/2026', '07/08/2026')}\n${row('04/09/2026', '07/08/2026')}\n`;
  expect(read(text)).toMatchObject([
    {
      kind: 'rejection',
      reason: expect.stringMatching(/"expiration" has "28\/08\/2026", which is no date in the order MDY/),
    },
  ]);
});

test.each<[string, string, RegExp]>([
  [
    'two columns of one name',
    `${HEADER},Open Interest,open_interest\n${row('08/28/2026', '08/07/2026')},1,2\n`,
    /is named twice/,
  ],
  ['strikes in cents without a spot', cents(), /may be dollars or thousandths/],
])('refuses %s', (_what, text, reason) => {
  expect(read(text)).toMatchObject([{ kind: 'rejection', reason: expect.stringMatching(reason) }]);
});

function cents(): string {
  const rows = Array.from({ length: 20 }, (_, i) =>
    ['call', 'put'].map((side) => {
      const strike = 100 + 10 * i;
      const worth = Math.max(0, side === 'call' ? 200 - strike : strike - 200) + 1;
      return `ABC,2026-08-21,2026-09-18,${side},${100 * strike},${worth},${worth + 0.2},10`;
    }),
  );
  return `ticker,quote_date,expiration,type,strike,bid,ask,oi\n${rows.flat().join('\n')}\n`;
}

test('a table with the call and the put in one row is refused with the way to read it', () => {
  expect(read('Call Bid,Call Ask,Strike,Put Bid,Put Ask\n3,3.2,100,2.5,2.7\n')).toMatchObject([
    {
      kind: 'rejection',
      reason: expect.stringContaining('which `zomma map guess` drafts. Name the columns in a mapping'),
    },
  ]);
});

test('a penny stock keeps its strikes', () => {
  const rows = [0.5, 1, 2, 5, 10, 50].map((strike) => `ABC,2026-08-21,0.07,2026-09-18,C,${strike},0.01,0.05,10`);
  const text = `ticker,quote_date,spot,expiration,type,strike,bid,ask,oi\n${rows.join('\n')}\n`;
  expect(read(text)).toMatchObject([{ chain: { strike: new Float64Array([0.5, 1, 2, 5, 10, 50]) } }]);
});

test('usual names are read also if the ticker is in the column underlying', () => {
  const text =
    'quote_date,underlying,underlying_last,expiration,option_type,strike,bid,ask,open_interest\n2026-08-21,ABC,100,2026-09-18,C,100,2,2.2,10\n';
  expect(read(text)).toMatchObject([{ kind: 'chain', chain: { underlying: 'ABC', spot: 100, count: 1 } }]);
});

test('the spot of an index in a file of ORATS is not the future of an expiry', () => {
  const text = `ticker,tradeDate,expirDate,dte,strike,stockPrice,callVolume,callOpenInterest,putVolume,putOpenInterest,callBidPrice,callAskPrice,putBidPrice,putAskPrice,callMidIv,putMidIv,delta,gamma,spotPrice
SPX,2026-08-21,2026-09-18,28,100,104,1,2,3,4,2,2.2,1,1.2,0.2,0.2,0.5,0.02,100
`;
  expect(read(text)).toMatchObject([{ chain: { spot: 100, count: 2 } }]);
});

test.each([
  ['prices.csv', false],
  ['SPX_EOD_2026.txt', true],
  ['silent_eod_2026.txt', false],
])('a ticker is taken from the name %s: %p', (origin, isTaken) => {
  const isCloses = origin.endsWith('.csv');
  const text = isCloses
    ? 'Date,Open,High,Low,Close,Volume\n2026-08-20,1,2,0.5,640.5,1000\n'
    : '[QUOTE_UNIXTIME], [UNDERLYING_LAST], [EXPIRE_DATE], [C_BID], [C_ASK], [STRIKE], [P_BID], [P_ASK]\n1787342400, 100, 2026-09-18, 2, 2.2, 100, 1, 1.2\n';
  const [delivery] = read(text, undefined, origin);
  if (isTaken) expect(delivery).toMatchObject({ kind: 'chain', chain: { underlying: 'SPX' } });
  else
    expect(delivery).toMatchObject({
      kind: 'rejection',
      reason: expect.stringMatching(/no column for (?:ticker|underlying)/),
    });
});

test('a pattern with many stars takes no time', () => {
  const mapping = parseMapping(`[join]\nfile = "${'*a'.repeat(14)}*b"\ncolumns = { open_interest = "oi" }`, 'm.toml');
  const before = performance.now();
  expect(isJoinFile(`${'a'.repeat(200)}.csv`, mapping)).toBe(false);
  expect(isJoinFile(`${'a'.repeat(200)}b`, mapping)).toBe(true);
  expect(performance.now() - before).toBeLessThan(1_000);
});

const EXPIRY_DATES = ['2026-09-18', '2026-12-18', '2027-01-15'];
/** The numbers of expiries at a time of day in a zone, in `unit` milliseconds. */
function numbered(zone: string, time = '00:00', unit = 1_000): string[] {
  const at = (date: string) => Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(zone).epochMilliseconds;
  return EXPIRY_DATES.map((date) => String(at(date) / unit));
}
const isoOf = (ms: string) => new Date(Number(ms)).toISOString();
const numbers = (expiries: readonly string[], zone?: string) => {
  const rows = expiries.map((expiry) => `ABC,2026-08-21,100,${expiry},C,100,2,2.2,10`);
  return read(`ticker,quote_date,spot,expiration,type,strike,bid,ask,oi\n${rows.join('\n')}\n`, { zone });
};

test.each<[string, readonly string[], string | undefined]>([
  ['UTC midnights', numbered('UTC'), undefined],
  ['UTC midnights in ms beside a stated zone', numbered('UTC', '00:00', 1), 'Europe/Berlin'],
  ['midnights of Berlin, of summer and winter', numbered('Europe/Berlin'), 'Europe/Berlin'],
  ['midnights of Berlin in ms', numbered('Europe/Berlin', '00:00', 1), 'Europe/Berlin'],
  ['midnights of Tokyo in µs', numbered('Asia/Tokyo', '00:00', 1e-3), 'Asia/Tokyo'],
  ['midnights of New York', numbered('America/New_York'), undefined],
  ['closes of New York', numbered('America/New_York', '16:00'), undefined],
  ['midnights of Berlin as times in UTC', numbered('Europe/Berlin', '00:00', 1).map(isoOf), 'Europe/Berlin'],
  ['closes as times in UTC', numbered('America/New_York', '16:15', 1).map(isoOf), undefined],
  ['opens of New York', numbered('America/New_York', '09:30'), 'Europe/Berlin'],
])('numbers of expiries that are %s are the right dates', (_what, expiries, zone) => {
  expect(numbers(expiries, zone)).toMatchObject([{ chain: { series: EXPIRY_DATES.map((expiry) => ({ expiry })) } }]);
});

test('numbers of expiries are not needed beside symbols', () => {
  const row = 'ABC260918C00100000,2026-08-21,100,1789682400,C,100,2,2.2,10';
  expect(read(`contractSymbol,quote_date,spot,expiration,type,strike,bid,ask,oi\n${row}\n`)).toMatchObject([
    { chain: { series: [{ expiry: '2026-09-18' }] } },
  ]);
});

test.each<[string, readonly string[], string | undefined]>([
  ['midnights of Berlin without a zone', numbered('Europe/Berlin'), undefined],
  ['midnights of Berlin as times in UTC', numbered('Europe/Berlin', '00:00', 1).map(isoOf), undefined],
  ['midnights of Tokyo in ms without a zone', numbered('Asia/Tokyo', '00:00', 1), undefined],
  ['midnights of Berlin in another zone', numbered('Europe/Berlin'), 'Asia/Tokyo'],
  ['midnights of two zones', [...numbered('Europe/Berlin').slice(1), numbered('UTC')[0]!], 'Europe/Berlin'],
])('numbers of expiries that are %s are refused', (_what, expiries, zone) => {
  expect(numbers(expiries, zone)).toMatchObject([
    {
      kind: 'rejection',
      reason: expect.stringMatching(/column "expiration" has \S+, which is 20\S+Z and no midnight of .*--zone/),
    },
  ]);
});
