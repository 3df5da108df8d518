import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { cleanText } from '../../web/page-format.ts';
import { VIEWS } from '../../web/state/address.ts';
import { BINARY, run } from '../support/process.ts';
import { IS_FULL } from '../support/size.ts';
import { goTo } from './answers.ts';
import { describeInBrowser, figuresOf, test, withTerminal } from './browser.ts';

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
    await goTo(page, '#/SPY/expiries');
    await page.keyboard.press('Control+K');
    await page.keyboard.type('sign out');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.sign-in');
    expect(await storageOf(page)).not.toContain('ZOMMA_');
    expect(await page.locator('[data-figure]').count()).toBe(0);
    // The page has kept no answer, so the next member's page asks for it again.
    await page.fill('#key', terminal.key);
    await Promise.all([page.waitForRequest(/\/matrix\?.*at=/), page.press('#key', 'Enter')]);
  });

  test('what is no key of a member gets a sentence, and no figure', async () => {
    terminal.expected.push(/status of 40[013]/);
    const page = await terminal.open('#/SPY/ticker', { isSignedIn: false });
    for (const [given, sentence] of [
      ['hello', 'neither a key'],
      ['ZOMMA_AAAAAAAAAAAAAAAA', 'No member has this key'],
      ['7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90', ''],
      ['<img src=x onerror=alert(1)>', 'neither a key'],
    ] as const) {
      await page.fill('#key', given);
      await page.press('#key', 'Enter');
      await page.waitForSelector('.sign-in .problem');
      const text = await page.textContent('.sign-in .problem');
      expect([given, text!.length > 20, text]).toEqual([given, true, expect.stringContaining(sentence)]);
      expect([given, await page.locator('[data-figure]').count()]).toEqual([given, 0]);
      expect(page.url()).not.toContain(given);
      await page.reload();
      await page.waitForSelector('.sign-in .problem', { state: 'detached' });
    }
  });

  test('the printed link signs in once, and its key stays in this tab alone', async () => {
    terminal.expected.push(/status of 403/);
    const printed = terminal.server.before.find((line) => line.startsWith('open: '))!;
    const [, url] = /^open: (\S+)/.exec(printed)!;
    expect(printed).not.toContain('ZOMMA_');
    const first = await terminal.open('', { isSignedIn: false });
    await first.goto('about:blank');
    await first.goto(url!);
    await figuresOf(first);
    await first.reload();
    await figuresOf(first);
    const other = await terminal.open('', { isSignedIn: false });
    await other.goto('about:blank');
    await other.goto(url!);
    await other.waitForSelector('.sign-in .problem');
    expect(await other.textContent('.sign-in .problem')).toContain('This link has been used');
    expect(await storageOf(other)).not.toMatch(/ZOMMA_|code=/);
    expect(await first.evaluate(() => JSON.stringify(localStorage) + document.cookie)).not.toContain('ZOMMA_');
  });

  test('a link in an open tab signs in, and replaces another key only after a question', async () => {
    const add = ['members', 'add', '--uuid', '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a91', '--json'];
    const { stdout } = await run(BINARY, [...add, '--data-dir', terminal.dataDir]);
    const other = (JSON.parse(stdout) as { api_key: string }).api_key;
    const page = await terminal.open('#/SPY/ticker', { isSignedIn: false, isAlone: true });
    const questions: string[] = [];
    let answer = true;
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void (answer ? dialog.accept() : dialog.dismiss());
    });
    /** The key of the requests of the next view. */
    const keyIn = async (view: string) => {
      const sent = page.waitForRequest(
        (request) => request.url().includes('/api/v1/') && !!request.headers()['x-api-key'],
      );
      await page.evaluate((to) => (location.hash = to), `#/SPY/${view}`);
      return (await sent).headers()['x-api-key'];
    };
    const follow = async (key: string) => {
      await page.evaluate((to) => (location.hash = to), `#key=${key}`);
      await page.waitForFunction(() => !location.hash.includes('key='));
    };
    await follow('ZOMMA_SHORT');
    await page.getByText('The link has no whole key').waitFor();
    await follow(terminal.key);
    await figuresOf(page);
    expect(page.url()).toEndWith('#/SPY/ticker');
    await follow(terminal.key);
    expect(questions).toEqual([]);
    answer = false;
    await follow(other);
    expect([questions.length, page.url().includes('ZOMMA_'), await keyIn('flow')]).toEqual([1, false, terminal.key]);
    answer = true;
    await follow(other);
    expect([questions.length, await keyIn('history')]).toEqual([2, other]);
    expect(questions[0]).toContain('Replace your key in this tab');
    expect(await storageOf(page)).not.toContain('ZOMMA_');
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

