import { describe, expect, test } from 'bun:test';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { type HedgingAtMove, hedgingAtMoves } from '../../../src/analytics/exposure/hedging-at-moves.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { greeksOf } from '../../../src/math/black-scholes.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import {
  chainOf,
  contract,
  contractsIn,
  EXPIRY,
  LATER,
  prepared,
  preparedChain,
  quoted,
  range,
  TODAY,
} from '../small-chains.ts';

const MOVES = [-20, -5, -1, -0.5, 0, 0.5, 1, 5, 20];

const profileOf = (ready: PreparedChain, moves: readonly number[] = MOVES): HedgingAtMove[] =>
  runToCompletion(hedgingAtMoves(ready, moves));

/** The book at a spot, one contract after the other: share delta, and net and gross gamma in dollars per 1 % move. */
function bookAt(ready: PreparedChain, spot: number) {
  let [delta, gross, gex, grossGex] = [0, 0, 0, 0];
  for (const contract of contractsIn(ready)) {
    if (Number.isNaN(contract.iv)) continue;
    const greeks = greeksOf({ ...contract, spot });
    const shares = contract.position * contract.multiplier;
    delta += shares * greeks.delta;
    gross += Math.abs(shares * greeks.delta);
    gex += shares * greeks.gamma * spot ** 2 * 0.01;
    grossGex += Math.abs(shares * greeks.gamma * spot ** 2 * 0.01);
  }
  return { delta, gross, gex, grossGex };
}

/** Compares the profile with sums over contracts: relative to the trade, and to the book where its rounding is the larger. */
function expectSums(ready: PreparedChain): void {
  const { spot } = ready.chain;
  const now = bookAt(ready, spot);
  for (const row of profileOf(ready)) {
    const then = bookAt(ready, spot * (1 + row.move / 100));
    expect(row.spot).toBeCloseTo(spot * (1 + row.move / 100), 9);
    const expected = -(then.delta - now.delta);
    expect(Math.abs(row.shares - expected)).toBeLessThanOrEqual(1e-9 * Math.abs(expected) + 1e-13 * now.gross);
    expect(Math.abs(row.gex - then.gex)).toBeLessThanOrEqual(1e-11 * then.grossGex);
    expect(Math.abs(row.grossGex - then.grossGex)).toBeLessThanOrEqual(1e-11 * then.grossGex);
  }
}

const ROWS = [
  ...quoted({ strikes: range(80, 120, 2), dividend: 0.03, iv: (strike) => 0.2 + (100 - strike) ** 2 / 2e4 }),
  ...quoted({ strikes: range(90, 110), expiry: LATER, iv: 0.25 }),
  ...quoted({ strikes: [98, 99, 101, 103], expiry: TODAY, iv: 0.4 }),
].map((row, i) => ({ ...row, openInterest: 5 + ((13 * i) % 29), multiplier: i % 7 === 0 ? 10 : 100 }));

describe('equals the sums over all contracts', () => {
  test.each([
    ['calls and puts', ROWS],
    ['only calls', ROWS.filter(({ callPut }) => callPut === 1)],
    ['only puts', ROWS.filter(({ callPut }) => callPut === -1)],
    ['a single put', [contract({ callPut: -1, strike: 95, iv: 0.3, openInterest: 7 })]],
  ])('%s', (_what, rows) => expectSums(prepared(rows)));

  test('with each contract’s own volatility', () => {
    expectSums(
      prepared(
        ROWS.map((row, i) => ({ ...row, iv: 0.2 + 0.01 * (i % 9) })),
        { iv: 'own' },
      ),
    );
  });
});

describeRecorded('on recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s: equals the sums over all contracts', (name) =>
    expectSums(preparedChain(recordedChain(dir, name))),
  );

  test.each(recordedNames(dir))('%s: the profiles of the expiries add up', (name) =>
    expectAdditive(recordedChain(dir, name)),
  );
});

test('dealers trade nothing without a move', () => {
  expect(profileOf(prepared(ROWS), [0])[0]).toMatchObject({ move: 0, spot: 100, shares: 0 });
});

test('small moves agree with net GEX, which states dollars against a move of 1 %', () => {
  const ready = prepared(ROWS);
  const { gex, grossGex } = runToCompletion(exposuresOf(ready));
  const [down, now, up] = profileOf(ready, [-1e-3, 0, 1e-3]);
  expect(now!.gex / gex).toBeCloseTo(1, 9);
  expect(now!.grossGex / grossGex).toBeCloseTo(1, 9);
  // The mean of both directions cancels the change of gamma over the move.
  expect((up!.shares - down!.shares) / 2 / ((-gex / 100) * 1e-3)).toBeCloseTo(1, 6);
});

test.each([
  ['long calls sell into a rise and buy into a fall', 1, [1, -1]],
  ['short puts buy into a rise and sell into a fall', -1, [-1, 1]],
])('%s', (_what, callPut, signs) => {
  const rows = profileOf(prepared(ROWS.filter((row) => row.callPut === callPut)), [-2, 2]);
  expect(rows.map(({ shares }) => Math.sign(shares))).toEqual(signs);
});

test('a contract without a volatility changes nothing', () => {
  const known = ROWS.map((row) => ({ ...row, iv: 0.3 }));
  const all = prepared([...known, contract({ expiry: LATER, strike: 100.5, openInterest: 1_000 })], { iv: 'own' });
  expect(all.counts.left_out.no_volatility).toBe(1);
  expect(profileOf(all)).toEqual(profileOf(prepared(known, { iv: 'own' })));
});

test('the profiles of the expiries add up', () => expectAdditive(chainOf(ROWS)));

function expectAdditive(chain: Chain): void {
  const all = profileOf(preparedChain(chain));
  const dates = [...new Set(chain.series.filter(({ adjusted }) => !adjusted).map(({ expiry }) => expiry))];
  const parts = dates.flatMap((date) => {
    try {
      return [profileOf(preparedChain(chain, { expiries: { kind: 'date', date } }))];
    } catch {
      // Every series of this date has settled.
      return [];
    }
  });
  expect(parts.length).toBeGreaterThan(1);
  all.forEach((row, i) => {
    for (const figure of ['shares', 'gex', 'grossGex'] as const) {
      const sum = parts.reduce((total, part) => total + part[i]![figure], 0);
      const size = parts.reduce((total, part) => total + Math.abs(part[i]![figure]), 0);
      expect(Math.abs(row[figure] - sum)).toBeLessThanOrEqual(1e-9 * size);
    }
  });
}

test('long chains are computed in steps', () => {
  const strikes = range(60, 140, 0.02);
  const rows = quoted({ strikes, expiry: EXPIRY, iv: 0.3, rest: { openInterest: 1 } });
  // 42 spots times 4,001 pairs are six steps, with a break between each two.
  expect([...hedgingAtMoves(prepared(rows), range(-20, 20))].length).toBeGreaterThanOrEqual(5);
});
