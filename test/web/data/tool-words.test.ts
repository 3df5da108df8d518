import { describe, expect, test } from 'bun:test';
import { toolDefinitions } from '../../../src/mcp/tool-definitions.ts';
import { CONTRACT_TOOLS, REGISTRY } from '../../../src/operations/registry.ts';
import type { McpTool } from '../../../web/data/tool-fields.ts';
import { toolFigures, toolSentence } from '../../../web/data/tool-words.ts';
import { UNKNOWN } from '../../../web/page-format.ts';
import { EXPIRY } from '../../analytics/small-chains.ts';
import { call } from '../../operations/small-market.ts';
import { context } from '../quoted-market.ts';

/** Arguments for each tool, and the words that its sentence must say. */
const CASES: Readonly<Record<string, [args: Record<string, unknown>, says: RegExp]>> = {
  compute_options_greeks: [
    { put_call: 'P', spot: 100, strike: 105, tte: 0.25, iv: 0.22, rate: 0.04 },
    /^The put at 105 moves like −0\.\d+ shares, changes by −?0\.\d+ dollars a day and by 0\.\d+ dollars per vol point\.$/,
  ],
  get_live_gex_nodes: [{ ticker: 'ACME' }, /^ACME at 100\.00: call wall \d+, gamma flip [\d.]+, put wall \d+\.$/],
  get_whale_prints: [
    { ticker: 'ACME', target_expiry: EXPIRY },
    /^Large prints of 2026-01-16: [\d.]+K? dollars of calls, [\d.]+K? of puts, net [+−]?[\d.]+K?\.$/,
  ],
  calculate_merton_probability: [
    { ticker: 'ACME', spot_price: 100, ambush_strike: 95, days_to_expiry: 11 },
    /^ACME ends at or below 95 with a probability of \d+\.\d %\.$/,
  ],
  calculate_kelly_sizing: [{ win_prob: 0.5, payout_ratio: 3 }, /^Risk 16\.67 % of the capital\.$/],
  run_strategic_omni_radar: [
    { ticker: 'ACME', target_dte: 11 },
    /^ACME settles on 2026-01-16 between \d+\.\d\d and 1\d+\.\d\d with a probability of 90 %\. Whipsaw risk: \d+ of 100\.$/,
  ],
  evaluate_market_hamiltonian: [
    { ticker: 'ACME', whale_fiat_kinetic: 1, gex_potential_friction: -1e6, iv_crush_factor: 1 },
    /^Free particle, negative gamma\. Expect volatility expansion: trade small\.$/,
  ],
  detect_lethal_nodes: [
    { ticker: 'ACME', limit: 3 },
    /^Largest: the 1?\d\d (?:put|call) of 2026-\d\d-\d\d\. Dealers (?:buy|sell) \d[\d.K]* shares per \+1 %\.$/,
  ],
  evaluate_etf_contagion: [
    { single_name_ticker: 'NVDA', whale_fiat: 1, current_iv: 0.1, iv_ceiling: 0.5 },
    /^The flow of NVDA does not spill into a sector ETF: a requirement is not met\.$/,
  ],
};

const TOOLS = toolDefinitions(CONTRACT_TOOLS) as unknown as McpTool[];

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const [args, says] = CASES[name]!;
  const answer = call(REGISTRY[name as keyof typeof REGISTRY], args, context);

  test('has a sentence', () => {
    expect(toolSentence(name, answer, args)).toMatch(says);
  });

  test('has a figure for each part of its answer, with the words of the schema', () => {
    const figures = toolFigures(answer, tool.outputSchema);
    expect(figures.length).toBeGreaterThanOrEqual(Object.keys(answer).length);
    for (const { name: label, value } of figures) {
      expect(label).not.toContain('_');
      expect(value).not.toMatch(/NaN|undefined|null|\[object/);
    }
    expect(figures[0]!.note).not.toBe('');
  });
});

test('a bet without edge, a spill and an empty list have sentences of their own', () => {
  expect(toolSentence('calculate_kelly_sizing', { recommended_portfolio_allocation_pct: 0 }, {})).toBe(
    'The bet has no edge: risk nothing.',
  );
  expect(toolSentence('evaluate_etf_contagion', { etf_proxy: 'SMH' }, { single_name_ticker: 'NVDA' })).toBe(
    'The flow of NVDA spills into SMH.',
  );
  expect(toolSentence('detect_lethal_nodes', { top_nodes: [] }, {})).toBe('No contract has open interest.');
  expect(toolSentence('some_other_tool', {}, {})).toBe('');
});

test('unknown is a dash and never 0, and objects in place of values give no element', () => {
  const figures = toolFigures({ a: null, b: 0, c: { type: 'img', props: { src: 'x' } }, d: [1, null] }, undefined);
  expect(figures.map(({ name, value }) => [name, value])).toEqual([
    ['a', UNKNOWN],
    ['b', '0'],
    ['c, type', 'img'],
    ['c, props, src', 'x'],
    ['d', `1, ${UNKNOWN}`],
  ]);
});