/** Texts that run, hide, turn around or lead elsewhere wherever they are not handled as text. */
const HOSTILE = [
  '<img src=x onerror="globalThis.ran=1">',
  '"><svg/onload=globalThis.ran=1>',
  'a\u202eb\u200bc',
  'javascript:globalThis.ran=1',
  '//attacker.example/x',
];
/** What a careless page takes for an element. */
const ELEMENT = { type: 'img', props: { src: 'x', onerror: 'globalThis.ran=1' }, __k: [], constructor: undefined };

/** Fields without which the page has no ticker, moment or tool to show. */
const KEPT = new Set(['beta_lords', 'as_of', 'ticker', 'name']);

describeInBrowser('texts from outside', () => {
  const terminal = withTerminal();

  test.each([
    ['hostile texts', HOSTILE],
    ['objects', [ELEMENT]],
  ])(
    '%s in place of the texts of every answer and of every problem are shown as text, or not at all',
    async (_, hostile) => {
      terminal.expected.push(/./);
      let next = 0;
      const shown = new Set(hostile.filter((each) => typeof each === 'string').map((each) => cleanText(each)));
      /** Replaces each text of an answer by the next of the hostile values. */
      const poison = (value: unknown, name = ''): unknown => {
        if (typeof value === 'string') return KEPT.has(name) ? value : hostile[next++ % hostile.length];
        if (Array.isArray(value)) return value.map((each) => poison(each, name));
        if (typeof value === 'object' && value !== null)
          return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, poison(each, key)]));
        return value;
      };
      const page = await terminal.open('#/SPY/ticker', { isSignedIn: false });
      await page.route(/\/(?:api\/v1\/|openapi)/, async (route) => {
        if (route.request().url().includes('/stream/')) return route.abort();
        const response = await route.fetch();
        const body = await response.json().catch(() => ({}));
        const text = encodeURIComponent(HOSTILE.join(' '));
        const headers = { ...response.headers(), 'x-data-source': text, 'x-data-notes': text };
        await route.fulfill({ response, headers, json: poison(body) });
      });
      await page.fill('#key', terminal.key);
      await page.press('#key', 'Enter');
      await page.waitForSelector('main[data-view]');
      // In the everyday run, objects are looked for in every second view.
      const views = VIEWS.filter((_, i) => IS_FULL || hostile === HOSTILE || i % 2 === 0).map(
        (view) => `#/SPY/${view}`,
      );
      const others = ['#/SPY/ticker?explain=gex_flip', '#/SPY/house?_part=account', '#/SPY/house?_part=tools'];
      // The last two are answered by a problem.
      for (const address of [...views, ...others, '#/SPY/ticker?at=2020-01-02T15:00:00Z', '#/ZZZZ/ticker']) {
        await goTo(page, address);
        const found = await page.evaluate(() => ({
          hasRun: 'ran' in globalThis,
          foreign: document.querySelectorAll('img, iframe, object, embed, svg[onload], script:not([src^="/web/"])')
            .length,
          links: [...document.body.querySelectorAll('[href], [src], [action], [formaction]')]
            .flatMap((each) => ['href', 'src', 'action', 'formaction'].map((name) => each.getAttribute(name)))
            .filter((target) => target !== null && !/^(?:#|\/(?!\/))/.test(target)),
          texts: (document.body.textContent ?? '').replaceAll(/\s+/g, ' '),
        }));
        const { texts, ...rest } = found;
        expect({ address, ...rest }).toEqual({ address, hasRun: false, foreign: 0, links: [] });
        const marked = /.{0,60}[\u200b-\u200f\u202a-\u202e\u2066-\u2069].{0,40}/.exec(texts)?.[0];
        expect([address, marked]).toEqual([address, undefined]);
        for (const each of shown) if (texts.includes(each)) shown.delete(each);
      }
      // Every text stood somewhere on the page.
      expect([...shown]).toEqual([]);
    },
    60_000,
  );
});
