import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { constants, createDeflateRaw } from 'node:zlib';
import { acceptDelivery } from '../../../src/feeds/accept-delivery.ts';
import { createMassiveFeed } from '../../../src/feeds/massive/massive-feed.ts';
import { DAY_MS } from '../../../src/market/calendar.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import type { Print } from '../../../src/market/prints.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { until } from '../../support/until.ts';
import { CREDENTIAL, NOON_MS, providerForTests } from '../provider-market.ts';

const SPY = 'O:SPY261218C00660000';
let sequence = 0;
const trade = (overrides: object = {}) => ({
  ...{ ev: 'T', sym: SPY, x: 312, p: 12.5, s: 40, c: [209], t: NOON_MS, q: ++sequence },
  ...overrides,
});

const { server, clock } = providerForTests();
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

/** Reads the stream as its deliveries arrive. */
function listen(overrides: { key?: string; socketUrl?: string; silenceMs?: number } = {}) {
  const { key = CREDENTIAL, socketUrl = server.socketUrl, silenceMs = 30_000 } = overrides;
  const tickers = ['SPY', 'SPX'];
  const feed = createMassiveFeed({ baseUrl: server.url, socketUrl, silenceMs, tickers, clock, key });
  const deliveries: Delivery[] = [];
  const ended = (async () => {
    for await (const delivery of feed.stream!(stop.signal)) deliveries.push(delivery);
    expect(JSON.stringify(deliveries)).not.toContain(CREDENTIAL);
  })();
  const prints = () => deliveries.flatMap((each) => (each.kind === 'prints' ? [...each.prints] : []));
  const connections = () => deliveries.flatMap((each) => (each.kind === 'connection' ? [each.up] : []));
  return { deliveries, ended, prints, connections };
}

async function connected(overrides = {}) {
  const stream = listen(overrides);
  await until(() => stream.connections().length === 1);
  return stream;
}

describe('trades', () => {
  test('arrive as prints, several per frame, of the tracked tickers only', async () => {
    const { deliveries, prints, connections } = await connected();
    expect(deliveries).toEqual([{ kind: 'connection', up: true, at: clock.now() }]);
    const messages = [trade(), trade({ sym: 'O:SPXW261120P06500000' }), trade({ sym: 'O:QQQ261218C00600000' })];
    server.trade([
      ...messages,
      { ev: 'status', status: 'success', message: 'subscribed' },
      { ev: 'Q', sym: SPY },
      7,
      null,
    ]);
    await until(() => prints().length === 2);
    const [first, second] = prints();
    expect(first).toMatchObject({ underlying: 'SPY', root: 'SPY', expiry: '2026-12-18', callPut: 1, strike: 660 });
    expect(first).toMatchObject({ price: 12.5, size: 40, at: NOON_MS, side: null, bid: null, ask: null, delta: null });
    expect(second).toMatchObject({ underlying: 'SPX', root: 'SPXW', callPut: -1, strike: 6500 });
    expect(connections()).toEqual([true]);
  });

  test.each<[string, number[], Partial<Print>]>([
    ['electronic', [209], {}],
    ['an intermarket sweep', [219], { sweep: true }],
    ['a sweep cross', [230], { sweep: true, block: true }],
    ['a floor trade', [231], { block: true }],
    ['a leg', [232], { multiLeg: true }],
    ['a leg on the floor', [235], { multiLeg: true, block: true }],
    ['stock with options', [240], { multiLeg: true }],
    ['a compression', [247], { multiLeg: true, block: true }],
    ['canceled', [201], { canceled: true }],
    ['the only trade, canceled', [207], { canceled: true }],
    ['two conditions', [219, 232], { sweep: true, multiLeg: true }],
    ['an unknown condition', [999], {}],
  ])('get flags by their conditions: %s', async (_what, c, flags) => {
    const { prints } = await connected();
    server.trade([trade({ c })]);
    await until(() => prints().length === 1);
    const { multiLeg, sweep, block, canceled } = prints()[0]!;
    expect({ multiLeg, sweep, block, canceled }).toEqual({
      ...{ multiLeg: false, sweep: false, block: false, canceled: false },
      ...flags,
    });
  });

  test.each<[string, object, string]>([
    ['no symbol', { sym: undefined }, 'bad_symbol'],
    ['an invalid symbol', { sym: 'O:SPY' }, 'bad_symbol'],
    ['a negative price', { p: -1 }, 'bad_price'],
    ['a price as text', { p: '12.5' }, 'bad_price'],
    ['a contract of last week', { sym: 'O:SPY261113C00660000' }, 'expired'],
    ['a price of 0', { p: 0 }, 'bad_price'],
    ['no size', { s: undefined }, 'bad_size'],
    ['half a contract', { s: 0.5 }, 'bad_size'],
    ['a size of 0', { s: 0 }, 'bad_size'],
    ['no time', { t: undefined }, 'bad_time'],
    ['a time of last month', { t: NOON_MS - 30 * DAY_MS }, 'bad_time'],
    ['a time of next month', { t: NOON_MS + 30 * DAY_MS }, 'bad_time'],
  ])('are counted if they are invalid: %s', async (_what, overrides, reason) => {
    const { deliveries, prints } = await connected();
    server.trade([trade(overrides), trade()]);
    await until(() => prints().length === 1);
    expect(deliveries.at(-1)).toMatchObject({ kind: 'prints', refused: { [reason]: 1 } });
  });

  test('counts invalid frames and reads the next frame', async () => {
    const { deliveries, prints } = await connected();
    const bombs = ['['.repeat(4e6), `[${'{},'.repeat(100_001)}{}]`, `[${'1,'.repeat(1_000_001)}1]`];
    for (const frame of ['not JSON', '"text"', '[{"ev":', ...bombs]) server.frame(frame);
    server.trade([trade()]);
    await until(() => prints().length === 1);
    const counts = deliveries.flatMap((each) => (each.kind === 'prints' ? [each.refused?.bad_frame ?? 0] : []));
    expect(counts.reduce((sum, count) => sum + count)).toBe(6);
  });
});

