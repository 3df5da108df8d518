import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS, parseSmileDynamics } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { flipZone, gammaFlip } from '../../../src/analytics/exposure/gamma-flip.ts';
import { grossGexOf, netGammaProfile, netGexOf } from '../../../src/analytics/exposure/gamma-profile.ts';
import { hedgingAtMoves } from '../../../src/analytics/exposure/hedging-at-moves.ts';
import { signMarginPct } from '../../../src/analytics/exposure/sign-margin.ts';
import { smileMover } from '../../../src/analytics/exposure/smile-dynamics.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { nearestSignChange, netGex } from '../plain.ts';
import { contractsIn, LATER, prepared, preparedChain, quoted, range } from '../small-chains.ts';

/** A smile whose volatility falls with the strike, in ln(K / 100). */
const skewed = (strike: number) => 0.3 - 0.25 * Math.log(strike / 100);
const ROWS = quoted({ strikes: range(70, 140), expiry: LATER, iv: skewed, rate: 0, halfSpread: 0.0005 }).map((row) => ({
  ...row,
  openInterest: row.callPut > 0 ? 2 * row.strike - 100 : 2 * (145 - Math.min(row.strike, 145)) + 12,
}));
const READY = prepared(ROWS, { rate: 0 });
const under = (ssr: number): PreparedChain => preparedChain(READY.chain, { rate: 0, ssr });

test.each([
  ['sticky_strike', 'SPX', 1],
  ['sticky_moneyness', 'AAPL', 0],
  ['ssr', 'SPX', 1.5],
  ['ssr', 'AAPL', 1],
  ['ssr=0.75', 'AAPL', 0.75],
  ['ssr=2.5', 'SPX', 2.5],
  ['ssr=2.6', 'SPX', undefined],
  ['ssr=-1', 'SPX', undefined],
  ['ssr=1e0', 'SPX', undefined],
  ['sticky_delta', 'SPX', undefined],
  ['', 'SPX', undefined],
])('%j of %s is a ratio of %p', (text, underlying, ssr) => {
  expect(parseSmileDynamics(text, underlying)).toBe(ssr as number);
});

describe('a ratio R moves the smile', () => {
  test.each([0, 0.5, 1, 1.5, 2.5])('R = %d', (ssr) => {
    for (const spot of [92, 100, 107]) {
      const moved = runToCompletion(smileMover(under(ssr)))(spot);
      for (const strike of [85, 100, 112]) {
        const pair = moved.pairs.strike.indexOf(strike);
        // The strike's volatility is that of the present smile at ln(K/F) + (R - 1) ln(S'/S).
        const at = strike * (spot / 100) ** (ssr - 1);
        expect(moved.pairs.iv[pair]!).toBeCloseTo(skewed(at), 3);
      }
    }
  });

  test('beyond the outermost strikes, the volatility is that of the last strike', () => {
    const moved = runToCompletion(smileMover(under(0)))(140);
    expect(moved.pairs.iv[moved.pairs.strike.indexOf(70)]!).toBeCloseTo(skewed(70), 3);
  });
});

