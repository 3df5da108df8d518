import { expect, test } from 'bun:test';
import { createClientStream } from '../../../src/mcp/http/client-stream.ts';
import { PING } from '../../../src/sse/sse-format.ts';

const text = async (body: ReadableStream<Uint8Array>) => new Response(body).text();

test('sends what is written, and at its end the delay before a reconnect', async () => {
  const stream = createClientStream(() => {});
  stream.write('event: a\n\n');
  stream.write(new TextEncoder().encode(PING));
  stream.end('shutdown');
  stream.write('too late');
  stream.end('shutdown');
  expect(await text(stream.body)).toBe('event: a\n\n: ping\n\nretry: 2000\n\n');
});

test('reports once that its client left', async () => {
  const reasons: string[] = [];
  const stream = createClientStream((reason) => reasons.push(reason));
  await stream.body.cancel();
  stream.write('x');
  stream.end('age');
  expect(reasons).toEqual(['client']);
});

test('is behind from 256 KiB of unread data until the client reads it', async () => {
  const stream = createClientStream(() => {});
  stream.write('x'.repeat(256 * 1024 - 1));
  expect(stream.queue.behindSince).toBeUndefined();
  stream.write('x');
  const since = stream.queue.behindSince;
  expect(since).toBeNumber();
  stream.write('x');
  expect(stream.queue.behindSince).toBe(since);
  const reader = stream.body.getReader();
  for (let bytes = 0; bytes < 256 * 1024; ) bytes += (await reader.read()).value!.byteLength;
  while (stream.queue.behindSince !== undefined) await new Promise(setImmediate);
});

test('gives up a client with 8 MiB of unread data, and drops the data', async () => {
  const reasons: string[] = [];
  const stream = createClientStream((reason) => reasons.push(reason));
  for (let written = 0; written < 20; written++) stream.write('x'.repeat(1024 * 1024));
  expect(reasons).toEqual(['behind']);
  await expect(text(stream.body)).rejects.toThrow('read nothing');
});

test('finishes when all data is read; a client that is behind gets the rest first', async () => {
  const done: string[] = [];
  const swift = createClientStream(() => {});
  swift.write('x');
  swift.finish(() => done.push('swift'));
  expect(await text(swift.body)).toBe('x');

  const slow = createClientStream(() => {});
  slow.write('x'.repeat(300 * 1024));
  slow.finish(() => done.push('slow'));
  expect(slow.queue.unreadBytes).toBe(300 * 1024);
  expect(done).toEqual(['swift']);
  expect(await text(slow.body)).toHaveLength(300 * 1024);
  expect(done).toEqual(['swift', 'slow']);
  expect(slow.queue.unreadBytes).toBe(0);

  const lost = createClientStream(() => {});
  lost.write('x'.repeat(300 * 1024));
  lost.finish(() => done.push('lost'));
  lost.end('behind');
  await expect(text(lost.body)).rejects.toThrow('read nothing');
  expect(done).toHaveLength(2);
});
