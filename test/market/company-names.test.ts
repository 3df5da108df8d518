import { expect, test } from 'bun:test';
import names from '../../src/market/company-names.json';
import { canonicalTicker, isTicker } from '../../src/market/option-symbol.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';

const ENTRIES: readonly (readonly [ticker: string, names: readonly string[]])[] = Object.entries(names);

/** Returns the form in which names are compared: lower case, letters and digits only. */
const comparable = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

test('every ticker of the standard universe has a name', () => {
  const named = new Set(ENTRIES.map(([ticker]) => ticker));
  expect([...STANDARD_UNIVERSE.tickers].filter((ticker) => !named.has(ticker))).toEqual([]);
  expect(ENTRIES.length).toBeGreaterThan(STANDARD_UNIVERSE.tickers.size + 60);
});

test('every key is a ticker as Zomma writes it', () => {
  const other = ENTRIES.map(([ticker]) => ticker).filter((key) => canonicalTicker(key) !== key || !isTicker(key));
  expect(other).toEqual([]);
});

test('a ticker has a few short names, and none is its own symbol in another case', () => {
  const faults = ENTRIES.flatMap(([ticker, list]) => [
    ...(list.length >= 2 && list.length <= 7 ? [] : [`${ticker} has ${list.length} names`]),
    ...list
      .filter((name) => name.length > 45 || name.trim() !== name || name.toUpperCase() === ticker)
      .map((name) => `${ticker}: ${name}`),
  ]);
  expect(faults).toEqual([]);
});

test('no name appears twice, and none is the symbol of another ticker', () => {
  const owners = new Map<string, string[]>(ENTRIES.map(([ticker]) => [comparable(ticker), [ticker]]));
  const clashes: string[] = [];
  for (const [ticker, list] of ENTRIES) {
    // A name may have the letters of its own symbol: P&G and PG.
    const own = new Set<string>();
    for (const name of list) {
      const key = comparable(name);
      const others = (owners.get(key) ?? []).filter((owner) => owner !== ticker);
      if (key === '' || own.has(key) || others.length > 0) clashes.push(`${ticker}: ${name} (${others.join(' ')})`);
      own.add(key);
      owners.set(key, [...(owners.get(key) ?? []), ticker]);
    }
  }
  expect(clashes).toEqual([]);
});

test.each([
  ['facebook', 'META'],
  ['FB', 'META'],
  ['google', 'GOOGL'],
  ['GOOG', 'GOOGL'],
  ['Berkshire Hathaway', 'BRK.B'],
  ['costco', 'COST'],
  ['S&P 500', 'SPX'],
  ['SP500', 'SPX'],
  ['spx500', 'SPX'],
  ['s&p', 'SPX'],
  ['nasdaq-100', 'NDX'],
  ['NAS100', 'NDX'],
  ['russell 2000', 'RUT'],
  ['RUT2000', 'RUT'],
  ['dow jones', 'DJX'],
  ['US30', 'DJX'],
  ['nasdaq 100 etf', 'QQQ'],
  ['QQQQ', 'QQQ'],
  ['s&p 500 etf', 'SPY'],
  ['gold etf', 'GLD'],
  ['coca cola', 'KO'],
  ['P&G', 'PG'],
  ['mcdonalds', 'MCD'],
  ['AT&T', 'T'],
  ['SQ', 'XYZ'],
  ['UTX', 'RTX'],
  ['PARA', 'PSKY'],
])('%s is %s', (name, ticker) => {
  const owners = ENTRIES.filter(([, list]) => list.some((each) => comparable(each) === comparable(name)));
  expect(owners.map(([owner]) => owner)).toEqual([ticker]);
});
