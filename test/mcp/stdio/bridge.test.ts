import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { bridge } from '../../../src/mcp/stdio/bridge.ts';
import { until } from '../../support/until.ts';
import { type LineClient, lineClient, type Message, OPENING } from './line-client.ts';
import { listening, result, type ScriptedServer, scriptedServer, streamOf } from './scripted-server.ts';

const CALL = { id: 7, method: 'tools/call' };
const isChange = ({ method }: Message) => method === 'notifications/tools/list_changed';
const notFound = () => new Response(null, { status: 404 });

let server: ScriptedServer;
let client: LineClient;
let ended: Promise<void>;

beforeEach(() => {
  server = scriptedServer();
  client = lineClient();
  ended = bridge({ url: server.url, key: 'ZOMMA_0000000000000000' }, client.streams);
});

afterEach(async () => {
  client.input.end();
  await ended;
  await server.stop();
});

describe('a session that the server no longer knows', () => {
  test('is renewed once for all waiting requests, and its old connection is closed', async () => {
    await begin();
    server.script = ({ what, session }) => (session === 's1' && what !== 'GET' ? notFound() : undefined);
    const answers = await Promise.all([1, 2, 3].map((id) => client.ask({ id, method: 'ping' })));
    expect(answers.map(({ result: value }) => value)).toEqual(Array(3).fill({ session: 's2' }));
    expect(server.count('initialize')).toBe(2);
    expect(server.seen.findLast(({ what }) => what === 'ping')!.revision).toBe('2025-11-25');
    const listened = server.seen.find(({ what, session }) => what === 'GET' && session === 's1')!;
    await until(() => listened.signal.aborted);
  });

  test.each([
    ['gets a notification if the tools have changed', 'v2', 1],
    ['gets no notification if the tools are the same', 'v1', 0],
  ])('its client %s', async (_name, registry, times) => {
    await begin();
    server.forget();
    server.registry = registry;
    await client.ask(CALL);
    expect(client.received.filter(isChange)).toHaveLength(times);
    expect(client.received.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual([0, 7]);
  });

  test('is renewed for a client that sends no request, with the resources that it follows', async () => {
    await begin();
    for (const uri of ['a', 'b']) await client.ask({ id: uri, method: 'resources/subscribe', params: { uri } });
    await client.ask({ id: 3, method: 'resources/unsubscribe', params: { uri: 'a' } });
    server.registry = 'v2';
    server.forget();
    await client.hear(isChange);
    await until(() => server.count('resources/subscribe', 's2') === 1 && server.count('GET', 's2') === 1);
    expect(server.seen.findLast(({ what }) => what === 'resources/subscribe')!.message.params).toEqual({ uri: 'b' });
    expect(client.received.filter(({ id }) => String(id).startsWith('zomma'))).toEqual([]);
  });

  test('answers requests that the server has not accepted yet, from the new session', async () => {
    await begin();
    server.forget();
    server.script = ({ what, session }) => (what === 'slow' && session === 's1' ? new Promise(() => {}) : undefined);
    const slow = client.ask({ id: 8, method: 'slow' });
    await until(() => server.count('slow') === 1);
    await client.ask(CALL);
    expect(await slow).toMatchObject({ result: { session: 's2' } });
  });

  test('refuses requests that the old session had accepted and will not answer', async () => {
    await begin();
    server.script = ({ what }) => (what === 'slow' ? listening() : undefined);
    const slow = client.ask({ id: 8, method: 'slow', params: {} });
    await until(() => server.count('slow') === 1);
    await client.ask(CALL);
    server.forget();
    await client.ask({ ...CALL, id: 9 });
    expect(await slow).toMatchObject({ error: { code: -32_000, message: expect.stringContaining('request again') } });
  });

  test.each<[string, (message: Message) => Response, RegExp]>([
    ['cut off', () => streamOf(), /ended before the answer came/],
    ['refused', ({ id }) => streamOf({ id: id!, error: { code: -32_602, message: 'not so' } }), /^not so$/],
    ['not MCP', () => new Response('hello', { headers: { 'Content-Type': 'text/html' } }), /text\/html/],
    ['404 again', notFound, /^The server answered with HTTP status 404$/],
  ])('whose renewal is %s refuses the request, and is renewed by the next request', async (_name, answer, words) => {
    await begin();
    server.forget();
    server.script = ({ what, message }) => (what === 'initialize' ? answer(message) : undefined);
    expect((await client.ask(CALL)).error?.message).toMatch(words);
    server.script = () => undefined;
    expect(await client.ask({ ...CALL, id: 9 })).toMatchObject({ result: { session: 's2' } });
  });

  test('is not renewed again and again if the server rejects every session', async () => {
    await begin();
    server.script = ({ what }) => (/initialize/.test(what) ? undefined : notFound());
    expect((await client.ask(CALL)).error?.message).toBe('The server answered with HTTP status 404');
    expect((await client.ask({ ...CALL, id: 9 })).error?.message).toBe('The server answered with HTTP status 404');
    await until(() => server.count('GET', 's3') === 1);
    await roundTrips();
    expect(server.count('initialize')).toBe(3);
  });
});

describe('a request', () => {
  test.each<[string, () => Response, RegExp]>([
    ['status 500', () => new Response(null, { status: 500 }), /^The server answered with HTTP status 500$/],
    ['an error without a hint', () => Response.json({ detail: 'No' }, { status: 403 }), /^No$/],
    ['an error with a hint', () => Response.json({ detail: 'No', hint: 'ask' }, { status: 403 }), /^No\. ask$/],
    ['a stream that ends', () => streamOf(), /ended before the answer came/],
  ])('that is answered by %s is refused, and begins no session', async (_name, answer, words) => {
    await begin();
    server.script = ({ what }) => (what === 'tools/call' ? answer() : undefined);
    expect((await client.ask(CALL)).error?.message).toMatch(words);
    expect(server.count('initialize')).toBe(1);
  });

  test('that is answered on a stream gets one answer', async () => {
    await begin();
    server.script = ({ what }) => (what === 'tools/call' ? streamOf({ id: 7, result: { is: 'streamed' } }) : undefined);
    await client.ask(CALL);
    await client.ask({ id: 8, method: 'ping' });
    expect(client.received.filter(({ id }) => id === 7)).toEqual([
      expect.objectContaining({ result: { is: 'streamed' } }),
    ]);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ['has accepted', () => listening()],
    ['has not accepted', () => new Promise(() => {})],
  ])(
    'that is canceled, and the server %s, is aborted if there is no session, and gets no answer',
    async (_name, answer) => {
      server.script = ({ what }) => (what === 'tools/call' ? answer() : undefined);
      client.say(CALL);
      await until(() => server.count('tools/call') === 1);
      client.say({ method: 'notifications/cancelled', params: { requestId: 7 } });
      await until(() => server.seen[0]!.signal.aborted);
      await client.ask({ id: 8, method: 'ping' });
      expect(client.received.map(({ id }) => id)).toEqual([8]);
    },
  );

  test('to an address that answers 404 is refused and not repeated', async () => {
    server.script = notFound;
    expect((await client.ask(OPENING)).error?.message).toBe('The server answered with HTTP status 404');
    expect(server.count('initialize')).toBe(1);
  });
});

describe('at the end', () => {
  /** Lets the server hold the answers of calls until the returned function is called. */
  const holdCalls = () => {
    const held = Promise.withResolvers<void>();
    server.script = ({ what, message }) =>
      what === 'tools/call' ? held.promise.then(() => result(message, {})) : undefined;
    return held.resolve;
  };

  test('the last call gets its answer, then the session is deleted', async () => {
    await begin();
    const answer = holdCalls();
    client.say(CALL);
    client.input.end();
    await until(() => server.count('tools/call') === 1);
    expect(server.count('DELETE')).toBe(0);
    answer();
    await ended;
    expect(client.received.at(-1)).toMatchObject({ id: 7, result: {} });
    expect(server.seen.at(-1)).toMatchObject({ what: 'DELETE', session: 's1' });
  });

  test('a session that is gone is not renewed', async () => {
    await begin();
    server.script = ({ what }) => (what === 'DELETE' ? notFound() : undefined);
    client.input.end();
    await ended;
    await roundTrips();
    expect(server.count('initialize')).toBe(1);
  });

  test('a client that no longer reads ends the bridge, whatever answers are pending', async () => {
    await begin();
    const answer = holdCalls();
    client.say(CALL);
    await until(() => server.count('tools/call') === 1);
    client.output.destroy(new Error('EPIPE'));
    answer();
    await ended;
    expect(server.count('DELETE')).toBe(1);
  });
});

test.each([
  ['/', '/mcp'],
  ['/zomma', '/zomma/mcp'],
  ['/zomma/', '/zomma/mcp'],
  ['/zomma/mcp', '/zomma/mcp'],
])('for a server at %s requests go to %s', async (given, expected) => {
  const other = lineClient();
  const bridged = bridge({ url: new URL(given, server.url), key: 'ZOMMA_0000000000000000' }, other.streams);
  await other.ask({ id: 1, method: 'ping' });
  expect(server.seen.map(({ path }) => path)).toEqual([expected]);
  other.input.end();
  await bridged;
});

/** Begins like a client: with a session and an open stream. */
async function begin(): Promise<void> {
  await client.ask(OPENING);
  client.say({ method: 'notifications/initialized' });
  await until(() => server.count('GET') === 1);
}

/** Waits until all requests under way have reached the server. */
async function roundTrips(): Promise<void> {
  for (let trip = 0; trip < 5; trip++) await fetch(server.url, { method: 'PUT' });
}
