import { expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';
import { exposures } from '../../src/analytics/exposure/dollar-exposures.ts';
import { hedgingNodes } from '../../src/analytics/exposure/hedging-nodes.ts';
import { detectLethalNodes } from '../../src/operations/lethal-nodes.ts';
import { chainOf, contract, quoted, range } from '../analytics/small-chains.ts';
import { call, callExtended, smallMarket } from './small-market.ts';

const CHAIN = chainOf(
  quoted({ strikes: range(90, 110) }).map((row) => ({
    ...row,
    openInterest: row.callPut === 1 ? row.strike : 300 - row.strike,
  })),
);

test('ten nodes, largest first, with the contract’s field names', () => {
  const { context } = smallMarket({ chains: [CHAIN] });
  const nodes = hedgingNodes(prepareChain(CHAIN, DEFAULT_OPTIONS), 10);
  expect(call(detectLethalNodes, { ticker: 'ACME' }, context)).toEqual({
    top_nodes: nodes.map(({ strike, callPut, expiry, dealerShares, deltaFlux }) => ({
      strike,
      put_call: callPut === 1 ? 'C' : 'P',
      expiry_date: expiry,
      Dealer_Share_Exposure: dealerShares,
      Delta_Flux_j: deltaFlux,
    })),
  });
  expect(nodes).toHaveLength(10);
  const sizes = nodes.map(({ dealerShares }) => Math.abs(dealerShares));
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
});

test('the extended answer has the components of each node', () => {
  const { context } = smallMarket({ chains: [CHAIN] });
  const { top_nodes, components, gross_share_pct } = callExtended(detectLethalNodes, { ticker: 'ACME' }, context) as {
    top_nodes: { strike: number; put_call: string; Dealer_Share_Exposure: number; Delta_Flux_j: number }[];
    components: Record<string, number>[];
    gross_share_pct: number;
  };
  for (const [i, { strike, put_call, ...node }] of top_nodes.entries()) {
    const { root, dealer_contracts, multiplier, gamma, delta, delta_after_a_day, gex, iv, strike_shares } =
      components[i]!;
    expect([root as unknown, iv]).toEqual(['ACME', expect.closeTo(0.3, 6)]);
    expect(dealer_contracts).toBe(put_call === 'C' ? strike : strike - 300);
    expect(Math.round(-gamma! * dealer_contracts! * multiplier!)).toBe(node.Dealer_Share_Exposure);
    expect((delta! - delta_after_a_day!) * dealer_contracts! * multiplier!).toBeCloseTo(node.Delta_Flux_j, 9);
    expect(gex).toBeCloseTo(gamma! * dealer_contracts! * 100 * 100, 6);
    // A call and its put share their gamma.
    expect(strike_shares).toBeCloseTo(-gamma! * 100 * (2 * strike - 300), 6);
  }
  const { grossGex } = exposures(prepareChain(CHAIN, DEFAULT_OPTIONS));
  const ofNodes = components.reduce((sum, { gex }) => sum + Math.abs(gex!), 0);
  expect(gross_share_pct).toBeCloseTo((100 * ofNodes) / grossGex, 9);
});

test('returns no nodes without open interest or volatility', () => {
  const rows = [...quoted({ strikes: [95, 100] }), contract({ strike: 120, expiry: '2026-02-20', openInterest: 9 })];
  const { context } = smallMarket({ chains: [chainOf(rows)] });
  expect(call(detectLethalNodes, { ticker: 'ACME' }, context)).toEqual({ top_nodes: [] });
});
