import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const JSON_TEXT = JSON.stringify({
  data: 'x'.repeat(20_000),
  figures: Array.from({ length: 2_000 }, (_, i) => i / 7),
});
const FETCH_JSON = join(import.meta.dir, '../../../src/feeds/http/fetch-json.ts');

function damaged(bytes: Buffer): Buffer {
  return Buffer.from(bytes).fill(0xff, bytes.length >> 1);
}

/** Runs in a separate process, because the runtime writes to standard error in ways that JavaScript cannot intercept. */
test.each([
  ['plain', undefined, Buffer.from(JSON_TEXT), 'json'],
  ['gzip', 'gzip', gzipSync(JSON_TEXT), 'json'],
  ['damaged gzip', 'gzip', damaged(gzipSync(JSON_TEXT)), 'temporary'],
  ['truncated gzip', 'gzip', gzipSync(JSON_TEXT).subarray(0, 900), 'temporary'],
  ['not gzip at all', 'gzip', Buffer.from('x'.repeat(100)), 'temporary'],
  ['damaged brotli, which was not requested', 'br', damaged(brotliCompressSync(JSON_TEXT)), 'temporary'],
])('an answer that is %s writes nothing to standard error', async (_name, coding, body, kind) => {
  let accepted: string | null = null;
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      accepted = request.headers.get('accept-encoding');
      return new Response(new Uint8Array(body), { headers: coding ? { 'content-encoding': coding } : {} });
    },
  });
  const script = `
    import { fetchJson } from ${JSON.stringify(FETCH_JSON)};
    const answer = await fetchJson(new URL('${server.url}'), { headers: {}, timeoutMs: 5_000, nowMs: Date.now });
    console.log(answer.kind);
  `;
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await server.stop(true);
  expect([stdout.trim(), stderr, accepted]).toEqual([kind, '', 'gzip']);
});
