import { expect } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FeedStatusAnswer } from '../../web/data/page-answers.ts';
import { BINARY, keyOf, run, type Server, startServer } from '../support/process.ts';
import { IS_FULL } from '../support/size.ts';
import { describeInBrowser, figuresOf, settled, test, withTerminal } from './browser.ts';

/** A tab takes a second of the processor. */
const TABS = IS_FULL ? 15 : 3;
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const ribbonOf = async (page: import('playwright-core').Page, state: string, timeout = 10_000) => {
  await page.waitForSelector(`[data-state="${state}"]`, { timeout, state: 'attached' });
  return (await page.textContent(`[data-state="${state}"]`))!;
};

describeInBrowser('states of a simulated market', () => {
  const terminal = withTerminal();

  // The files and the pictures of all panels say it too: see the market with a past.
  test('simulated is told in the ribbon and the title', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    expect(await ribbonOf(page, 'simulated')).toContain('SIMULATED');
    expect(await page.title()).toStartWith('SIM ');
  });

  test('quotes that are older than the limit while the exchange is open are called stale within 5 s, and their age counts', async () => {
    const page = await terminal.open('#/SPY/ticker', { isSignedIn: false, isAlone: true });
    await page.clock.install();
    // The page starts its clock again, now by that of the test.
    await page.reload();
    const limit = Date.now() + 120_000;
    const asOf = new Date(limit - 1_800_000).toISOString();
    let pausedAt: number | undefined;
    await page.route('**/api/v1/**', async (route) => {
      const { pathname } = new URL(route.request().url());
      const now = pausedAt ?? Date.now();
      const date = new Date(now).toUTCString();
      if (pathname.includes('/stream/')) return route.fulfill({ status: 204, headers: { date } });
      const response = await route.fetch();
      const headers = { ...response.headers(), 'x-data-as-of': asOf, date };
      if (pathname !== '/api/v1/feeds') return route.fulfill({ response, headers });
      const body = (await response.json()) as FeedStatusAnswer;
      const hour = (hours: number) => new Date(limit + 3_600_000 * hours).toISOString();
      const session = { ...body.session, state: 'open', reason: null, opens_at: hour(-2), closes_at: hour(2) };
      const feeds = body.feeds.map((feed) => ({
        ...feed,
        // What the server says of the quotes at the time of the request.
        tickers: feed.tickers.map((each) => ({ ...each, as_of: asOf, state: now > limit ? 'stale' : 'fresh' })),
      }));
      return route.fulfill({ response, headers, json: { ...body, session, stale_after_s: 1_800, feeds } });
    });
    await page.fill('#key', terminal.key);
    await page.press('#key', 'Enter');
    await figuresOf(page);
    await ribbonOf(page, 'open');
    pausedAt = limit - 1_000;
    await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/api/v1/feeds')),
      page.clock.pauseAt(pausedAt),
    ]);
    expect(await page.locator('[data-state="stale"]').count()).toBe(0);
    for (const [seconds, age] of [
      [6, 'STALE 30 min'],
      [60, 'STALE 31 min'],
      [60, 'STALE 32 min'],
    ] as const) {
      pausedAt += 1_000 * seconds;
      await page.clock.runFor(1_000 * seconds);
      expect(await ribbonOf(page, 'stale', 1_000)).toContain(age);
    }
  });

  test('an address that is not understood says so, and a moment in words of people is understood', async () => {
    const page = await terminal.open('#/SPY/ticker?at=yesterday&weight=gold');
    await figuresOf(page);
    expect(await ribbonOf(page, 'misread')).toContain('weight=gold, at=yesterday');
    await page.keyboard.press('2');
    await page.waitForSelector('[data-state="misread"]', { state: 'detached' });
    await page.goto(`${terminal.url}/#/SPY@2026-11-19 15:00`);
    expect(await ribbonOf(page, 'replay')).toContain('Thu 19 Nov');
    expect(await page.locator('[data-state="misread"]').count()).toBe(0);
  });

  test('a copied link of a live page has the moment of its figures', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    const copied = await page.evaluate(async () => {
      const texts: string[] = [];
      navigator.clipboard.writeText = async (text) => void texts.push(text);
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true }));
      return texts[0];
    });
    const shown = await page.getAttribute('[data-panel="ladder"]', 'data-as-of');
    expect(copied).toBe(`${terminal.url}/#/SPY/ticker?at=${shown}`);
  });

  test('a hidden tab draws nothing; after two hours it shows the newest figures at once, and loads nothing again', async () => {
    const page = await terminal.open('#/SPY/ticker', { isAlone: true });
    await page.clock.install();
    await figuresOf(page);
    const setHidden = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await page.evaluate(() => {
      const seen = { changes: 0 };
      Object.assign(globalThis, { seen });
      new MutationObserver((changes) => (seen.changes += changes.length)).observe(document.querySelector('main')!, {
        subtree: true,
        childList: true,
        characterData: true,
      });
    });
    await setHidden(true);
    await page.evaluate(() =>
      Object.assign((globalThis as unknown as { seen: { changes: number } }).seen, { changes: 0 }),
    );
    await page.clock.fastForward('02:00:00');
    const changes = () => page.evaluate(() => (globalThis as unknown as { seen: { changes: number } }).seen.changes);
    expect(await changes()).toBe(0);
    await setHidden(false);
    await page.clock.runFor(100);
    expect(Object.keys(await figuresOf(page))).toHaveLength(7);
  });

  test(`${TABS} tabs all load, and the server counts one stream; if the leader closes, another leads`, async () => {
    const context = await terminal.browser.newContext();
    const pages: import('playwright-core').Page[] = [];
    for (let i = 0; i < TABS; i++) {
      const page = await context.newPage();
      await page.goto(`${terminal.url}/#key=${terminal.key}`);
      await figuresOf(page);
      pages.push(page);
    }
    const streams = async () =>
      ((await (await terminal.get('/api/v1/account')).json()) as { live_streams: number }).live_streams;
    expect(await streams()).toBe(1);
    const leaders = async () => {
      const found = [];
      for (const page of pages)
        if (!page.isClosed()) found.push(await page.evaluate(() => document.documentElement.dataset.leads === 'yes'));
      return found;
    };
    expect((await leaders()).filter(Boolean)).toHaveLength(1);
    await pages[(await leaders()).indexOf(true)]!.close();
    const deadline = Date.now() + 6_000;
    while (!(await leaders()).includes(true) && Date.now() < deadline) await Bun.sleep(100);
    expect((await leaders()).filter(Boolean)).toHaveLength(1);
  }, 60_000);

  test('a ticker that is not there, and a moment before the first snapshot, have their sentences and a way back', async () => {
    terminal.expected.push(/status of 400/);
    const page = await terminal.open('#/ZZZZ/ticker');
    await page.waitForSelector('.problem');
    expect(await page.textContent('main')).toContain('not in the universe');
    await page.evaluate(() => {
      location.hash = '#/SPY/ticker?at=2020-01-02T15:00:00Z';
    });
    expect(await ribbonOf(page, 'no_past')).toContain('SPY');
    await page.click('main >> text=Back to live');
    await figuresOf(page);
  });
});

