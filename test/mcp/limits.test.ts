import { expect, test } from 'bun:test';
import { createSessionQuota } from '../../src/mcp/http/session-quota.ts';
import { nearestNames } from '../../src/mcp/nearest-names.ts';
import { TOOLS } from '../../src/operations/registry.ts';

test('an account may open so many sessions a day, and the next day as many', () => {
  let nowMs = Date.UTC(2026, 0, 5, 23, 59);
  const quota = createSessionQuota(() => nowMs, 2);
  const take = (account: string) => () => quota.take(account);
  take('a')();
  take('a')();
  expect(take('a')).toThrow(expect.objectContaining({ code: 'rate_limited', status: 429 }));
  take('b')();
  nowMs += 60_000;
  take('a')();
  take('a')();
  expect(take('a')).toThrow();
});

test.each([
  ['get_gex_nodes', 'get_live_gex_nodes'],
  ['kelly', 'calculate_kelly_sizing'],
  ['omni_radar', 'run_strategic_omni_radar'],
  ['Compute_Greeks', 'compute_options_greeks'],
  ['contagion', 'evaluate_etf_contagion'],
])('the tool nearest %s is %s', (given, expected) => {
  const names = TOOLS.map(({ name }) => name);
  const nearest = nearestNames(given, names);
  expect(nearest[0]).toBe(expected);
  expect(nearest).toHaveLength(3);
  expect(names).toContainValues(nearest);
});

test.each(['', 'x', 'x'.repeat(100_000), '\u0000'])('a name that is like none has names too', (given) => {
  expect(nearestNames(given, ['a', 'b'])).toHaveLength(2);
});
