import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:http2';
import type { Observation } from '../../../src/core/events.ts';
import { listen } from '../../../src/http/listen.ts';
import { createGexEvents } from '../../../src/http/live/gex-events.ts';
import { createGexStreams, type GexStreams } from '../../../src/http/live/gex-streams.ts';
import { pickFields } from '../../../src/operations/engine/operation.ts';
import { createLevelRecorder, type LevelRecorder } from '../../../src/operations/history/level-recorder.ts';
import { type App, buildApp } from '../../../src/server/app.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { keepLevels, MONDAY_MS } from '../../store/samples.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { seqOf } from '../../support/event-ids.ts';
import { eventsOf } from '../../support/event-stream.ts';
import { servedForTests } from '../../support/for-tests.ts';
import { parseSettings } from '../../support/parse-settings.ts';
import { withFolder } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

/** Live levels over real sockets. The tests move simulated chains, record their levels and read them from the stream. */
const { server, service } = servedForTests();
let recorder: LevelRecorder;
beforeAll(async () => {
  recorder = recorderOf(service.app);
  recorder.wake();
  await until(() => service.app.store.levelsDue().length === 0);
});
afterAll(() => recorder.stop());

test('begins with the levels of the GEX route, each ticker once', async () => {
  const { app } = service;
  using stream = await openStream('spy,QQQ,SPY,qqq');
  const events = [await stream.next(), await stream.next()];
  expect(events.map(({ ticker }) => ticker).sort()).toEqual(['QQQ', 'SPY']);
  expect(seqOf(events[0]!.id)).toBeLessThan(seqOf(events[1]!.id));
  for (const { id: _, provenance, ...levels } of events) {
    const route = await service.request('GET', `/api/v1/nodes/gex/${levels.ticker}`);
    const extended = await service.request('POST', '/api/v1/tools/get_live_gex_nodes?extended=true', {
      body: { ticker: levels.ticker },
    });
    const known = (await extended.json()) as Record<string, unknown>;
    const added = ['regime', 'sign_margin_pct', 'flip_resolved', 'gross_gex_mil'];
    expect(levels as unknown).toEqual({ ...((await route.json()) as object), ...pickFields(known, added) });
    expect(known).toMatchObject({ flip_resolved: expect.any(Boolean), gross_gex_mil: expect.any(Number) });
    const { source, simulated, as_of } = known.provenance as Record<string, unknown>;
    expect(provenance as unknown).toEqual({
      source,
      simulated,
      as_of,
      notes: expect.arrayContaining(['Simulated market: no real quotes.']),
    });
  }
  await move(app, 'IWM');
  await move(app, 'SPY');
  const next = await stream.next();
  expect([next.ticker, next.spot_price]).toEqual(['SPY', newest(app, 'SPY').spot]);
  expect(Date.parse(next.provenance.as_of)).toBe(newest(app, 'SPY').asOf);
});

test('a client that returns gets all missed events once, by header or by query', async () => {
  const { app } = service;
  const tickers = ['SPY', 'QQQ', 'TSLA'];
  const first = app.store.lastLevelSeq();
  const seen: number[] = [];
  // The first id is one of an earlier version.
  let last = String(first);
  for (let round = 0; round < 12; round++) {
    // One event while no client is connected, two while the stream is open.
    await move(app, tickers[round % 3]!);
    const stream =
      round % 2 === 0
        ? await openStream(tickers.join(), { 'Last-Event-ID': last })
        : await openStream(`${tickers.join()}?last_event_id=${last}`);
    for (const ticker of ['IWM', tickers[(round + 1) % 3]!]) await move(app, ticker);
    const taken = round % 4 === 3 ? 2 : 1;
    for (let count = 0; count < taken; count++) {
      last = (await stream.next()).id;
      seen.push(seqOf(last));
    }
    await stream.close();
  }
  const stream = await openStream(tickers.join(), { 'Last-Event-ID': last });
  const kept = app.store.levelEvents(first, 1_000, true).filter(({ underlying }) => tickers.includes(underlying));
  while (seen.length < kept.length) seen.push(seqOf((await stream.next()).id));
  await stream.close();
  expect(kept).toHaveLength(24);
  expect(seen).toEqual(kept.map(({ seq }) => seq));
});

