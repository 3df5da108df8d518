import { expect } from 'bun:test';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describeRecorded } from '../support/recorded-chains.ts';
import { IS_FULL } from '../support/size.ts';
import { goTo as goToAddress } from './answers.ts';
import { describeInBrowser, drawn, still, type Terminal, test, withTerminal } from './browser.ts';
import { levelsShown, misplacedTexts } from './layout.ts';
import { goTo, STORED_TICKER, type StoredAnswer, serveStored, withStoredTerminal } from './stored-answers.ts';

// Texts of charts at the sizes of a phone, a laptop and a desktop: none overlaps another, and none leaves its plot.

const VIEWS = ['ticker', 'ticker?_curve=shares', 'expiries', 'surface?_beside=next', 'history', 'odds'] as const;
const SIZES = [
  [360, 740],
  [1280, 800],
  [1920, 1080],
] as const;
/** The sizes of a page. In the everyday run, the pages take turns with the three, so that each page has each size once over three turns. */
const sizesOf = (page: number, turn: number) => SIZES.filter((_, i) => IS_FULL || i === (page + turn) % SIZES.length);

// biome-ignore lint/suspicious/noExplicitAny: the bodies of all operations are changed in the same way.
type Body = any;

/** Returns a body in which a function has replaced the values of some fields, in whatever part of it they are. */
function replaced(value: Body, change: (name: string, value: Body) => Body): Body {
  if (Array.isArray(value)) return value.map((each) => replaced(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(name, replaced(each, change))]));
}

const mapped = (value: Body, change: (value: number) => number): Body =>
  Array.isArray(value) ? value.map((each) => mapped(each, change)) : typeof value === 'number' ? change(value) : value;

const PRICES =
  /^(?:spot|spot_price|strike|forward|gex_flip|vanna_flip|charm_flip|call_wall|put_wall|max_pain|expected_move|mode|p\d\d|price|low|high)$/;
const MONEY =
  /^(?:net|gross|call|put|by)_(?:gex|dex|vex|cex|strike|expiry)(?:_mil)?$|interest$|^(?:call|put)_volume$|^values$/;
const SCALE = 123_456.78 / 76.15;

/** Returns the columns of a body cut to one row. Columns are lists as long as the list of a name. */
function firstRow(body: Body, by: string): Body {
  const length = Array.isArray(body?.[by]) ? body[by].length : 0;
  if (length === 0) return body;
  const cut = Object.entries(body).map(([name, each]) => [
    name,
    Array.isArray(each) && each.length === length ? each.slice(-1) : each,
  ]);
  return { ...Object.fromEntries(cut), count: 1 };
}

const sixDigits = (body: Body) =>
  replaced(body, (name, value) => (PRICES.test(name) ? mapped(value, (each) => Math.round(SCALE * each)) : value));

/** Puts the call wall at +400 % of spot, and the put wall at -70 %. */
const farWalls = (body: Body) =>
  replaced(body, (name, value) =>
    name === 'call_wall'
      ? mapped(value, (each) => each * 4.75)
      : name === 'put_wall'
        ? mapped(value, (each) => each * 0.3)
        : value,
  );

const oneRow = (body: Body) =>
  body.strikes
    ? { ...body, strikes: firstRow(body.strikes, 'strike'), expiries: firstRow(body.expiries, 'expiry') }
    : firstRow(body, 'as_of' in body ? 'as_of' : 'none');

const noInterest = (body: Body) =>
  replaced(body, (name, value) =>
    MONEY.test(name)
      ? mapped(value, () => 0)
      : name === 'flip_resolved'
        ? Array.isArray(value)
          ? value.map(() => false)
          : false
        : value,
  );

/** Changes of the stored answers that make a ticker as bad for charts as a ticker can be. */
const EXTREMES: Readonly<Record<string, (body: Body) => Body>> = {
  'as they are': (body) => body,
  'an index at 123,457, its call wall at +400 % and its put wall at -70 %': (body) => farWalls(sixDigits(body)),
  'one strike without open interest, and one snapshot in a year': (body) => noInterest(oneRow(body)),
};

/** The shares over moves, which follow from the profile: what is drawn depends on their size alone. */
function hedgingOf(address: string, profile: Body): Body {
  const moves = new URLSearchParams(address.split('?')[1]).get('moves')!.split(',').map(Number);
  const { spot_price } = profile;
  const rows = moves.map((move_pct) => ({
    move_pct,
    spot: spot_price * (1 + move_pct / 100),
    shares: -312_345 * move_pct,
  }));
  return { spot_price, rows };
}

