import { expect } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { VIEWS, type ViewName } from '../../web/state/address.ts';
import { ROOT } from '../support/process.ts';
import { IS_FULL, IS_LONG } from '../support/size.ts';
import { violationsOf } from './axe.ts';
import { describeInBrowser, loadAgain, settled, still, test, withTerminal } from './browser.ts';
import {
  goTo,
  openStored,
  type ServedAnswers,
  STORED_TICKER,
  type StoredAnswer,
  withStoredTerminal,
} from './stored-answers.ts';

const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1300 },
] as const;
const THEMES = ['dark', 'light'] as const;
const PICTURES = join(ROOT, 'build/pictures');
/** Tests that look at all combinations take minutes. */
const LONG_MS = 600_000;

/** Sizes with themes. `test:terminal` has all of them; else each size has one theme. */
const LOOKS = SIZES.flatMap((size, i) =>
  THEMES.filter((_, k) => IS_LONG || k === i % 2).map((theme) => ({ size, theme, name: `${size.width}-${theme}` })),
);
type Look = (typeof LOOKS)[number];
/** The looks of a page. In the everyday run, the pages take turns with the looks. */
const looksOf = (page: number) => (IS_FULL ? LOOKS : [LOOKS[page % LOOKS.length]!]);

async function show(page: Page, { size, theme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize(size);
  await still(page);
}

/** Takes items from a list until it is empty, as many at a time as there are workers. */
async function shareOut<T>(items: readonly T[], workers: readonly ((item: T) => Promise<void>)[]): Promise<void> {
  const rest = [...items];
  await Promise.all(
    workers.map(async (work) => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
    }),
  );
}