test('a restart loses no events', async () => {
  const { app } = service;
  const last = app.store.lastLevelSeq();
  for (const ticker of ['SPY', 'QQQ', 'SPY']) {
    await move(app, ticker);
  }
  const again = await buildApp(parseSettings({ dataDir: service.dataDir, rateLimit: 'off' }), () => {});
  const other = listen(again.handle, { host: '127.0.0.1', port: 0, tls: undefined });
  const stream = await openStream('SPY,QQQ', { 'Last-Event-ID': String(last) }, other.url);
  const events = [await stream.next(), await stream.next(), await stream.next()];
  expect(events.map(({ id, ticker }) => [seqOf(id), ticker])).toEqual([
    [last + 1, 'SPY'],
    [last + 2, 'QQQ'],
    [last + 3, 'SPY'],
  ]);
  again.gexStreams.close();
  expect(await stream.ended()).toBe(true);
  await other.stop(1_000);
  await again.mcp.close();
  again.store.close();
});

test('an id beyond the end of the log begins with the current levels', async () => {
  using stream = await openStream('SPY', { 'Last-Event-ID': '999999999' });
  expect(await stream.next()).toMatchObject({ ticker: 'SPY' });
});

test('resumes after 23 h, restarts after 25 h; a client that missed nothing always resumes', async () => {
  const { store } = service.app;
  const [place, hourMs] = [store.lastLevelSeq(), 3_600_000];
  for (const spot of [1, 2]) keepLevels(store, { underlying: 'OLDIE', simulated: true, asOf: MONDAY_MS + spot, spot });
  const first = async (hours: number, after: number, ticker = 'OLDIE') => {
    const events = createGexEvents(store, true, { nowMs: () => Date.now() + hours * hourMs });
    const streams = createGexStreams({ events, ...depsOf(service.app), limits: { sweepEveryMs: 1, pingMs: 1 } });
    const stream = openOn(streams, service, ticker, after);
    const next = stream.next();
    // A stream that only sends pings has no events.
    await Promise.race([next, until(() => stream.others.length > 20)]);
    streams.close();
    const { id } = (await next) ?? {};
    return id === undefined ? undefined : seqOf(id);
  };
  expect(await first(23, place)).toBe(place + 1);
  expect(await first(25, place)).toBe(place + 2);
  // Levels of other tickers do not count as missed.
  expect(await first(25, place + 2)).toBeUndefined();
  expect(await first(25, place, 'NVDA')).toBeUndefined();
});

test('follows a tracked ticker without a chain until it has one', async () => {
  await using empty = await startService({ feed: `files:${service.dataDir}` });
  const streams = empty.app.gexStreams;
  const followed = openOn(streams, empty, 'SPY');
  const chain = { ...newest(service.app, 'SPY'), simulated: false, source: 'files:spy.csv' };
  empty.app.store.saveChain(chain);
  const late = recorderOf(empty.app);
  late.wake();
  const { data } = (await followed.next())!;
  expect(JSON.parse(data)).toMatchObject({
    ticker: 'SPY',
    provenance: { source: 'files:spy.csv', simulated: false },
  });
  await late.stop();
});

const MANY = Array.from({ length: 1_001 }, (_, i) => `A${i}`).join();

