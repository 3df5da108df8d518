import { expect, test } from 'bun:test';
import { getGexByExpiry } from '../../../src/operations/gex/gex-expiries.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { REGISTRY } from '../../../src/operations/registry.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import type { GexView, Radar } from '../../../web/data/page-answers.ts';
import { argumentsOf, toolFields } from '../../../web/data/tool-fields.ts';
import { toolPrefill } from '../../../web/data/tool-prefill.ts';
import { WEB_OPERATIONS } from '../../../web/operations.ts';
import { call, callExtended } from '../../operations/small-market.ts';
import { context } from '../quoted-market.ts';
import { TOOL_DESCRIPTIONS } from './tool-descriptions.ts';

const view = {
  levels: callExtended(getLiveGexNodes, { ticker: 'ACME' }, context),
  expiries: callExtended(getGexByExpiry, { ticker: 'ACME' }, context),
} as unknown as GexView;
const radar = callExtended(runStrategicOmniRadar, { ticker: 'ACME', target_dte: 11 }, context) as unknown as Radar;

test('the page knows only its ticker before its snapshot is there', () => {
  expect(toolPrefill('SPY', null, undefined, undefined)).toEqual({ ticker: 'SPY', single_name_ticker: 'SPY' });
  expect(toolPrefill('SPY', '2026-01-05T20:00:00Z', undefined, undefined).at).toBe('2026-01-05T20:00:00Z');
});

test('the option is that of the expiry nearest 30 days, and with a radar that of its expiry', () => {
  const { tte, atm_iv } = view.expiries;
  const [without, withRadar] = [toolPrefill('ACME', null, view, undefined), toolPrefill('ACME', null, view, radar)];
  expect([Number(without.tte), Number(withRadar.tte)].map((each) => each.toFixed(4))).toEqual(
    [tte[1]!, tte[0]!].map((each) => each.toFixed(4)),
  );
  expect(Number(withRadar.iv)).toBeCloseTo(atm_iv[0]!, 5);
  expect(withRadar).toMatchObject({ spot: '100', spot_price: '100', days_to_expiry: '11', put_call: 'C' });
  expect(without.days_to_expiry).toBe('46');
  expect(withRadar.strike).toBe(String(view.levels.call_wall));
});

const withForm = [...TOOL_DESCRIPTIONS].filter(([name]) => name in WEB_OPERATIONS);

// The values of the page are valid arguments: the server answers with them, but for the member's own estimates.
test.each(withForm)('%s answers with the values of the page', (name, tool) => {
  const fields = toolFields(tool);
  const prefill = toolPrefill('ACME', null, view, radar);
  const own: Record<string, string> = { win_prob: '0.55', whale_fiat: '1000000', iv_ceiling: '0.4' };
  const texts = Object.fromEntries(
    fields.map((each) => [each.name, prefill[each.name] ?? own[each.name] ?? (each.initial || each.example)]),
  );
  const answer = call(REGISTRY[name as keyof typeof REGISTRY], argumentsOf(fields, texts), context);
  expect(Object.keys(answer).length).toBeGreaterThan(0);
});
