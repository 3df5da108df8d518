import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { FileHead } from '../../../src/feeds/files/file-head.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { claimsVendorPrints, readVendorPrints } from '../../../src/feeds/vendors/vendor-prints.ts';

const NOW_MS = Date.parse('2026-08-20T00:00:00Z');
const AT = Date.parse('2026-08-17T14:59:00.123Z');

/** Tapes of vendors, each with a trade of 5 calls of SPY at 640 for 3.20 at the same time, and one row that cannot be read. */
const TAPES: readonly (readonly [vendor: string, text: string, refused: Record<string, number>])[] = [
  [
    'ThetaData',
    `symbol,expiration,strike,right,timestamp,sequence,ext_condition1,ext_condition2,ext_condition3,ext_condition4,condition,size,exchange,price
SPY,2026-08-21,640.000,CALL,2026-08-17T10:59:00.123,1,255,255,255,255,18,5,11,3.20
SPY,2026-08-21,640.000,CALL,soon,2,255,255,255,255,18,5,11,3.20
`,
    { bad_time: 1 },
  ],
  [
    'Massive',
    `ticker,conditions,correction,exchange,price,sip_timestamp,size
O:SPY260821C00640000,209,0,302,3.2,1786978740123456789,5
O:SPY260821X00640000,209,0,302,3.2,1786978740123456789,5
`,
    { bad_contract: 1 },
  ],
  [
    'Cboe DataShop',
    `underlying_symbol,quote_datetime,sequence_number,root,expiration,strike,option_type,exchange_id,trade_size,trade_price,trade_condition_id,canceled_trade_condition_id,best_bid,best_ask,trade_iv,trade_delta,underlying_bid,underlying_ask,number_of_exchanges
SPY,2026-08-17 10:59:00.123,1,SPY,2026-08-21,640.000,C,5,5,3.20,18,0,3.1,3.3,0.12,0.5,639,641,1
SPY,2026-08-17 10:59:00.123,2,SPY,2026-08-21,640.000,C,5,0,3.20,18,0,3.1,3.3,0.12,0.5,639,641,1
`,
    { bad_size: 1 },
  ],
  [
    'Databento',
    `ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_delta,sequence,symbol
1786978740123456789,1786978740123456789,0,30,1,T,N,0,3200000000,5,0,0,1,SPY   260821C00640000
1786978740123456789,1786978740123456789,0,30,1,T,N,0,-1,5,0,0,1,SPY   260821C00640000
`,
    { bad_price: 1 },
  ],
  [
    'Databento, readable times and prices',
    `ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_delta,sequence,symbol
2026-08-17T14:59:00.123456789Z,2026-08-17T14:59:00.123456789Z,0,30,1,T,N,0,3.2,5,0,0,1,SPY   260821C00640000
`,
    {},
  ],
];

test.each(TAPES)('reads the trades of %s', async (_vendor, text, refused) => {
  const bytes = Buffer.from(text);
  expect(claimsVendorPrints(new FileHead(bytes))).toBe(true);
  const pieces = async function* () {
    for (let from = 0; from < bytes.length; from += 100) yield bytes.subarray(from, from + 100);
  };
  const deliveries = await Array.fromAsync(readVendorPrints(pieces, { origin: 'tape.csv' }, NOW_MS));
  expect(deliveries.flatMap(({ prints }) => [...prints])).toMatchObject([
    { at: AT, underlying: 'SPY', expiry: '2026-08-21', callPut: 1, strike: 640, price: 3.2, size: 5 },
  ]);
  expect(Object.assign({}, ...deliveries.map((each) => each.refused))).toEqual(refused);
});

test('a trade of Cboe DataShop with the condition of a cancellation is canceled', async () => {
  const [, text] = TAPES.find(([vendor]) => vendor === 'Cboe DataShop')!;
  const [header, trade = ''] = text.split('\n');
  const rows = [
    trade,
    trade.replace(',18,0,', ',18,40,'),
    trade.replace(',18,0,', ',18,,').replace('123,1,', '123,2,'),
  ];
  const bytes = Buffer.from(`${[header, ...rows].join('\n')}\n`);
  const pieces = async function* () {
    yield bytes;
  };
  const deliveries = await Array.fromAsync(readVendorPrints(pieces, { origin: 'tape.csv' }, NOW_MS));
  const prints = deliveries.flatMap((each) => [...each.prints]);
  expect(prints.map(({ canceled }) => canceled)).toEqual([false, true, false]);
  // The cancellation names the trade that it cancels.
  expect([prints[0]!.id === prints[1]!.id, prints[0]!.id === prints[2]!.id]).toEqual([true, false]);
});

test.each([
  [
    'SPY.csv',
    'Date,Open,High,Low,Close,Adj Close,Volume\n2026-08-20,1,2,0.5,640.5,640.1,1000\n2026-08-21,1,2,0.5,641,640.6,2000\n',
  ],
  [
    'prices/^SPY.csv',
    'Date,Open,High,Low,Close,Volume\n2026-08-20 00:00:00-04:00,1,2,0.5,640.5,1000\n2026-08-21 00:00:00-04:00,1,2,0.5,641,2000\n',
  ],
  ['spy_us_d.csv', 'Date,Open,High,Low,Close,Volume\n2026-08-20,1,2,0.5,640.5,1000\n2026-08-21,1,2,0.5,641,2000\n'],
  [
    'spy.us.txt',
    '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\nSPY.US,D,20260820,000000,1,2,0.5,640.5,1000,0\nSPY.US,D,20260821,000000,1,2,0.5,641,2000,0\n',
  ],
])('reads the closes of %s', (origin, text) => {
  const [delivery] = runToCompletion(readMarketFile(Buffer.from(text), { origin }));
  expect(delivery).toEqual({
    kind: 'closes',
    closes: [
      { ticker: 'SPY', date: '2026-08-20', close: 640.5, volume: 1000, simulated: false },
      { ticker: 'SPY', date: '2026-08-21', close: 641, volume: 2000, simulated: false },
    ],
  });
});

test('closes whose file names no ticker are refused', () => {
  const text = 'Date,Open,High,Low,Close,Volume\n2026-08-20,1,2,0.5,640.5,1000\n';
  const [delivery] = runToCompletion(readMarketFile(Buffer.from(text), { origin: 'daily prices 2026.csv' }));
  expect(delivery).toMatchObject({ kind: 'rejection', reason: expect.stringContaining('no column for ticker') });
});