describe('flip and profile', () => {
  /** Net gamma at a spot with every contract at the volatility that the smile then gives. */
  const netUnder = (ssr: number) => (spot: number) =>
    netGex(
      contractsIn(READY).map((each) => ({
        ...each,
        iv: skewed(Math.min(140, Math.max(70, each.strike * (spot / 100) ** (ssr - 1)))),
      })),
      spot,
    );

  test.each([0, 1, 1.5])('R = %d: like a scan of bumped prices', (ssr) => {
    const net = netUnder(ssr);
    const ready = under(ssr);
    const { level, resolved } = runToCompletion(gammaFlip(ready));
    expect(resolved).toBe(true);
    expect(Math.abs(level / nearestSignChange(net, 100, 0.02) - 1)).toBeLessThan(5e-4);
    const profile = runToCompletion(netGammaProfile(ready, 0.2));
    const gross = runToCompletion(grossGexOf(ready, profile.level));
    for (const i of [20, 60, 80, 120]) {
      expect(Math.abs(net(profile.level[i]!) - profile.gex[i]!)).toBeLessThan(6e-3 * gross[i]!);
    }
  });

  test('sticky strike is the default, to the bit', () => {
    const stated = runToCompletion(prepareChain(READY.chain, { ...DEFAULT_OPTIONS, rate: 0, ssr: 1 }));
    expect(stated).toBe(preparedChain(READY.chain, { rate: 0 }));
  });

  test.each([1, 0])('R = %d: the zone has the spots whose margin is below 2.5 %%', (ssr) => {
    const ready = under(ssr);
    const zone = runToCompletion(flipZone(ready))!;
    const { level } = runToCompletion(gammaFlip(ready));
    expect(zone.low).toBeLessThan(level);
    expect(zone.high).toBeGreaterThan(level);
    const ends = Float64Array.of(zone.low, zone.high, level);
    const gross = runToCompletion(grossGexOf(ready, ends));
    const margins = [...runToCompletion(netGexOf(ready, ends))].map((net, i) => signMarginPct(net, gross[i]!));
    expect(margins[0]!).toBeCloseTo(2.5, 1);
    expect(margins[1]!).toBeCloseTo(2.5, 1);
    expect(margins[2]!).toBeLessThan(0.05);
  });
});

describe('coverage', () => {
  // The puts outweigh the calls of a lower strike, except far below, where no strike is quoted.
  const near = quoted({ strikes: range(97, 103), expiry: LATER, iv: skewed }).map((row) => ({
    ...row,
    openInterest: row.callPut > 0 ? Number(row.strike === 97) * 60 : Number(row.strike === 103) * 100,
  }));

  test('a flip outside the quoted strikes is not resolved, and has no zone', () => {
    const ready = prepared(near);
    const flip = runToCompletion(gammaFlip(ready));
    expect(flip).toMatchObject({ resolved: false, isOutside: true });
    expect(flip.level < 97 || flip.level > 103).toBe(true);
    expect(runToCompletion(flipZone(ready))).toBeNull();
  });
});

describe('hedging', () => {
  const hedging = (ssr: number) => runToCompletion(hedgingAtMoves(under(ssr), [-3, 2]));

  test("vanna's trade is the difference to volatilities that stay at their strikes", () => {
    const sticky = hedging(1);
    expect(sticky.map(({ vannaShares }) => vannaShares)).toEqual([undefined, undefined]);
    for (const ssr of [0, 1.5]) {
      for (const [i, row] of hedging(ssr).entries()) {
        expect(row.vannaShares).toBeCloseTo(row.shares - sticky[i]!.shares, 6);
        expect(Math.abs(row.vannaShares!)).toBeGreaterThan(1);
      }
    }
    // Volatilities rise more than sticky strike if spot falls with R = 1.5, and less with R = 0.
    expect(Math.sign(hedging(1.5)[0]!.vannaShares!)).toBe(-Math.sign(hedging(0)[0]!.vannaShares!));
  });

  test('a small move trades net gamma and vanna times the change of volatility', () => {
    const [row] = runToCompletion(hedgingAtMoves(under(0), [0.1]));
    const [sticky] = runToCompletion(hedgingAtMoves(under(1), [0.1]));
    const { pairs } = READY;
    const slope = 0.25 * Math.log(1.001);
    const vanna = contractsIn(READY).reduce((sum, { callPut, strike, tte, iv, weight, multiplier }) => {
      const deviation = iv * Math.sqrt(tte);
      const d1 = Math.log(100 / strike) / deviation + deviation / 2;
      const density = Math.exp((-d1 * d1) / 2) / Math.sqrt(2 * Math.PI);
      return sum - callPut * weight * multiplier * density * ((d1 - deviation) / iv);
    }, 0);
    expect(pairs.count).toBeGreaterThan(50);
    expect(row!.shares - sticky!.shares).toBeCloseTo(-vanna * slope, -1);
  });
});
