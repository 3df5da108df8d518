import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { parseAddress } from '../../web/state/address.ts';
import { describeInBrowser, figuresOf, settled, type Terminal, test, withTerminal } from './browser.ts';

/** The tickers with data: five of the simulated market, and an index with a price of five digits in place of another one. */
const WITH_DATA = ['SPY', 'QQQ', 'RUT', 'NVDA', 'META', 'TSLA'];
const INDEX = {
  ...{ as_of: new Date().toISOString(), ticker: 'RUT', spot: 21_345.67, previous_spot: 21_000, change_pct: 1.646 },
  regime: 'negative_gamma',
};

/** Gives a page a market of which most tickers have no data, and in which nothing arrives. Returns the number of requests for the changes. */
async function fewTickers(page: Page): Promise<{ asked: number }> {
  const counter = { asked: 0 };
  await page.route('**/api/v1/stream/**', (route) => route.fulfill({ status: 204 }));
  await page.route('**/api/v1/universe', async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).replace('"IWM"', '"RUT"') });
  });
  await page.route('**/api/v1/changes*', async (route) => {
    counter.asked++;
    const response = await route.fetch();
    if (response.status() !== 200) return route.fulfill({ response });
    const answer = (await response.json()) as Record<string, unknown[]>;
    answer.ticker = answer.ticker!.map((name) => (name === 'IWM' ? 'RUT' : name));
    const names = answer.ticker as string[];
    const rows = WITH_DATA.map((name) => names.indexOf(name));
    const columns = Object.entries(answer).filter(([, values]) => values.length === names.length);
    for (const [name, values] of columns) {
      answer[name] = rows.map((row, i) =>
        WITH_DATA[i] === INDEX.ticker && name in INDEX ? INDEX[name as keyof typeof INDEX] : values[row],
      );
    }
    return route.fulfill({ response, json: answer });
  });
  return counter;
}

/** Waits until the server has the levels of all tickers. */
async function allHaveLevels(terminal: Terminal): Promise<void> {
  for (;;) {
    const { ticker } = (await (await terminal.get('/api/v1/changes')).json()) as { ticker: string[] };
    if (ticker.length === 10) return;
    await Bun.sleep(100);
  }
}

const rowOf = (page: Page, ticker: string) =>
  page.$$eval(`.shell > .watchlist [data-ticker="${ticker}"] > span`, (cells) =>
    cells.map((cell) => cell.textContent!.trim()),
  );

/** Sends an event of the stream of live levels to the page, as another tab does that reads the stream. */
const send = (page: Page, changes: object) =>
  page.evaluate(
    async (event) => {
      const channel = new BroadcastChannel((await navigator.locks.query()).held![0]!.name!);
      channel.postMessage({ kind: 'events', events: [event], lastId: '', isStreaming: true });
      channel.close();
    },
    {
      ...{ id: '', ticker: 'RUT', spot_price: 21_420, call_wall: 22_000, put_wall: 20_000, gex_flip: 22_276.8 },
      ...{ flip_resolved: true, net_gex_mil: -2, regime: 'negative_gamma' },
      provenance: { as_of: new Date().toISOString(), simulated: true, source: 'test' },
      ...changes,
    },
  );

/** Returns the texts of the watchlist that run into their neighbours, wrap, or leave their row. */
const collisions = (page: Page) =>
  page.$$eval('.shell > .watchlist .watch-row', (rows) =>
    rows.flatMap((row) => {
      const frame = row.getBoundingClientRect();
      const boxes = [...row.children].flatMap((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell.classList.contains('muted') ? cell.lastChild! : cell);
        const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
        return lines.length > 0 ? [range.getBoundingClientRect()] : [];
      });
      const isWrong = boxes.some(
        (box, i) => box.height > frame.height || box.right > frame.right || (i > 0 && box.left < boxes[i - 1]!.right),
      );
      return isWrong ? [row.textContent!] : [];
    }),
  );

