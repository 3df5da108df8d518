import { expect, test } from 'bun:test';
import { indexChain } from '../../bench/index-chain.ts';
import type { Steps } from '../../src/core/steps.ts';
import { perform, restView } from '../../src/operations/engine/perform.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { serviceForTests } from '../support/for-tests.ts';

/** The matrix of strikes and expiries over REST. */
const service = serviceForTests();

const get = (path: string) => service.request('GET', `/api/v1/nodes/gex/${path}`);

test('numbers of the query are numbers, and defaults apply', async () => {
  const bodyOf = async (query: string) => (await (await get(`SPY/matrix${query}`)).json()) as Record<string, unknown>;
  const narrow = await bodyOf('?measure=vanna&band=2.5&expiries=next:10');
  expect(narrow).toMatchObject({ ticker: 'SPY', measure: 'vanna', band: 2.5 });
  const byDefault = await bodyOf('');
  expect(byDefault).toMatchObject({ measure: 'gamma', band: 20 });
  expect(byDefault.count as number).toBeGreaterThan(narrow.count as number);
  expect(byDefault.series_count as number).toBeGreaterThan(narrow.series_count as number);
});

test.each([
  ['SPY/matrix?measure=theta', '/measure must be one of "gamma", "delta"'],
  ['SPY/matrix?band=0', '/band must be a finite number, at least 1 and at most 100'],
  ['SPY/matrix?band=wide', '/band must be a finite number'],
  ['SPY/matrix?bands=20', '/bands is not a field of this request'],
  ['SPY/strikes?band=20', '/band is not a field of this request'],
])('%s is refused', async (path, message) => {
  const response = await get(path);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  expect([response.status, code]).toEqual([400, 'invalid_parameter']);
  expect(detail).toContain(message);
});

test('a long answer is computed and written in steps, and is the text that JSON.stringify writes', async () => {
  const { store, context } = service.app;
  // 60 expiries and 1,380 strikes.
  store.saveChain({ ...indexChain(60, 750), underlying: 'LONG' });
  const operation = OPERATIONS.find(({ name }) => name === 'get_gex_matrix')!;
  const args = { ticker: 'LONG', band: 100 };
  const { result, steps } = counted(perform(restView(operation), args, context, 'invalid_parameter'));
  expect(steps).toBeGreaterThan(10);
  const { body } = result;
  expect((body.values as unknown[][]).flat().length).toBeGreaterThan(50_000);
  expect(await (await get('LONG/matrix?band=100&digits=17')).text()).toBe(JSON.stringify(body));
});

function counted<Result>(work: Steps<Result>): { result: Result; steps: number } {
  for (let steps = 1; ; steps++) {
    const { value, done } = work.next();
    if (done) return { result: value, steps };
  }
}
