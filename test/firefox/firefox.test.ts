import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VIEW_NAMES, VIEWS } from '../../web/state/address.ts';
import { testNeeding } from '../support/needs.ts';
import { BINARY, buildBinary, keyOf, type Server, startServer } from '../support/process.ts';

/** Where Firefox may be. `FIREFOX` names another place. */
const PLACES = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'];
const firefoxPath = PLACES.find((path) => path !== undefined && existsSync(path));
/** The driver is a package of its own: `bun install --cwd test/firefox`. Playwright's needs a build of Firefox that it downloads. */
const driver = join(import.meta.dir, 'node_modules/puppeteer-core');

/** What this test uses of the driver. */
interface FirefoxPage {
  on(event: 'console' | 'pageerror', listener: (message: { type?(): string; text?(): string }) => void): void;
  goto(url: string): Promise<unknown>;
  waitForSelector(selector: string): Promise<unknown>;
  waitForFunction(expression: string): Promise<unknown>;
  evaluate(expression: string): Promise<unknown>;
  title(): Promise<string>;
  keyboard: { press(key: string): Promise<void> };
  pdf(options: object): Promise<Uint8Array>;
}
interface Firefox {
  newPage(): Promise<FirefoxPage>;
  close(): Promise<void>;
}
interface Driver {
  launch(options: object): Promise<Firefox>;
}

describe('the terminal in Firefox', () => {
  const missing = [
    ...(firefoxPath ? [] : ['Firefox']),
    ...(existsSync(driver) ? [] : ['puppeteer-core (bun install --cwd test/firefox)']),
  ];
  const test = testNeeding(missing.length === 0, `not installed: ${missing.join(', ')}`);
  let server: Server;
  let firefox: Firefox;
  let page: FirefoxPage;
  const problems: string[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'zomma-firefox-'));

  beforeAll(async () => {
    if (missing.length > 0) return;
    await buildBinary();
    const { default: puppeteer } = (await import(driver)) as { default: Driver };
    const options = { browser: 'firefox', executablePath: firefoxPath, headless: true };
    [server, firefox] = await Promise.all([
      startServer(BINARY, ['start', '--port', '0', '--data-dir', dataDir, '--rate-limit', 'off']),
      puppeteer.launch(options),
    ]);
    await server.loaded;
    page = await firefox.newPage();
    page.on('console', (message) => message.type?.() === 'error' && problems.push(message.text?.() ?? ''));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`${server.url}/#key=${keyOf(server)}&/SPY/ticker`);
    await page.waitForSelector('[data-figure="spot_price"]');
  }, 120_000);

  afterAll(async () => {
    await firefox?.close();
    await server?.stop('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('keys open every view, and each has its figures', async () => {
    for (const view of VIEWS) {
      await page.keyboard.press('g');
      await page.keyboard.press(VIEW_NAMES[view].key);
      await page.waitForSelector(`main[data-view="${view}"] [data-panel], main[data-view="${view}"] .facts`);
      expect([view, await page.title()]).toEqual([view, expect.stringContaining(VIEW_NAMES[view].name)]);
    }
    expect(problems).toEqual([]);
  }, 60_000);

  test('the stream of live levels is connected, and the watchlist has its figures', async () => {
    await page.waitForFunction(`!document.querySelector('[data-state="interrupted"]')`);
    await page.waitForFunction(
      `[...document.querySelectorAll('.watch-row')].some((row) => /\\d\\.\\d\\d/.test(row.textContent))`,
    );
  }, 60_000);

  test('charts are drawn, Explain opens and closes by keys, and the page prints', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForSelector('[data-chart="ladder"] canvas');
    const colours = (await page.evaluate(`(() => {
        const canvas = document.querySelector('[data-chart="ladder"] canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      })()`)) as number;
    expect(colours).toBeGreaterThan(5);
    await page.keyboard.press('i');
    await page.waitForSelector('.explain');
    await page.keyboard.press('Escape');
    await page.waitForFunction(`!document.querySelector('.explain')`);
    const printed = await page.pdf({ format: 'A4' });
    expect(Buffer.from(printed.slice(0, 4)).toString()).toBe('%PDF');
    expect(printed.length).toBeGreaterThan(10_000);
    expect(problems).toEqual([]);
  }, 60_000);
});
