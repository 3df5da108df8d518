import { afterAll, afterEach, beforeAll, test as bunTest, describe, expect } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { testNeeding } from '../support/needs.ts';
import { BINARY, buildBinary, keyOf, type Server, startServer } from '../support/process.ts';
import { answersOf, followAnswers } from './answers.ts';

/** Where Chromium may be. `CHROMIUM` names another place. */
const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const chromiumPath = PLACES.find((path) => path !== undefined && existsSync(path));

/**
 * Features of Chromium that tests do not need. The page inside the address bar of each window and the renderer in reserve take more processor
 * time than the tests. The others are those that Playwright turns off: this list replaces its own.
 */
const FEATURES_OFF = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'MediaRouter'],
  ...['HttpsFirstBalancedModeAutoEnable', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'LensOverlay'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  ...['PreconnectToSearch'],
];

/** Starts Chromium. It ends when it is closed, and with the process that started it. */
export const launchChromium = (executablePath = chromiumPath!) =>
  chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--force-color-profile=srgb', `--disable-features=${FEATURES_OFF}`],
  });

/** The browser of all test files that run in this process: to start another one takes a second of the processor. */
let shared: Promise<Browser> | undefined;

export async function sharedBrowser(): Promise<Browser> {
  if (!(await shared)?.isConnected()) shared = launchChromium();
  return shared!;
}

/**
 * Describes tests that need a browser. Without Chromium the tests are skipped, and with `CI=true` a missing Chromium is a failure.
 */
export function describeInBrowser(name: string, body: () => void): void {
  if (chromiumPath !== undefined) describe(name, body);
  else testNeeding(false, 'not installed: Chromium')(name, body);
}

/**
 * The `test` of tests in a browser. A browser on a busy machine can stall, so a test that fails gets one more try, and the output shows both.
 * No other test is tried again.
 */
export const test = Object.assign(
  (name: string, body: () => Promise<void>, timeout = 60_000) => bunTest(name, body, { timeout, retry: 1 }),
  {
    each: ((rows: never) =>
      (name: string, body: () => Promise<void>, timeout = 60_000) =>
        bunTest.each(rows)(name, body, { timeout, retry: 1 })) as unknown as typeof bunTest.each,
  },
);

/**
 * The arguments of a server whose simulated market has two tickers with a past. That of all tickers would take a processor core for a
 * minute, beside the tests.
 */
export function smallMarketWithPast(folder: string): string[] {
  const file = join(folder, 'universe.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify({ themes: { indices: ['SPY', 'QQQ'] } }));
  return ['--past', 'on', '--sim-clock', 'real', '--universe', file];
}

export interface OpenOptions extends BrowserContextOptions {
  readonly width?: number;
  readonly height?: number;
  /** False opens the page without the key. */
  readonly isSignedIn?: boolean;
  /** True for a test that leaves a mark on the page, such as another clock, so that no other test may have the page. */
  readonly isAlone?: boolean;
  /** Called before the page is loaded, for example to answer its requests. */
  prepare?(page: Page): Promise<unknown>;
}

/** A running server with a browser. */
export interface Terminal {
  readonly url: string;
  readonly key: string;
  readonly server: Server;
  readonly dataDir: string;
  readonly browser: Browser;
  /**
   * Opens a page in a context of its own, and waits until the fragment's view has its figures. After the test, the context is closed, or
   * emptied for the next test: to open another one takes more of the processor than to load the page.
   */
  open(fragment?: string, options?: OpenOptions): Promise<Page>;
  /** Errors that a test provokes and expects: console messages that match are no problem. */
  readonly expected: RegExp[];
  /** What no page may have: console errors, exceptions, violations of the policy, requests to another host. */
  readonly problems: string[];
  /** Sends a request with the member's key. */
  get(path: string): Promise<Response>;
}

/**
 * Starts the compiled binary before the tests of a `describe`, and ends it after them. After the tests, no page may have had a problem. `args` are arguments of `zomma start`, and `env` is added to its environment.
 */
export function withTerminal(args: (folder: string) => string[] = () => [], env = {}): Terminal {
  let state: { server: Server; browser: Browser; key: string; dataDir: string } | undefined;
  const problems: string[] = [];
  const expected: RegExp[] = [];
  const on = () => state!;
  /** The page that the next test may have, and those that may become it. */
  let rested: Page | undefined;
  const shareable = new Set<Page>();
  beforeAll(async () => {
    await buildBinary();
    const dataDir = mkdtempSync(join(tmpdir(), 'zomma-terminal-'));
    const [server, browser] = await Promise.all([
      startServer(
        BINARY,
        ['start', '--port', '0', '--data-dir', dataDir, '--rate-limit', 'off', ...args(dataDir)],
        env,
      ),
      sharedBrowser(),
    ]);
    await server.loaded;
    const key = keyOf(server);
    state = { server, browser, key, dataDir };
  }, 300_000);
  afterEach(async () => {
    for (const context of state?.browser.contexts() ?? []) {
      const pages = context.pages();
      // Without its routes, a page that a test gives other answers would ask the server, and note that as a problem.
      for (const page of pages) await leave(page, on().server.url).catch(() => {});
      if (!rested && pages.length === 1 && shareable.has(pages[0]!)) rested = pages[0];
      if (context !== rested?.context()) await context.close();
    }
  });
  afterAll(async () => {
    await rested?.context().close();
    await state?.server.stop('SIGTERM');
    if (state) rmSync(state.dataDir, { recursive: true, force: true });
    expect(problems.filter((each) => !expected.some((pattern) => pattern.test(each)))).toEqual([]);
  }, 60_000);
  return {
    get url() {
      return on().server.url;
    },
    get key() {
      return on().key;
    },
    get server() {
      return on().server;
    },
    get dataDir() {
      return on().dataDir;
    },
    get browser() {
      return on().browser;
    },
    problems,
    expected,
    get: (path) => fetch(`${on().server.url}${path}`, { headers: { 'X-API-Key': on().key } }),
    async open(
      fragment = '#/SPY/ticker',
      { width = 1280, height = 800, isSignedIn = true, isAlone = false, prepare, ...options } = {},
    ) {
      const { browser, server, key } = on();
      const { colorScheme = 'dark', forcedColors = 'none', ...lasting } = options;
      const isShareable = !isAlone && Object.keys(lasting).length === 0;
      let page = isShareable ? rested : undefined;
      if (page) {
        rested = undefined;
        answersOf(page).forget();
        await page.setViewportSize({ width, height });
      } else {
        const context = await browser.newContext({ viewport: { width, height }, ...lasting });
        await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
        page = await context.newPage();
        watch(page, server.url, problems);
        await followAnswers(page);
        if (isShareable) shareable.add(page);
      }
      await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: null });
      await prepare?.(page);
      await page.goto(isSignedIn ? `${server.url}/#key=${key}&${fragment.slice(1)}` : `${server.url}/${fragment}`);
      if (isSignedIn) await page.waitForSelector('main[data-view]');
      return page;
    },
  };
}

