import { afterEach, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { ingestOnce, startIngest } from '../../src/feeds/ingest.ts';
import { buildChain } from '../../src/market/build-chain.ts';
import { DAY_MS } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { ContractRow } from '../../src/market/contract-batch.ts';
import type { Delivery, Feed } from '../../src/market/feed.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { printOf } from '../store/samples.ts';
import { writeChain } from '../support/chain-file.ts';
import { type Service, startService } from '../support/service.ts';
import { testFolder } from '../support/test-folder.ts';

/** From the deliveries of a feed to the answers of requests. */
const drop = testFolder();
const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

async function serveFolder(): Promise<{ service: Service; poll: () => Promise<void> }> {
  writeChain(drop('a.csv'), 'AAA');
  const service = await startService({ feed: `files:${drop()}` });
  services.push(service);
  const { feeds, store } = service.app;
  const feed = feeds[0]!;
  const observe = (each: (typeof service.observations)[number]) => service.observations.push(each);
  return { service, poll: () => ingestOnce({ feed, store, observe, nowMs: Date.now }) };
}

test('serves a new file after the next poll, and a newer snapshot in place of the older', async () => {
  const { service, poll } = await serveFolder();
  writeChain(drop('b.csv'), 'BBB');
  writeChain(drop('later.csv'), 'AAA', '2026-08-24T16:00:00-04:00');
  await poll();
  expect((await service.request('GET', '/api/v1/nodes/gex/BBB')).status).toBe(200);
  const response = await service.request('GET', '/api/v1/nodes/gex/AAA');
  expect(response.headers.get('x-data-as-of')).toBe('2026-08-24T20:00:00.000Z');
});

test.each([
  ['truncated in its header', 'underlying,as_of,sp'],
  ['garbled', 'underlying,as_of,spot,symbol,open_interest\nAAA,garbled'],
  ['of an older snapshot', '(older)'],
  ['empty', ''],
])('a file that is %s leaves the served chain unchanged', async (_name, text) => {
  const { service, poll } = await serveFolder();
  const before = await (await service.request('GET', '/api/v1/nodes/gex/AAA')).text();
  if (text === '(older)') writeChain(drop('a.csv'), 'AAA', '2026-08-20T16:00:00-04:00');
  else writeFileSync(drop('a.csv'), text);
  await poll();
  expect(await (await service.request('GET', '/api/v1/nodes/gex/AAA')).text()).toBe(before);
});

const plausible = {
  ...{ underlying: 'AAA', asOf: Date.parse('2026-08-21T20:00:00Z'), spot: 100, source: 'test', simulated: false },
};
const contract = { root: 'AAA', expiry: '2026-09-18', callPut: 1, strike: 100, openInterest: 5 } as ContractRow;
const implausible: [name: string, chain: Chain, reason: RegExp][] = [
  [
    'dated in another century',
    buildChain({ ...plausible, asOf: Date.UTC(2926, 7, 21) }, [{ ...contract, expiry: '2926-09-18' }]),
    /dated 2926/,
  ],
  ['dated before any records', buildChain({ ...plausible, asOf: Date.UTC(1971, 7, 21) }, [contract]), /dated 1971/],
  [
    'whose series are all settled',
    buildChain({ ...plausible, asOf: Date.parse('2026-10-21T20:00:00Z') }, [contract]),
    /settled/,
  ],
  [
    'without open interest',
    buildChain({ ...plausible, asOf: plausible.asOf + 1 }, [{ ...contract, openInterest: 0 }]),
    /open interest/,
  ],
  ['that is a cut copy of the stored one', buildChain(plausible, [contract]), /would replace 18/],
  [
    'with other expiries at the moment of the stored one',
    buildChain(
      plausible,
      Array.from({ length: 40 }, (_, i) => ({ ...contract, expiry: '2026-10-16', strike: 80 + i })),
    ),
    /with other expiries, such as 2026-09-18/,
  ],
];
test.each(implausible)(
  'refuses and reports a chain %s, and keeps serving the stored one',
  async (_name, chain, reason) => {
    const { service } = await serveFolder();
    const before = await (await service.request('GET', '/api/v1/nodes/gex/AAA')).text();
    const rejections: string[] = [];
    await ingestOnce({
      feed: {
        ...{ name: 'test', simulated: false, pace: { everyMs: 1, hours: 'always', delayMs: 0 }, tickers: [] },
        async *poll(): AsyncGenerator<Delivery> {
          yield { kind: 'chain', chain };
        },
      },
      store: service.app.store,
      nowMs: Date.now,
      observe: (each) => {
        if (each.kind === 'data_refused') rejections.push(each.reason);
      },
    });
    expect(rejections).toEqual([expect.stringMatching(reason)]);
    expect(await (await service.request('GET', '/api/v1/nodes/gex/AAA')).text()).toBe(before);
  },
);

test('a table with a fifth of its rows unreadable does not replace a stored chain', async () => {
  const { service, poll } = await serveFolder();
  const whole = readFileSync(drop('a.csv'), 'utf8').replaceAll('2026-08-21T16', '2026-08-21T17');
  const damaged = whole
    .split('\n')
    .map((line, i) => (i > 0 && i % 4 === 0 ? line.replace('2026-09-18', 'soon') : line));
  writeFileSync(drop('a.csv'), damaged.join('\n'));
  await poll();
  const response = await service.request('GET', '/api/v1/nodes/gex/AAA');
  expect(response.headers.get('x-data-as-of')).toBe('2026-08-21T20:00:00.000Z');
  expect(service.observations).toContainEqual(
    expect.objectContaining({ kind: 'data_refused', reason: expect.stringContaining('rows cannot be read') }),
  );
});

test('reports a file that no longer contains market data', async () => {
  const { service, poll } = await serveFolder();
  writeFileSync(drop('a.csv'), 'overwritten');
  await poll();
  expect(service.observations).toContainEqual({
    ...{ kind: 'data_refused', origin: 'a.csv', reason: 'no longer contains market data' },
  });
});

test('serves a chain dated ahead of the clock only if the ticker has no other', async () => {
  const { service, poll } = await serveFolder();
  const ahead = new Date(Date.now() + 40 * DAY_MS).toISOString();
  const expiry = new Date(Date.now() + 90 * DAY_MS).toISOString().slice(0, 10);
  const later = readFileSync(drop('a.csv'), 'utf8')
    .replaceAll('2026-08-21T16:00:00-04:00', ahead)
    .replaceAll('2026-09-18', expiry);
  writeFileSync(drop('later.csv'), later);
  writeFileSync(drop('alone.csv'), later.replaceAll('AAA', 'BBB'));
  await poll();
  const asOf = async (ticker: string) =>
    (await service.request('GET', `/api/v1/nodes/gex/${ticker}`)).headers.get('x-data-as-of');
  expect(await asOf('AAA')).toBe('2026-08-21T20:00:00.000Z');
  expect(await asOf('BBB')).toBe(ahead);
});

test('reports a damaged chain with its file and reason', async () => {
  const { service, poll } = await serveFolder();
  writeFileSync(drop('bad.csv'), 'underlying,as_of,spot,symbol,open_interest\nAAA,garbled');
  await poll();
  expect(service.observations).toContainEqual({ kind: 'data_refused', origin: 'bad.csv', reason: expect.any(String) });
});

test('a transaction ends when its time is over, and requests run between transactions', async () => {
  const { service } = await serveFolder();
  const { store } = service.app;
  const sizes: number[] = [];
  const prints = Array.from({ length: 1_000 }, (_, i) => printOf(String(i)));
  let turns = 0;
  const turn = () => {
    turns++;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  await ingestOnce({
    feed: {
      ...{ name: 'test', simulated: false, pace: { everyMs: 1, hours: 'always', delayMs: 0 }, tickers: [] },
      async *poll(): AsyncGenerator<Delivery> {
        yield { kind: 'prints', prints, refused: { malformed_row: 2 } };
        yield { kind: 'closes', closes: [] };
        yield { kind: 'prints', prints };
      },
    },
    store: {
      ...store,
      async write(work) {
        let size = 0;
        const savePrints: Store['savePrints'] = (each) => {
          size += each.length;
          // As long as a transaction may take, by the clock that measures it.
          for (const until = performance.now() + 8; performance.now() < until; );
          return store.savePrints(each);
        };
        const result = await store.write((tx) => work({ ...tx, savePrints }));
        if (size > 0) sizes.push(size);
        return result;
      },
    },
    nowMs: Date.now,
    observe: () => {},
  });
  clearImmediate(timer);
  expect(sizes).toEqual([250, 250, 250, 250, 250, 250, 250, 250]);
  expect(turns).toBeGreaterThanOrEqual(sizes.length);
});

test('reports a poll that fails, and polls again', async () => {
  const { service } = await serveFolder();
  const failed = Promise.withResolvers<void>();
  const recovered = Promise.withResolvers<void>();
  let polls = 0;
  const feed: Feed = {
    ...{ name: 'flaky', simulated: false, pace: { everyMs: 1, hours: 'always', delayMs: 0 }, tickers: [] },
    // biome-ignore lint/correctness/useYield: a feed that has nothing to deliver
    async *poll(): AsyncGenerator<Delivery> {
      if (++polls === 1) throw new Error('cable pulled');
      recovered.resolve();
    },
  };
  const ingest = startIngest({
    ...{ feed, store: service.app.store, nowMs: Date.now },
    observe: (each) => {
      if (each.kind === 'ingest_failed') failed.resolve();
    },
  });
  await failed.promise;
  await recovered.promise;
  await ingest.stop();
  expect(polls).toBeGreaterThan(1);
});
