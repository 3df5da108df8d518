import { expect } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { files as webFiles } from '../../build/web/manifest.js';
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
  /** The files that the page names. The scripts of the other views are chunks, which the first script names. */
  const filesOf = async () => {
    const page = await (await fetch(`${terminal.url}/`)).text();
    return [...page.matchAll(/"(\/web\/[^"]+)"/g)].map(([, path]) => path!);
  };
  const allFiles = webFiles.map(({ name }) => `/web/${name}`);
  const allScripts = allFiles.filter((path) => path.endsWith('.js'));
  const gzippedSize = async (path: string) => {
    const response = await fetch(`${terminal.url}${path}`, {
      headers: { 'Accept-Encoding': 'gzip' },
      decompress: false,
    });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.arrayBuffer()).byteLength;
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

  test('each file of the build is immutable, and the same as brotli, gzip and plain', async () => {
    expect(allFiles).toEqual(expect.arrayContaining(await filesOf()));
    expect(allScripts.length).toBeGreaterThanOrEqual(VIEWS.length);
    for (const path of allFiles) {
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

  test('the first load has at most 80 KB of script and 9 KB of style, and each chunk at most 12 KB, gzipped', async () => {
    const named = await filesOf();
    const scripts = new Set<string>();
    // The first load is the script of the page with all that it imports without a condition.
    const follow = async (path: string): Promise<void> => {
      if (scripts.has(path)) return;
      scripts.add(path);
      const text = await (await fetch(`${terminal.url}${path}`)).text();
      for (const [, name] of text.matchAll(/(?:import|from)"\.\/([^"]+\.js)"/g)) await follow(`/web/${name}`);
    };
    await follow(named.find((path) => path.endsWith('.js'))!);
    const sizes = await Promise.all([...scripts].map(gzippedSize));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(80 * KB);
    const chunks = allScripts.filter((path) => !scripts.has(path));
    expect(chunks.length).toBeGreaterThanOrEqual(VIEWS.length - 1);
    for (const path of chunks) expect([path, (await gzippedSize(path)) <= 12 * KB]).toEqual([path, true]);
    expect(await gzippedSize(named.find((path) => path.endsWith('.css'))!)).toBeLessThanOrEqual(9 * KB);
    expect((await (await fetch(`${terminal.url}/`)).text()).length).toBeLessThanOrEqual(2 * KB);
  });

  test('a view whose chunk the server no longer has says so, and loads on another try', async () => {
    terminal.expected.push(/flow-view-.*503|Failed to load resource/);
    const page = await terminal.open('#/SPY/ticker', {
      prepare: (each) => each.route(/\/web\/flow-view-/, (route) => route.fulfill({ status: 503 })),
    });
    await page.getByRole('link', { name: 'Flow' }).click();
    await page.getByText('This view could not be loaded.').waitFor();
    await page.unroute(/\/web\/flow-view-/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-panel="flow"]').waitFor();
  });

  test('the bundle holds no address of another host, and no way to write HTML', async () => {
    const texts = await Promise.all(allScripts.map(async (path) => (await fetch(`${terminal.url}${path}`)).text()));
    const text = texts.join('\n');
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