/** A document without content. By its policy, which is that of the page, Chromium keeps the process. */
const BLANK = {
  contentType: 'text/html',
  headers: { 'cross-origin-opener-policy': 'same-origin' },
  body: '<link rel="icon" href="data:,">',
};

/** Leaves the page of the terminal, and removes what it has stored, and its routes. */
async function leave(page: Page, url: string): Promise<void> {
  await page.route(`${url}/blank`, (route) => route.fulfill(BLANK));
  await page.goto(`${url}/blank`);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}

/** Loads a page again at another fragment, signed in. With the fragment alone, the browser would load nothing. */
export async function loadAgain(page: Page, key: string, fragment: string): Promise<void> {
  await page.evaluate((to) => history.replaceState(null, '', to), `#key=${key}&${fragment.slice(1)}`);
  await page.reload();
  await page.waitForSelector('main[data-view]');
}

/** Opens a page in a context of its own, signed in, and waits until its figures stand. */
export async function signIn({ browser, url, key }: Pick<Terminal, 'browser' | 'url' | 'key'>): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${url}/#key=${key}`);
  await figuresOf(page);
  await settled(page);
  return page;
}

/** The requests for data that a page waits for. */
const pending = new WeakMap<Page, Set<Request>>();

/** Collects what a page must not have, and follows what it waits for. */
export function watch(page: Page, origin: string, problems: string[]): void {
  const waited = new Set<Request>();
  pending.set(page, waited);
  page.on('requestfinished', (request) => waited.delete(request));
  page.on('requestfailed', (request) => waited.delete(request));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    // The stream of live levels never ends.
    if (/\/(?:api|mcp)\b(?!.*\/stream\/)/.test(url)) waited.add(request);
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) problems.push(`request to ${url}`);
  });
}

/** Waits until the figures of the Ticker view are on the page, and returns their texts by id. */
export async function figuresOf(page: Page): Promise<Record<string, string>> {
  await page.waitForSelector('[data-figure="gex_flip"] .figure-value');
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>('[data-figure]')].map((each) => [
        each.dataset.figure!,
        each.querySelector('.figure-value')!.textContent!,
      ]),
    ),
  );
}

/** Time without a change after which a page is at rest, ms: if it is known to wait for no answer, the longest pause that it makes itself. */
const REST_MS = { known: 100, unknown: 250 };

/** Waits until a change that needs no answer is on the page: charts follow their size in the frame after it. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  });
}

/** Waits until no answer is on its way and nothing was drawn for a moment. */
export async function still(page: Page): Promise<void> {
  const followed = pending.get(page);
  const waited = followed ?? new Set();
  do {
    while (waited.size > 0)
      await Promise.race([page.waitForEvent('requestfinished'), page.waitForEvent('requestfailed')]);
    await page.evaluate(
      (restMs) =>
        new Promise((resolve) => {
          const rest = () => {
            observer.disconnect();
            resolve(true);
          };
          let timer = setTimeout(rest, restMs);
          const observer = new MutationObserver(() => {
            clearTimeout(timer);
            timer = setTimeout(rest, restMs);
          });
          observer.observe(document.querySelector('main') ?? document.body, { subtree: true, childList: true });
        }),
      followed ? REST_MS.known : REST_MS.unknown,
    );
  } while (waited.size > 0);
}

/** Waits until the page has stopped changing, and no panel waits for the server. */
export async function settled(page: Page): Promise<void> {
  await still(page);
  await page.waitForSelector('.waiting', { state: 'detached' });
}