test.each([
  ['of an unknown ticker', 'GET', '/SPY,NOSUCH', {}, 400, 'unknown_ticker'],
  ['with an empty ticker', 'GET', '/SPY,,QQQ', {}, 400, 'invalid_parameter'],
  ['with a malformed ticker', 'GET', '/SPY%00', {}, 400, 'unknown_ticker'],
  ['with a malformed percent escape', 'GET', '/%QQ', {}, 400, 'invalid_parameter'],
  ['with half a percent escape after a ticker', 'GET', '/SPY,%E0%A4%A', {}, 400, 'invalid_parameter'],
  ['of too many tickers', 'GET', `/${MANY}`, {}, 400, 'invalid_parameter'],
  ['after an id that is a word', 'GET', '/SPY', { 'Last-Event-ID': 'x' }, 400, 'invalid_parameter'],
  ['after a negative id', 'GET', '/SPY', { 'Last-Event-ID': '-1' }, 400, 'invalid_parameter'],
  ['after a fractional id', 'GET', '/SPY', { 'Last-Event-ID': '1.5' }, 400, 'invalid_parameter'],
  ['after an empty id', 'GET', '/SPY?last_event_id=', {}, 400, 'invalid_parameter'],
  ['after an id above the maximum', 'GET', '/SPY?last_event_id=9999999999999999', {}, 400, 'invalid_parameter'],
  ['without a key', 'GET', '/SPY', { 'X-API-Key': null }, 401, 'key_missing'],
  ['with an unknown key', 'GET', '/SPY', { 'X-API-Key': 'ZOMMA_0000000000000000' }, 403, 'key_invalid'],
  ['requested with HEAD', 'HEAD', '/SPY', {}, 405, undefined],
  ['requested with POST', 'POST', '/SPY', {}, 405, 'method_not_allowed'],
  ['without tickers', 'GET', '/', {}, 404, 'not_found'],
])('a stream %s is refused', async (_, method, path, headers, status, code) => {
  const open = service.app.gexStreams.size;
  const response = await service.request(method, `/api/v1/stream/gex${path}`, { headers });
  const text = await response.text();
  expect([response.status, code && JSON.parse(text).code]).toEqual([status, code]);
  expect(service.app.gexStreams.size).toBe(open);
});

test('accepts a percent-encoded comma', async () => {
  using stream = await openStream('SPY%2CQQQ');
  expect([(await stream.next()).ticker, (await stream.next()).ticker].sort()).toEqual(['QQQ', 'SPY']);
});

describe('a stream ends', () => {
  test('when its client leaves', async () => {
    await until(() => service.app.gexStreams.size === 0);
    const stream = await openStream('SPY');
    await stream.next();
    expect(service.app.gexStreams.size).toBe(1);
    await stream.close();
    await until(() => service.app.gexStreams.size === 0);
    const [opened, closed] = service.observations.filter(({ kind }) => kind.startsWith('stream_')).slice(-2);
    expect([opened, closed]).toMatchObject([
      { kind: 'stream_opened', streams: 1 },
      { kind: 'stream_closed', reason: 'client', streams: 0 },
    ]);
  });

  test('when its key is revoked; streams of other keys stay open', async () => {
    const uuid = '77777777-7777-4777-8777-777777777777';
    const { apiKey } = await service.app.access.addMember({ uuid });
    const streams = streamsOf({ sweepEveryMs: 5 });
    const [theirs, ours] = [openOn(streams, { app: service.app, key: apiKey }, 'SPY'), openOn(streams, service, 'SPY')];
    for (const stream of [theirs, ours]) await stream.next();
    await service.app.access.revoke(uuid);
    expect(await theirs.next()).toBeUndefined();
    expect(streams.size).toBe(1);
    streams.close();
    expect(await ours.next()).toBeUndefined();
  });

  test('when its client reads too slowly; other clients are not affected', async () => {
    const { store } = service.app;
    const base = store.levelEvents(0, 1, true)[0]!;
    let served = 0;
    // An endless log whose pages cost nothing.
    const log = {
      ...store,
      lastLevelSeq: () => 1e9,
      currentLevels: () => undefined,
      firstMissedAt: () => undefined,
      levelEvents: () => [],
      levelEventsOf(_: readonly string[], after: number, limit: number) {
        served += limit;
        return Array.from({ length: limit }, (_, i) => ({ ...base, underlying: 'SPY', seq: after + i + 1 }));
      },
    };
    const streams = createGexStreams({
      events: createGexEvents(log, true, { nowMs: Date.now }),
      ...depsOf(service.app),
      limits: { sweepEveryMs: 20, behindMs: 100 },
    });
    const port = listen((request) => answerOf(streams, service, request), {
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
    });
    const quick = eventsOf((await fetch(`${port.url}/SPY?last_event_id=0`)).body!);
    const slow = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(port.url).port),
      socket: {
        open(socket) {
          socket.write('GET /SPY?last_event_id=0 HTTP/1.1\r\nHost: localhost\r\n\r\n');
          socket.pause();
        },
        data() {},
      },
    });
    await until(() => streams.size === 2);
    let expected = 0;
    while (streams.size === 2) expect(seqOf((await quick.next())!.id)).toBe(++expected);
    for (let more = 0; more < 1_000; more++) expect(seqOf((await quick.next())!.id)).toBe(++expected);
    // The client that reads nothing gets what the sockets buffer, and a page or two.
    expect(served - expected).toBeLessThan(150_000);
    expect(service.observations.findLast(({ kind }) => kind === 'stream_closed')).toMatchObject({ reason: 'behind' });
    slow.end();
    streams.close();
    await port.stop(1_000);
  }, 120_000);
});

