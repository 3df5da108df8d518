import { describe, expect, test } from 'bun:test';
import { ClientError } from '../../src/core/errors.ts';
import { loadUniverse, STANDARD_UNIVERSE } from '../../src/market/universe.ts';

test('the standard universe has the nine themes of the contract in its order', () => {
  expect(Object.entries(STANDARD_UNIVERSE.themes).map(([theme, tickers]) => `${theme} ${tickers.join(' ')}`)).toEqual([
    'beta_lords SPY QQQ IWM DIA SMH XLF VXX',
    'hyperscalers NVDA MSFT AAPL GOOGL AMZN META AVGO ORCL TSM',
    'macro_anchors TLT HYG UUP FXI EEM JPM GS',
    'energy_metals XLE USO GLD SLV XOM FCX GDX',
    'capital_incinerators RIVN LCID PLUG NIO SNAP CHPT',
    'toxic_tech_and_rot INTC BA PYPL DIS WBD PFE',
    'fintech_decay SOFI HOOD AFRM UPST COIN',
    'cult_proxies_and_traps TSLA PLTR MSTR GME AMC SMCI',
    'sedated_leviathans BRK.B JNJ KO PG WMT COST',
  ]);
  expect(STANDARD_UNIVERSE.tickers.size).toBe(59);
});

test('single names have their sector fund as proxy, funds have no proxy', () => {
  const proxies = STANDARD_UNIVERSE.proxies;
  expect(['NVDA', 'BRK.B', 'MSTR', 'XOM', 'AMD', 'WMT'].map((name) => proxies.get(name))).toEqual([
    ...['SMH', 'XLF', 'IBIT', 'XLE', 'SMH', 'XLP'],
  ]);
  const funds = 'SPY QQQ IWM DIA SMH XLF VXX TLT HYG UUP FXI EEM XLE USO GLD SLV GDX';
  const without = [...STANDARD_UNIVERSE.tickers].filter((ticker) => !proxies.has(ticker));
  expect(without).toEqual(funds.split(' '));
});

describe("an operator's universe", () => {
  test('replaces themes and proxies', () => {
    const universe = loadUniverse('{"themes":{"mine":["spy","BRK/B"],"empty":[]},"proxies":{"XLF":["BRK.B"]}}');
    expect(universe.themes).toEqual({ mine: ['SPY', 'BRK.B'], empty: [] });
    expect([...universe.tickers]).toEqual(['SPY', 'BRK.B']);
    expect([...universe.proxies]).toEqual([['BRK.B', 'XLF']]);
  });

  test('may name its themes like properties of objects, and in any script', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'Technologie für morgen', '半導体', '⚡️ power', ''];
    const tickers = ['SPY', 'QQQ', 'IWM', 'DIA', 'TLT', 'GLD', 'SLV'];
    const themes = Object.fromEntries(names.map((name, i) => [name, [tickers[i]]]));
    const universe = loadUniverse(JSON.stringify({ themes }));
    expect(universe.themes).toEqual(themes as Record<string, string[]>);
    expect([...universe.tickers]).toEqual(tickers);
  });

  test('uses the standard proxies if the file names none', () => {
    expect(loadUniverse('{"themes":{"mine":["SPY"]}}').proxies).toEqual(STANDARD_UNIVERSE.proxies);
  });

  test.each([
    ['invalid JSON', '{"themes":', /not JSON/],
    ['no JSON object', '[]', /themes/],
    ['no themes', '{"proxies":{}}', /themes/],
    ['no tickers', '{"themes":{}}', /at least one ticker/],
    ['a theme that is not a list', '{"themes":{"a":"SPY"}}', /\/themes\/a must be a list/],
    ['a number', '{"themes":{"a":["SPY",7]}}', /\/themes\/a\/1 must be a ticker/],
    ['text that is not a ticker', '{"themes":{"a":["S&P 500"]}}', /\/themes\/a\/0 must be a ticker/],
    ['a ticker twice', '{"themes":{"a":["SPY"],"b":["SPY"]}}', /\/themes\/b\/0 must be listed once/],
    ['a name with two proxies', '{"themes":{"a":["SPY"]},"proxies":{"X":["A"],"Y":["A"]}}', /\/proxies\/Y\/0/],
    ['a proxy that is not a ticker', '{"themes":{"a":["SPY"]},"proxies":{"no way":["A"]}}', /\/proxies\/no way/],
    [
      'a theme with ESC in its name',
      '{"themes":{"a\\u001b[31m":["SPY"]}}',
      /^The universe is not valid: \/themes\/a \[31m must be a name of visible characters/,
    ],
    [
      'a theme with a direction mark in its name',
      '{"themes":{"a\\u202eb":["SPY"]}}',
      /\/themes\/a b must be a name of visible/,
    ],
    [
      'a theme with a zero-width space in its name',
      '{"themes":{"a\u200bb":["SPY"]}}',
      /\/themes\/a b must be a name of visible/,
    ],
    [
      'a theme that is named __proto__',
      '{"themes":{"__proto__":["SPY"]}}',
      /\/themes\/__proto__ must be .*, not __proto__/,
    ],
    [
      'a proxy that is named __proto__',
      '{"themes":{"a":["SPY"]},"proxies":{"__proto__":["A"]}}',
      /\/proxies\/__proto__ must be an upper-case ticker/,
    ],
    [
      'names of __proto__',
      '{"themes":{"a":["SPY"]},"names":{"__proto__":["Facebook"]}}',
      /\/names\/__proto__ must be an upper-case ticker/,
    ],
    ['an unknown key', '{"themes":{"a":["SPY"]},"proxy":{}}', /\/proxy must be themes, proxies or names/],
    [
      'more than 1,000 tickers',
      JSON.stringify({ themes: { a: Array.from({ length: 1001 }, (_, i) => `A${i}`) } }),
      /at most 1000/,
    ],
  ])('rejects %s', (_what, json, message) => {
    let failure: unknown;
    try {
      loadUniverse(json);
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(ClientError);
    expect((failure as ClientError).message).toMatch(message);
  });
});
