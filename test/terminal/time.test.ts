import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import type { GexHistory } from '../../src/operations/history/gex-history.ts';
import type { FeedStatusAnswer } from '../../web/data/page-answers.ts';
import { newYorkDay, newYorkMoment } from '../../web/page-format.ts';
import { formatAddress, parseAddress, START } from '../../web/state/address.ts';
import { testWithProgram } from '../support/needs.ts';
import { run } from '../support/process.ts';
import { IS_FULL, IS_LONG } from '../support/size.ts';
import { answersOf, goTo } from './answers.ts';
import {
  describeInBrowser,
  figuresOf,
  loadAgain,
  smallMarketWithPast,
  type Terminal,
  test,
  withTerminal,
} from './browser.ts';
import { checkPage, lookOf, randomStates } from './page-states.ts';
import { checkPanels, menusOf } from './panel-actions.ts';
import { PANELS, TABLES } from './panel-tables.ts';
import { testTasks } from './trader-tasks.ts';

const STATES = IS_LONG ? 200 : IS_FULL ? 12 : 4;

describeInBrowser('a market with a past', () => {
  const terminal = withTerminal(smallMarketWithPast);

  test('the keys of time go from snapshot to snapshot and from day to day, pin A, swap and return to live', async () => {
    const { page, at } = await openWithPast(terminal);
    const last = at.length - 1;
    const lastOf = (date: string) => at.findLast((each) => each.startsWith(date))!;
    const dates = [...new Set(at.map((each) => each.slice(0, 10)))];
    const steps: readonly (readonly [key: string, expected: Awaited<ReturnType<typeof stateOf>>])[] = [
      ['[', { at: at[last - 1]! }],
      ['[', { at: at[last - 2]! }],
      [']', { at: at[last - 1]! }],
      ['{', { at: lastOf(dates.at(-2)!) }],
      ['{', { at: lastOf(dates.at(-3)!) }],
      ['}', { at: lastOf(dates.at(-2)!) }],
      ['p', { at: lastOf(dates.at(-2)!), pin: lastOf(dates.at(-2)!) }],
      ['{', { at: lastOf(dates.at(-3)!), pin: lastOf(dates.at(-2)!) }],
      ['d', { at: lastOf(dates.at(-3)!), pin: lastOf(dates.at(-2)!), diff: '1' }],
      ['x', { at: lastOf(dates.at(-2)!), pin: lastOf(dates.at(-3)!), diff: '1' }],
      ['d', { at: lastOf(dates.at(-2)!), pin: lastOf(dates.at(-3)!) }],
      ['l', { pin: lastOf(dates.at(-3)!) }],
      [']', { pin: lastOf(dates.at(-3)!) }],
    ];
    for (const [key, expected] of steps) {
      await page.keyboard.press(key);
      expect({ key, ...(await stateOf(page)) }).toEqual({ key, ...expected });
    }
  }, 180_000);

  test('dragging over 200 places asks for at most 20 views, and the last wins whatever the order of the answers', async () => {
    const { page, at } = await openWithPast(terminal);
    const views: string[] = [];
    await page.route(/\/view\?/, async (route) => {
      views.push(new URL(route.request().url()).searchParams.get('at') ?? '');
      // The first requests are answered last.
      const response = await route.fetch().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 40 * Math.max(0, 12 - views.length)));
      if (response) await route.fulfill({ response }).catch(() => {});
    });
    // Five strokes of forty places, and a rest after each.
    for (let stroke = 1; stroke <= 5; stroke++) {
      const before = await page.evaluate(() => location.hash);
      await page.$eval(
        '.strip-track input',
        (input: HTMLInputElement, end) => {
          for (let i = 40; i >= 0; i--) {
            input.value = String(Number(input.max) * (end + 0.0025 * i));
            input.dispatchEvent(new Event('input', { bubbles: true }));
          }
        },
        0.95 - 0.1 * stroke,
      );
      await page.waitForFunction((hash) => location.hash !== hash, before);
    }
    const { at: shown } = await stateOf(page);
    expect(at).toContain(shown!);
    await page.waitForSelector(`[data-panel="ladder"][data-as-of="${shown}"]`);
    expect(await page.getAttribute('.strip-moment', 'data-moment')).toBe(shown!);
    expect(views.length).toBeLessThanOrEqual(20);
    expect(views.every((each) => at.includes(each))).toBe(true);
  }, 120_000);

  test('a replay shows no live figure, and live is back within one frame', async () => {
    const { page, at } = await openWithPast(terminal);
    const live = await figuresOf(page);
    const [then, now] = [at[at.length - 20]!, at.at(-1)!];
    await page.evaluate((moment) => {
      location.hash = `#/SPY/ticker?at=${moment}`;
    }, then);
    await page.waitForSelector(`[data-panel="ladder"][data-as-of="${then}"]`);
    const rest = (await (await terminal.get(`/api/v1/nodes/gex/SPY?at=${then}`)).json()) as { spot_price: number };
    const replayed = await figuresOf(page);
    expect(replayed.spot_price).toBe(rest.spot_price.toFixed(2));
    expect(replayed.gex_flip).not.toBe(live.gex_flip!);
    const moments = await page.$$eval('[data-panel]', (panels) =>
      panels.map((each) => each.getAttribute('data-as-of')),
    );
    expect(new Set(moments)).toEqual(new Set([then]));
    const frames = await page.evaluate(
      (moment) =>
        new Promise<number>((resolve) => {
          let count = 0;
          const look = () => {
            count++;
            const shown = document.querySelector('[data-panel="ladder"]')!.getAttribute('data-as-of');
            if (shown === moment || count > 60) resolve(count);
            else requestAnimationFrame(look);
          };
          document.dispatchEvent(new KeyboardEvent('keydown', { key: 'l', bubbles: true }));
          requestAnimationFrame(look);
        }),
      now,
    );
    expect(frames).toBeLessThanOrEqual(2);
    expect(await figuresOf(page)).toEqual(live);
  }, 120_000);

  test('Play shows one snapshot after the other up to the newest, and ends when the member moves', async () => {
    const { page, at } = await openWithPast(terminal);
    const day = at.at(-1)!.slice(0, 10);
    // From the last hours of the day before on: while the exchange is open, the snapshots of the last minutes come and go.
    const start = at.filter((each) => each < day).at(-7)!;
    await page.evaluate((moment) => {
      location.hash = `#/SPY/ticker?at=${moment}`;
    }, start);
    await page.waitForSelector(`[data-panel="ladder"][data-as-of="${start}"]`);
    await page.selectOption('.play select', '250');
    await page.click('[data-action="play"]');
    const seen = await page.evaluate(
      (end) =>
        new Promise<string[]>((resolve) => {
          const moments: string[] = [];
          const look = () => {
            const moment = document.querySelector('[data-panel="ladder"]')!.getAttribute('data-as-of')!;
            if (moments.at(-1) !== moment) moments.push(moment);
            if (moment >= end) resolve(moments);
            else requestAnimationFrame(look);
          };
          look();
        }),
      at.at(-1)!,
    );
    const halfHours = (moments: readonly string[]) => moments.filter((each) => /:[03]0:00/.test(each) && each < day);
    expect(halfHours(seen)).toEqual(halfHours(at.filter((each) => each >= start)));
    expect(halfHours(seen).length).toBeGreaterThan(5);
    await page.waitForSelector('[data-action="play"]:has-text("Play")');
    await page.click('[data-action="play"]');
    await page.waitForFunction(() => location.hash.includes('at='));
    await page.keyboard.press('{');
    await page.waitForSelector('[data-action="play"]:has-text("Play")');
    expect((await stateOf(page)).at! < day).toBe(true);
  }, 120_000);

  test('a moment that is no snapshot is shown as it is, beside the nearest', async () => {
    const { page, at } = await openWithPast(terminal);
    const between = new Date(Date.parse(at[at.length - 3]!) + 20_000).toISOString();
    await page.evaluate((moment) => {
      location.hash = `#/SPY/ticker?at=${moment}`;
    }, between);
    await page.waitForSelector('.strip-stop');
    expect(await page.getAttribute('.strip-moment', 'data-moment')).toBe(between);
    expect(await page.getAttribute('.strip-track input', 'aria-valuetext')).toContain('no snapshot');
    await page.keyboard.press('[');
    expect((await stateOf(page)).at).toBe(at[at.length - 3]!);
  }, 120_000);

  test('the difference of A and B is the opposite of that of B and A, and that of A and A is none', async () => {
    const { page, at } = await openWithPast(terminal);
    const [a, b] = [at[at.length - 30]!, at[at.length - 3]!];
    const compare = async (first: string, second: string) => {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/SPY/ticker?at=${second}&pin=${first}&diff=1`);
      await page.waitForSelector(`[data-panel="ladder"][data-as-of="${second}"]`);
      await page.waitForSelector('[data-diff="shown"]');
      const notes = await page.$$eval('[data-figure] .figure-note', (found) => found.map((each) => each.textContent!));
      return { notes, text: (await page.textContent('[data-diff]'))! };
    };
    const [there, back, same] = [await compare(a, b), await compare(b, a), await compare(a, a)];
    const changes = (notes: readonly string[]) => notes.map((note) => note.split(', ').at(-1)!);
    const opposite = (text: string) => (text.startsWith('−') ? text.replace('−', '+') : text.replace('+', '−'));
    expect(changes(back.notes)).toEqual(changes(there.notes).map(opposite));
    expect(new Set(changes(there.notes)).size).toBeGreaterThan(3);
    expect(there.text).toContain(`expired in between: ${newYorkDay(a.slice(0, 10))}, PM-settled`);
    expect(new Set(changes(same.notes))).toEqual(new Set(['no change']));
    expect(same.text).toContain('nothing differs');
  }, 120_000);

  test('in the history, arrows and Enter choose a moment, a drag chooses a span, and the record lists its days', async () => {
    const { page } = await openWithPast(terminal, '#/SPY/history');
    await page.waitForSelector('[data-chart="history"] svg');
    await page.focus('[role="application"][data-chart="history"]');
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
    const readout = await page.textContent('[data-panel="history"] .readout');
    await page.waitForFunction(
      (text) => document.querySelector('[data-chart="history"] [aria-live]')?.textContent === text,
      readout!,
    );
    await page.keyboard.press('Enter');
    const { at: chosen } = await stateOf(page);
    expect(readout).toContain(`spot ${(await spotAt(terminal, chosen!)).toFixed(2)}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('l');
    const box = (await page.locator('[data-chart="history"] .plot').first().boundingBox())!;
    await page.mouse.move(box.x + 300, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 450, box.y + 60, { steps: 4 });
    await page.mouse.up();
    expect(await page.evaluate(() => location.hash)).toMatch(/_from=2026-\d\d-\d\d&_to=2026-\d\d-\d\d$/);
    await page.click('[data-level="flip"] button');
    await page.click('[data-days="flip"] [role="row"]:nth-child(2) [role="rowheader"]');
    expect(await page.evaluate(() => location.hash)).toMatch(/^#\/SPY\/ticker\?at=2026/);
  }, 120_000);

  test('what a panel copies and saves is what it shows: curl, file, table and picture, if there is a chart', async () => {
    // While the exchange is open, another snapshot may arrive at any time, so the page does not show the newest one.
    const at = (await pastIsFilled(terminal)).at(-2)!;
    const page = await terminal.open(`#/SPY/ticker?at=${at}`, { width: 1900, height: 720, isAlone: true });
    const seen = new Set<string>();
    // The everyday run has every second view.
    const shown = PANELS.filter((_, i) => IS_FULL || i % 2 === 0);
    for (const [address, panels] of shown) {
      await goTo(page, `#/SPY/${address}${address.includes('?') ? '&' : '?'}at=${at}`);
      const menus = await menusOf(page);
      expect([address, menus.map(({ id }) => id)]).toEqual([address, [...panels]]);
      // Pictures have canvases, SVG and labels of charts. The picture of a grid or a list, which has none of them, would be blank.
      const blank = menus.filter(({ acts, chart }) => acts.includes('Save picture') && chart === null);
      expect([address, blank.map(({ id }) => id)]).toEqual([address, []]);
      const fresh = menus.filter(({ id }) => !seen.has(id));
      await checkPanels(page, terminal, fresh, { ticker: 'SPY', isSimulated: true });
      for (const { id } of fresh) seen.add(id);
    }
    const all = IS_FULL ? Object.keys(TABLES) : shown.flatMap(([, panels]) => [...panels]);
    expect([...seen].toSorted()).toEqual([...new Set(all)].toSorted());
  }, 120_000);

  testWithProgram('curl')('a copied command works in a shell as it stands', async () => {
    const page = await terminal.open('#/SPY/strikes');
    await answersOf(page).settled();
    const [menu] = (await menusOf(page)).filter((each) => each.curl);
    const { stdout } = await run(['sh', '-c', `export ZOMMA_KEY=${terminal.key}; ${menu!.curl} -s`], []);
    expect(JSON.parse(stdout)).toMatchObject({ ticker: 'SPY' });
  });

  test('a panel says of which moment it is until its answer of the moment of the page has arrived', async () => {
    const moments = await pastIsFilled(terminal);
    const [before, now] = [moments.at(-20)!, moments.at(-3)!];
    const page = await terminal.open(`#/SPY/expiries?at=${before}`);
    await answersOf(page).settled();
    const release = Promise.withResolvers<void>();
    await page.route('**/matrix?*', async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.evaluate((moment) => {
      location.hash = `#/SPY/expiries?at=${moment}`;
    }, now);
    await page.waitForSelector(`[data-panel="term"][data-as-of="${now}"]`);
    expect(await page.$$eval('main .moment', (found) => found.map((each) => each.textContent!.trim()))).toEqual([
      `of ${newYorkMoment(before)}`,
    ]);
    expect(await page.getAttribute('[data-panel="matrix"]', 'data-as-of')).toBe(before);
    release.resolve();
    await page.waitForSelector(`[data-panel="matrix"][data-as-of="${now}"]`);
    expect(await page.locator('main .moment').count()).toBe(0);
  });

  // Their operations take no options. The panel of hedging nodes says so, and the flip of History differs from that of Ticker without a word.
  test('panels that cannot follow the options of the page say so', async () => {
    const page = await terminal.open();
    for (const [address, panels] of [
      ['strikes', ['nodes']],
      ['history', ['history', 'record']],
      ['odds', ['density', 'whipsaw', 'concentration']],
    ] as const) {
      await goTo(page, `#/SPY/${address}?sign=flow&weight=volume`);
      for (const id of panels)
        expect([id, await page.textContent(`[data-panel="${id}"] .panel-head`)]).toEqual([
          id,
          expect.stringContaining('with the default options'),
        ]);
    }
  });

  testTasks(terminal);

  test('the levels, the JSON and the link that are copied have the figures and the moment of the page', async () => {
    const at = (await pastIsFilled(terminal)).at(-20)!;
    const page = await terminal.open(`#/SPY/ticker?at=${at}&explain=gex_flip`);
    await figuresOf(page);
    const copied = async (what: string) => {
      await page.waitForSelector(`.notice:text-is("Copied: ${what}")`);
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const text = await (await terminal.get(`/api/v1/nodes/gex/SPY?expiries=next:35&at=${at}`)).text();
    const levels = JSON.parse(text) as Record<string, number>;
    await page.click('[data-panel="ladder"] .panel-menu summary');
    await page.click('text=Copy the levels as one line');
    const [, ticker, pairs] = /^\$(\w+): (.+)$/.exec(await copied('the levels as one line'))!;
    const words = pairs!.split(', ');
    expect({ ticker, levels: words.map((each, i) => (i % 2 === 0 ? each : Number(each))) }).toEqual({
      ticker: 'SPY',
      levels: [
        ...['Call wall', levels.call_wall!, 'Put wall', levels.put_wall!],
        ...['Flip', Number(levels.gex_flip!.toFixed(2)), 'Max pain', levels.max_pain!, 'Spot', levels.spot_price!],
      ],
    });
    await page.click('#call-JSON');
    await page.click('text=Copy all');
    expect(await copied('the call as JSON')).toBe(text);
    await page.keyboard.press('y');
    expect(parseAddress(new URL(await copied(`link to ${newYorkMoment(at)} New York`)).hash)).toEqual({
      ...START,
      at,
      explain: 'gex_flip',
    });
  });

  test('in random states, all panels of a page name one moment and one set of options, and a link opens the same page', async () => {
    terminal.expected.push(/status of 400/);
    const moments = await pastIsFilled(terminal);
    const states = randomStates(STATES, moments);
    let count = 0;
    const visit = async (part: number, of: number) => {
      const looks = new Map<string, string>();
      const page = await terminal.open();
      // Without stops, the page does not ask for the snapshots beside the present one ahead, which takes most of the server's time.
      await page.route('**/history?per=snapshot&points=5000', async (route) => {
        const response = await route.fetch();
        const none = { count: 0, as_of: [], day: [], spot: [] };
        // Without a body, the answer is the one that the page has.
        if (response.status() !== 200) await route.fulfill({ response });
        else await route.fulfill({ response, json: { ...((await response.json()) as GexHistory), ...none } });
      });
      for (const state of states.filter((_, i) => i % of === part)) {
        if (!(await checkPage(page, state))) continue;
        count++;
        if (state.at !== null && looks.size < 3) looks.set(formatAddress(state), await lookOf(page));
      }
      for (const [address, look] of looks) {
        await loadAgain(page, terminal.key, address);
        await answersOf(page).settled();
        expect(await lookOf(page)).toBe(look);
      }
    };
    // While one page waits for the server, the other one draws.
    await Promise.all([visit(0, 2), visit(1, 2)]);
    // A snapshot of the evening has no expiry of its day.
    expect(count).toBeGreaterThan(0.7 * STATES);
  }, 120_000);
});

/** Opens a page whose strip has the past of SPY: sixty days, of which five have half-hours. Returns the moments of its stops. */
async function openWithPast(terminal: Terminal, fragment = '#/SPY/ticker'): Promise<{ page: Page; at: string[] }> {
  const at = await pastIsFilled(terminal);
  const page = await terminal.open(fragment);
  // While the exchange is open, further snapshots may arrive.
  await page.waitForFunction(
    (count) => Number(document.querySelector<HTMLElement>('.strip-track')?.dataset.stops) >= count,
    at.length,
  );
  if (fragment.includes('ticker')) await figuresOf(page);
  return { page, at };
}

async function spotAt(terminal: Terminal, moment: string): Promise<number> {
  const answer = await terminal.get(`/api/v1/nodes/gex/SPY?at=${moment}`);
  return ((await answer.json()) as { spot_price: number }).spot_price;
}

/** Returns the moments of the stored snapshots of SPY. */
async function momentsOf(terminal: Terminal): Promise<string[]> {
  const answer = await terminal.get('/api/v1/nodes/gex/SPY/history?per=snapshot&points=5000');
  return ((await answer.json()) as GexHistory).as_of;
}

/** Half hours of the five trading days of the past, at least. */
const PAST_MOMENTS = 60;

/** Waits until the past of every ticker is there. Returns the moments of SPY. */
async function pastIsFilled(terminal: Terminal): Promise<string[]> {
  for (;;) {
    const moments = await momentsOf(terminal);
    const { feeds } = (await (await terminal.get('/api/v1/feeds')).json()) as FeedStatusAnswer;
    // Other tickers are filled after the one in view.
    const isFilled = feeds.every(({ past }) => past && past.done === past.total);
    if (moments.length > PAST_MOMENTS && isFilled) return moments;
    await Bun.sleep(100);
  }
}

/** What the address says about time. */
async function stateOf(page: Page): Promise<{ at?: string; pin?: string; diff?: string }> {
  const hash = await page.evaluate(() => location.hash);
  const query = new URLSearchParams(hash.slice(hash.indexOf('?') + 1));
  return Object.fromEntries(
    ['at', 'pin', 'diff'].flatMap((name) => (query.has(name) ? [[name, query.get(name)!]] : [])),
  );
}