describeInBrowser('WCAG 2.2 AA by axe', () => {
  const terminal = withTerminal();

  test(
    'no view violates it at any width; at full size, a picture of each is in build/pictures',
    async () => {
      const found: string[] = [];
      const visit = async () => {
        const page = await terminal.open('#/SPY/ticker');
        await page.waitForSelector('[data-figure]');
        return async (view: ViewName) => {
          await page.evaluate((name) => {
            location.hash = `#/SPY/${name}`;
          }, view);
          await page.waitForSelector(`main[data-view="${view}"]`);
          await settled(page);
          for (const look of looksOf(VIEWS.indexOf(view))) {
            await show(page, look);
            if (IS_FULL) await page.screenshot({ path: join(PICTURES, `${view}-${look.name}.png`) });
            // What stands around the view is the same around all.
            const around = view === 'ticker' ? [] : ['.watchlist', '.explain', '.strip'];
            const violations = await violationsOf(page, ...around);
            const wide = await page.evaluate(() =>
              [document.documentElement, document.querySelector('main')!].some(
                (each) => each.scrollWidth > each.clientWidth,
              ),
            );
            if (wide) violations.push('the page scrolls sideways');
            found.push(...violations.map((each) => `${view} ${look.name}: ${each}`));
          }
        };
      };
      // Two pages, because the machine has more than one core.
      await shareOut(VIEWS, await Promise.all([visit(), visit()]));
      expect(found).toEqual([]);
    },
    LONG_MS,
  );

  test('no sheet and no panel violates it', async () => {
    const page = await terminal.open();
    await page.waitForSelector('[data-figure]');
    const found: string[] = [];
    // What stands around them is looked at with the views.
    for (const [key, shown, width, around] of [
      ['?', 'dialog .key-groups', 1280, 'main'],
      ['Control+K', 'dialog.sheet.commands', 1280, 'main'],
      ['o', 'dialog .fields', 1280, 'main'],
      ['v', '[data-panel="ladder"] [role="grid"]', 1280, '.figures'],
      ['i', '.explain h2', 1280, 'main'],
      ['i', '.explain h2', 360, 'main'],
      ['menu', 'dialog.menu', 360, 'main'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      if (key === 'menu') await page.click('button[aria-label="Menu"]');
      else await page.keyboard.press(key);
      await page.waitForSelector(shown);
      found.push(
        ...(await violationsOf(page, around, '.shell > .watchlist')).map((each) => `${key} ${width}: ${each}`),
      );
      if (key === 'v') await page.keyboard.press('v');
      else await page.keyboard.press('Escape');
      await page.waitForSelector(shown, { state: 'detached' });
    }
    expect(found).toEqual([]);
  });
});

/** A state of the data, and how a page gets into it. */
interface State {
  readonly name: string;
  /** True if the everyday run leaves it out. */
  readonly isRare?: true;
  /** The view that is looked at where not all are. */
  readonly view: ViewName;
  /** What the address says besides ticker and view. */
  readonly query?: string;
  readonly change?: ServedAnswers['change'];
  /** What happens once the figures are there. */
  enter?(page: Page, served: ServedAnswers): Promise<void>;
  /** What the page has in this state. */
  readonly shown: string;
}

const NOW = '2026-11-20T21:00:00.000Z';
const EARLIER = '2026-11-19T21:00:00.000Z';

/** Changes the body of the answers to the requests that a pattern matches. */
function changed(pattern: RegExp, change: (body: StoredAnswer['body']) => void): ServedAnswers['change'] {
  return (answer) => {
    if (!pattern.test(answer.request)) return answer;
    const body = structuredClone(answer.body);
    change(body);
    return { ...answer, body };
  };
}

/** Gives the ticker's row of the feed a state, while the exchange is open. */
function ofFeed(tickerState: string, feedState = 'ok'): ServedAnswers['change'] {
  return changed(/\/feeds$/, ({ session, feeds: [feed] }) => {
    Object.assign(session, { state: 'open', reason: null });
    Object.assign(feed, { state: feedState, error: '503 from the provider: try again later' });
    const row = feed.tickers.find(({ ticker }: { ticker: string }) => ticker === STORED_TICKER);
    Object.assign(row, { state: tickerState, coverage_pct: 83, refusal: null });
  });
}

/** The server has no answer that depends on market data, but this problem. */
function problem(code: string, more: object = {}): ServedAnswers['change'] {
  return (answer) =>
    'x-data-as-of' in answer.headers
      ? {
          ...answer,
          status: 400,
          headers: { 'content-type': 'application/problem+json' },
          body: { code, status: 400, detail: `No chain of ${STORED_TICKER}`, hint: 'Load one: zomma ingest', ...more },
        }
      : answer;
}

/** The view of the earlier moment: some strikes are gone, some new, and all figures are others. */
const asOfEarlier: ServedAnswers['change'] = (answer, at) =>
  at !== EARLIER
    ? answer
    : changed(/\/view(\?|$)/, ({ levels, strikes }) => {
        levels.spot_price *= 0.99;
        levels.net_gex_mil *= 0.5;
        strikes.strike = strikes.strike.map((strike: number, i: number) => (i % 9 === 0 ? strike + 0.25 : strike));
        strikes.net_gex = strikes.net_gex.map((gex: number) => -gex);
      })({ ...answer, headers: { ...answer.headers, 'x-data-as-of': EARLIER } }, at);

const STATES: readonly State[] = [
  { name: 'replay', view: 'history', query: `at=${EARLIER}`, change: asOfEarlier, shown: '[data-state="replay"]' },
  {
    name: 'diff',
    view: 'ticker',
    query: `at=${NOW}&pin=${EARLIER}&diff=1`,
    change: asOfEarlier,
    shown: '[data-diff="shown"]',
  },
  { name: 'closed', isRare: true, view: 'expiries', shown: '[data-state="closed"]' },
  { name: 'stale', view: 'ticker', change: ofFeed('stale'), shown: '[data-state="stale"]' },
  { name: 'partial', isRare: true, view: 'compare', change: ofFeed('partial'), shown: '[data-state="partial"]' },
  { name: 'failing', isRare: true, view: 'house', change: ofFeed('failing'), shown: '[data-state="failing"]' },
  { name: 'down', isRare: true, view: 'house', change: ofFeed('stale', 'down'), shown: '[data-state="down"]' },
  {
    name: 'offline',
    view: 'surface',
    async enter(page, served) {
      served.change = () => undefined;
      await page.keyboard.press('w');
    },
    shown: '[data-state="offline"]',
  },
  {
    name: 'rate limited',
    isRare: true,
    view: 'strikes',
    async enter(page, served) {
      served.change = (answer) => ({
        ...answer,
        status: 429,
        headers: { 'retry-after': '7', 'ratelimit-policy': '"account";q=600;w=60', ratelimit: '"account";r=0;t=7' },
        body: { code: 'rate_limited', detail: '600 requests a minute are used up' },
      });
      await page.keyboard.press('w');
    },
    shown: '[data-state="rate_limited"]',
  },
  { name: 'empty', isRare: true, view: 'flow', change: problem('no_chain'), shown: '[data-state="empty"]' },
  {
    name: 'no past',
    view: 'ticker',
    query: `at=${EARLIER}`,
    change: problem('no_chain', { nearest_before: EARLIER, nearest_after: NOW }),
    shown: '[data-state="no_past"]',
  },
  {
    name: 'unknown ticker',
    isRare: true,
    view: 'ticker',
    change: problem('unknown_ticker'),
    shown: '[data-state="empty"]',
  },
  {
    name: 'flip unresolved',
    isRare: true,
    view: 'ticker',
    change: changed(/\/view(\?|$)/, ({ levels, profile }) => {
      for (const each of [levels, profile]) Object.assign(each, { flip_resolved: false });
    }),
    shown: '[data-figure="gex_flip"] :text("nowhere")',
  },
  {
    name: 'nothing signed',
    isRare: true,
    view: 'flow',
    change: (answer, at) => {
      const flow = changed(/\/flow\/\w+\?/, ({ signed_by }) =>
        Object.assign(signed_by, { feed: 0, quote: 0, tick: 0, unknown: 103 }),
      )(answer, at)!;
      return changed(/\/view(\?|$)/, ({ levels }) => Object.assign(levels, { by_flow: null }))(flow, at);
    },
    shown: 'main :text("No print")',
  },
];

describeInBrowser('WCAG 2.2 AA by axe, in each state of the data', () => {
  const terminal = withStoredTerminal();
  terminal.expected.push(/Failed to load resource/);

  test.each(IS_LONG ? VIEWS : ['its own view'])(
    'no state violates it in %s',
    async (place) => {
      const found: string[] = [];
      const visit = async () => {
        const { page, served } = await openStored(terminal, 'house');
        const look = async (state: State) => {
          const { name, query, change, enter, shown } = state;
          const suffix = query ? `?${query}` : '';
          served.change = change ?? ((answer) => answer);
          await loadAgain(page, terminal.key, `#/${STORED_TICKER}/${state.view}${suffix}`);
          await settled(page);
          await enter?.(page, served);
          await page.waitForSelector(shown, { state: 'attached' });
          const view = VIEWS.find((each) => each === place) ?? state.view;
          await goTo(page, `${view}${suffix}`);
          for (const each of IS_LONG ? LOOKS : [LOOKS[STATES.indexOf(state) % LOOKS.length]!]) {
            await show(page, each);
            const violations = await violationsOf(page, '.watchlist', '.explain', '.strip', '.head');
            found.push(...violations.map((violation) => `${name} ${view} ${each.name}: ${violation}`));
          }
        };
        return { page, look };
      };
      const visits = await Promise.all([visit(), visit()]);
      await shareOut(
        IS_FULL ? STATES : STATES.filter(({ isRare }) => !isRare),
        visits.map(({ look }) => look),
      );
      await Promise.all(visits.map(({ page }) => page.context().close()));
      expect(found).toEqual([]);
    },
    LONG_MS,
  );

  test('the sign-in page does not violate it', async () => {
    const page = await terminal.open('', { isSignedIn: false });
    await page.waitForSelector('.sign-in');
    const found: string[] = [];
    for (const look of LOOKS) {
      await show(page, look);
      found.push(...(await violationsOf(page)).map((each) => `${look.name}: ${each}`));
    }
    expect(found).toEqual([]);
  });
});
