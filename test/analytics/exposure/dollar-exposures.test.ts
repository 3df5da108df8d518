import { describe, expect, test } from 'bun:test';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { greeks } from '../../../src/math/black-scholes.ts';
import { gexByContract } from '../gex-by-contract.ts';
import { blackScholesDelta, deltaAlongForward, netGex, type PlainOption } from '../plain.ts';
import { contract, contractsIn, EXPIRY, FEED_GAMMA, LATER, prepared, quoted, range } from '../small-chains.ts';

test('GEX computed by hand: sign * gamma * contracts * shares * S^2 * 0.01', () => {
  const rows = [
    contract({ gamma: 0.03, openInterest: 200 }),
    contract({ gamma: 0.03, openInterest: 500, callPut: -1 }),
    contract({ strike: 110, gamma: 0.01, openInterest: 10, multiplier: 10 }),
  ];
  const ready = prepared(rows, FEED_GAMMA, { spot: 50 });
  const expected = [0.03 * 200 * 100 * 25, -0.03 * 500 * 100 * 25, 0.01 * 10 * 10 * 25];
  gexByContract(ready).forEach((each, i) => {
    expect(each).toBeCloseTo(expected[i]!, 9);
  });
  const { gex, grossGex, dex, vex, cex } = runToCompletion(exposuresOf(ready));
  expect(gex).toBeCloseTo(15_000 - 37_500 + 25, 8);
  expect(grossGex).toBeCloseTo(15_000 + 37_500 + 25, 8);
  // These contracts have no known volatility.
  expect([dex, vex, cex]).toEqual([0, 0, 0]);
});

describe('of a quoted chain: agree with bumped plain deltas', () => {
  const rows = quoted({ strikes: range(90, 110, 5), dividend: 0.03, rest: { openInterest: 10 } }).map((row) =>
    row.callPut === 1 ? row : { ...row, openInterest: 3 },
  );
  const ready = prepared(rows);
  const found = runToCompletion(exposuresOf(ready));
  /** The delta-notional after the volatilities are bumped. */
  const notional = (vol: number, deltaOf: (option: PlainOption) => number = blackScholesDelta) =>
    contractsIn(ready).reduce((sum, each) => {
      const { callPut, iv, weight } = each;
      return sum + callPut * deltaOf({ ...each, iv: iv + vol }) * weight * 100 * 100;
    }, 0);

  test.each([
    ['delta-notional', found.dex, notional(0), 1e-6],
    ['vanna, per vol point', found.vex, (notional(1e-4) - notional(-1e-4)) / 0.02, 1e-3],
    ['charm, over the coming day', found.cex, notional(0, deltaAlongForward) - notional(0), 1e-6],
    ['gamma, per 1 %', found.gex, netGex(contractsIn(ready), 100), 1e-6],
  ])('%s', (_what, value, expected, tolerance) => {
    expect(Math.abs(expected)).toBeGreaterThan(1);
    expect(Math.abs(value / expected - 1)).toBeLessThan(tolerance);
  });

  test('delta-notional is never negative for long calls and short puts', () => {
    const puts = rows.filter(({ callPut }) => callPut === -1);
    expect(runToCompletion(exposuresOf(prepared(puts))).dex).toBeGreaterThan(0);
  });
});

describe('equal the sums over all contracts’ Greeks', () => {
  const strikes = [20, 60, 90, 99, 100, 101, 110, 150, 400];
  const rows = [EXPIRY, LATER].flatMap((expiry, far) =>
    strikes.flatMap((strike, i) =>
      [1, -1]
        // Some contracts stand alone.
        .filter((callPut) => (i + far) % 3 > 0 || callPut * (strike - 100) > 0)
        .map((callPut) =>
          contract({ expiry, strike, callPut, iv: 0.2 + 0.05 * (i % 4), openInterest: 3 + ((7 * i + callPut) % 11) }),
        ),
    ),
  );
  test.each([
    ['calls and puts', rows, 'otm'],
    ['with each contract’s own volatility', rows.map((row, i) => ({ ...row, iv: 0.2 + 0.01 * (i % 5) })), 'own'],
    [
      'the first contract of a series without a volatility',
      [...rows, contract({ expiry: LATER, strike: 10, openInterest: 5 })],
      'own',
    ],
    ['only calls', rows.filter(({ callPut }) => callPut === 1), 'own'],
    ['only puts', rows.filter(({ callPut }) => callPut === -1), 'own'],
    ['only puts far out of the money', rows.filter(({ callPut, strike }) => callPut === -1 && strike < 70), 'own'],
    ['only calls far in the money', rows.filter(({ callPut, strike }) => callPut === 1 && strike < 70), 'own'],
  ] as const)('%s', (_what, contracts, iv) => {
    const ready = prepared(contracts, { forward: 'flat', rate: 0.05, dividend: 0.03, iv });
    const { count, callPut, strike, tte, iv: volatility, rate, dividend } = ready;
    const columns = { count, callPut, spot: 100, strike, tte, iv: volatility, rate, dividend };
    const { delta, vanna } = greeks(columns);
    const day = 1 / 365.25;
    const moved = { spot: 100 * Math.exp((0.05 - 0.03) * day), tte: ready.tte.map((each) => each - day) };
    const later = greeks({ ...columns, ...moved }).delta.map(
      (each, i) => each * Math.exp(0.03 * day * (Math.min(1, ready.tte[i]! / (30 * day)) - 1)),
    );
    const sum = (column: Float64Array, of: (each: number) => number) =>
      column.reduce((total, each, i) => total + of(ready.callPut[i]! * (each || 0) * ready.weight[i]! * 1e4), 0);
    const found = runToCompletion(exposuresOf(ready));
    for (const [exposure, column, unit, scale] of [
      ['dex', delta, 1, sum(delta, Math.abs)],
      ['vex', vanna, 0.01, sum(vanna, Math.abs) * 0.01],
      ['cex', later.map((each, i) => each - delta[i]!), 1, sum(delta, Math.abs)],
    ] as const) {
      expect(scale).toBeGreaterThan(0);
      expect(Math.abs(found[exposure] - sum(column, (each) => each) * unit)).toBeLessThan(2e-14 * scale);
    }
  });
});
