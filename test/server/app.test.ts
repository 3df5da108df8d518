import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Service, startService } from '../support/service.ts';

/** The service while its data loads. */
const GEX = '/api/v1/nodes/gex';
let service: Service;
afterAll(() => service.close());

describe('with data from an earlier start', () => {
  const loaded = Promise.withResolvers<void>();
  beforeAll(async () => {
    service = await startService();
    // As after a restart: the store has the market, and the feed reads only new data.
    await service.reopen();
    service.app.loading.begin(loaded.promise);
  });

  test.each([
    ['/health', 200],
    [`${GEX}/SPY`, 200],
    [`${GEX}/NOSUCH`, 503],
  ])('answers %s at once: %d', async (path, status) => {
    const response = await service.request('GET', path);
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
    if (status === 503) expect(await response.json()).toMatchObject({ code: 'loading', hint: expect.any(String) });
  });

  test('answers unknown_ticker for a ticker without a chain once the data is loaded', async () => {
    loaded.resolve();
    await service.app.loading.waitUntilComplete(60_000);
    expect(await (await service.request('GET', `${GEX}/NOSUCH`)).json()).toMatchObject({ code: 'unknown_ticker' });
  });
});

test('without data a request waits for the load, and /health does not', async () => {
  await using empty = await startService({ isEmpty: true });
  const loaded = Promise.withResolvers<void>();
  empty.app.loading.begin(loaded.promise);
  const answer = empty.request('GET', `${GEX}/SPY`);
  expect((await empty.request('GET', '/health')).status).toBe(200);
  expect(await Promise.race([answer, 'still waiting'])).toBe('still waiting');
  await empty.load();
  loaded.resolve();
  expect((await answer).status).toBe(200);
});

test('/ready needs no key, gives no reason, and is 503 while the data loads, while the server stops, and for a reason of the process', async () => {
  await using loading = await startService();
  const loaded = Promise.withResolvers<void>();
  const asked = async () => {
    const response = await loading.request('GET', '/ready', { headers: { 'X-API-Key': null } });
    return [response.status, await response.text()];
  };
  const [ready, notReady] = [
    [200, '{"status":"ready"}'],
    [503, '{"status":"not_ready"}'],
  ];
  expect(await asked()).toEqual(ready);
  loading.app.loading.begin(loaded.promise);
  expect(await asked()).toEqual(notReady);
  loaded.resolve();
  await loading.app.loading.waitUntilComplete(60_000);
  expect(await asked()).toEqual(ready);
  loading.app.readiness.push(() => 'The database of /data was removed.');
  expect(await asked()).toEqual(notReady);
  loading.app.readiness.pop();
  expect(await asked()).toEqual(ready);
  await loading.app.drain.begin();
  expect(await asked()).toEqual(notReady);
});

test('a stop answers requests that wait for the load with 503 and Retry-After', async () => {
  await using empty = await startService({ isEmpty: true });
  empty.app.loading.begin(new Promise(() => {}));
  const answer = empty.request('GET', `${GEX}/SPY`);
  expect(await Promise.race([answer, 'still waiting'])).toBe('still waiting');
  empty.app.loading.cancelWaits();
  const { status, headers } = await answer;
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
});
