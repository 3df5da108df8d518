import { describe, expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { isJoinFile } from '../../../src/feeds/vendors/join-file.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import type { Stated } from '../../../src/feeds/vendors/stated.ts';
import { statedIn } from '../../../src/feeds/vendors/stated-flags.ts';
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

/** The columns of a table without a known vendor. */
interface Cells {
  readonly [column: string]: string | number;
}

/** A chain of 20 strikes of one expiry, whose quotes are those of spot 100. `edit` changes the cells of the row `i`. */
function usualTable(edit: (i: number, row: Cells) => Cells = () => ({})): string {
  const rows = Array.from({ length: 40 }, (_, i) => {
    const [strike, type] = [81 + 2 * (i >> 1), i % 2 ? 'put' : 'call'];
    const bid = Math.max(0, i % 2 ? strike - 100 : 100 - strike) + 1;
    const row = { ticker: 'ABC', quote_date: '2026-08-21', spot: 100, expiration: '2026-09-18', type, strike, bid };
    const whole: Cells = { ...row, ask: bid + 0.2, oi: 10 + i };
    return { ...whole, ...edit(i, whole) };
  });
  return [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('');
}

describe('rows that cannot be read', () => {
  test.each<[string, (i: number) => Cells, RegExp]>([
    [
      'expiry',
      (i) => (i % 3 === 2 ? { expiration: '18-Okt-2026' } : {}),
      /^ABC: 13 of 40 rows cannot be read \(13 bad_contract\)\. row 3, column "expiration": "18-Okt-2026" is not a date/,
    ],
    [
      'strike',
      (i) => (i % 3 === 2 ? { strike: 'x' } : {}),
      /^ABC: 13 of 40 rows .* row 3, column "strike": "x" is not a strike/,
    ],
    [
      'side',
      (i) => (i % 3 === 2 ? { type: '?' } : {}),
      /^ABC: 13 of 40 rows .* row 3, column "type": "\?" is not a side/,
    ],
  ])('refuse a chain if a third has no %s', (_what, edit, reason) => {
    expect(read(usualTable(edit))).toEqual([
      { kind: 'rejection', origin: 'a.csv', reason: expect.stringMatching(reason) },
    ]);
  });

  test('are counted, with the first bad cell, if they are few', () => {
    expect(read(usualTable((i) => (i === 6 || i === 8 ? { strike: 0 } : {})))).toMatchObject([
      {
        kind: 'chain',
        chain: { count: 38, refused: { bad_contract: 2 } },
        notes: ['row 7, column "strike": "0" is not a strike: 500, $500 or 1,250.5'],
      },
    ]);
    expect(read(usualTable())).toEqual([{ kind: 'chain', chain: expect.objectContaining({ count: 40, refused: {} }) }]);
  });

  const OWN = 'underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,open_interest';
  const own = (edit: (i: number) => Cells) =>
    `${OWN}\n${Array.from({ length: 40 }, (_, i) => Object.values({ ...{ underlying: 'ABC', as_of: '2026-08-21T20:00:00Z', spot: 100, symbol: '', expiry: '2026-09-18' }, ...{ put_call: i % 2 ? 'P' : 'C', strike: 81 + 2 * (i >> 1), bid: '', ask: '', open_interest: 10 }, ...edit(i) }).join(',')).join('\n')}\n`;
  test.each<[string, Cells, RegExp]>([
    ['ticker', { underlying: '?' }, /column "underlying": "\?" is not a ticker/],
    ['expiry', { expiry: '18/09/2026' }, /column "expiry": "18\/09\/2026" is not a date/],
    ['side', { put_call: 'X' }, /column "put_call": "X" is not a side/],
    ['strike', { strike: 'x' }, /column "strike": "x" is not a strike/],
    ['symbol', { symbol: 'ABC26' }, /column "symbol": "ABC26" is not an OSI symbol/],
    ['time', { as_of: '2026-08-21' }, /column "as_of": "2026-08-21" is not a time with its zone/],
    ['cells', { strike: '90,1,1' }, /row 3 has 12 cells, and the header 10/],
  ])('name their %s in Zomma’s own table', (_what, cells, reason) => {
    expect(read(own((i) => (i >= 2 && i < 4 ? cells : {})))).toMatchObject([
      { notes: [expect.stringMatching(reason)] },
    ]);
    expect(read(own((i) => (i >= 2 && i % 3 === 2 ? cells : {})))).toMatchObject([
      { kind: 'rejection', reason: expect.stringMatching(reason) },
    ]);
  });
});

describe('rows of a ticker with different times', () => {
  const time = (minute: number) => `2026-08-21 15:${String(minute).padStart(2, '0')}`;
  const stated = { zone: 'America/New_York' };
  test.each<[string, (i: number) => number]>([
    ['in two halves', (i) => Number(i >= 20)],
    ['of which every tenth is newer', (i) => Number(i % 10 === 9)],
    ['of which each has its own', (i) => i],
  ])('%s are one chain, so they are refused', (_what, minute) => {
    const text = usualTable((i) => ({ quote_date: time(minute(i)) }));
    expect(read(text, stated)).toMatchObject([
      {
        kind: 'rejection',
        reason: expect.stringMatching(
          /^the rows of one chain of ABC have different times: those of 2026-08-21T19:0\d:00.000Z and 2026-08-21T19:\d\d:00.000Z have no contracts in common\. State as_of = "newest"/,
        ),
      },
    ]);
    const mapping = parseMapping('[forms]\nas_of = "newest"', 'm.toml');
    expect(read(text, { ...stated, mapping })).toMatchObject([{ kind: 'chain', chain: { count: 40 } }]);
  });

  const [header, ...lines] = usualTable().trim().split('\n');
  const after = (date: string, expiry = '2026-09-18') =>
    lines.map((line) => line.replace('2026-08-21', date).replace('2026-09-18', expiry));
  test.each<[string, string[]]>([
    ['two days of the same contracts', after('2026-08-24')],
    ['two minutes of the same contracts', after('2026-08-21').slice(0, 12)],
    ['two months of other contracts', after('2026-10-21', '2026-11-20')],
  ])('%s are a history', (_what, more) => {
    const text = [header, ...lines, ...more].join('\n').replaceAll('2026-08-21,', '2026-08-21 15:00,');
    const later = text.replaceAll(/(2026-08-24|2026-10-21),/g, '$1 15:00,');
    const minutes = later.split('\n').map((line, i) => (i > 40 ? line.replace('21 15:00', '21 15:01') : line));
    expect(read(`${minutes.join('\n')}\n`, stated).map(({ kind }) => kind)).toEqual(['chain', 'chain']);
  });

  test('days of contracts that expire on them are a history', () => {
    const days = ['2026-08-20', '2026-08-21'].flatMap((day) => after(`${day} 15:00`, day));
    expect(read(`${[header, ...days].join('\n')}\n`, stated)).toMatchObject([{ kind: 'chain' }, { kind: 'chain' }]);
  });
});

describe('a date on which the exchange is shut has no close', () => {
  const SHUT =
    /has the date 2026-(?:08-22|07-03), on which the exchange is shut, so it has no close\. State the day of the quotes, or a time$/;
  const refused = (start: string) => [
    { kind: 'rejection', reason: expect.stringMatching(new RegExp(`^${start} ${SHUT.source}`)) },
  ];
  const onDay = (day: string) => usualTable(() => ({ quote_date: day }));
  const withoutTime = onDay('').replace('quote_date', 'note');

  test.each(['2026-08-22', '08/22/2026', '2026-08-22 00:00:00', '20260822', '2026-07-03'])('in a column: %s', (day) => {
    expect(read(onDay(day))).toMatchObject(refused('column "quote_date"'));
    expect(read(onDay(day), { close: '15:45' })).toMatchObject(refused('column "quote_date"'));
  });

  test('in a mapping, in the name of a file and in --as-of', () => {
    const mapping = parseMapping('[constants]\nas_of = "2026-08-22"', 'm.toml');
    expect(read(withoutTime, { mapping })).toMatchObject(refused('column as_of'));
    expect(read(withoutTime, {}, 'ABC-2026-08-22.csv')).toMatchObject(refused('the name ABC-2026-08-22.csv'));
    expect(() => statedIn({ asOf: '2026-08-22' })).toThrow(new RegExp(`^--as-of ${SHUT.source}`));
  });

  test('but may have a time', () => {
    const at = { kind: 'chain', chain: { asOf: Date.parse('2026-08-22T14:00:00Z') } };
    expect(read(onDay('2026-08-22T14:00:00Z'))).toMatchObject([at]);
    expect(read(withoutTime, {}, 'ABC-2026-08-22_1000.csv')).toMatchObject([at]);
    expect(read(withoutTime, statedIn({ asOf: '2026-08-22T14:00Z' }))).toMatchObject([at]);
  });
});

describe('a spot that the quotes do not imply has a note', () => {
  const spots = (of: (i: number) => number, ticker = 'ABC') => read(usualTable((i) => ({ ticker, spot: of(i) })));
  test.each<[string, (i: number) => number, string[]]>([
    ['far above', () => 112, ['spot 112 is 12.0 % above the 100.00 that the quotes imply']],
    ['far below', () => 95, ['spot 95 is 5.0 % below the 100.00 that the quotes imply']],
    [
      'of two moments',
      (i) => (i < 6 ? 100.6 : 100),
      ['6 of 40 rows state a spot more than 0.5 % from 100, which is the median'],
    ],
  ])('%s', (_what, of, notes) => {
    expect(spots(of)).toMatchObject([{ kind: 'chain', notes }]);
  });

  test.each<[string, (i: number) => number, string]>([
    ['near', () => 102, 'ABC'],
    ['of seconds', (i) => (i < 6 ? 100.4 : 100), 'ABC'],
    ['of a volatility index, whose forward is another', () => 80, 'VIX'],
  ])('not one %s', (_what, of, ticker) => {
    expect(Object.keys(spots(of, ticker)[0]!)).toEqual(['kind', 'chain']);
  });

  test('in the quote table and the delayed quotes of Cboe too', () => {
    const options = Array.from({ length: 20 }, (_, i) => ({
      option: `ABC260918${i % 2 ? 'P' : 'C'}00${100 + (i >> 1)}000`,
      bid: 5 + (i % 2 ? i >> 1 : 0),
      ask: 5.2 + (i % 2 ? i >> 1 : 0),
      open_interest: 10,
    }));
    const data = { options, current_price: 110, last_trade_time: '2026-08-21T15:00:00' };
    expect(read(JSON.stringify({ data }))).toMatchObject([
      { notes: ['spot 110 is 10.0 % above the 100.00 that the quotes imply'] },
    ]);
    const rows = options.flatMap(({ option, bid }, i) =>
      i % 2
        ? []
        : [
            `Fri Sep 18 2026,${option},1,0,${bid},${bid + 0.2},0,0,0,0,10,${100 + (i >> 1)}.00,${option.replace('C00', 'P00')},1,0,${5 + (i >> 1)},${5.2 + (i >> 1)},0,0,0,0,10`,
          ],
    );
    const table = [
      'ABC,Last: 110.00',
      'Date: August 21, 2026 at 3:00 PM EDT',
      'Expiration Date,Calls,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest,Strike,Puts,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest',
      ...rows,
    ];
    expect(read(`${table.join('\n')}\n`)).toMatchObject([
      { notes: ['spot 110 is 10.0 % above the 100.00 that the quotes imply'] },
    ]);
  });
});

test.each<[string, number, string | undefined]>([
  [
    'some contracts',
    3,
    'ABC: the open interest of 3 of 40 contracts is a fraction, such as 4.619. Write it without separators of thousands',
  ],
  ['two contracts', 2, undefined],
])('open interest with points for thousands of %s', (_what, count, reason) => {
  const [delivery] = read(usualTable((i) => ({ oi: i < count ? 4.619 : '4619.0' })));
  expect(delivery?.kind === 'rejection' ? delivery.reason : undefined).toBe(reason as string);
});
