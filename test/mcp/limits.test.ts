import { expect, test } from 'bun:test';
import { nearestNames } from '../../src/core/nearest-names.ts';
import { createSessionQuota, createSubscriptionQuota, SubscribedResources } from '../../src/mcp/http/session-quota.ts';
import { TOOLS } from '../../src/operations/registry.ts';

test('limits the sessions that an account opens per day, and resets the limit the next day', () => {
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

test('limits subscribed resources per account and in total; a session that ends frees its share', () => {
  const quota = createSubscriptionQuota(3, 5);
  const [first, second] = [new SubscribedResources(quota, 'a'), new SubscribedResources(quota, 'a')];
  for (const uri of ['x', 'y', 'x']) first.add(uri);
  second.add('x');
  const refused = (code: string) => expect.objectContaining({ code });
  expect(() => second.add('y')).toThrow(refused('too_many_streams'));
  expect([...second]).toEqual(['x']);
  const other = new SubscribedResources(quota, 'b');
  for (const uri of ['x', 'y']) other.add(uri);
  expect(() => new SubscribedResources(quota, 'c').add('x')).toThrow(refused('unavailable'));
  first.clear();
  expect([other.delete('x'), other.delete('x')]).toEqual([true, false]);
  quota.acquire('a', 2);
  expect(() => quota.acquire('a', 1)).toThrow(refused('too_many_streams'));
  quota.acquire('c', 1);
  expect(() => quota.acquire('b', 1)).toThrow(refused('unavailable'));
});

test.each([
  ['get_gex_nodes', 'get_live_gex_nodes'],
  ['kelly', 'calculate_kelly_sizing'],
  ['omni_radar', 'run_strategic_omni_radar'],
  ['Compute_Greeks', 'compute_options_greeks'],
  ['contagion', 'evaluate_etf_contagion'],
])('the tool nearest to %s is %s', (given, expected) => {
  const names = TOOLS.map(({ name }) => name);
  const nearest = nearestNames(given, names);
  expect(nearest[0]).toBe(expected);
  expect(nearest).toHaveLength(3);
  expect(names).toContainValues(nearest);
});

test.each(['', 'x', 'x'.repeat(100_000), '\u0000'])('a name unlike any tool has nearest names too', (given) => {
  expect(nearestNames(given, ['a', 'b'])).toHaveLength(2);
});
