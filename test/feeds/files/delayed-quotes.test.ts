import { describe, expect, test } from 'bun:test';
import { chain, readText, rejections } from './reading.ts';

const option = (symbol: string, overrides: Record<string, unknown> = {}) => ({
  ...{ option: symbol, bid: 10, bid_size: 5, ask: 10.5, iv: 0.2, open_interest: 30, volume: 4, delta: 0.5 },
  gamma: 0.01,
  ...{ theta: -0.1, vega: 1, rho: 0.1, theo: 10.2, last_trade_price: 10.1, last_trade_time: null, prev_day_close: 9 },
  ...overrides,
});

function answer(
  options: unknown[],
  overrides: Record<string, unknown> = {},
  timestamp: unknown = '2023-09-21 03:17:42',
) {
  const data = {
    ...{ options, symbol: '^RUT', current_price: 1806.1, close: 1805, last_trade_time: '2023-09-20T16:15:04' },
    ...overrides,
  };
  return JSON.stringify({ timestamp, data, symbol: '_RUT' });
}

const RUT = option('RUT231020C01800000');
const RUTW = option('RUTW230929P01800000', { delta: -0.5 });

test('reads every field, and separates both roots', () => {
  const read = chain(answer([RUT, RUTW]));
  expect(read).toMatchObject({ underlying: 'RUT', spot: 1806.1, count: 2, refused: {}, simulated: false });
  expect(read.series.map(({ root, settlement }) => [root, settlement])).toEqual([
    ['RUTW', 'PM'],
    ['RUT', 'AM'],
  ]);
  expect([...read.callPut, ...read.delta, ...read.gamma]).toEqual([-1, 1, -0.5, 0.5, 0.01, 0.01]);
  const second = [read.bid, read.ask, read.last, read.volume, read.openInterest, read.iv].map((column) => column[1]);
  expect(second).toEqual([10, 10.5, 10.1, 4, 30, 0.2]);
});

describe('the time of the quotes', () => {
  test.each([
    ['is that of the last trade, in New York', {}, '2023-09-20T20:15:04Z'],
    ['is in New York time in winter too', { last_trade_time: '2023-12-20T16:15:04' }, '2023-12-20T21:15:04Z'],
    ['is the timestamp in UTC if there is no last trade', { last_trade_time: null }, '2023-09-21T03:17:42Z'],
    ['may have a fraction', { last_trade_time: '2023-09-20T16:15:04.5' }, '2023-09-20T20:15:04.5Z'],
  ])('%s', (_what, overrides, instant) => {
    expect(chain(answer([RUT], overrides)).asOf).toBe(Date.parse(instant));
  });
});

describe('spot', () => {
  test('falls back to the close, then to the spot that the quotes imply', () => {
    expect(chain(answer([RUT], { current_price: 0 })).spot).toBe(1805);
    const pair = [
      option('RUT231020C01800000', { bid: 30, ask: 32 }),
      option('RUT231020P01800000', { bid: 20, ask: 22 }),
    ];
    expect(chain(answer(pair, { current_price: null, close: null })).spot).toBe(1810);
  });
});

describe('a bad option is counted, the others are read', () => {
  test.each([
    ['not an object', 7, { bad_symbol: 1 }],
    ['no symbol', {}, { bad_symbol: 1 }],
    ['an invalid symbol', option('RUT231399C01800000'), { bad_symbol: 1 }],
    ['another underlying', option('SPY231020C00400000'), { foreign_underlying: 1 }],
    ['a duplicate', RUT, { duplicate: 1 }],
    ['negative open interest', option('RUT231020P01800000', { open_interest: -1 }), { bad_value: 1 }],
    ['text for a bid', option('RUT231020P01800000', { bid: 'ten' }), { bad_value: 1 }],
    ['an object for a bid', option('RUT231020P01800000', { bid: {} }), { bad_value: 1 }],
    ['numbers as text', option('RUT231020P01800000', { bid: '1.5' }), {}],
    ['only a symbol', { option: 'RUT231020P01800000' }, {}],
  ])('%s', (_what, bad, refused) => {
    expect(chain(answer([RUT, RUT, bad].slice(1))).refused).toEqual(refused);
  });
});

describe('refused with a reason', () => {
  test.each([
    ['truncated', answer([RUT, RUTW]).slice(0, 300), /not valid JSON \(300 characters\)/],
    ['garbled', answer([RUT]).replace('"bid"', 'bid'), /not valid JSON/],
    ['no options', answer([]).replace('"options":[],', ''), /data\.options.* missing/],
    ['no readable option', answer([{}, {}]), /none of 2 options/],
    ['no time at all', answer([RUT], { last_trade_time: null }, null), /neither/],
    [
      'a time that is not in the calendar',
      answer([RUT], { last_trade_time: '2023-02-30T16:00:00' }),
      /not in the calendar/,
    ],
    ['no spot and no put-call pairs', answer([RUT], { current_price: null, close: null }), /spot/],
  ])('%s', (_what, text, reason) => {
    expect(rejections(text)).toEqual([expect.stringMatching(reason)]);
  });
});

test.each(['{}', '{"data":{}}', '{"name":"package","options":[]}', ' {"data":[1]}'])(
  '%s is not market data',
  (text) => {
    expect(readText(text)).toEqual([]);
  },
);