describe('a lost connection', () => {
  test('is a gap, reconnects and resubscribes, and no print counts twice', async () => {
    const store = openStore(':memory:', Date.now);
    const { deliveries, prints, connections } = await connected();
    const [first, second, third] = [trade(), trade(), trade()];
    server.trade([first, second]);
    await until(() => prints().length === 2);
    clock.advance(5_000);
    server.drop();
    await until(() => connections().length === 3);
    // After the gap, the last print of before comes again.
    server.trade([second, third]);
    await until(() => prints().length === 4);

    const [, down, up] = deliveries.filter(({ kind }) => kind === 'connection');
    expect(down).toMatchObject({
      ...{ up: false, at: NOON_MS + 20_000, reason: expect.stringMatching(/connection was closed/) },
    });
    expect(up).toMatchObject({ up: true });
    expect(prints()[1]).toEqual(prints()[2]!);
    for (const delivery of deliveries) acceptDelivery(delivery, store, clock.now());
    expect(store.prints('SPY', 0, NOON_MS * 2, false, 0)).toHaveLength(3);
    store.close();
  });

  test('is the result of an oversized frame', async () => {
    const { deliveries, connections } = await connected();
    server.frame(`[${' '.repeat(16 << 20)}]`);
    await until(() => connections().length === 3);
    expect(deliveries[1]).toMatchObject({ up: false, reason: 'a frame has more than 4194304 characters' });
  });

  test.each([
    ['although compression was not agreed', ''],
    ['after an answer that claims to agree to compression', 'Sec-WebSocket-Extensions: permessage-deflate\r\n'],
  ])('is the result of a compressed frame, which is never inflated, %s', async (_what, field) => {
    const offered: (string | undefined)[] = [];
    const bomb = await compressedFrame(100);
    const hostile = createHttpServer();
    hostile.on('upgrade', ({ headers }, socket) => {
      offered.push(headers['sec-websocket-extensions']);
      socket.on('error', () => {}).write(`${switchingTo(headers['sec-websocket-key']!)}${field}\r\n`);
      socket.write(bomb);
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    const highest = process.resourceUsage().maxRSS;
    const { port } = hostile.address() as AddressInfo;
    const { deliveries } = listen({ socketUrl: `ws://127.0.0.1:${port}` });
    await until(() => offered.length >= 3);
    expect(deliveries).toMatchObject([{ kind: 'connection', up: false, reason: 'the connection failed' }]);
    expect(new Set(offered)).toEqual(new Set([undefined]));
    // KiB. Each inflated frame would take more than 100 MiB.
    expect(process.resourceUsage().maxRSS - highest).toBeLessThan(64 * 1024);
    hostile.close();
  });

  test('is retried with increasing pauses if it fails repeatedly', async () => {
    const { connections } = listen();
    for (let times = 1; times <= 6; times++) {
      await until(() => connections().length === 2 * times - 1);
      server.drop();
    }
    await until(() => connections().length === 13);
    expect(clock.paused).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test('is retried soon if it had been stable', async () => {
    const { connections } = listen();
    for (let times = 1; times <= 3; times++) {
      await until(() => connections().length === 2 * times - 1);
      clock.advance(120_000);
      server.drop();
    }
    await until(() => connections().length === 7);
    expect(clock.paused).toEqual([2_000, 2_000, 2_000]);
  });

  test('without a server is reported once, and retried until there is a server', async () => {
    const { port } = new URL(server.socketUrl);
    await server.close();
    const { deliveries, connections } = listen();
    await until(() => clock.paused.length >= 3);
    expect(deliveries).toMatchObject([{ kind: 'connection', up: false, reason: 'the connection failed' }]);
    const back = Bun.serve({ port: Number(port), hostname: '127.0.0.1', ...echoing });
    await until(() => connections().length === 2);
    expect(connections()).toEqual([false, true]);
    stop.abort();
    await back.stop(true);
  });

  test('is assumed when nothing arrives, and the gap begins at the last data', async () => {
    const line = await startLine(Number(new URL(server.socketUrl).port));
    const { deliveries, prints, connections } = listen({
      socketUrl: `ws://127.0.0.1:${line.port}/options`,
      silenceMs: 400,
    });
    await until(() => connections().length === 1);
    server.trade([trade()]);
    await until(() => prints().length === 1);
    line.freeze();
    await until(() => connections().length === 2);
    expect(deliveries.at(-1)).toMatchObject({ up: false, reason: 'nothing was received for at least 0.2 s' });
    await until(() => connections().length === 3);
    line.close();
  });

  test('is not assumed for a quiet connection that answers pings', async () => {
    const { connections } = await connected({ silenceMs: 300 });
    await until(() => server.pings() >= 4);
    expect(connections()).toEqual([true]);
    expect(server.dialled()).toBe(1);
  });

  test('is assumed if the server answers but never accepts the subscription', async () => {
    server.socketStatus = 'thinking';
    const { deliveries } = listen({ silenceMs: 300 });
    await until(() => deliveries.length > 0);
    expect(deliveries[0]).toMatchObject({
      up: false,
      reason: 'the socket answers, but has not accepted the subscription',
    });
  });
});

describe('a rejected account', () => {
  test.each<[string, string, string | undefined, string]>([
    ['a wrong key', 'auth_success', `${CREDENTIAL}-wrong`, 'the socket rejects the key'],
    ['a plan without trades', 'not_authorized', undefined, 'the plan does not include option trades'],
    ['a subscription refused', 'error', undefined, 'the socket rejects the subscription'],
  ])('%s is a rejection, without a retry for 15 min', async (_what, status, key, reason) => {
    server.socketStatus = status;
    const { deliveries } = listen(key === undefined ? {} : { key });
    await until(() => clock.paused.length > 0);
    expect(deliveries.slice(0, 2)).toEqual([
      { kind: 'connection', up: false, at: NOON_MS + 20_000, reason },
      { kind: 'rejection', origin: 'massive:stream', reason },
    ]);
    expect(clock.paused[0]).toBe(15 * 60_000);
  });
});

test('gives up a connection attempt without an answer, and can be stopped', async () => {
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const socketUrl = `ws://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const { deliveries, ended } = listen({ socketUrl, silenceMs: 40 });
  await until(() => clock.paused.length > 1);
  expect(deliveries).toMatchObject([{ up: false, reason: 'nothing was received for at least 0.02 s' }]);
  stop.abort();
  await ended;
  mute.close();
});

test('a stop ends the stream at once', async () => {
  const { ended, connections } = await connected();
  stop.abort();
  await ended;
  expect(connections()).toEqual([true]);
});

/** The head of the answer that switches to a WebSocket, without the empty line at its end. */
function switchingTo(key: string): string {
  const accept = new Bun.CryptoHasher('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;
}

/** A compressed text frame of some 100 KB, which would inflate to spaces of this size, MiB. */
async function compressedFrame(mebibytes: number): Promise<Buffer> {
  const deflate = createDeflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
  const blocks = Array.from({ length: mebibytes }, () => Buffer.alloc(1024 * 1024, ' '));
  const deflated = Buffer.concat(await Array.fromAsync<Buffer>(Readable.from(blocks).pipe(deflate)));
  // A frame leaves out the last four bytes of the flush. The first byte of its head has the bits FIN and RSV1, and the type text.
  const head = Buffer.from([0xc1, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(deflated.length - 4, 6);
  return Buffer.concat([head, deflated.subarray(0, -4)]);
}

/** Accepts any key at once. */
const echoing = {
  fetch: (request: Request, self: Bun.Server<undefined>) => (self.upgrade(request) ? undefined : new Response()),
  websocket: {
    message(socket: Bun.ServerWebSocket, text: string | Buffer) {
      const status = JSON.parse(String(text)).action === 'auth' ? 'auth_success' : 'success';
      socket.send(JSON.stringify([{ ev: 'status', status }]));
    },
  },
};

/** A connection to a port that can fall silent without being closed. Later connections are not silent. */
async function startLine(port: number) {
  const pairs: { frozen: boolean; ends: Socket[] }[] = [];
  const line = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const pair = { frozen: false, ends: [near, far] };
    pairs.push(pair);
    near.on('data', (bytes) => pair.frozen || far.write(bytes));
    far.on('data', (bytes) => pair.frozen || near.write(bytes));
    for (const end of pair.ends)
      end.on('error', () => {}).on('close', () => pair.ends.forEach((each) => void each.destroy()));
  });
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  return {
    port: (line.address() as AddressInfo).port,
    freeze() {
      for (const pair of pairs) pair.frozen = true;
    },
    close() {
      for (const { ends } of pairs) for (const end of ends) end.destroy();
      line.close();
    },
  };
}
