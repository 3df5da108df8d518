import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { FileHead } from '../../../src/feeds/files/file-head.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { guessMapping } from '../../../src/feeds/vendors/guess-mapping.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';

const draftOf = (text: string, name = 'table.csv', zone?: string) =>
  guessMapping(new FileHead(Buffer.from(text)), name, zone);

/** The columns of a strike with its call and its put, as vendors name them. */
const WIDE = [
  'Call Bid,Call Ask,Call OI,Strike,Put Bid,Put Ask,Put OI',
  'C_BID,C_ASK,C_OPENINT,STRIKE,P_BID,P_ASK,P_OPENINT',
  'CE_BidPrice,CE_AskPrice,CE_OI,Strike Price,PE_BidPrice,PE_AskPrice,PE_OI',
  'callBid,callOffer,callOpenInterest,strike,putBid,putOffer,putOpenInterest',
  'bid_call,ask_call,oi_call,strike,bid_put,ask_put,oi_put',
  'Calls.Bid,Calls.Ask,Calls.Open Interest,Strike,Puts.Bid,Puts.Ask,Puts.Open Interest',
];

test.each<[string, string, object]>([
  [
    'a table with abbreviated names, strikes in thousandths and times without a zone',
    `Und Sym,Quote Time,Und Px,Expiry Dt,Call or Put,Strike x1000,Best Bid,Best Ask,Open Intst
ABC,2026-08-21 16:00:00,100,20260918,Call,100000,2,2.1,10
ABC,2026-08-21 16:00:00,100,20261016,Put,110000,12,12.1,20
`,
    {
      underlying: 'ABC',
      asOf: Date.parse('2026-08-21T20:00:00Z'),
      spot: 100,
      count: 2,
      strike: new Float64Array([100, 110]),
    },
  ],
  ...WIDE.map((header): [string, string, object] => [
    `a table with the call and the put in one row: ${header}`,
    `Ticker,Quote Date,Stock Price,Expiry,${header}
ABC,2026-08-21,101.5,2026-09-18,3,3.2,10,100,2.5,2.7,20
ABC,2026-08-21,101.5,2026-09-18,1,1.2,30,110,9.5,9.7,40
`,
    {
      ...{ underlying: 'ABC', spot: 101.5, count: 4, callPut: new Float64Array([1, -1, 1, -1]) },
      ...{ strike: new Float64Array([100, 100, 110, 110]), bid: new Float64Array([3, 2.5, 1, 9.5]) },
      ...{ ask: new Float64Array([3.2, 2.7, 1.2, 9.7]), openInterest: new Float64Array([10, 20, 30, 40]) },
    },
  ]),
  [
    'JSON with the call and the put in one row',
    JSON.stringify({
      quotes: [100, 110].map((strike) => ({
        ...{ strike, ticker: 'ABC', date: '2026-08-21', expiration: '2026-09-18' },
        ...{ call: { bid: 3, ask: 3.2, open_interest: 10 }, put: { bid: 2.5, ask: 2.7, open_interest: 20 } },
      })),
    }),
    { underlying: 'ABC', count: 4, openInterest: new Float64Array([10, 20, 10, 20]) },
  ],
  [
    'JSON with the ticker, the time and the price beside its records',
    JSON.stringify({
      ...{ symbol: 'ABC', updated: '2026-08-21T12:55:11.983-04:00', underlyingPrice: 101.5 },
      ...{ greeks: { enabled: true, total: 2 }, expirations: ['2026-09-18'] },
      quotes: ['C', 'P'].map((side) => ({
        ...{ symbol: `ABC260918${side}00100000`, expiration: '2026-09-18', side: side === 'C' ? 'call' : 'put' },
        ...{ strike: 100, bid: 2, ask: 2.1, mid: 2.05, openInterest: 4, iv: 0.25 },
      })),
    }),
    { underlying: 'ABC', asOf: Date.parse('2026-08-21T16:55:11.983Z'), spot: 101.5, count: 2 },
  ],
  [
    'a table with decimal commas',
    `Symbol;Quote Date;Last Price;Expiration;Type;Strike;Bid;Ask;Open Int;IV
ABC;2026-08-21;1,5;2026-09-18;C;102,5;1,25;1,35;1.250;0,250
ABC;2026-08-21;4,25;2026-09-18;P;102,5;4,05;4,15;20;25,5%
`,
    {
      underlying: 'ABC',
      count: 2,
      ...{ strike: new Float64Array([102.5, 102.5]), bid: new Float64Array([1.25, 4.05]) },
      ...{ openInterest: new Float64Array([1250, 20]), iv: new Float64Array([0.25, 0.255]) },
    },
  ],
  [
    'JSON in which the rows are not at the top',
    JSON.stringify({ meta: { n: 1 }, book: { ABC: [row('C', 10), row('P', 20)] } }),
    { underlying: 'ABC', count: 2, openInterest: new Float64Array([10, 20]) },
  ],
])('the draft of %s reads the file', (_what, text, expected) => {
  const draft = draftOf(text, 'table.csv', 'America/New_York')!;
  const mapping = parseMapping(draft.toml, 'draft');
  const [delivery] = runToCompletion(readMarketFile(Buffer.from(text), { origin: 'table.csv', stated: { mapping } }));
  expect(delivery).toMatchObject({ kind: 'chain', chain: expected });
});