describeInBrowser('the watchlist and the view Compare', () => {
  const terminal = withTerminal();

  test('five tickers stand side by side after seven presses, and a link restores them', async () => {
    await allHaveLevels(terminal);
    // The server has no RUT.
    terminal.expected.push(/status of 400/);
    let counter = { asked: 0 };
    const prepare = async (page: Page) => (counter = await fewTickers(page));
    const page = await terminal.open('#/SPY/ticker', { width: 1280, height: 800, prepare });
    await figuresOf(page);
    const more = page.locator('.shell > .watchlist [data-without-data]');
    expect(await more.textContent()).toBe('5 without data: show');
    const listed = () => page.locator('.shell > .watchlist .watch-row').count();
    expect(await listed()).toBe(6);
    await more.click();
    expect([await listed(), await more.textContent()]).toEqual([11, '5 without data: hide']);
    await more.click();

    // Keys of tickers skip those without data.
    for (const key of ['j', 'j', 'k', 'k']) await page.keyboard.press(key);
    expect(await page.evaluate(() => location.hash)).toBe('#/SPY/ticker');
    expect((await rowOf(page, 'RUT')).slice(0, 3)).toEqual(['RUT', '21,345.67', '+1.65']);
    expect(counter.asked).toBe(1);

    let presses = 0;
    const press = async (act: () => Promise<unknown>) => {
      presses++;
      await act();
    };
    for (const key of ['g', 'c']) await press(() => page.keyboard.press(key));
    await page.waitForSelector('main[data-view="compare"] [role="grid"]');
    const picked = ['NVDA', 'SPY', 'RUT', 'TSLA', 'QQQ'];
    for (const ticker of picked)
      await press(() => page.click(`.shell > .watchlist [role="checkbox"][data-ticker="${ticker}"]`));
    const compared = (of: Page) =>
      of.$$eval('[data-panel="compare"] [role="rowheader"]', (cells) => cells.map((cell) => cell.textContent));
    expect([await compared(page), presses]).toEqual([picked, 7]);
    await settled(page);
    const link = await page.evaluate(() => location.hash);
    expect(parseAddress(link).own).toEqual({ with: picked.join(',') });
    expect(await page.locator('[data-panel="compare"] svg[role="img"]').count()).toBeGreaterThanOrEqual(5);

    const other = await terminal.open(link, { prepare: fewTickers });
    await other.waitForSelector('[data-panel="compare"] svg');
    expect(await compared(other)).toEqual(picked);
    expect(await other.getAttribute('[role="checkbox"][data-ticker="RUT"]', 'aria-checked')).toBe('true');
    await other.context().close();

    for (const [width, height] of [
      [900, 700],
      [1280, 800],
      [1920, 1080],
    ] as const) {
      await page.setViewportSize({ width, height });
      expect([width, await collisions(page)]).toEqual([width, []]);
    }
    // At 1920 pixels, the grid has all columns side by side, and so has the comparison.
    for (const part of ['[data-panel="universe"] [role="grid"]', '[data-panel="compare"] [role="grid"]'])
      expect([part, await page.$eval(part, (each) => each.scrollWidth - each.clientWidth)]).toEqual([part, 0]);

    await page.fill('[data-filter]', 'regime:neg flip<100% foo>2');
    await page.waitForSelector('#filter-meaning:has-text("Not understood: foo>2")');
    expect(await page.textContent('#filter-meaning')).toContain('gamma negative, distance of the flip < 100 %');
    const shown = await page.$$eval('[data-panel="universe"] .grid-row', (rows) => rows.map((row) => row.textContent));
    expect(shown.some((row) => row!.startsWith('RUT'))).toBe(true);
    expect(shown.filter((row) => !row!.includes('negative'))).toEqual([]);

    // The field has the compared tickers, and takes others: none twice, and no more than eight.
    const field = '[data-panel="compare"] input';
    expect(await page.inputValue(field)).toBe(picked.join(' '));
    await page.click('[aria-label="Remove SPY from the comparison"]');
    await page.waitForFunction(() => !document.querySelector('[aria-label="Remove SPY from the comparison"]'));
    expect(await page.inputValue(field)).toBe('NVDA RUT TSLA QQQ');
    await page.fill(field, 'nvda, meta NVDA a b c d e f g');
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      () => document.querySelectorAll('[data-panel="compare"] [role="rowheader"]').length === 8,
    );
    expect((await compared(page)).slice(0, 3)).toEqual(['NVDA', 'META', 'A']);
    expect(await page.textContent('.notice')).toContain('At most 8');
  });

  test('live events change the change, and one of a new day asks for the close before it once', async () => {
    await allHaveLevels(terminal);
    // The server has no RUT.
    terminal.expected.push(/status of 400/);
    let counter = { asked: 0 };
    const prepare = async (page: Page) => (counter = await fewTickers(page));
    const page = await terminal.open('#/SPY/compare?_with=RUT', { width: 1920, height: 1080, prepare });
    await page.waitForSelector('[data-panel="compare"] svg');
    await settled(page);
    expect(counter.asked).toBe(1);
    await send(page, {});
    await page.waitForSelector('.watchlist [data-ticker="RUT"] :text-is("+2.00")');
    expect(await rowOf(page, 'RUT')).toEqual(['☑ RUT', '21,420.00', '+2.00', 'flip away +4.0', '−2.00M']);
    expect(await page.textContent('[data-panel="compare"] .grid-row')).toContain('+2.00 %');
    // A late event of another server is older than the one shown.
    const earlier = new Date(Date.now() - 3_600_000).toISOString();
    await send(page, { spot_price: 20_000, provenance: { as_of: earlier, simulated: true, source: 'test' } });
    await settled(page);
    expect((await rowOf(page, 'RUT'))[1]).toBe('21,420.00');
    expect(counter.asked).toBe(1);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const again = page.waitForRequest('**/api/v1/changes');
    await send(page, { provenance: { as_of: tomorrow, simulated: true, source: 'test' } });
    await again;
    await settled(page);
    expect([counter.asked, (await rowOf(page, 'RUT'))[2]]).toEqual([2, '—']);
  });

  test('an old link to Scan opens Odds, whose density is wide', async () => {
    const page = await terminal.open('#/SPY/scan?_dte=7', { width: 1280, height: 800 });
    await page.waitForSelector('main[data-view="odds"] [data-panel="density"] svg');
    expect(await page.locator('[data-state="misread"]').count()).toBe(0);
    for (const width of [1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const box = await page.locator('[data-panel="density"]').boundingBox();
      expect([width, box!.width >= 480]).toEqual([width, true]);
    }
  });
});
