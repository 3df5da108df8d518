import { describe, expect, test } from 'bun:test';
import { gexLevels } from '../../src/analytics/gex-levels.ts';
import { DEFAULT_OPTIONS } from '../../src/analytics/options.ts';
import { prepareChain } from '../../src/analytics/prepare.ts';
import { getLiveGexNodes } from '../../src/operations/gex-nodes.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { perform, restView } from '../../src/operations/perform.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, print, quoted, range, TODAY } from '../analytics/small-chains.ts';
import { call, callExtended, refusalOf, smallMarket } from './small-market.ts';

const CHAIN = chainOf([
  ...quoted({ strikes: range(90, 110), dividend: 0.02 }).map((row) => ({
    ...row,
    openInterest: row.callPut === 1 ? row.strike - 85 : 2 * (115 - row.strike),
  })),
  ...quoted({ strikes: [95, 105], expiry: LATER, rest: { openInterest: 3 } }),
  contract({ expiry: TODAY, openInterest: 1 }),
  contract({ root: 'ACME1', openInterest: 1 }),
]);

function market(prints = [print({ expiry: LATER })]) {
  return smallMarket({ chains: [CHAIN], prints }).context;
}

const LEVELS = gexLevels(prepareChain(CHAIN, DEFAULT_OPTIONS), new Map([[`ACME ${LATER}`, 1]]));
const COMMON = {
  ticker: 'ACME',
  spot_price: 100,
  max_pain: LEVELS.maxPain,
  call_wall: LEVELS.walls.call.strike,
  put_wall: LEVELS.walls.put.strike,
  gex_flip: LEVELS.flip.level,
};

test('the tool names the date whale_expiry, and net GEX not at all', () => {
  const answer = call(getLiveGexNodes, { ticker: 'acme' }, market());
  expect(answer).toEqual({ ...COMMON, whale_expiry: LATER });
});

test('the route names it expiry, and net GEX in millions', () => {
  const view = restView(getLiveGexNodes as unknown as Operation);
  const { body, provenance } = perform(view, { ticker: 'ACME' }, market(), 'invalid_parameter');
  expect(body).toEqual({ ...COMMON, expiry: LATER, net_gex_mil: LEVELS.exposures.gex / 1e6 });
  expect(provenance).toMatchObject({ source: 'test', as_of: '2026-01-05T20:00:00.000Z' });
});

test('the extended answer says how it came about', () => {
  const answer = callExtended(getLiveGexNodes, { ticker: 'ACME' }, market());
  expect(answer).toMatchObject({
    expiry: LATER,
    expiry_root: 'ACME',
    expiry_chosen_by: 'large_prints',
    flip_resolved: true,
    regime: LEVELS.exposures.gex < 0 ? 'negative_gamma' : 'positive_gamma',
    gross_gex_mil: LEVELS.exposures.grossGex / 1e6,
    contracts: {
      contracts: 48,
      used: 47,
      left_out: { settled: 0, adjusted: 1, other_expiry: 0, no_volatility: 1 },
      iv: { taken: 0, solved: 46, interpolated: 0, extended: 0 },
    },
  });
  const series = answer.series as Record<string, unknown>[];
  expect(series.map(({ expiry, forward_method, atm_iv }) => [expiry, forward_method, atm_iv === null])).toEqual([
    [TODAY, 'carry', true],
    [EXPIRY, 'parity', false],
    [LATER, 'parity', false],
  ]);
});

test('without prints the expiry is that of most gamma', () => {
  expect(callExtended(getLiveGexNodes, { ticker: 'ACME' }, market([]))).toMatchObject({
    ...{ whale_expiry: EXPIRY, expiry_chosen_by: 'gamma' },
  });
});

describe('a poor chain has an answer', () => {
  test.each([
    ['one contract of which nothing is known', [contract()]],
    ['no open interest', quoted({ strikes: [95, 100, 105] })],
    ['puts only', quoted({ strikes: [95, 100], rest: { openInterest: 1 } }).filter(({ callPut }) => callPut === -1)],
    ['far from spot', quoted({ strikes: [150], rest: { openInterest: 1 } })],
  ])('%s', (_what, rows) => {
    const { context } = smallMarket({ chains: [chainOf(rows)] });
    expect(callExtended(getLiveGexNodes, { ticker: 'ACME' }, context).ticker).toBe('ACME');
  });

  test('but not one that has settled', () => {
    const late = chainOf([contract({ expiry: TODAY })], { asOf: AS_OF + 3_600_000 });
    const { context } = smallMarket({ chains: [late] });
    expect(refusalOf(() => call(getLiveGexNodes, { ticker: 'ACME' }, context)).code).toBe('no_chain');
  });
});
