import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import type { Stated } from '../../../src/feeds/vendors/stated.ts';

const book = (name: string) => ({
  ...{ volume_usd: 1, volume: 1, underlying_price: 64000, underlying_index: 'BTC-25SEP26', quote_currency: 'BTC' },
  ...{ price_change: 0, open_interest: 12.5, mid_price: 0.05, mark_price: 0.05, mark_iv: 45.2, low: 0.04, last: 0.05 },
  ...{ interest_rate: 0, instrument_name: name, high: 0.06, creation_timestamp: 1787342400000, bid_price: 0.049 },
  ...{ base_currency: 'BTC', ask_price: 0.051 },
});
const books = ['BTC-25SEP26-60000-C', 'BTC-25SEP26-60000-P'].map(book);

const side = {
  ...{
    strikePrice: 24500,
    expiryDate: '28-Aug-2026',
    underlying: 'NIFTY',
    identifier: 'OPTIDXNIFTY28-08-2026CE24500.00',
  },
  ...{ openInterest: 120, changeinOpenInterest: 10, pchangeinOpenInterest: 9, totalTradedVolume: 100, lastPrice: 80 },
  ...{ impliedVolatility: 12.5, bidQty: 75, bidprice: 79, askQty: 75, askPrice: 81, underlyingValue: 24510.5 },
};
const nse = { records: { timestamp: '21-Aug-2026 15:30:00', data: [{ strikePrice: 24500, CE: side, PE: side }] } };
const csvOf = (rows: readonly object[]) =>
  [Object.keys(rows[0]!).join(','), ...rows.map((row) => Object.values(row).join(','))].join('\n');
const NSE_TABLE = `CALLS,,PUTS
,OI,CHNG IN OI,VOLUME,IV,LTP,CHNG,BID QTY,BID,ASK,ASK QTY,STRIKE,BID QTY,BID,ASK,ASK QTY,CHNG,LTP,IV,VOLUME,CHNG IN OI,OI,
,120,10,100,12.5,80,1,75,79,81,75,24500.00,75,79,81,75,1,80,12.5,100,10,120,
`;

test.each([
  [
    'the book summary of Deribit',
    JSON.stringify({ jsonrpc: '2.0', result: books }),
    /Deribit is not supported.* settled in coins/,
  ],
  ['a list of book summaries', JSON.stringify(books), /Deribit is not supported/],
  ['a table of book summaries', csvOf(books), /Deribit is not supported/],
  ['the option chain of NSE', JSON.stringify(nse), /NSE India is not supported.*\(the multiplier\)/],
  ['the table of NSE', NSE_TABLE, /NSE India is not supported/],
  ['a table of one side of NSE', csvOf([side]), /NSE India is not supported/],
])('refuses %s with the reason', (_what, text, reason) => {
  const mapping = parseMapping('rows = "/result/*"\n[columns]\nsymbol = "instrument_name"\n', 'm.toml');
  for (const stated of [undefined, { mapping, isOfFolder: true }, { mapping }] satisfies (Stated | undefined)[]) {
    const [delivery] = runToCompletion(readMarketFile(Buffer.from(text), { origin: 'a.txt', stated }));
    expect(delivery).toEqual({ kind: 'rejection', origin: 'a.txt', reason: expect.stringMatching(reason) });
  }
});
