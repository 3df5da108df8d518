import { describe, expect, test } from 'bun:test';
import { REGISTRY } from '../../../src/operations/registry.ts';
import { toolFigures } from '../../../web/data/tool-figures.ts';
import { UNKNOWN } from '../../../web/page-format.ts';
import { EXPIRY } from '../../analytics/small-chains.ts';
import { call } from '../../operations/small-market.ts';
import { context } from '../quoted-market.ts';
import { TOOL_DESCRIPTIONS } from './tool-descriptions.ts';

/** Arguments for each tool. */
const CASES: Readonly<Record<string, Record<string, unknown>>> = {
  compute_options_greeks: { put_call: 'P', spot: 100, strike: 105, tte: 0.25, iv: 0.22, rate: 0.04 },
  get_live_gex_nodes: { ticker: 'ACME' },
  get_whale_prints: { ticker: 'ACME', target_expiry: EXPIRY },
  calculate_merton_probability: { ticker: 'ACME', spot_price: 100, ambush_strike: 95, days_to_expiry: 11 },
  calculate_kelly_sizing: { win_prob: 0.5, payout_ratio: 3 },
  run_strategic_omni_radar: { ticker: 'ACME', target_dte: 11 },
  evaluate_market_hamiltonian: {
    ticker: 'ACME',
    whale_fiat_kinetic: 1,
    gex_potential_friction: -1e6,
    iv_crush_factor: 1,
  },
  detect_lethal_nodes: { ticker: 'ACME', limit: 3 },
  evaluate_etf_contagion: { single_name_ticker: 'NVDA', whale_fiat: 1, current_iv: 0.1, iv_ceiling: 0.5 },
};

describe.each(Object.entries(CASES))('%s', (name, args) => {
  const { schema } = TOOL_DESCRIPTIONS.get(name)!.responses[200].content['application/json'];
  const answer = call(REGISTRY[name as keyof typeof REGISTRY], args, context);

  test('has a figure for each part of its answer, with the words of the schema', () => {
    const figures = toolFigures(answer, schema.anyOf?.[0] ?? schema);
    expect(figures.length).toBeGreaterThanOrEqual(Object.keys(answer).length);
    for (const [label, value] of figures) {
      expect(label).not.toContain('_');
      expect(value).not.toMatch(/NaN|undefined|null|\[object/);
    }
    expect(figures[0]![2]).not.toBe('');
  });
});

test('unknown is a dash and never 0, and objects in place of values give no element', () => {
  const figures = toolFigures({ a: null, b: 0, c: { type: 'img', props: { src: 'x' } }, d: [1, null] }, undefined);
  expect(figures.map(([label, value]) => [label, value])).toEqual([
    ['a', UNKNOWN],
    ['b', '0'],
    ['c, type', 'img'],
    ['c, props, src', 'x'],
    ['d', `1, ${UNKNOWN}`],
  ]);
});
