import { describe, expect, test } from 'bun:test';
import { type Forward, seriesForward } from '../../../src/analytics/chain/forward.ts';
import { type AnalysisOptions, DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { blackScholesDelta } from '../plain.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, quoted, range, yearsTo } from '../small-chains.ts';

const SPX = { underlying: 'SPX', spot: 6000 };
/** Nine pairs within 5 % of spot. */
const STRIKES = range(5800, 6200, 50);

function forwardOf(
  rows: readonly ContractRow[],
  { head = {}, ...options }: Partial<AnalysisOptions> & { head?: Parameters<typeof chainOf>[1] } = {},
): Forward {
  const chain = chainOf(rows, head);
  const [series] = chain.series;
  const tte = yearsTo(series!.root, series!.expiry, chain.asOf);
  return seriesForward(chain, series!, tte, { ...DEFAULT_OPTIONS, ...options });
}

function spx(overrides: Partial<Parameters<typeof quoted>[0]> = {}): ContractRow[] {
  return quoted({ root: 'SPX', expiry: LATER, spot: 6000, strikes: STRIKES, rate: 0.05, dividend: 0.01, ...overrides });
}

describe('regression', () => {
  const tte = yearsTo('SPX', LATER);
  const expected = 6000 * Math.exp(0.04 * tte);

  test('finds the forward and the rate of European index options for any assumed rate', () => {
    const found = forwardOf(spx(), { head: SPX, rate: 0.01 });
    expect(found.method).toBe('regression');
    expect(found.forward).toBeCloseTo(expected, 6);
    expect(found.rate).toBeCloseTo(0.05, 8);
  });

  test('ignores pairs farther than 5 % from spot', () => {
    // These quotes break parity. If they were used, the result would change.
    const far = [5600, 6400].flatMap((strike) => [
      contract({ root: 'SPX', expiry: LATER, strike, callPut: 1, bid: 500, ask: 500 }),
      contract({ root: 'SPX', expiry: LATER, strike, callPut: -1, bid: 1, ask: 1 }),
    ]);
    expect(forwardOf([...spx(), ...far], { head: SPX }).forward).toBeCloseTo(expected, 6);
  });

  test.each([
    ['eight pairs suffice', { strikes: STRIKES.slice(1) }, 'regression'],
    ['seven pairs do not', { strikes: STRIKES.slice(2) }, 'parity'],
    ['pairs exactly 5 % from spot count', { strikes: [5700, 6300, ...STRIKES.slice(3)] }, 'regression'],
    ['pairs beyond 5 % do not count', { strikes: [5699, 6301, ...STRIKES.slice(3)] }, 'parity'],
    ['accepts a rate of 0', { rate: 1e-9 }, 'regression'],
    ['rejects a rate below 0', { rate: -0.002 }, 'parity'],
    ['accepts a rate of 9.9 %', { rate: 0.099 }, 'regression'],
    ['rejects a rate of 10.1 %', { rate: 0.101 }, 'parity'],
    ['quotes without a bid make no pairs', { rest: { bid: 0 } }, 'carry'],
    ['crossed quotes make no pairs', { halfSpread: -0.5 }, 'carry'],
    ['eight days to expiry suffice', { expiry: '2026-01-13', root: 'SPXW' }, 'regression'],
    ['a week does not', { expiry: '2026-01-12', root: 'SPXW', asOf: AS_OF + 3_600_000 }, 'parity'],
    ['OEX options are American', { root: 'OEX' }, 'parity'],
  ] as const)('%s', (_what, overrides, method) => {
    const head = 'root' in overrides && overrides.root === 'OEX' ? { ...SPX, underlying: 'OEX' } : SPX;
    const asOf = 'asOf' in overrides ? overrides.asOf : AS_OF;
    expect(forwardOf(spx(overrides), { head: { ...head, asOf } }).method).toBe(method);
  });
});

describe('parity', () => {
  const discount = Math.exp(-0.04 * yearsTo('ACME', EXPIRY));

  /** Pairs whose discounted price difference implies the forward `forwards[i]`. */
  function pairs(strikes: readonly number[], forwards: readonly number[]): ContractRow[] {
    return strikes.flatMap((strike, i) => {
      const difference = (forwards[i]! - strike) * discount;
      const [call, put] = [200 + difference, 200];
      return [contract({ strike, bid: call, ask: call }), contract({ strike, callPut: -1, bid: put, ask: put })];
    });
  }

  test('American options never use regression, however many pairs they have', () => {
    const found = forwardOf(quoted({ strikes: range(95, 105), rate: 0.05 }));
    expect(found.method).toBe('parity');
    expect(found.rate).toBe(0.04);
  });

  test.each([
    ['one pair', [100], [101], 101],
    ['the median of three pairs', [99, 100, 101], [103, 101, 90], 101],
    ['the mean of the middle two of four pairs', [99, 100, 101, 102], [110, 101, 102, 90], 101.5],
    ['at most five pairs: those nearest spot', [95, 98, 99, 100, 101, 102, 105], [1, 104, 103, 102, 101, 100, 1], 102],
    ['of two equally near strikes the lower', [97, 98, 99, 100, 101, 103], [103, 101, 102, 104, 105, 1], 103],
  ])('%s', (_what, strikes, forwards, expected) => {
    const found = forwardOf(pairs(strikes, forwards));
    expect(found.method).toBe('parity');
    expect(found.forward).toBeCloseTo(expected, 9);
  });

  test('a call and a put of different strikes are not a pair', () => {
    const rows = [
      contract({ strike: 99, callPut: 1, bid: 5, ask: 5 }),
      contract({ strike: 100, callPut: -1, bid: 5, ask: 5 }),
    ];
    expect(forwardOf(rows).method).toBe('carry');
  });

  test('a forward at or below 0 is rejected', () => {
    expect(forwardOf(pairs([10], [-5])).method).toBe('carry');
  });
});

describe('delta', () => {
  const tte = yearsTo('ACME', EXPIRY);
  /** The delta and volatility that a feed reports for a call if the forward is 103. */
  const call = (strike: number, iv = 0.3) => {
    const dividend = -Math.log(103 / 100) / tte;
    const option = { callPut: 1, spot: 100, strike, tte, iv, rate: dividend, dividend };
    return contract({ strike, iv, delta: blackScholesDelta({ ...option, rate: 0, dividend: 0, spot: 103 }) });
  };

  test.each([
    ['the median over calls around the money', range(98, 108).map((strike) => call(strike)), 103],
    ['one call', [call(101)], 103],
    ['of an even number of calls the mean of the middle two', [call(101), call(103), call(105, 0.31)], 103],
  ])('%s', (_what, rows, expected) => {
    const found = forwardOf(rows);
    expect(found.method).toBe('delta');
    expect(found.forward).toBeCloseTo(expected, 6);
    expect(found.rate).toBe(0.04);
  });

  test.each([
    ['a put', { callPut: -1, delta: 0.5, iv: 0.3 }],
    ['a delta of 0.3', { delta: 0.3, iv: 0.3 }],
    ['a delta of 0.7', { delta: 0.7, iv: 0.3 }],
    ['no volatility', { delta: 0.5 }],
    ['a sentinel volatility', { delta: 0.5, iv: 1e-5 }],
    ['a volatility above the bound', { delta: 0.5, iv: 5.1 }],
  ])('%s gives no forward: spot is carried', (_what, overrides) => {
    const found = forwardOf([contract(overrides)], { dividend: 0.01 });
    expect(found.method).toBe('carry');
    expect(found.forward).toBeCloseTo(100 * Math.exp(0.03 * tte), 12);
  });

  test('a single pair of quotes takes precedence over deltas', () => {
    const rows = [call(101), ...quoted({ strikes: [100] })];
    expect(forwardOf(rows).method).toBe('parity');
  });
});

test('the flat method uses no quotes', () => {
  const found = forwardOf(quoted({ strikes: range(95, 105), dividend: 0.5 }), {
    ...{ forward: 'flat', rate: 0.02, dividend: 0.05 },
  });
  expect(found).toEqual({ forward: 100 * Math.exp(-0.03 * yearsTo('ACME', EXPIRY)), rate: 0.02, method: 'flat' });
});

describe('a forward far from spot comes from damaged quotes, so the next method is used', () => {
  /** Nine pairs that imply this forward with a discount of half a percent. */
  const pairsAt = (forward: number, root = 'ACME') =>
    range(96, 104).flatMap((strike) => {
      const [call, put] = [200 + 0.995 * (forward - strike), 200];
      const each = { root, expiry: LATER, strike };
      return [
        contract({ ...each, callPut: 1, bid: call, ask: call }),
        contract({ ...each, callPut: -1, bid: put, ask: put }),
      ];
    });

  test.each([
    ['a million, by parity', pairsAt(1e6), 'carry'],
    ['a fifth of spot, by parity', pairsAt(20), 'carry'],
    ['three times spot by parity: accepted', pairsAt(300), 'parity'],
    ['five times spot, by delta', [contract({ strike: 500, delta: 0.5, iv: 0.3 })], 'carry'],
    ['a million, by regression and by parity', pairsAt(1e6, 'SPX'), 'carry'],
    ['three times spot by regression: accepted', pairsAt(300, 'SPX'), 'regression'],
  ] as const)('%s', (_what, rows, method) => {
    const head = rows[0]!.root === 'SPX' ? { underlying: 'SPX' } : {};
    expect(forwardOf(rows, { head }).method).toBe(method);
  });
});
