import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const JSON_TEXT = JSON.stringify({
  data: 'x'.repeat(20_000),
  figures: Array.from({ length: 2_000 }, (_, at) => at / 7),
});
const ASK = join(import.meta.dir, '../../../src/feeds/http/ask.ts');

function damaged(bytes: Buffer): Buffer {
  return Buffer.from(bytes).fill(0xff, bytes.length >> 1);
}

/** In a process of its own: the runtime writes to standard error past what JavaScript could catch. */
test.each([
  ['plain', undefined, Buffer.from(JSON_TEXT), 'json'],
  ['gzip', 'gzip', gzipSync(JSON_TEXT), 'json'],
  ['damaged gzip', 'gzip', damaged(gzipSync(JSON_TEXT)), 'passing'],
  ['gzip that was cut', 'gzip', gzipSync(JSON_TEXT).subarray(0, 900), 'passing'],
  ['no gzip at all', 'gzip', Buffer.from('x'.repeat(100)), 'passing'],
  ['damaged brotli, which was not asked for', 'br', damaged(brotliCompressSync(JSON_TEXT)), 'passing'],
])('of an answer that is %s nothing is written to standard error', async (_name, coding, body, kind) => {
  let accepted: string | null = null;
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      accepted = request.headers.get('accept-encoding');
      return new Response(new Uint8Array(body), { headers: coding ? { 'content-encoding': coding } : {} });
    },
  });
  const script = `
    import { ask } from ${JSON.stringify(ASK)};
    const answer = await ask(new URL('${server.url}'), { headers: {}, timeoutMs: 5_000, nowMs: Date.now });
    console.log(answer.kind);
  `;
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await server.stop(true);
  expect([stdout.trim(), stderr, accepted]).toEqual([kind, '', 'gzip']);
});
