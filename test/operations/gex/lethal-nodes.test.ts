import { describe, expect, test } from 'bun:test';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { hedgingNodes } from '../../../src/analytics/exposure/hedging-nodes.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { CashDividend } from '../../../src/market/cash-dividend.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Context } from '../../../src/operations/engine/operation.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getGexProfile } from '../../../src/operations/gex/gex-profile.ts';
import { getGexByStrike } from '../../../src/operations/gex/gex-strikes.ts';
import { detectLethalNodes } from '../../../src/operations/gex/lethal-nodes.ts';
import { normalCdf } from '../../analytics/plain.ts';
import { AS_OF, chainOf, contract, preparedChain, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { call, callExtended, performTool, smallMarket } from '../small-market.ts';

const CHAIN = chainOf(
  quoted({ strikes: range(90, 110) }).map((row) => ({
    ...row,
    openInterest: row.callPut === 1 ? row.strike : 300 - row.strike,
  })),
);

/** The extended answer for a chain of ACME. */
const answerOf = <Answer>(chain: Chain, dividends: readonly CashDividend[] = []) =>
  callExtended(detectLethalNodes, { ticker: 'ACME' }, smallMarket({ chains: [chain], dividends }).context) as Answer;
const nodesOf = (chain: Chain) => call(detectLethalNodes, { ticker: 'ACME' }, smallMarket({ chains: [chain] }).context);

test('ten nodes, largest first, with the contract’s field names', () => {
  const nodes = hedgingNodes(preparedChain(CHAIN), 10);
  expect(nodesOf(CHAIN)).toEqual({
    top_nodes: nodes.map(({ strike, callPut, expiry, dealerShares, deltaFlux }) => ({
      ...{ strike, put_call: callPut === 1 ? 'C' : 'P', expiry_date: expiry, Dealer_Share_Exposure: dealerShares },
      Delta_Flux_j: deltaFlux,
    })),
  });
  expect(nodes).toHaveLength(10);
  const sizes = nodes.map(({ dealerShares }) => Math.abs(dealerShares));
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
});

test.each<[string, object, boolean]>([
  ['without limit, the answer says how many contracts there are', {}, true],
  ['with limit, the cursor says that there are more', { limit: 10 }, false],
  ['an expiry with as many contracts as the answer has', { expiry: TODAY }, false],
])('%s', (_what, args, expected) => {
  const rest = { openInterest: 5 };
  const rows = [
    ...quoted({ strikes: range(90, 110), rest }),
    ...quoted({ strikes: range(98, 102), expiry: TODAY, rest }),
    // Contracts without open interest do not count.
    ...quoted({ strikes: range(111, 115), rest: { openInterest: 0 } }),
  ];
  const { context } = smallMarket({ chains: [chainOf(rows)] });
  const { provenance } = performTool(detectLethalNodes, { ticker: 'ACME', ...args }, context);
  const note = 'top_nodes has 10 of 52 contracts. limit gives pages of all.';
  expect(provenance!.notes.filter((each) => each.startsWith('top_nodes'))).toEqual(expected ? [note] : []);
});

test('the extended answer has the components of each node', () => {
  const { top_nodes, components, gross_share_pct } = answerOf<{
    top_nodes: { strike: number; put_call: string; Dealer_Share_Exposure: number; Delta_Flux_j: number }[];
    components: Record<string, number>[];
    gross_share_pct: number;
  }>(CHAIN);
  for (const [i, { strike, put_call, ...node }] of top_nodes.entries()) {
    const { root, dealer_contracts, multiplier, gamma, delta, delta_after_a_day, gex, iv, iv_band, strike_shares } =
      components[i]!;
    expect([root as unknown, iv]).toEqual(['ACME', expect.closeTo(0.3, 6)]);
    // Bid and ask of these quotes are equal.
    expect(iv_band).toBe(0);
    expect(dealer_contracts).toBe(put_call === 'C' ? strike : strike - 300);
    expect(Math.round(-gamma! * dealer_contracts! * multiplier!)).toBe(node.Dealer_Share_Exposure);
    expect((delta! - delta_after_a_day!) * dealer_contracts! * multiplier!).toBeCloseTo(node.Delta_Flux_j, 3);
    expect(gex! / (gamma! * dealer_contracts! * 100 * 100)).toBeCloseTo(1, 8);
    // A call and its put share their gamma.
    expect(strike_shares).toBeCloseTo(-gamma! * 100 * (2 * strike - 300), 5);
    expect(components[i]!.drift_shares).toBe(Number(node.Delta_Flux_j.toPrecision(9)));
  }
  const { grossGex } = runToCompletion(exposuresOf(preparedChain(CHAIN)));
  const ofNodes = components.reduce((sum, { gex }) => sum + Math.abs(gex!), 0);
  expect(gross_share_pct).toBeCloseTo((100 * ofNodes) / grossGex, 6);
});

test('a client can recompute the later delta from the components', () => {
  const { components, spot_price } = answerOf<{ components: Record<string, number>[]; spot_price: number }>(CHAIN);
  const { top_nodes } = nodesOf(CHAIN) as { top_nodes: { strike: number; put_call: string }[] };
  for (const [i, { strike, put_call }] of top_nodes.entries()) {
    const { tte, iv, forward, rate, hedge_yield, delta_after_a_day } = components[i]!;
    const [left, side] = [tte! - 1 / 365.25, put_call === 'C' ? 1 : -1];
    const s = iv! * Math.sqrt(left);
    const factor = (Math.exp(-rate! * tte!) * forward!) / spot_price;
    const d1 = Math.log(forward! / strike) / s + s / 2;
    const expected = side * factor * Math.exp(hedge_yield! / 365.25) * normalCdf(side * d1);
    expect(delta_after_a_day).toBeCloseTo(expected, 7);
  }
});

describe('dividends', () => {
  const known = { knownFrom: AS_OF, status: 'declared' };
  const dividend = { ticker: 'ACME', amount: 0.5, ...known, simulated: false };
  const exDates = ['2026-01-05', '2026-01-06', '2026-01-12', '2026-01-20'];
  const dividends = exDates.map((exDate) => ({ ...dividend, exDate }));

  test('up to the last settlement are listed, and change the yield of the hedge', () => {
    const answerWith = (known: typeof dividends) =>
      answerOf<{ dividends: unknown; components: { hedge_yield: number }[] }>({ ...CHAIN, simulated: false }, known);
    const answer = answerWith(dividends);
    const told = { amount: 0.5, status: 'declared', known_from: '2026-01-05T20:00:00.000Z' };
    // The price has lost the first one at the open, and the last one comes after settlement.
    expect(answer.dividends).toEqual([
      { ex_date: '2026-01-06', ...told, within_a_day: true },
      { ex_date: '2026-01-12', ...told, within_a_day: false },
    ]);
    const none = answerWith([]);
    expect(none.dividends).toEqual([]);
    expect(answer.components[0]!.hedge_yield).toBeLessThan(none.components[0]!.hedge_yield - 0.05);
  });

  test.each([
    ['of the present', (context: Context) => context],
    ['of the past', (context: Context) => ({ ...context, market: context.market.at(AS_OF + 1) })],
  ])('a dividend learnt after the snapshot, or its correction, changes no byte of an answer %s', (_what, contextOf) => {
    const answersWith = (...given: CashDividend[][]) => {
      const { context, store } = smallMarket({ chains: [{ ...CHAIN, simulated: false }] });
      for (const each of given) store.saveDividends(each);
      return [detectLethalNodes, getLiveGexNodes, getGexProfile, getGexByStrike].map((operation) =>
        JSON.stringify(callExtended(operation, { ticker: 'ACME' }, contextOf(context))),
      );
    };
    const [none, early] = [answersWith(), answersWith(dividends)];
    for (const [i, answer] of early.entries()) expect(answer).not.toBe(none[i]!);
    const late = dividends.map((each) => ({ ...each, amount: 0.7, status: null, knownFrom: AS_OF + 1 }));
    expect(answersWith(late)).toEqual(none);
    const withdrawn = late.map((each) => ({ ...each, amount: 0 }));
    expect(answersWith(dividends, late)).toEqual(early);
    expect(answersWith(withdrawn, dividends)).toEqual(early);
  });
});

describe('a contract that settles within a day', () => {
  const today = quoted({ strikes: range(98.8, 101.2, 0.2), expiry: TODAY, halfSpread: 0.001 }).map((row) => ({
    ...row,
    openInterest: 10,
  }));

  test('has the probability of the surface, no drift, and the expected absolute trade', () => {
    type Found = {
      top_nodes: { put_call: string; strike: number; Delta_Flux_j: number }[];
      components: Record<string, number>[];
    };
    const { top_nodes, components } = answerOf<Found>(chainOf(today));
    for (const [i, { put_call, strike, Delta_Flux_j }] of top_nodes.entries()) {
      const { ends_in_the_money, drift_shares, expected_abs_shares, delta, iv, tte, forward } = components[i]!;
      const [side, s] = [put_call === 'C' ? 1 : -1, iv! * Math.sqrt(tte!)];
      // The quotes have one volatility.
      expect(ends_in_the_money! - normalCdf(side * (Math.log(forward! / strike) / s - s / 2))).toBeWithin(-0.02, 0.02);
      const isOpen = Math.abs(Math.log(forward! / strike)) < s;
      expect(drift_shares as unknown).toBe(isOpen ? null : Number(Delta_Flux_j.toPrecision(9)));
      const share = Math.abs(delta!);
      expect(expected_abs_shares! / (2 * share * (1 - share) * 10 * 100) - 1).toBeWithin(-0.01, 0.01);
    }
    const { provenance } = performTool(
      detectLethalNodes,
      { ticker: 'ACME' },
      smallMarket({ chains: [chainOf(today)] }).context,
    );
    expect(provenance!.notes).toContain(
      'Delta_Flux_j of 6 of the contracts (strikes 99.8 to 100.2) is a scenario: the price stays at the forward. Contracts that settle soon ' +
        'within one standard deviation of the forward have no drift.',
    );
    expect(
      performTool(detectLethalNodes, { ticker: 'ACME' }, smallMarket({ chains: [CHAIN] }).context).provenance!.notes,
    ).not.toContainEqual(expect.stringContaining('scenario'));
  });

  test('has none if the surface leaves out its series, or if it settles later', () => {
    const rows = today.filter(({ strike }) => strike > 99.7 && strike < 100.3);
    for (const chain of [chainOf(rows), CHAIN]) {
      const { components } = answerOf<{ components: { ends_in_the_money: unknown }[] }>(chain);
      expect(components.length).toBeGreaterThan(0);
      expect(components.map((each) => each.ends_in_the_money)).toEqual(components.map(() => null));
    }
  });
});

test('returns no nodes without open interest or volatility', () => {
  const rows = [...quoted({ strikes: [95, 100] }), contract({ strike: 120, expiry: '2026-02-20', openInterest: 9 })];
  expect(nodesOf(chainOf(rows))).toEqual({ top_nodes: [] });
});
