import { expect } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import type { Page, Request, Route } from 'playwright-core';
import { UNKNOWN } from '../../web/page-format.ts';
import { IS_FULL } from '../support/size.ts';
import { goTo, operationAt } from './answers.ts';
import { describeInBrowser, type Terminal, test, withTerminal } from './browser.ts';

/** The views that show figures, with the least number of places that show a number which may be null. */
const ALL_ADDRESSES: readonly (readonly [address: string, places: number])[] = [
  ['ticker?_with=QQQ&explain=hedging', 20],
  ['expiries', 300],
  ['strikes', 10],
  ['flow', 50],
  ['history', 2],
  ['compare?_with=SPY,QQQ', 5],
  ['odds', 10],
  ['surface', 100],
  ['house', 50],
];
/** Each address is shown three times. The everyday run has every second one. */
const ADDRESSES = ALL_ADDRESSES.filter((_, i) => IS_FULL || i % 2 === 0);

/** What stands in place of each number that may be null. */
type Fill = null | 0 | 7;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
}

/** What stands on the page with the reason why a number is unknown. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'ticker?_with=QQQ&explain=hedging': ['volume unknown', 'unknown: no stored close has a volume'],
  expiries: [' · no contract · '],
  history: ['a rank needs 20 days of volatilities'],
  odds: ['not counted: too few closes are known', 'not counted: net gamma changes sign nowhere'],
};

/** The drawings that have a mark for each number that may be null: none where it is null, and one at 0. */
const DRAWINGS: Readonly<Record<string, readonly string[]>> = {
  expiries: ['matrix 0', 'term 0', 'term 1'],
  history: ['history 2', ...Array.from({ length: 12 }, (_, i) => `record ${i + 3}`)],
  surface: ['smile 0', 'surface-term 0', 'surface-term 1'],
};

/** A sentence that names the largest and the smallest value, and there is neither among values that are all 0. */
const EXTREMES = 'charts: matrix.2.1 aria-label';

/** A number on its own, as the cells of tables have it. */
const NUMBER = /^±?[+−]?[\d,.]+[KMBT]?(?: %| s)?$/;
const zerosIn = (text: string) => text.match(/(?<![\d.,])0(?:\.0+)?(?![\d.,])/g)?.length ?? 0;

describeInBrowser('unknown figures', () => {
  const terminal = withTerminal();

  test('null and 0 look different in every place', async () => {
    let fill: Fill = null;
    const page = await openWith(terminal, () => fill);
    /** What each address shows, for each fill. */
    const shown = new Map<string, Places[]>(ADDRESSES.map(([address]) => [address, []]));
    let watched: unknown;
    for (fill of [null, 0, 7] as const) {
      await page.fill('#key', terminal.key);
      await page.press('#key', 'Enter');
      await page.waitForSelector('main[data-view]');
      for (const [address, places] of shown) {
        await goTo(page, `#/SPY/${address}`);
        places.push(await placesOf(page));
      }
      watched ??= await page.$$eval('.watch-row', (rows) =>
        rows.flatMap((row) => [...row.children].slice(2, 4).map((cell) => cell.lastChild!.textContent)),
      );
      // The page keeps no answer of a member who has signed out.
      await page.keyboard.press('Control+K');
      await page.keyboard.type('sign out');
      await page.keyboard.press('Enter');
    }
    // The change and the flip of each ticker. No level has arrived on the stream.
    expect(new Set(watched as string[])).toEqual(new Set([UNKNOWN]));
    for (const [address, least] of ADDRESSES) {
      const seen = shown.get(address)!;
      const [unknown, zero, seven] = seen.map(({ texts }) => texts) as [Texts, Texts, Texts];
      // Where 0 and 7 differ, a number stands that may be null.
      const places = Object.keys(zero).filter((place) => place in seven && zero[place] !== seven[place]);
      const wrong = places.filter((place) => {
        const text = unknown[place] ?? '';
        if (text === zero[place] || zerosIn(text) > zerosIn(seven[place]!)) return place !== EXTREMES;
        return NUMBER.test(zero[place]!) && text.replace('±', '') !== UNKNOWN;
      });
      expect([address, wrong.map((place) => [place, unknown[place], zero[place]])]).toEqual([address, []]);
      expect([address, places.length >= least]).toEqual([address, true]);
      const all = Object.values(unknown).join('\n');
      expect([address, (REASONS[address] ?? []).filter((reason) => !all.includes(reason))]).toEqual([address, []]);
      const [blank, drawn] = seen.map(({ drawings }) => drawings) as [Texts, Texts];
      // The heading beside the ladder may take one more line, which makes the ladder lower.
      const differ = Object.keys(drawn).filter((each) => drawn[each] !== blank[each] && each !== 'ladder 0');
      expect([address, differ]).toEqual([address, [...(DRAWINGS[address] ?? [])]]);
    }
  }, 60_000);
});

type Texts = Readonly<Record<string, string>>;

interface Places {
  readonly texts: Texts;
  readonly drawings: Texts;
}

