import { expect, test } from 'bun:test';
import { listen } from '../../../src/http/listen.ts';
import { buildApp } from '../../../src/server/app.ts';
import { keepLevels } from '../../store/samples.ts';
import { seqOf } from '../../support/event-ids.ts';
import { eventsOf } from '../../support/event-stream.ts';
import { servedForTests } from '../../support/for-tests.ts';
import { parseSettings } from '../../support/parse-settings.ts';

/** Streams of crossings over real sockets. The records of a ticker without simulated quotes are stored one by one. */
const { server, service } = servedForTests();
const TICKER = 'ACME';
const NONE = { gexFlip: 100, flipResolved: true, callWall: 120, putWall: 80, netGex: 5e9, grossGex: 1e10 };

let storedAt = Date.now() - 60_000;
function keep(levels: Partial<typeof NONE> & { spot: number }): number {
  const { store } = service.app;
  storedAt += 1;
  keepLevels(store, { underlying: TICKER, simulated: true, asOf: storedAt, ...NONE, ...levels });
  service.app.gexStreams.wake();
  return store.lastLevelSeq();
}

interface Event {
  readonly id: number;
  readonly event: string;
  readonly body: Record<string, unknown>;
}

async function open(query: string, { after, url = server.url }: { after?: number; url?: string } = {}) {
  const leaving = new AbortController();
  const headers = { 'X-API-Key': service.key, ...(after !== undefined && { 'Last-Event-ID': String(after) }) };
  const response = await fetch(`${url}/api/v1/stream/gex/${TICKER}${query}`, { headers, signal: leaving.signal });
  expect(response.status).toBe(200);
  const events = eventsOf(response.body!);
  return {
    async next(): Promise<Event> {
      const { id, event, data } = (await events.next())!;
      return { id: seqOf(id), event, body: JSON.parse(data) };
    },
    [Symbol.dispose]: () => leaving.abort(),
  };
}

/** Reads events up to the event `last`, as ids with the kinds of their crossings. */
async function crossedUpTo(stream: Awaited<ReturnType<typeof open>>, last: number): Promise<[number, string][]> {
  const read: [number, string][] = [];
  for (let id = 0; id < last; ) {
    const next = await stream.next();
    id = next.id;
    expect(next.event).toBe('gex');
    read.push([id, (next.body.crossed as { on: string }[]).map(({ on }) => on).join()]);
  }
  return read;
}

test('an event arrives only for the crossings that were asked for, and says why; resumed streams have the same events', async () => {
  keep({ spot: 99 });
  const first = keep({ spot: 99 });
  using every = await open('');
  using flips = await open('?on=flip_cross');
  using both = await open('?on=wall_break,regime,wall_break');
  expect(await every.next()).toMatchObject({ id: first, body: { spot_price: 99 } });
  expect(await flips.next()).toEqual({ id: first, event: 'start', body: { tickers: [TICKER], on: ['flip_cross'] } });
  expect((await both.next()).body).toEqual({ tickers: [TICKER], on: ['wall_break', 'regime'] });

  const rise = keep({ spot: 101 });
  keep({ spot: 102 });
  const calls = keep({ spot: 121, callWall: 140 });
  const regime = keep({ spot: 121, netGex: -5e9 });
  keep({ spot: 99, netGex: -5e9, flipResolved: false });
  const fall = keep({ spot: 79, netGex: -5e9, flipResolved: true, putWall: 70 });
  keep({ spot: 79, netGex: -5e9, putWall: 70 });
  const back = keep({ spot: 101, netGex: 5e9 });

  const next = await every.next();
  expect([next.id, 'crossed' in next.body]).toEqual([rise, false]);
  const crossing = await flips.next();
  expect(crossing).toEqual({
    id: rise,
    event: 'gex',
    body: { ...next.body, crossed: [{ on: 'flip_cross', direction: 'up', price: 100 }] },
  });
  const ofFlips: [number, string][] = [[back, 'flip_cross,regime']];
  const ofBoth: [number, string][] = [
    [calls, 'wall_break'],
    [regime, 'regime'],
    [fall, 'wall_break'],
    [back, 'flip_cross,regime'],
  ];
  expect(await crossedUpTo(flips, back)).toEqual(ofFlips);
  expect(await crossedUpTo(both, back)).toEqual(ofBoth);

  const again = await buildApp(parseSettings({ dataDir: service.dataDir, rateLimit: 'off' }), () => {});
  const restarted = listen(again.handle, { host: '127.0.0.1', port: 0, tls: undefined });
  for (const url of [server.url, restarted.url]) {
    for (let after = first; after < back; after++) {
      const later = (rows: [number, string][]) => rows.filter(([id]) => id > after);
      using resumedFlips = await open('?on=flip_cross', { after, url });
      expect(await crossedUpTo(resumedFlips, back)).toEqual(later([[rise, 'flip_cross'], ...ofFlips]));
      using resumedBoth = await open(`?on=regime,wall_break&last_event_id=${after}`, { url });
      expect(await crossedUpTo(resumedBoth, back)).toEqual(later(ofBoth));
    }
  }
  // An id of another database starts anew.
  using foreign = await open('?on=regime', { after: 999_999_999 });
  expect(await foreign.next()).toMatchObject({ id: back, event: 'start' });
  again.gexStreams.close();
  await restarted.stop(1_000);
  await again.mcp.close();
  again.store.close();
});

test.each(['flips', '', 'flip_cross,', 'flip_cross,Regime', 'regime&on=all', 'flip_cross%20regime'])(
  'on=%s is a 400 that names the parameter and the values',
  async (on) => {
    const response = await fetch(`${server.url}/api/v1/stream/gex/SPY?on=${on}`, {
      headers: { 'X-API-Key': service.key },
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        code: 'invalid_parameter',
        errors: [
          { pointer: '/on', detail: 'must be one or more of flip_cross, wall_break, regime, separated by commas' },
        ],
      },
    ]);
  },
);

test('the kinds may be given as one list or as several parameters', async () => {
  using stream = await open('?on=regime&on=flip_cross');
  expect((await stream.next()).body).toEqual({ tickers: [TICKER], on: ['flip_cross', 'regime'] });
});
