import { afterAll, beforeAll, expect, test } from 'bun:test';
import { servedForTests } from '../../support/for-tests.ts';
import { CLIENTS } from '../connect.ts';

/** A pair of servers behind one address, as docs/scaling.md has them: a session of one server is unknown to the other. */
const pair = [servedForTests(), servedForTests()] as const;
let current: 0 | 1 = 0;
/** What the clients have sent to each server, with the status of its answer. */
let seen: { at: number; session: string | null; status: number }[] = [];

const forward = async (request: Request): Promise<Response> => {
  const { server, service } = pair[current];
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  // The two services of the tests have two secrets, but a member of a pair has one key.
  headers.set('X-API-Key', service.key);
  const own = { at: current, session: headers.get('mcp-session-id'), status: 0 };
  seen.push(own);
  const response = await fetch(server.url + pathname + search, {
    method: request.method,
    headers,
    ...(request.body && { body: await request.text() }),
  });
  own.status = response.status;
  return response;
};

let front: Bun.Server<undefined>;
beforeAll(() => {
  front = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: forward });
});
afterAll(() => front.stop(true));

const CALL = { name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } };

test.each(['v1 over Streamable HTTP', 'v2 as in 2025'] as const)(
  '%s: a call at the other server fails by 404, and the client starts anew there',
  async (name) => {
    [current, seen] = [0, []];
    const address = front.url.origin;
    const client = await CLIENTS[name](address, {});
    expect((await client.callTool(CALL)).isError).toBeFalsy();
    const [session] = seen.flatMap((each) => each.session ?? []);
    expect(session).toMatch(/^[\w-]{22}$/);
    current = 1;
    await expect(client.callTool(CALL)).rejects.toThrow(/404|no such session/i);
    expect(seen.at(-1)).toEqual({ at: 1, session: session!, status: 404 });
    await client.close();
    const anew = await CLIENTS[name](address, {});
    expect((await anew.callTool(CALL)).isError).toBeFalsy();
    const later = seen.findLast((each) => each.session !== null)!;
    expect([later.at, later.status < 300, later.session === session]).toEqual([1, true, false]);
    await anew.close();
  },
);

test('v2 as in 2026: a call has no session, so the other server answers it', async () => {
  [current, seen] = [0, []];
  const client = await CLIENTS['v2 as in 2026'](front.url.origin, {});
  expect((await client.callTool(CALL)).isError).toBeFalsy();
  current = 1;
  expect((await client.callTool(CALL)).isError).toBeFalsy();
  expect(seen.filter(({ session, status }) => session !== null || status >= 400)).toEqual([]);
  expect(new Set(seen.map(({ at }) => at))).toEqual(new Set([0, 1]));
  await client.close();
});