async function misplacedAt(page: Page, sizes: readonly (readonly [number, number])[]): Promise<string[]> {
  const found: string[] = [];
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    await drawn(page);
    found.push(...(await misplacedTexts(page)).map((each) => `${width}: ${each}`));
  }
  return found;
}

/** Opens a page that gets the stored answers with a change. */
function openExtreme(terminal: Terminal, change: (body: Body) => Body): Promise<Page> {
  let profile: Body;
  return terminal.open(`#/${STORED_TICKER}/ticker`, {
    prepare: async (page) => {
      const served = await serveStored(page, terminal.problems);
      served.change = (answer: StoredAnswer) => {
        const isHedging = answer.request.includes('/hedging?');
        const body = isHedging ? hedgingOf(answer.request, profile) : change(answer.body);
        profile = body.profile ?? profile;
        return { ...answer, ...(isHedging && { status: 200 }), body };
      };
    },
  });
}

describeInBrowser('texts of charts', () => {
  const terminal = withStoredTerminal();

  test.each(Object.entries(EXTREMES).map(([name, change], turn) => [name, change, turn] as const))(
    'none overlaps another or leaves its plot: %s',
    async (_, change, turn) => {
      const page = await openExtreme(terminal, change);
      const found: string[] = [];
      for (const view of VIEWS) {
        await goTo(page, view);
        if (view.includes('shares')) await page.waitForSelector('text=shares traded on the way');
        found.push(...(await misplacedAt(page, sizesOf(VIEWS.indexOf(view), turn))).map((each) => `${view} ${each}`));
      }
      expect([...new Set(found)]).toEqual([]);
    },
    60_000,
  );

  test('a button moves the axis to a level beyond it, by keyboard too, and a press on a session shows it', async () => {
    const page = await openExtreme(terminal, farWalls);
    for (const [chart, view] of [
      ['ladder', 'ticker'],
      ['profile', 'ticker'],
      ['history', 'history'],
      ['density', 'odds'],
    ] as const) {
      await goTo(page, view);
      const chip = page.locator(`[data-chart="${chart}"] .chip`, { hasText: /^(?:call wall|CW) .*▲ \+/ });
      await chip.focus();
      await page.keyboard.press('Enter');
      await chip.waitFor({ state: 'detached' });
      const label = page.locator(`[data-chart="${chart}"] span.level`, { hasText: /^(?:call wall|CW) / });
      expect(await label.count()).toBe(1);
    }
    await goTo(page, 'ticker?shift=50');
    await page.keyboard.press('=');
    expect(await page.evaluate(() => location.hash)).not.toMatch(/zoom|shift/);
    const plot = page.locator('[data-chart="sessions"] .plot');
    const { width } = (await plot.boundingBox())!;
    await plot.click({ position: { x: width - 30, y: 60 } });
    expect(await page.evaluate(() => location.hash)).toMatch(/at=2026-11-/);
  });
});

describeRecorded('recorded chains', (dir) => {
  describeInBrowser('texts of charts', () => {
    const terminal = withTerminal((folder) => {
      const drop = join(folder, 'chains');
      mkdirSync(drop);
      for (const part of ['chains', 'cboe'])
        for (const name of readdirSync(join(dir, part))) copyFileSync(join(dir, part, name), join(drop, name));
      return ['--feed', `files:${drop}`];
    });

    test('each level is a label or a button at the end of the axis, and no text overlaps another', async () => {
      const page = await terminal.open('#/AAPL/ticker');
      const names = ((await (await terminal.get('/api/v1/feeds')).json()) as Body).feeds.flatMap((feed: Body) =>
        feed.tickers.filter((each: Body) => each.as_of !== null).map((each: Body) => each.ticker),
      ) as string[];
      expect(names.length).toBeGreaterThan(10);
      const found: string[] = [];
      const chosen = names.filter((_, i) => IS_FULL || i % 4 === 0);
      for (const [i, name] of chosen.entries()) {
        const levels = (await (await terminal.get(`/api/v1/nodes/gex/${name}/view`)).json()) as Body;
        const { flip_resolved } = levels.levels;
        for (const [k, view] of ['ticker', 'history', 'odds'].entries()) {
          await goToAddress(page, `#/${name}/${view}`);
          await still(page);
          for (const [chart, shown] of Object.entries(await levelsShown(page))) {
            const wanted = (chart === 'history' ? 3 : 4) + (flip_resolved ? 1 : 0);
            if (shown < wanted) found.push(`${name} ${view} ${chart}: ${shown} levels of ${wanted}`);
          }
          found.push(...(await misplacedAt(page, sizesOf(i, k))).map((each) => `${name} ${view} ${each}`));
        }
      }
      expect(found).toEqual([]);
    }, 180_000);
  });
});
