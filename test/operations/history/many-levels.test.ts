import { afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import { DATABASE } from '../../../src/store/folder/backup.ts';
import { copyLevels, keepLevels } from '../../store/samples.ts';
import { serviceForTests } from '../../support/for-tests.ts';
import type { Service } from '../../support/service.ts';

/** What histories cost if many levels are stored, which moment they state, and what a repeat of a large answer costs. */
const service = serviceForTests({ isEmpty: true, rateLimit: '600/h' });

const NAMES = ['SPY', 'QQQ', 'NVDA'];
const [FIRST_DAY, DAYS, PER_DAY] = ['2025-01-02', 300, 100];
const STORED = DAYS * PER_DAY;
/** The newest stored levels of each ticker, which are kept beside the copies. */
const NEWEST = Date.parse('2026-11-20T20:30:00Z');

function fill({ app, dataDir }: Service): void {
  for (const underlying of [...NAMES, 'AAPL']) keepLevels(app.store, { underlying, simulated: true, asOf: NEWEST });
  copyLevels(join(dataDir, DATABASE), [...NAMES, 'AAPL'], FIRST_DAY, DAYS, PER_DAY);
}
beforeAll(() => fill(service));

/** The same, of which an account may have six tokens. */
const poor = serviceForTests({ isEmpty: true, rateLimit: '6/h' });
beforeAll(() => fill(poor));

/** Each test has an account of its own, whose bucket is full. */
let key: string;
beforeEach(async () => {
  key = (await service.app.access.addMember({ uuid: crypto.randomUUID() })).apiKey;
});

const request = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  service.request(method, path, { headers: { 'X-API-Key': key, ...headers } });
const costOf = ({ headers }: Response) => Number(/cost=(\d+)/.exec(headers.get('ratelimit')!)?.[1] ?? 1);
const HISTORY = '/api/v1/levels/history';
const ONE = '/api/v1/nodes/gex/SPY/history';
const TOOL = '/api/v1/nodes/gex/SPY/levels';
const RANGE = 'from=2025-01-01&to=2026-01-01';
/** A new range each time, so that no answer is cached. */
let minutes = 0;
const newRange = () => `from=2024-12-0${1 + (minutes % 9)}T0${minutes++ % 10}:00:00Z&to=2026-01-01`;

describe('the price of a history', () => {
  const spies = () => ({
    found: spyOn(service.app.store, 'levelTimes'),
    read: spyOn(service.app.store, 'levels'),
  });
  let spied: ReturnType<typeof spies>;
  beforeEach(() => {
    spied = spies();
  });
  afterEach(() => {
    for (const each of Object.values(spied)) each.mockRestore();
  });
  const found = () => spied.found.mock.results.map(({ value }) => (value as number[]).length);

  test.each([
    // The first 20,000 moments are free. A token finds 20,000 more, or the last of 5,000 days.
    ['many tickers', `${HISTORY}?tickers=${NAMES}&per=snapshot&points=1`, 2 + 4, 3 * STORED],
    ['many tickers per day', `${HISTORY}?tickers=${NAMES}&per=day&points=1`, 2, 3 * DAYS],
    ['one ticker', `${ONE}?per=snapshot&points=1`, 1 + 1, STORED],
    // The days of all levels are found besides, because the oldest is named.
    ['levels at moments', `${TOOL}?per=snapshot`, 1 + 1, STORED + 301],
  ])('of %s counts the moments among which rows are selected', async (_, path, cost, moments) => {
    const response = await request(`${path}&${newRange()}`);
    expect([response.status, costOf(response)]).toEqual([200, cost]);
    expect(found().reduce((a, b) => a + b, 0)).toBe(moments);
    expect(Math.max(...found())).toBeLessThanOrEqual(20_000);
  });

  test.each([
    ['an account with a full bucket pays at most the limit', 0, 200, 3 * STORED],
    ['an account that cannot pay gets no further moments', 2, 429, 3 * 20_000],
  ])('%s', async (_, spent, status, moments) => {
    const { apiKey } = await poor.app.access.addMember({ uuid: crypto.randomUUID() });
    const ask = (path: string) => poor.request('GET', path, { headers: { 'X-API-Key': apiKey } });
    for (let i = 0; i < spent; i++) await ask('/api/v1/universe');
    const times = spyOn(poor.app.store, 'levelTimes');
    const read = spyOn(poor.app.store, 'levels');
    // The request takes a token, its tickers one, the moments four and the rows five.
    const response = await ask(`${HISTORY}?tickers=${NAMES}&per=snapshot&points=2000&${newRange()}`);
    expect([response.status, read.mock.calls.length > 0]).toEqual([status, status === 200]);
    expect(times.mock.results.reduce((sum, { value }) => sum + (value as number[]).length, 0)).toBe(moments);
    for (const each of [times, read]) each.mockRestore();
  });

  test('in steps of at most 1,000 rows', async () => {
    const response = await request(`${HISTORY}?tickers=${NAMES}&per=snapshot&points=5000&${newRange()}`);
    const { count, as_of } = (await response.json()) as { count: number; as_of: string[] };
    expect([count, new Set(as_of).size]).toEqual([15_000, 5_000]);
    const sizes = spied.read.mock.calls.map(([, times]) => times.length);
    expect([Math.max(...sizes), sizes.reduce((a, b) => a + b, 0)]).toEqual([1_000, 15_000]);
  });
});

describe('the moment of a past range is that of its last rows', () => {
  const LAST = '2025-06-30T20:39:00.000Z';

  test.each([
    ['many tickers', `${HISTORY}?tickers=SPY,QQQ`],
    ['one ticker', `${ONE}?`],
  ])('%s', async (_, path) => {
    for (const [to, asOf] of [
      ['2025-06-30', LAST],
      ['2026-12-31', new Date(NEWEST).toISOString()],
    ]) {
      const { headers } = await request(`${path}&from=2025-01-01&to=${to}`);
      expect([to, headers.get('x-data-as-of'), headers.get('x-data-source')]).toEqual([to!, asOf!, 'simulated']);
    }
    const columns = await request(`${path}&from=2025-01-01&to=2025-06-30&format=columns`);
    const { provenance } = (await columns.json()) as { provenance: { as_of: string } };
    expect(provenance.as_of).toBe(LAST);
  });

  test.each([
    ['many tickers', `${HISTORY}?tickers=AAPL`],
    ['one ticker', `${ONE.replace('SPY', 'AAPL')}?`],
  ])('%s: a new snapshot does not change the tag', async (_, path) => {
    // New levels of a simulated ticker thin out its levels of earlier days, so other tests use other tickers.
    const tagOf = async () => (await request(`${path}&from=2025-01-01&to=2025-06-30`)).headers.get('etag');
    const before = await tagOf();
    keepLevels(service.app.store, { underlying: 'AAPL', simulated: true, asOf: NEWEST + 60_000 * ++minutes });
    expect(await tagOf()).toBe(before);
  });
});

describe('an answer that is too large for the cache', () => {
  const LARGE = `${HISTORY}?tickers=${NAMES}&per=snapshot&points=5000&${RANGE}`;

  test.each(['json', 'csv', 'arrow'])('as %s is 304 for one token to a client that has it', async (format) => {
    const path = `${LARGE}&format=${format}`;
    const first = await request(path);
    expect((await first.bytes()).length).toBeGreaterThan(1024 * 1024);
    expect([first.status, costOf(first)]).toEqual([200, 20]);
    const etag = first.headers.get('etag')!;
    const read = spyOn(service.app.store, 'levelTimes');
    const compressed = etag.replace(/"$/, '-br"');
    for (const [method, tag, headers, sent] of [
      ['GET', etag, {}, etag],
      ['HEAD', etag, {}, etag],
      ['GET', compressed, { 'Accept-Encoding': 'br' }, compressed],
    ] as const) {
      const again = await request(path, { 'If-None-Match': tag, ...headers }, method);
      expect([again.status, costOf(again), await again.text()]).toEqual([304, 1, '']);
      expect(again.headers.get('etag')).toBe(sent);
      expect(again.headers.get('x-data-as-of')).toBe(first.headers.get('x-data-as-of'));
    }
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
  });

  test('is computed again for a client that does not have it', async () => {
    const path = `${LARGE}&digits=17`;
    const first = await request(path);
    const text = await first.text();
    for (const headers of [{}, { 'If-None-Match': '"other"' }]) {
      const again = await request(path, headers);
      expect([again.status, costOf(again), (await again.text()) === text]).toEqual([200, costOf(first), true]);
    }
  });

  test('is not 304 after its data has changed', async () => {
    const path = `${HISTORY}?tickers=${NAMES}&per=snapshot&points=5000&from=2025-01-01`;
    const first = await request(path);
    await first.text();
    keepLevels(service.app.store, { underlying: 'SPY', simulated: true, asOf: NEWEST + 60_000 * ++minutes });
    const again = await request(path, { 'If-None-Match': first.headers.get('etag')! });
    expect([again.status, again.headers.get('etag') === first.headers.get('etag')]).toEqual([200, false]);
    expect(costOf(again)).toBeGreaterThan(10);
    await again.text();
  });
});
