import { describe, expect, test } from 'bun:test';
import { createTickerNames, tickerWithin } from '../../src/market/ticker-names.ts';
import { loadUniverse, STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { refusalOf, smallMarket } from '../operations/small-market.ts';
import { chainOf } from '../store/samples.ts';

/** Tickers with data: the standard universe, indices and a few names outside the universe. */
const WITH_DATA = [...STANDARD_UNIVERSE.tickers, 'SPX', 'NDX', 'RUT', 'VIX', 'AMD', 'F', 'XLK', 'NFLX'];
const { context } = smallMarket({ chains: WITH_DATA.map((underlying) => chainOf({ underlying, simulated: false })) });
const { market } = context;

/** The ticker that a client gets, or the first one that the error suggests. */
function firstFor(spelling: string): string | undefined {
  try {
    return market.chain(spelling).underlying;
  } catch (error) {
    return /Nearest with data: ([A-Z]+(?:\.[A-Z])?)/.exec((error as { hint: string }).hint)?.[1];
  }
}

/** Slips by kind, each with the ticker that is meant: `slip>TICKER`. */
const SLIPS: Readonly<Record<string, string>> = {
  'a doubled letter':
    'METTA>META; TSLAA>TSLA; SPYY>SPY; AAPPL>AAPL; COINN>COIN; QQQQQ>QQQ; NVVDA>NVDA; HHOOD>HOOD; MSSFT>MSFT; ' +
    'GMEE>GME; SMCCI>SMCI; ORRCL>ORCL',
  'a wrong letter':
    'HODD>HOOD; AMZM>AMZN; NVDS>NVDA; TSLS>TSLA; IWN>IWM; MSFR>MSFT; PLTE>PLTR; GOOGK>GOOGL; SOFO>SOFI; ' +
    'INTX>INTC; ABGO>AVGO; COIM>COIN',
  'swapped letters':
    'MFST>MSFT; SMIC>SMCI; NVAD>NVDA; AAPL>AAPL; SFOI>SOFI; RVIN>RIVN; ORLC>ORCL; PLRT>PLTR; AMNZ>AMZN; ' +
    'TLSA>TSLA; COTS>COST; SYP>SPY',
  'a missing or an added letter':
    'APPL>AAPL; NVIDA>NVDA; AMZ>AMZN; GOGL>GOOGL; TLA>TSLA; PYPAL>PYPL; GOOGEL>GOOGL; MSTRR>MSTR; PLTER>PLTR; ' +
    'NIOO>NIO; HOODX>HOOD; RIVAN>RIVN',
  'an index by another name':
    'SP500>SPX; S&P 500>SPX; ^GSPC>SPX; SPX500>SPX; Nasdaq 100>NDX; NAS100>NDX; NDX100>NDX; Russell 2000>RUT; ' +
    '^RUT>RUT; US2000>RUT; VIX index>VIX; SPXW>SPX',
  'an old symbol':
    'FB>META; GOOG>GOOGL; QQQQ>QQQ; VXXB>VXX; CCIV>LCID; IPOE>SOFI; BRKB>BRK.B; BRK.A>BRK.B; BRK>BRK.B; ' +
    'fb>META; $FB>META; NASDAQ:FB>META',
  'the name of a company':
    'Costco>COST; Facebook>META; google>GOOGL; Berkshire Hathaway>BRK.B; Robinhood>HOOD; Coke>KO; ' +
    'Johnson & Johnson>JNJ; JP Morgan>JPM; GameStop>GME; Meta Platforms, Inc.>META; Netflix>NFLX; ' +
    'costoc>COST',
  'marks around the symbol':
    '$META>META;  meta >META; BRK/B>BRK.B; BRK-B>BRK.B; BRK B>BRK.B; NASDAQ:META>META; NYSE: BA>BA; ' +
    'META US Equity>META; AAPL.US>AAPL; #TSLA>TSLA; meta stock>META; $SPX>SPX',
};

test.each(Object.entries(SLIPS))('the right ticker comes first: %s', (_kind, slips) => {
  const pairs = slips.split('; ').map((each) => each.split('>') as [spelling: string, meant: string]);
  expect(pairs).toHaveLength(12);
  const wrong = pairs
    .map(([spelling, meant]) => [spelling, firstFor(spelling), meant])
    .filter(([, found, meant]) => found !== meant);
  expect(wrong).toEqual([]);
});

test('an unknown ticker gets three others that have data, and the way to all of them', () => {
  expect(refusalOf(() => market.chain('METTA'))).toMatchObject({
    code: 'unknown_ticker',
    hint: expect.stringMatching(/^Nearest with data: META, [A-Z.]+, [A-Z.]+\. screen_tickers lists/),
  });
});

test.each(['   ', '$', '😀', 'ZZZZZ', '1234567'])('%p is like no ticker, so none is suggested', (spelling) => {
  expect(refusalOf(() => market.chain(spelling)).hint).toBe('screen_tickers lists the tickers that have data.');
});

test('a market without data suggests the ticker of the universe', () => {
  const empty = smallMarket().context.market;
  expect(refusalOf(() => empty.chain('METTA')).hint).toBe(
    'Nearest: META (no data). screen_tickers lists the tickers that have data.',
  );
});

test('a symbol with data is never taken for the old symbol of another', () => {
  const both = smallMarket({ chains: ['FB', 'META'].map((underlying) => chainOf({ underlying, simulated: false })) });
  expect([both.context.market.nameOf('FB'), market.nameOf('FB')]).toEqual(['FB', 'META']);
  expect([both.context.market.isByName('FB'), market.isByName('FB'), market.isByName('$meta')]).toEqual([
    false,
    true,
    false,
  ]);
});

test.each([
  ['SPY', 'SPY'],
  ['brk/b', 'BRK.B'],
  ['I:NDX', 'NDX'],
  ['_SPX', 'SPX'],
  ['BATS:SPY', 'SPY'],
  ['VIX Index', 'VIX'],
  ['T', 'T'],
  ['US', 'US'],
])('%p is the symbol %s', (text, symbol) => {
  expect(tickerWithin(text)).toBe(symbol);
});

describe('names of the operator', () => {
  const named = (json: string) => loadUniverse(json).names;

  test('are added to the standard names, and take precedence', () => {
    const names = named('{"themes":{"mine":["ACME"]},"names":{"ACME":["Acme Corp","Facebook"]}}');
    expect(['acme corp', 'ACME CORP.', 'Facebook', 'Costco'].map(names.named)).toEqual([
      'ACME',
      'ACME',
      'ACME',
      'COST',
    ]);
  });

  test.each([
    ['no object', '[]', '/names must be an object of lists of names'],
    ['no list', '{"ACME":"Acme"}', '/names/ACME must be a list of names'],
    ['a name without letters', '{"ACME":["&"]}', '/names/ACME must be a list of names'],
    ['a lower-case ticker', '{"acme":["Acme"]}', '/names/acme must be an upper-case ticker as key'],
  ])('%s is refused', (_name, names, message) => {
    expect(() => named(`{"themes":{"mine":["ACME"]},"names":${names}}`)).toThrow(message);
  });
});

test('of a long spelling, only the first characters are compared', () => {
  const names = createTickerNames();
  const [long, short] = ['meta'.padEnd(1e6, 'a'), 'meta'.padEnd(40, 'a')];
  expect(names.nearest(long, WITH_DATA)).toEqual(names.nearest(short, WITH_DATA));
  expect(names.named('b'.repeat(1e6))).toBeUndefined();
});
