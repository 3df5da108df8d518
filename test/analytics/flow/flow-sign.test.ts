import { describe, expect, test } from 'bun:test';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { exposuresByStrike } from '../../../src/analytics/exposure/exposures-by-strike.ts';
import { gammaFlip } from '../../../src/analytics/exposure/gamma-flip.ts';
import { netGammaProfile } from '../../../src/analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { hedgingNodes } from '../../../src/analytics/exposure/hedging-nodes.ts';
import { customerPositions } from '../../../src/analytics/flow/customer-positions.ts';
import { signedByFlow, signedShare } from '../../../src/analytics/flow/flow-sign.ts';
import { signPrints } from '../../../src/analytics/flow/trade-side.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { greeks } from '../../../src/math/black-scholes.ts';
import { gexByContract } from '../gex-by-contract.ts';
import { deltaAfterADay } from '../independent.ts';
import { simulatedTape } from '../simulated-tape.ts';
import { contractsIn, prepared, preparedChain, quoted, range } from '../small-chains.ts';

const NOBODY = { contracts: 0, capped: 0, prints: { feed: 0, quote: 0, tick: 0, unknown: 0 } };
const READY = prepared(
  quoted({ strikes: range(90, 110, 2), dividend: 0.02 }).map((row, i) => ({ ...row, openInterest: 100 + 7 * i })),
);
/** The customers' random positions, some of them short. */
const NET = Float64Array.from({ length: READY.chain.count }, (_, row) => ((row * 37) % 101) - 50);
const SIGNED = signedByFlow(READY, { net: NET, ...NOBODY });

describe('exposures of dealers opposite customers', () => {
  const { spot } = READY.chain;
  const all = greeks({
    count: READY.count,
    ...{ callPut: READY.callPut, spot, strike: READY.strike, tte: READY.tte },
    ...{ iv: READY.iv, rate: READY.rate, dividend: READY.dividend },
  });
  const dayAhead = Float64Array.from(contractsIn(READY), (each, i) => deltaAfterADay(each) - all.delta[i]!);
  const held = (column: Float64Array, scale: number) =>
    column.reduce((sum, each, i) => sum - NET[i]! * 100 * each * scale, 0);
  const found = runToCompletion(exposuresOf(SIGNED));

  test.each([
    ['gamma', found.gex, held(all.gamma, spot * spot * 0.01)],
    ['delta', found.dex, held(all.delta, spot)],
    ['vanna', found.vex, held(all.vanna, spot * 0.01)],
    ['charm', found.cex, held(dayAhead, spot)],
  ])('%s', (_what, is, expected) => {
    expect(is / expected).toBeCloseTo(1, 9);
  });

  test('agree by strike, in the profile, and in the shares to trade', () => {
    const by = runToCompletion(exposuresByStrike(SIGNED));
    const sum = (column: Float64Array) => column.reduce((a, b) => a + b, 0);
    expect(sum(by.netGex) / found.gex).toBeCloseTo(1, 9);
    expect(sum(by.dex) / found.dex).toBeCloseTo(1, 9);
    const { level, gex } = runToCompletion(netGammaProfile(SIGNED, 0.2));
    expect(gex[level.indexOf(spot)]! / found.gex).toBeCloseTo(1, 9);
    const shares = hedgingNodes(SIGNED, READY.count).reduce((all, { dealerShares }) => all + dealerShares, 0);
    expect(shares).toBeWithin(-found.gex / spot - 11, -found.gex / spot + 11);
  });
});

test('customers short every call and long every put equal the convention', () => {
  const net = Float64Array.from(READY.chain.openInterest, (open, row) => -READY.chain.callPut[row]! * open);
  const same = signedByFlow(READY, { net, ...NOBODY });
  expect(gexByContract(same)).toEqual(gexByContract(READY));
  expect(runToCompletion(gammaFlip(same))).toEqual(runToCompletion(gammaFlip(READY)));
  expect(runToCompletion(gexLevels(same, new Map())).walls).toEqual(runToCompletion(gexLevels(READY, new Map())).walls);
  expect(signedShare(same)).toEqual({ share: 1, unsignedGex: 0 });
});

test('without prints there is no exposure, and max pain still uses open interest', () => {
  const none = signedByFlow(READY, { net: new Float64Array(READY.chain.count), ...NOBODY });
  const levels = runToCompletion(gexLevels(none, new Map()));
  expect(levels.exposures).toEqual({ gex: 0, grossGex: 0, dex: 0, vex: 0, cex: 0, signProbability: 0.5 });
  expect(levels.maxPain).toBe(runToCompletion(gexLevels(READY, new Map())).maxPain);
  const { share, unsignedGex } = signedShare(none);
  expect(share).toBe(0);
  expect(unsignedGex / runToCompletion(exposuresOf(READY)).grossGex).toBeCloseTo(1, 12);
});

/**
 * The difference from the dealers' true book, over twenty tapes of which only the last part was recorded. Errors are in
 * units of the true book's gross gamma: of the net over the chain (root mean square), and of the absolute differences
 * added up by contract. `wrong` is the share of the tapes on which net GEX has the wrong sign. docs/methods/flow.md documents them.
 */
describe('the known book of a simulated tape', () => {
  const RECORDED = [
    { part: 0.1, net: 0.22, book: 0.93, wrong: 0.2 },
    { part: 0.25, net: 0.2, book: 0.82, wrong: 0.15 },
    { part: 0.5, net: 0.15, book: 0.62, wrong: 0.05 },
    { part: 0.75, net: 0.1, book: 0.4, wrong: 0 },
    { part: 1, net: 0.05, book: 0.18, wrong: 0 },
  ];
  const tapes = Array.from({ length: 20 }, (_, seed) => simulatedTape(seed + 1));
  const found = RECORDED.map(({ part }) => {
    let [squares, book, share, wrong] = [0, 0, 0, 0];
    for (const tape of tapes) {
      const ready = preparedChain(tape.chain);
      const truth = signedByFlow(ready, { net: tape.book, ...NOBODY });
      const recorded = tape.trades.slice(Math.floor(tape.trades.length * (1 - part)));
      const signed = signedByFlow(ready, customerPositions(tape.chain, signPrints(recorded.map((each) => each.print))));
      const { gex, grossGex } = runToCompletion(exposuresOf(truth));
      const truly = gexByContract(truth);
      const found = runToCompletion(exposuresOf(signed)).gex;
      if (found * gex < 0) wrong++;
      squares += ((found - gex) / grossGex) ** 2;
      book += gexByContract(signed).reduce((sum, each, i) => sum + Math.abs(each - truly[i]!), 0) / grossGex;
      share += signedShare(signed).share;
    }
    const mean = (sum: number) => sum / tapes.length;
    return { net: Math.sqrt(mean(squares)), book: mean(book), share: mean(share), wrong: mean(wrong) };
  });

  test.each(RECORDED.map((each, i) => [each.part, each, found[i]!] as const))(
    '%p of the tape recorded',
    (_part, bound, is) => {
      expect(is.net).toBeLessThan(bound.net);
      expect(is.book).toBeLessThan(bound.book);
      expect(is.wrong).toBe(bound.wrong);
    },
  );

  test('the error falls as the signed share rises', () => {
    for (const [i, each] of found.entries()) {
      if (i === 0) continue;
      expect(each.share).toBeGreaterThan(found[i - 1]!.share);
      expect(each.net).toBeLessThan(found[i - 1]!.net);
      expect(each.book).toBeLessThan(found[i - 1]!.book);
    }
  });
});
