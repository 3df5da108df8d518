import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addDays } from '../../src/market/calendar.ts';
import {
  AM_SETTLED_ROOTS,
  canonicalTicker,
  formatOptionSymbol,
  isEuropeanIndexRoot,
  isIndexRoot,
  isTicker,
  parseOptionSymbol,
  rootOf,
  rootOfTicker,
  settlementOf,
} from '../../src/market/option-symbol.ts';

describe('parses', () => {
  const apple = {
    root: 'AAPL',
    underlying: 'AAPL',
    adjusted: false,
    expiry: '2026-09-18',
    callPut: 1,
    strike: 320,
  } as const;
  const cases = [
    ['AAPL  260918C00320000', apple],
    ['AAPL260918C00320000', apple],
    ['O:AAPL260918C00320000', apple],
    ['O:AAPL  260918C00320000', apple],
    ['F260116P00000500', { ...apple, root: 'F', underlying: 'F', expiry: '2026-01-16', callPut: -1, strike: 0.5 }],
    [
      'SPXW  221212P03990000',
      { ...apple, root: 'SPXW', underlying: 'SPX', expiry: '2022-12-12', callPut: -1, strike: 3990 },
    ],
    ['BRKB260918C00450000', { ...apple, root: 'BRKB', underlying: 'BRK.B', strike: 450 }],
    ['AMD1260918C00320000', { ...apple, root: 'AMD1', underlying: 'AMD', adjusted: true }],
    ['BRKB1 260918C00320000', { ...apple, root: 'BRKB1', underlying: 'BRK.B', adjusted: true }],
    ['TSLA280229C00012345', { ...apple, root: 'TSLA', underlying: 'TSLA', expiry: '2028-02-29', strike: 12.345 }],
    ['GOOGLE260918C99999999', { ...apple, root: 'GOOGLE', underlying: 'GOOGLE', strike: 99_999.999 }],
  ] as const;
  test.each(cases)('%s', (text, expected) => {
    expect(parseOptionSymbol(text)).toEqual(expected);
  });
});

describe('rejects', () => {
  test.each([
    ['a strike of zero', 'AAPL260918C00000000'],
    ['February 29 outside a leap year', 'AAPL270229C00320000'],
    ['month 13', 'AAPL261318C00320000'],
    ['day 0', 'AAPL260900C00320000'],
    ['lower case', 'aapl260918C00320000'],
    ['a side other than C or P', 'AAPL260918X00320000'],
    ['seven digits of strike', 'AAPL260918C0320000'],
    ['nine digits of strike', 'AAPL260918C003200000'],
    ['too little padding', 'AAPL 260918C00320000'],
    ['too much padding', 'AAPL   260918C00320000'],
    ['a root of seven letters', 'ABCDEFG260918C00320000'],
    ['no root', '260918C00320000'],
    ['a root of digits', '123260918C00320000'],
    ['trailing text', 'AAPL260918C00320000 '],
    ['a trailing line break', 'AAPL260918C00320000\n'],
    ['another prefix', 'I:AAPL260918C00320000'],
    ['empty text', ''],
    ['a plain ticker', 'AAPL'],
  ])('%s', (_what, text) => {
    expect(parseOptionSymbol(text)).toBeUndefined();
  });
});

test('formats a symbol that parses back, padded and compact', () => {
  const contract = fc.record({
    root: fc.stringMatching(/^[A-Z]{1,5}[1-9]?$/),
    expiry: fc.nat({ max: 36_523 }).map((days) => addDays('2000-01-01', days)),
    callPut: fc.constantFrom(1, -1) as fc.Arbitrary<1 | -1>,
    strike: fc.integer({ min: 1, max: 99_999_999 }).map((thousandths) => thousandths / 1000),
  });
  fc.assert(
    fc.property(contract, (written) => {
      const padded = formatOptionSymbol(written);
      expect(padded).toHaveLength(21);
      expect(parseOptionSymbol(padded)).toMatchObject(written);
      expect(parseOptionSymbol(`O:${formatOptionSymbol(written, 'compact')}`)).toMatchObject(written);
    }),
  );
});

test('parses or rejects any text without throwing', () => {
  fc.assert(fc.property(fc.string(), (text) => parseOptionSymbol(text) === undefined || text.length >= 16));
});

describe('roots', () => {
  test.each([
    ['SPXW', 'SPX'],
    ['NDXP', 'NDX'],
    ['RUTW', 'RUT'],
    ['VIXW', 'VIX'],
    ['BRKB', 'BRK.B'],
    ['SPX', 'SPX'],
    ['SPY', 'SPY'],
  ])('%s has the underlying %s', (root, underlying) => {
    expect(rootOf(root)).toEqual({ underlying, adjusted: false });
  });

  test('the root of a ticker with a share class has no dot', () => {
    expect(rootOfTicker('BRK.B')).toBe('BRKB');
    expect(rootOf(rootOfTicker('BRK.B')).underlying).toBe('BRK.B');
  });

  test('exactly six roots are AM-settled', () => {
    expect([...AM_SETTLED_ROOTS].sort()).toEqual(['DJX', 'NDX', 'RUT', 'SPX', 'VIX', 'VIXW']);
    expect(['SPXW', 'NDXP', 'RUTW', 'XSP', 'SPY'].map(settlementOf)).toEqual(['PM', 'PM', 'PM', 'PM', 'PM']);
    expect(settlementOf('SPX')).toBe('AM');
  });

  test.each([
    ['SPX', true, true],
    ['SPXW', true, true],
    ['OEX', true, false],
    ['SPY', false, false],
    ['SPX1', false, false],
  ])('%s: index %p, European %p', (root, index, european) => {
    expect([isIndexRoot(root), isEuropeanIndexRoot(root)]).toEqual([index, european]);
  });
});

describe('tickers', () => {
  test.each([
    ['_SPX', 'SPX'],
    ['^RUT', 'RUT'],
    ['$VIX', 'VIX'],
    ['I:NDX', 'NDX'],
    ['brk.b', 'BRK.B'],
    ['BRK/B', 'BRK.B'],
    ['BRK-B', 'BRK.B'],
    [' spy ', 'SPY'],
    ['IWM', 'IWM'],
  ])('normalizes %p to %s', (text, ticker) => {
    expect(canonicalTicker(text)).toBe(ticker);
    expect(isTicker(ticker)).toBe(true);
  });

  test.each(['', 'spy', '1SPY', '.A', 'ABCDEFGHIJK', 'A B', 'A\n', 'A\u202e', 'A/B', '_SPX', 'Ä', 'A\u200b'])(
    '%j is not a ticker',
    (text) => {
      expect(isTicker(text)).toBe(false);
    },
  );
});