test('a client that has caught up does not count as behind, however far back it began', async () => {
  const { store } = service.app;
  const before = store.lastLevelSeq();
  store.transaction(() => {
    for (let i = 0; i < 700; i++) keepLevels(store, { underlying: 'ACME', simulated: true, asOf: MONDAY_MS + i });
  });
  const streams = streamsOf({ sweepEveryMs: 1, behindMs: 20, pingMs: 1 });
  // Much more than the server queues for the stream at once.
  const stream = openOn(streams, service, 'ACME', before);
  for (let seq = before + 1; seq <= before + 700; seq++) expect(seqOf((await stream.next())?.id)).toBe(seq);
  void stream.next();
  await until(() => stream.others.length > 50);
  expect(streams.size).toBe(1);
  streams.close();
});

test('works over HTTP/2, and notices the end of the client', async () => {
  await withFolder(async (folder) => {
    const { cert, key } = makeCertificate(folder);
    const pem = async (path: string) => Bun.file(path).text();
    const tls = { cert: await pem(cert), key: await pem(key) };
    const secure = listen(service.app.handle, { host: '127.0.0.1', port: 0, tls });
    await until(() => service.app.gexStreams.size === 0);
    const session = connect(secure.url, { rejectUnauthorized: false });
    const stream = session.request({ ':path': '/api/v1/stream/gex/SPY,QQQ', 'x-api-key': service.key });
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await until(() => text.split('event: gex').length === 3);
    await move(service.app, 'QQQ');
    await until(() => text.includes(`"spot_price":${newest(service.app, 'QQQ').spot}`));
    stream.close();
    session.close();
    await until(() => service.app.gexStreams.size === 0);
    await secure.stop(1_000);
  });
});

test('a stream without events sends pings, and says after how many ms to reconnect', async () => {
  const streams = streamsOf({ sweepEveryMs: 5, pingMs: 5 });
  const stream = openOn(streams, service, 'SPY');
  await stream.next();
  void stream.next();
  await until(() => stream.others.length > 2);
  expect(stream.others.slice(0, 3)).toEqual(['retry: 2000', ': ping', ': ping']);
  streams.close();
});

test('writes to many streams in steps, and sends levels that arrive between two steps', async () => {
  const store = openStore(':memory:', Date.now);
  keepLevels(store, { underlying: 'SPX', asOf: MONDAY_MS });
  const streams = createGexStreams({
    events: createGexEvents(store, false, { nowMs: Date.now }),
    ...depsOf(service.app),
    market: { tracked: (ticker) => ticker },
    limits: { accountStreamsMax: 1_000 },
  });
  const open = Array.from({ length: 300 }, () => openOn(streams, service, 'SPX'));
  await Promise.all(open.map((stream) => stream.next()));
  /** Number of streams that got the first event, by turn of the event loop. */
  const byTurn = new Map<number, number>();
  let turn = 0;
  let counting = true;
  const countTurns = () => {
    turn++;
    if (counting) setImmediate(countTurns);
  };
  countTurns();
  keepLevels(store, { underlying: 'SPX', asOf: MONDAY_MS + 1 });
  streams.wake();
  const later = await Promise.all(
    open.map(async (stream, i) => {
      await stream.next();
      byTurn.set(turn, (byTurn.get(turn) ?? 0) + 1);
      if (i === 0) {
        keepLevels(store, { underlying: 'SPX', asOf: MONDAY_MS + 2 });
        streams.wake();
      }
      return seqOf((await stream.next())!.id);
    }),
  );
  counting = false;
  expect(new Set(later)).toEqual(new Set([3]));
  expect(byTurn.size).toBeGreaterThanOrEqual(5);
  expect(Math.max(...byTurn.values())).toBeLessThanOrEqual(64);
  streams.close();
  store.close();
});

