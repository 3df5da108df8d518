import { afterEach, expect, test } from 'bun:test';
import type { Socket } from 'bun';
import { openSocketLoad } from '../../bench/socket-load.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
let stop = () => {};
afterEach(() => stop());

/** A server that answers each request with these packets, each sent in its own event-loop iteration. */
function serve(packets: readonly string[]): string {
  const answer = async (socket: Socket<undefined>): Promise<void> => {
    for (const packet of packets) {
      socket.write(packet);
      socket.flush();
      await new Promise(setImmediate);
    }
  };
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: (socket) => void answer(socket) } });
  stop = () => server.stop(true);
  return `http://127.0.0.1:${server.port}`;
}

test.each([
  ['a whole response', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'], 0],
  ['a header name in lower case', ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'], 0],
  ['a header in several packets', ['HTTP/1.1 200 OK\r\nContent-Le', 'ngth: 5\r\n\r', '\nhello'], 0],
  ['a body in several packets', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', 'hel', 'lo'], 0],
  ['an empty body', ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'], 0],
  ['chunks', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '5\r\nhello\r\n0\r', '\n\r\n'], 0],
  ['chunks in one packet', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'], 0],
  ['another status', ['HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n'], 1],
  ['304, which has no Content-Length', ['HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n'], 1],
])('counts %s once', async (_name, packets, unexpectedShare) => {
  let sent = 0;
  const next = () => {
    sent++;
    return REQUEST;
  };
  const load = await openSocketLoad(serve(packets), [next, next, next], 200);
  await load.run(0);
  expect(sent).toBe(3);
  const { requests, seconds, unexpected } = await load.run(20);
  load.close();
  expect(requests).toBe(sent - 3);
  expect(requests).toBeGreaterThanOrEqual(3);
  expect(unexpected).toBe(requests * unexpectedShare);
  expect(seconds).toBeGreaterThanOrEqual(0.02);
});

test('sends a body larger than the socket buffers completely', async () => {
  const body = new Uint8Array(8 * 1024 * 1024).fill(0x61);
  let received = 0;
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      received += (await request.arrayBuffer()).byteLength;
      return new Response(body);
    },
  });
  stop = () => void server.stop(true);
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);
  const load = await openSocketLoad(server.url.href, [() => request], 200);
  const { requests, unexpected } = await load.run(30);
  load.close();
  expect([received, unexpected]).toEqual([requests * body.length, 0]);
});

test.each([
  ['a response without a length', ['HTTP/1.1 200 OK\r\n\r\nhello'], 'neither a Content-Length nor chunks'],
  ['a connection closed by the server', undefined, 'closed a connection'],
])('%s is an error', async (_name, packets, reason) => {
  let url: string;
  if (packets) url = serve(packets);
  else {
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: (socket) => void socket.end() } });
    stop = () => server.stop(true);
    url = `http://127.0.0.1:${server.port}`;
  }
  const load = await openSocketLoad(url, [() => REQUEST], 200);
  await expect(load.run(20)).rejects.toThrow(reason);
  await expect(load.run(20)).rejects.toThrow(reason);
  load.close();
});
