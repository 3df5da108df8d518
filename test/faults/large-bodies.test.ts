import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { PROGRAM } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** Bodies far beyond the limit, eight at once. The server refuses each soon, and holds hardly any of it in memory. */
const BODIES = 8;
const BODY_BYTES = 100_000_000;
const MEMORY_MIB_MAX = 32;
/** Bytes of a body of columns that may arrive before the server knows that the body is too long. */
const COLUMNS_MIB_MAX = 4;

const server = withServer(PROGRAM, () => ['start', '--port', '0']);

const cases: [what: string, path: string, isChunked: boolean, key: () => string, status: number][] = [
  ['with a declared length', '/api/v1/physics/greeks', false, () => server.key, 413],
  ['in chunks', '/api/v1/physics/greeks', true, () => server.key, 413],
  ['in chunks, for columns', '/api/v1/physics/greeks/batch', true, () => server.key, 413],
  ['in chunks, over MCP', '/mcp', true, () => server.key, 413],
  ['with an invalid key', '/api/v1/physics/greeks', false, () => 'none', 403],
];

const hasProc = process.platform === 'linux';
(hasProc ? describe : describe.skip)(
  `eight bodies of 100 MB${hasProc ? '' : ' (memory is read from /proc, which is not here)'}`,
  () => {
    // What the runtime keeps after the first bodies of a connection does not count against these bodies.
    beforeAll(() => sendAll('/api/v1/physics/greeks', true, server.key));

    test.each(cases)('%s to %s', async (_, path, isChunked, withKey, status) => {
      writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
      const before = memoryMib('VmRSS');
      const answers = await sendAll(path, isChunked, withKey());
      expect(answers).toEqual(Array(BODIES).fill(status));
      const heldMax = MEMORY_MIB_MAX + (path.endsWith('/batch') ? BODIES * COLUMNS_MIB_MAX : 0);
      expect(memoryMib('VmHWM') - before).toBeLessThan(heldMax);
    });
  },
);

function sendAll(path: string, isChunked: boolean, withKey: string): Promise<number[]> {
  return Promise.all(Array.from({ length: BODIES }, () => statusOf(path, isChunked, withKey)));
}

/** Sends a body as fast as the server takes it, until the answer comes. Returns the status. */
function statusOf(path: string, isChunked: boolean, withKey: string): Promise<number> {
  const { hostname, port } = new URL(server.url);
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${BODY_BYTES}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let left = BODY_BYTES / PIECE.length;
    const send = () => {
      while (left-- > 0) {
        if (!socket.write(isChunked ? CHUNK : PIECE)) return void socket.once('drain', send);
      }
      if (isChunked) socket.write('0\r\n\r\n');
    };
    socket.once('data', (bytes) => {
      left = 0;
      socket.destroy();
      resolve(Number(/^HTTP\/1.1 (\d+)/.exec(bytes.toString())?.[1]));
    });
    socket.once('error', reject);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${withKey}\r\n${length}\r\n\r\n`);
    send();
  });
}

const PIECE = Buffer.alloc(50_000, ' ');
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')]);

/** Returns the memory of the server in MiB: now, or its peak since the last reset. */
function memoryMib(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / 1024;
}
