import { expect } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { VIEWS } from '../../web/state/address.ts';
import { testNeeding } from '../support/needs.ts';
import { ROOT, run } from '../support/process.ts';
import { chromiumPath, describeInBrowser, figuresOf, test, withTerminal } from './browser.ts';

const KB = 1_024;

/** Whether this user may create a network namespace. Without the right, the test of an isolated machine is skipped. */
const canIsolate =
  Bun.which('unshare') !== null && Bun.spawnSync(['unshare', '-n', 'sh', '-c', 'ip link set lo up']).exitCode === 0;

describeInBrowser('the files of the terminal', () => {
  const terminal = withTerminal();
  const filesOf = async () => {
    const page = await (await fetch(`${terminal.url}/`)).text();
    return [...page.matchAll(/"(\/web\/[^"]+)"/g)].map(([, path]) => path!);
  };

  test('the page needs no key, has the policy, and is revalidated by its tag', async () => {
    const response = await fetch(`${terminal.url}/`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html;charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');

    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    for (const [name, value] of [
      ['cross-origin-opener-policy', 'same-origin'],
      ['cross-origin-resource-policy', 'same-origin'],
      ['referrer-policy', 'no-referrer'],
      ['permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=(), usb=()'],
      ['x-content-type-options', 'nosniff'],
    ] as const) {
      expect([name, response.headers.get(name)]).toEqual([name, value]);
    }
    const again = await fetch(`${terminal.url}/`, { headers: { 'If-None-Match': response.headers.get('etag')! } });
    expect(again.status).toBe(304);
  });

  test('each file that the page names is immutable, and the same as brotli, gzip and plain', async () => {
    const files = await filesOf();
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const path of files) {
      const fetched = async (coding: string) => {
        const response = await fetch(`${terminal.url}${path}`, {
          headers: { 'Accept-Encoding': coding },
          decompress: false,
        });
        expect([path, response.status]).toEqual([path, 200]);
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        const sent = response.headers.get('content-encoding');
        const content = Buffer.from(await response.arrayBuffer());
        // Compression would not make a file below a kilobyte smaller.
        expect(sent).toBe(coding === 'identity' || (sent === null && content.length < KB) ? null : coding);
        return sent === 'br' ? brotliDecompressSync(content) : sent === 'gzip' ? gunzipSync(content) : content;
      };
      const plain = await fetched('identity');
      expect((await fetched('br')).equals(plain)).toBe(true);
      expect((await fetched('gzip')).equals(plain)).toBe(true);
    }
  });

  test.each([
    ['/anything', 401],
    ['/web/', 401],
    ['/web/main.js', 401],
    ['/index.html', 401],
  ])('%s without a key is refused as before', async (path, status) => {
    expect((await fetch(`${terminal.url}${path}`)).status).toBe(status);
    expect((await terminal.get(path)).status).toBe(404);
  });

  test('the script has at most 96 KB and the style at most 8 KB, gzipped', async () => {
    const sizes = new Map<string, number>();
    for (const path of await filesOf()) {
      const response = await fetch(`${terminal.url}${path}`, {
        headers: { 'Accept-Encoding': 'gzip' },
        decompress: false,
      });
      const kind = path.slice(path.lastIndexOf('.') + 1);
      sizes.set(kind, (sizes.get(kind) ?? 0) + (await response.arrayBuffer()).byteLength);
    }
    expect(sizes.get('js')!).toBeLessThanOrEqual(96 * KB);
    expect(sizes.get('css')!).toBeLessThanOrEqual(8 * KB);
    expect((await (await fetch(`${terminal.url}/`)).text()).length).toBeLessThanOrEqual(2 * KB);
  });

  test('the bundle holds no address of another host, and no way to write HTML', async () => {
    const [script] = (await filesOf()).filter((path) => path.endsWith('.js'));
    const text = await (await fetch(`${terminal.url}${script}`)).text();
    // The names of XML namespaces are no addresses, and addresses of this machine stand in help texts.
    const addresses = (text.match(/https?:\/\/[^\s"'`<>)\\]+/g) ?? []).filter(
      (each) => !/^http:\/\/www\.w3\.org\//.test(each) && !/^http:\/\/(?:127\.0\.0\.1|localhost)/.test(each),
    );
    expect(addresses).toEqual([]);
    expect(text).not.toMatch(/\.outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(/);
  });

  test('the binary alone, in an empty folder, shows figures', async () => {
    const page = await terminal.open();
    const figures = await figuresOf(page);
    expect(figures.spot_price).toMatch(/^\d+\.\d\d$/);
    expect(await page.title()).toStartWith('SIM SPY');
    await page.context().close();
    expect(statSync(`${ROOT}/build/zomma`).size).toBeGreaterThan(KB);
  });

  testNeeding(canIsolate, 'unshare cannot make a network namespace')(
    'the binary shows every view in a network namespace with loopback only',
    async () => {
      const folder = join(terminal.dataDir, 'isolated');
      const script = join(import.meta.dir, 'isolated-run.ts');
      const { stdout, stderr, code } = await run(
        ['unshare', '-n', 'sh', '-c', `ip link set lo up && exec "$0" "$@"`, process.execPath, script],
        [chromiumPath!, folder],
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
      const seen = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
        problems: string[];
        origins: string[];
        url: string;
        words: Record<string, number>;
      };
      expect(seen.problems).toEqual([]);
      expect(seen.origins).toEqual([seen.url]);
      expect(Object.keys(seen.words)).toEqual([...VIEWS]);
      for (const [view, count] of Object.entries(seen.words)) expect([view, count > 100]).toEqual([view, true]);
    },
    120_000,
  );
});
