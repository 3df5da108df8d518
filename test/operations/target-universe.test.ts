import { expect, test } from 'bun:test';
import { runToCompletion } from '../../src/core/steps.ts';
import type { Operation } from '../../src/operations/engine/operation.ts';
import { perform, restView } from '../../src/operations/engine/perform.ts';
import { targetUniverse } from '../../src/operations/target-universe.ts';
import { smallMarket } from './small-market.ts';

const { context } = smallMarket();

test('get_target_universe reports the count of its list', () => {
  const route = restView(targetUniverse as unknown as Operation);
  const { body } = runToCompletion(perform(route, {}, context, 'invalid_parameter'));
  expect(body).toMatchObject({ status: 'success', total_tracked: 59 });
  const listed = Object.values(body.macro_themes as Record<string, string[]>).flat();
  expect(new Set(listed).size).toBe(59);
});