test('limits the streams of an account to 500', async () => {
  const streams = streamsOf({});
  const open = () => openOn(streams, service, 'SPY');
  for (let count = 0; count < 500; count++) open();
  expect(open).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  const other = await service.app.access.addMember({ uuid: '88888888-8888-4888-8888-888888888888' });
  openOn(streams, { app: service.app, key: other.apiKey }, 'SPY');
  streams.close();
  expect(streams.size).toBe(0);
  // A server that stops opens no streams and no longer reads its store.
  expect(open).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('has the headers that every answer has', async () => {
  using stream = await openStream('SPY');
  expect(Object.fromEntries(stream.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.any(String),
  });
});

function recorderOf(app: App): LevelRecorder {
  return createLevelRecorder({
    store: app.store,
    largePrintMinUsd: app.context.largePrintMinUsd,
    observe: () => {},
    onRecorded: app.gexStreams.wake,
  });
}

function newest(app: App, ticker: string) {
  const { store, feeds } = app;
  return store.chain(store.latestChainId(ticker, feeds[0]!.simulated)!)!;
}

/** Stores the ticker's chain one second later with a slightly higher spot, and waits for its levels. */
async function move(app: App, ticker: string): Promise<void> {
  const chain = newest(app, ticker);
  const moved = { ...chain, asOf: chain.asOf + 1_000, spot: chain.spot * 1.0001 };
  await app.store.write((tx) => tx.saveChain(moved));
  recorder.wake();
  await until(() => app.store.levelsDue().length === 0);
}

interface Levels {
  readonly id: string;
  readonly ticker: string;
  readonly spot_price: number;
  readonly provenance: { readonly source: string; readonly simulated: boolean; readonly as_of: string };
}

/** Opens a stream over a socket. */
async function openStream(path: string, headers: Record<string, string> = {}, url = server.url) {
  const leaving = new AbortController();
  const response = await fetch(`${url}/api/v1/stream/gex/${path}`, {
    headers: { 'X-API-Key': service.key, ...headers },
    signal: leaving.signal,
  });
  expect(response.status).toBe(200);
  const events = eventsOf(response.body!);
  return {
    headers: response.headers,
    async next(): Promise<Levels> {
      const event = await events.next();
      expect(event?.event).toBe('gex');
      return { id: event!.id!, ...JSON.parse(event!.data) };
    },
    ended: async () => (await events.next()) === undefined,
    async close() {
      leaving.abort();
    },
    [Symbol.dispose]: () => leaving.abort(),
  };
}

function depsOf({ context, scheduler }: App) {
  return { scheduler, market: context.market, observe: (each: Observation) => void service.observations.push(each) };
}

function streamsOf(limits: Parameters<typeof createGexStreams>[0]['limits'] & {}): GexStreams {
  return createGexStreams({
    events: createGexEvents(service.app.store, true, { nowMs: Date.now }),
    ...depsOf(service.app),
    limits,
  });
}

function answerOf(streams: GexStreams, { app, key }: Service, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const headers = new Headers({ 'X-API-Key': key });
  const account = app.access.authenticate(key);
  return Promise.resolve(streams.open({ account, headers, tickers: pathname.slice(1), query: searchParams }));
}

/** Opens a stream without a socket. */
function openOn(streams: GexStreams, { app, key }: Pick<Service, 'app' | 'key'>, tickers: string, after?: number) {
  const account = app.access.authenticate(key);
  const headers = new Headers({ 'X-API-Key': key, ...(after !== undefined && { 'Last-Event-ID': String(after) }) });
  return eventsOf(streams.open({ account, headers, tickers, query: new URLSearchParams() }).body!);
}
