import { expect } from 'bun:test';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { requestOf } from '../../web/operations.ts';
import { newYorkMoment } from '../../web/page-format.ts';
import {
  FIRST_EXPIRIES,
  formatAddress,
  MEASURES,
  OPTION_VALUES,
  type PageState,
  START,
  VIEWS,
} from '../../web/state/address.ts';
import { answersOf, type CopiedCall, copiedCall, goTo, sourceOf } from './answers.ts';
import { menusOf } from './panel-actions.ts';

/** The views that show a ticker at a moment. */
const VIEWS_OF_MARKET = VIEWS.filter((view) => view !== 'house');

/** Returns random states of the page, always the same ones for the same moments. */
export function randomStates(count: number, moments: readonly string[]): PageState[] {
  const options = fc.record(
    Object.fromEntries([
      ...Object.entries(OPTION_VALUES).map(([name, values]) => [name, fc.constantFrom(...values)]),
      ['expiries', fc.constantFrom(FIRST_EXPIRIES, FIRST_EXPIRIES, 'all', 'next:30', '0dte')],
    ]),
  );
  const isChosen = ([name, value]: [string, unknown]) =>
    value !== FIRST_EXPIRIES && value !== OPTION_VALUES[name as keyof typeof OPTION_VALUES]?.[0];
  const state = fc
    .record({
      ticker: fc.constantFrom('SPY', 'QQQ'),
      view: fc.constantFrom(...VIEWS_OF_MARKET),
      at: fc.option(fc.constantFrom(...moments), { freq: 2 }),
      options,
      measure: fc.constantFrom(...MEASURES),
      zoom: fc.integer({ min: 4, max: 60 }).map((n) => n / 2),
      other: fc.constantFrom(null, null, 'QQQ'),
    })
    .map(
      ({ other, ...random }): PageState => ({
        ...START,
        ...random,
        options: Object.fromEntries(Object.entries(random.options).filter(isChosen)),
        own: other && other !== random.ticker && random.view === 'ticker' ? { with: other } : {},
      }),
    );
  return fc.sample(state, { seed: 20_261_120, numRuns: count });
}

/** The arguments that say how a chain is analysed. */
const ANALYSIS = [...Object.keys(OPTION_VALUES), 'expiries'];

/**
 * Shows a state. Every panel then has the moment of the page's snapshot, or says of which other one it is, and the call that it is drawn
 * from names this ticker, this moment and these options. Returns whether the state has figures: a chain may lack the expiries.
 */
export async function checkPage(page: Page, state: PageState): Promise<boolean> {
  const address = formatAddress(state);
  const log = answersOf(page);
  await goTo(page, address);
  const { ticker, at, options } = state;
  const args = { ticker, expiries: FIRST_EXPIRIES, ...options, ...(at !== null && { at }) };
  const { path } = requestOf({ operation: 'get_gex_view', args });
  const viewOf = () => log.answers.get(`GET ${path}`)!;
  let view = viewOf();
  let [menus, heads] = [await menusOf(page), await headsOf(page)];
  // While the exchange is open, another snapshot may arrive meanwhile.
  while (view !== viewOf()) {
    await log.settled();
    view = viewOf();
    [menus, heads] = [await menusOf(page), await headsOf(page)];
  }
  if (view.status !== 200) {
    const figures = heads.filter(({ id, asOf }) => asOf !== null && id !== 'universe');
    // The figures of Compare do not follow the options, so they are there.
    const problems = state.view === 'compare' ? 0 : 1;
    expect({ address, figures, problems: await page.locator('main .problem').count() }).toEqual({
      ...{ address, figures: [], problems },
    });
    return false;
  }
  const { asOf } = view;
  expect({ address, asOf }).toEqual({ address, asOf: at ?? expect.stringMatching(/^20/) });
  for (const { id, asOf: shown, moment } of heads.filter((each) => each.asOf !== null))
    expect({ address, id, moment }).toEqual({
      ...{ address, id },
      moment: shown === asOf ? undefined : `of ${newYorkMoment(shown)}`,
    });
  for (const { id, curl, asOf: shown } of menus.filter((each) => each.curl)) {
    const call = copiedCall(curl);
    const { ofMarket, input } = call.operation;
    // The answer of all tickers is of no one ticker.
    if (!ofMarket || call.operation.name === 'get_day_changes') continue;
    const { answer: source } = sourceOf(log, call);
    const isOfAllExpiries = heads.find((each) => each.id === id)!.head!.includes('all expiries');
    const { properties } = call.operation.rest?.input ?? input;
    const of = { expiries: FIRST_EXPIRIES, ...options, ...(isOfAllExpiries && { expiries: 'all' }) };
    const wanted = Object.entries(of).filter(([name]) => name in properties);
    const asked = Object.entries(call.args).filter(([name]) => ANALYSIS.includes(name));
    expect({ address, id, source: [source?.status, source?.asOf], asked: Object.fromEntries(asked) }).toEqual({
      ...{ address, id },
      // The sessions up to the page's moment come from the answer of the time strip, which goes on to the newest snapshot.
      source: [200, id === 'sessions' ? source?.asOf : shown],
      asked: Object.fromEntries(wanted),
    });
    expect({ address, id, of: call.args.single_name_ticker ?? tickerOf(call), at: call.args.at }).toEqual({
      ...{ address, id, of: ticker, at: shown },
    });
  }
  return true;
}

/** The panels of the view, with what their headings say. */
function headsOf(page: Page) {
  return page.$$eval('main [data-panel]', (panels) =>
    panels.map((panel) => ({
      id: panel.getAttribute('data-panel'),
      asOf: panel.getAttribute('data-as-of'),
      head: panel.querySelector('.panel-head')?.textContent,
      moment: panel.querySelector('.panel-head .moment')?.textContent,
    })),
  );
}

function tickerOf({ path, args }: CopiedCall): string {
  return args.ticker ?? /\/(?:gex|flow|surface)\/([^/]+)/.exec(path)![1]!;
}

/**
 * What a page shows: its address, its texts, its names for screen readers and its canvases. The rows of grids are left out, because those in
 * view depend on how far a grid is scrolled.
 */
export function lookOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const main = document.querySelector('main')!.cloneNode(true) as HTMLElement;
    for (const rows of main.querySelectorAll('.grid-body')) rows.remove();
    const names = [...main.querySelectorAll('[aria-label]')].map((each) => each.getAttribute('aria-label'));
    const drawn = [...document.querySelectorAll('canvas')].map((each) => each.toDataURL());
    return [location.hash, main.textContent, ...names, ...drawn].join('\n');
  });
}