/** Opens a page, not signed in, whose answers have `fill` in place of each number that may be null. */
async function openWith(terminal: Terminal, fill: () => Fill): Promise<Page> {
  const answers = new Map<string, Promise<Answer>>();
  // The clock stands, because some texts have the age of the data in minutes.
  const prepare = (page: Page) => page.clock.setFixedTime(Date.now());
  const page = await terminal.open('#/SPY/ticker', {
    isSignedIn: false,
    isAlone: true,
    width: 1900,
    height: 600,
    prepare,
  });
  await page.route('**/api/v1/**', async (route: Route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (pathname.includes('/stream/')) return route.fulfill({ status: 204 });
    const schema = operationAt(request.method(), pathname)?.full;
    if (!schema) return route.continue();
    const name = `${request.method()} ${request.url()} ${request.postData() ?? ''}`;
    // The same answer is filled in three ways.
    if (!answers.has(name)) answers.set(name, answerTo(request, terminal.key));
    const { status, headers, json } = await answers.get(name)!;
    return route.fulfill({ status, headers, json: filled(json, status === 200 ? schema : undefined, fill()) });
  });
  return page;
}

async function answerTo(request: Request, key: string): Promise<Answer> {
  const [method, body] = [request.method(), request.postData()];
  const response = await fetch(request.url(), {
    ...{ method, body },
    headers: { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }) },
  });
  const fields = [...response.headers].filter(([name]) => name.startsWith('x-data-'));
  // The record has its shares, although its days are few.
  const text = (await response.text()).replaceAll('"too_few_days":true', '"too_few_days":false');
  return { status: response.status, headers: Object.fromEntries(fields), json: JSON.parse(text) };
}

/** Replaces each number of an answer that its schema lets be null. */
function filled(value: unknown, schema: TSchema | undefined, by: Fill): unknown {
  // Answers of tools have their provenance beside the fields of the operation.
  if (!schema) return value;
  const kinds = schema.anyOf as readonly TSchema[] | undefined;
  if (kinds?.some(({ type }) => type === 'null')) {
    const other = kinds.find(({ type }) => type !== 'null')!;
    if (other.type === 'number' || other.type === 'integer') return by;
    return value === null ? null : filled(value, other, by);
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, schema.items as TSchema, by));
  if (typeof value !== 'object' || value === null) return value;
  const of = (name: string): TSchema | undefined =>
    schema.properties?.[name] ?? Object.values(schema.patternProperties ?? {})[0];
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, of(name), by)]));
}

/**
 * What each place of the page says: its texts and its names for screen readers, first with the charts, then with the tables in place of
 * them. Axes and legends are left out, because they are about a range of values. The drawings are the shapes of the marks of each plot.
 */
function placesOf(page: Page): Promise<Places> {
  return page.evaluate(async () => {
    const places: Record<string, string> = {};
    const frames = async () => {
      for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
    };
    const read = (element: Element, path: string) => {
      if (element.matches('[aria-hidden="true"], .panel-menu, .legend')) return;
      const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
      if (own.length > 0) places[path] = own.map(({ textContent }) => textContent).join('');
      for (const name of ['title', 'aria-label'])
        if (element.hasAttribute(name)) places[`${path} ${name}`] = element.getAttribute(name)!;
      for (const [i, child] of [...element.children].entries()) read(child, `${path}.${i}`);
    };
    const readAll = (mode: string) => {
      for (const part of document.querySelectorAll<HTMLElement>('[data-panel], [data-figure], .flow-lead, .explain'))
        read(part, `${mode} ${part.dataset.panel ?? part.dataset.figure ?? part.className}`);
    };
    readAll('charts:');
    const drawings: Record<string, string> = {};
    for (const panel of document.querySelectorAll<HTMLElement>('main [data-panel]')) {
      const plots = panel.querySelectorAll('.plot canvas, .plot > svg, .rate > svg');
      for (const [i, plot] of plots.entries()) {
        const marks = [...plot.querySelectorAll('.curve, .point, .band, .bars rect, .interval, .dot, .control')];
        // The shape of a mark is its path without its places.
        const shapes = marks.map((each) => `${each.classList} ${each.getAttribute('d')?.replaceAll(/[-\d.e]+/g, '')}`);
        drawings[`${panel.dataset.panel} ${i}`] = plot instanceof HTMLCanvasElement ? plot.toDataURL() : shapes.join();
      }
    }
    for (const chart of document.querySelectorAll<HTMLElement>('main [role="application"]')) {
      chart.focus();
      chart.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }));
      await frames();
      const panel = chart.closest<HTMLElement>('[data-panel]')!;
      const readout = panel.querySelector('.readout');
      if (readout) read(readout, `cursor: ${panel.dataset.panel}`);
    }
    const press = (name: string) => {
      for (const button of document.querySelectorAll<HTMLButtonElement>('main .panel-menu button'))
        if (button.textContent === name) button.click();
    };
    press('Show the table');
    await frames();
    readAll('tables:');
    press('Show the chart');
    return { texts: places, drawings };
  });
}
