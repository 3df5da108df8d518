import { expect, test } from 'bun:test';
import { targetUniverse } from '../../src/operations/target-universe.ts';
import { callRoute, smallMarket } from './small-market.ts';

test('get_target_universe reports the count of its list', () => {
  const body = callRoute(targetUniverse, {}, smallMarket().context);
  expect(body).toMatchObject({ status: 'success', total_tracked: 59 });
  const listed = Object.values(body.macro_themes as Record<string, string[]>).flat();
  expect(new Set(listed).size).toBe(59);
});