describeInBrowser('no data', () => {
  const terminal = withTerminal((folder) => {
    const drop = join(folder, 'chains');
    mkdirSync(drop);
    return ['--feed', `files:${drop}`];
  });

  test('every view of an empty folder says what to do, and none waits for ever', async () => {
    terminal.expected.push(/status of 400/);
    const page = await terminal.open();
    await page.locator('[data-first-data]').getByText('zomma ingest FILE').waitFor();
    // Names of tools are for agents.
    expect(await page.textContent('main')).not.toMatch(/[a-z]_[a-z]/);
    for (const view of ['ticker', 'expiries', 'strikes', 'flow', 'history', 'compare', 'odds', 'surface', 'house']) {
      await page.evaluate((name) => {
        location.hash = `#/SPY/${name}`;
      }, view);
      await page.waitForSelector(`main[data-view="${view}"]`);
      await settled(page);
      const text = (await page.textContent('main'))!;
      expect({ view, words: text.length > 40, waits: /waiting/i.test(text) }).toEqual({
        view,
        words: true,
        waits: false,
      });
    }
  });
});

describeInBrowser('a server with limits that ends and returns', () => {
  const terminal = withTerminal();

  test('a server that is killed is reported within 5 s; when it is back, the page is live without being loaded again', async () => {
    terminal.expected.push(/Failed to load resource/);
    const dataDir = join(terminal.dataDir, 'killed');
    let server = await startServer(BINARY, ['start', '--port', '0', '--data-dir', dataDir]);
    const port = new URL(server.url).port;
    const key = keyOf(server);
    const context = await terminal.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/#key=${key}`);
    const before = await figuresOf(page);
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    await page.waitForSelector('[data-state="interrupted"]', { state: 'detached' });
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
    expect(await ribbonOf(page, 'offline', 6_000)).toContain('No answer from the server since');
    expect(await figuresOf(page)).toEqual(before);
    server = await startServer(BINARY, ['start', '--port', port, '--data-dir', dataDir]);
    await page.waitForSelector('[data-state="offline"]', { state: 'detached', timeout: 35_000 });
    await page.waitForSelector('[data-state="interrupted"]', { state: 'detached', timeout: 35_000 });
    expect(await page.evaluate(() => (globalThis as { isSamePage?: boolean }).isSamePage)).toBe(true);
    await context.close();
    await server.stop('SIGTERM');
  }, 90_000);

  test('when the requests are used up, the page says for how long, keeps the figures and sends nothing before', async () => {
    terminal.expected.push(/status of 429/);
    const server: Server = await startServer(BINARY, [
      'start',
      '--port',
      '0',
      '--data-dir',
      join(terminal.dataDir, 'limited'),
      '--rate-limit',
      '40/min',
    ]);
    const key = keyOf(server);
    const context = await terminal.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/#key=${key}`);
    await figuresOf(page);
    // Another program of the account uses the rest.
    for (let i = 0; i < 40; i++) await fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': key } });
    const refused: number[] = [];
    const sent: number[] = [];
    page.on('request', (request) => request.url().includes('/api/') && sent.push(Date.now()));
    page.on('response', (response) => response.status() === 429 && refused.push(Date.now()));
    await page.keyboard.press('j');
    expect(await ribbonOf(page, 'rate_limited')).toMatch(/again in \d+ s|left/);
    await page.waitForTimeout(500);
    const until = refused.at(-1) ?? 0;
    expect(sent.filter((at) => at > until && at < until + 900)).toEqual([]);
    await context.close();
    await server.stop('SIGTERM');
  }, 60_000);

  test('when the key is revoked, the figures are gone within 6 s', async () => {
    terminal.expected.push(/status of 403/);
    const { stdout } = await run(BINARY, ['members', 'add', '--uuid', UUID, '--data-dir', terminal.dataDir]);
    const key = /ZOMMA_\w{16}/.exec(stdout)![0];
    const context = await terminal.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${terminal.url}/#key=${key}`);
    await figuresOf(page);
    await page.waitForSelector('[data-state="interrupted"]', { state: 'detached' });
    await run(BINARY, ['members', 'revoke', '--uuid', UUID, '--data-dir', terminal.dataDir]);
    await page.waitForSelector('.sign-in', { timeout: 7_000 });
    expect(await page.locator('[data-figure]').count()).toBe(0);
    expect(await page.textContent('.sign-in .problem')).not.toBe('');
  }, 60_000);
});
