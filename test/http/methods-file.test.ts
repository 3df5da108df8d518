import { expect, test } from 'bun:test';
import { methodsPage } from '../../scripts/methods-page.ts';
import { serviceForTests } from '../support/for-tests.ts';

/** The terminal reads the page of methods from this server, so it shows how a figure is made without a network. */
const service = serviceForTests();

const ask = (path: string, headers: Record<string, string> = {}) =>
  service.request('GET', path, { headers: { 'X-API-Key': null, ...headers } });

test('the page of the terminal names the file, which has the pages of docs/methods, for everyone', async () => {
  const page = await (await ask('/')).text();
  const path = /<meta name="zomma-methods" content="(\/web\/methods-\w+\.json)">/.exec(page)![1]!;
  const response = await ask(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json;charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(response.headers.has('x-request-id')).toBe(false);
  expect(await response.json()).toEqual(methodsPage());
});
