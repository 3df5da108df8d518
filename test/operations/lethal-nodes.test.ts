import { expect, test } from 'bun:test';
import { hedgingNodes } from '../../src/analytics/hedging-nodes.ts';
import { DEFAULT_OPTIONS } from '../../src/analytics/options.ts';
import { prepareChain } from '../../src/analytics/prepare.ts';
import { detectLethalNodes } from '../../src/operations/lethal-nodes.ts';
import { chainOf, contract, quoted, range } from '../analytics/small-chains.ts';
import { call, callExtended, smallMarket } from './small-market.ts';

const CHAIN = chainOf(
  quoted({ strikes: range(90, 110) }).map((row) => ({
    ...row,
    openInterest: row.callPut === 1 ? row.strike : 300 - row.strike,
  })),
);

test('ten nodes, largest first, each under the contract’s names', () => {
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

test('the extended answer has open interest and root of each', () => {
  const { context } = smallMarket({ chains: [CHAIN] });
  const { top_nodes, open_interest, roots } = callExtended(detectLethalNodes, { ticker: 'ACME' }, context) as {
    top_nodes: { strike: number; put_call: string }[];
    open_interest: number[];
    roots: string[];
  };
  expect(open_interest).toEqual(top_nodes.map(({ strike, put_call }) => (put_call === 'C' ? strike : 300 - strike)));
  expect(roots).toEqual(top_nodes.map(() => 'ACME'));
});

test('without open interest or volatility there are none', () => {
  const rows = [...quoted({ strikes: [95, 100] }), contract({ strike: 120, expiry: '2026-02-20', openInterest: 9 })];
  const { context } = smallMarket({ chains: [chainOf(rows)] });
  expect(call(detectLethalNodes, { ticker: 'ACME' }, context)).toEqual({ top_nodes: [] });
});