function row(type: string, openInterest: number) {
  return {
    ...{ contract: `ABC260918${type}00100000`, quote_date: '2026-08-21', px: { bid: 2, ask: 2.1 } },
    ...{ strike: 100, expiration: '2026-09-18', option_type: type, openInterest },
  };
}

test('the columns of a table without known names follow from their cells, and the others are listed with the nearest names', () => {
  const { toml } = draftOf(`a1,b1,c1,d1,e1
ABC,2026-09-18,C,2026-08-21,1
ABC,2026-10-16,P,2026-08-21,2
`)!;
  expect(toml).toContain('underlying = "a1"\n');
  expect(toml).toContain('expiry = "b1"\n');
  expect(toml).toContain('put_call = "c1"\n');
  expect(toml).toContain('as_of = "d1"\n');
  expect(toml).toMatch(/# strike = "\?" {5}# without a use: e1\n/);
});

test('guesses no zone of times that state none, and the mapping is called by its file', () => {
  const { toml } = draftOf('Sym;Stamp;Exp;T;K;Bid;Ask\nABC;21.08.2026 22:00;2026-09-18;C;100;1;2\n', 'my.csv')!;
  expect(toml).not.toMatch(/^zone|^vendor|my\.csv"/m);
  expect(toml).toContain('# zone = "?"                    # needed: times such as 21.08.2026 22:00 state no zone');
  const theta = 'symbol,expiration,strike,right,timestamp,bid,ask\nABC,2026-09-18,100,CALL,2026-08-21T15:00:00,1,2\n';
  expect(draftOf(theta)!.toml).toContain('\nzone = "America/New_York"\n');
  expect(parseMapping(toml, 'm.toml').vendor).toBe('m.toml');
  expect(parseMapping('vendor = "my vendor"', 'm.toml').vendor).toBe('m.toml (my vendor)');
});

test('a missing field is named with the columns that have no use', () => {
  const text = 'Sym;When;Exp;CP;Px Und;K;Bid;Ask;OI\nABC;2026-08-21;2026-09-18;C;101;100;1;2;3\n';
  const mapping = parseMapping('[columns]\nunderlying = "Sym"\nas_of = "When"\n', 'm.toml');
  const [delivery] = runToCompletion(readMarketFile(Buffer.from(text), { origin: 'a.csv', stated: { mapping } }));
  expect(delivery).toMatchObject({
    reason: expect.stringMatching(
      /^read as m.toml, the table has no column for strike \(nearest: (?:k, px und|px und, k)\)/,
    ),
  });
});

test('says that a vendor needs no mapping', () => {
  const text =
    ',contractSymbol,lastTradeDate,strike,bid,ask,openInterest,inTheMoney\n0,ABC260918C00100000,2026-08-21 15:00:00+00:00,100,1,2,3,True\n';
  expect(draftOf(text)).toMatchObject({ vendor: 'yfinance' });
  expect(draftOf(text)!.toml).not.toContain('underlying = "inthemoney"');
});

test('control characters of a name do not reach the terminal', () => {
  const { toml } = draftOf('a1,b1,c1,d1\nABC,2026-09-18,C,1\n', 'x\u001b[31m\u0007\nevil.csv')!;
  for (const part of ['\u0007', '\u001b', '\nevil']) expect(toml).not.toContain(part);
});

test.each(['', 'words only\nand more words\n', '{"a": 1}'])('gives no draft for %j', (text) => {
  expect(draftOf(text)).toBeUndefined();
});
