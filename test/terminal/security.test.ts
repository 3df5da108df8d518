import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser, figuresOf, withTerminal } from './browser.ts';

/** Everything that the browser keeps for the page's origin. */
const storageOf = (page: Page) =>
  page.evaluate(() =>
    JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, history.state]),
  );

describeInBrowser('the key in the browser', () => {
  const terminal = withTerminal();

  test('the fragment is gone from the address before the first request, and the key is stored nowhere', async () => {
    const context = await terminal.browser.newContext();
    const page = await context.newPage();
    const addresses: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) addresses.push(page.url());
    });
    await page.goto(`${terminal.url}/#key=${terminal.key}`);
    await figuresOf(page);
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((each) => each.includes('ZOMMA_'))).toEqual([]);
    expect(await storageOf(page)).not.toContain('ZOMMA_');
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    expect(await context.cookies()).toEqual([]);
    expect(terminal.server.log()).not.toContain('ZOMMA_');
    await context.close();
  });

  test('only "stay signed in" keeps the key, in this tab, and signing out removes it with the figures', async () => {
    const page = await terminal.open('#/SPY/ticker', { isSignedIn: false });
    await page.fill('#key', terminal.key);
    await page.check('input[type="checkbox"]');
    await page.press('#key', 'Enter');
    await figuresOf(page);
    expect(await page.evaluate(() => Object.values(sessionStorage).join())).toBe(terminal.key);
    expect(await page.evaluate(() => Object.values(localStorage).join())).not.toContain('ZOMMA_');
    await page.reload();
    await figuresOf(page);
    await page.keyboard.press('Control+K');
    await page.keyboard.type('sign out');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.sign-in');
    expect(await storageOf(page)).not.toContain('ZOMMA_');
    expect(await page.locator('[data-figure]').count()).toBe(0);
    await page.context().close();
  });

  test.each([
    ['neither a key nor a UUID', 'hello', 'neither a key'],
    ['a key that is not valid', 'ZOMMA_AAAAAAAAAAAAAAAA', 'key'],
    ['a UUID that is no member', '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90', ''],
    ['markup', '<img src=x onerror=alert(1)>', 'neither a key'],
  ])('%s gets a sentence, and no figure', async (_, given, sentence) => {
    terminal.expected.push(/status of 40[013]/);
    const page = await terminal.open('#/SPY/ticker', { isSignedIn: false });
    await page.fill('#key', given);
    await page.press('#key', 'Enter');
    await page.waitForSelector('.sign-in .problem');
    const text = await page.textContent('.sign-in .problem');
    expect(text!.length).toBeGreaterThan(20);
    expect(text).toContain(sentence);
    expect(await page.locator('[data-figure]').count()).toBe(0);
    expect(page.url()).not.toContain(given);
    await page.context().close();
  });

  test('a page of another port on the same host gets nothing', async () => {
    const attacker = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response('<p>other</p>', { headers: { 'Content-Type': 'text/html' } }),
    });
    const context = await terminal.browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${attacker.port}/`);
    const got = await page.evaluate(
      async ([url, key]) => {
        const read = await fetch(`${url}/api/v1/universe`, { headers: { 'X-API-Key': key! } }).then(
          () => 'read',
          () => 'refused',
        );
        const frame = document.createElement('iframe');
        frame.src = `${url}/`;
        document.body.append(frame);
        await new Promise((resolve) => (frame.onload = resolve));
        let framed = 'nothing';
        try {
          framed = frame.contentDocument?.querySelector('#terminal') ? 'framed' : 'nothing';
        } catch {}
        return [read, framed, document.cookie];
      },
      [terminal.url, terminal.key],
    );
    expect(got).toEqual(['refused', 'nothing', '']);
    await context.close();
    await attacker.stop(true);
  });
});

/** Texts that run, hide or turn around wherever they are not handled as text. */
const HOSTILE = [
  '<img src=x onerror="globalThis.ran=1">',
  '"><svg/onload=globalThis.ran=1>',
  'a\u202eb\u200bc',
  'javascript:globalThis.ran=1',
];

describeInBrowser('texts from outside', () => {
  const terminal = withTerminal();

  /** Replaces every text of every answer, or every text by an object that a careless page takes for an element. */
  const poison = (value: unknown, by: unknown, keep: ReadonlySet<string>, name = ''): unknown => {
    if (typeof value === 'string') return keep.has(name) ? value : by;
    if (Array.isArray(value)) return value.map((each) => poison(each, by, keep, name));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, poison(each, by, keep, key)]));
    return value;
  };
  /** Fields without which the page has no ticker or moment to show. */
  const KEPT = new Set(['beta_lords', 'as_of', 'ticker']);

  test.each([
    ...HOSTILE.map((text): [string, unknown] => [text, text]),
    [
      'an object in place of a text',
      { type: 'img', props: { src: 'x', onerror: 'globalThis.ran=1' }, __k: [], constructor: undefined },
    ],
  ])(
    '%p in every text of every answer is shown as text, or not at all',
    async (_, by) => {
      terminal.expected.push(/./);
      const page = await terminal.open('#/SPY/ticker', { isSignedIn: false });
      await page.route('**/api/v1/**', async (route) => {
        if (route.request().url().includes('/stream/')) return route.abort();
        const response = await route.fetch();
        const body = await response.json().catch(() => ({}));
        await route.fulfill({ response, json: poison(body, by, KEPT) });
      });
      await page.fill('#key', terminal.key);
      await page.press('#key', 'Enter');
      for (const view of ['ticker', 'expiries', 'strikes', 'flow', 'history', 'scan', 'surface', 'house']) {
        await page.evaluate((name) => {
          location.hash = `#/SPY/${name}`;
        }, view);
        await page.waitForTimeout(250);
        const found = await page.evaluate(() => ({
          hasRun: 'ran' in globalThis,
          foreign: document.querySelectorAll('img, iframe, object, embed, svg[onload], script:not([src^="/web/"])')
            .length,
          links: [...document.querySelectorAll('a')]
            .map((each) => each.getAttribute('href') ?? '')
            .filter((href) => !/^[#/]/.test(href)),
          marks: /[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent ?? ''),
        }));
        expect({ view, ...found }).toEqual({ view, hasRun: false, foreign: 0, links: [], marks: false });
      }
      await page.context().close();
    },
    60_000,
  );
});
