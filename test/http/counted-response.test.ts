import { expect, test } from 'bun:test';
import { createByteBudget } from '../../src/access/byte-budget.ts';
import { respondCounted } from '../../src/http/counted-response.ts';

function answered(body: string | Uint8Array, method = 'GET') {
  const budget = createByteBudget();
  const recipient = { request: { method }, account: 'a', set: { headers: { 'X-Own': '1' } } };
  return { budget, response: respondCounted(budget, recipient, body, new Headers({ 'Content-Type': 'text/plain' })) };
}

const LONG = 'x'.repeat(200_000);
const ASTRAL = `${'x'.repeat(64 * 1024 - 1)}${'\u{1f600}'.repeat(3)}${'y'.repeat(64 * 1024)}`;

const bodies: [what: string, body: string | Uint8Array, text: string, held: number][] = [
  ['a short text', 'short', 'short', 0],
  ['short bytes', Buffer.from('short'), 'short', 0],
  ['an empty text', '', '', 0],
  ['a long text', LONG, LONG, LONG.length],
  ['long bytes', Buffer.from(LONG), LONG, LONG.length],
  ['a text with surrogate pairs', ASTRAL, ASTRAL, ASTRAL.length],
];

test.each(bodies)('%s arrives whole and counts against the byte budget until then', async (_, body, text, held) => {
  const { budget, response } = answered(body);
  expect(budget.bytes).toBe(held);
  expect([response.headers.get('content-type'), response.headers.get('x-own')]).toEqual(['text/plain', '1']);
  expect(await response.text()).toBe(text);
  expect(budget.bytes).toBe(0);
});

test('a response that is not read counts against the byte budget until its connection closes', async () => {
  const budget = createByteBudget();
  // Larger than the socket buffers of both ends together.
  const body = 'x'.repeat(32 * 1024 * 1024);
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => respondCounted(budget, { request, account: 'a', set: { headers: {} } }, body, new Headers()),
  });
  const answered = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port!,
    socket: {
      data(each) {
        each.pause();
        answered.resolve();
      },
    },
  });
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await answered.promise;
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  expect(budget.bytes).toBe(body.length);
  socket.terminate();
  while (budget.bytes > 0) await new Promise(setImmediate);
});

test('HEAD takes nothing from the byte budget and answers 200', () => {
  const { budget, response } = answered(LONG, 'HEAD');
  expect([budget.bytes, response.status]).toEqual([0, 200]);
});
