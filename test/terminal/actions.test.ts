import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { ACTION_LIST } from '../../web/state/action-list.ts';
import { VIEW_NAMES, VIEWS } from '../../web/state/address.ts';
import { describeInBrowser, drawn, figuresOf, settled, test, withTerminal } from './browser.ts';

const addressOf = (page: Page) => page.evaluate(() => location.hash);
/** What has the focus. Nothing has it: `BODY`. */
const focusOf = (page: Page) => page.evaluate(() => document.activeElement!.tagName);

/** Presses keys while a chart or a cell of a grid of the view has the focus, and expects that something has it then. */
async function pressFrom(page: Page, ...keys: string[]): Promise<void> {
  await page.evaluate(() => {
    const main = document.querySelector('main')!;
    const chart = main.querySelector<HTMLElement>('[role="application"], [role="grid"] [tabindex="0"]');
    (chart ?? main.querySelector('button'))?.focus();
  });
  expect({ keys, before: await focusOf(page) }).not.toEqual({ keys, before: 'BODY' });
  for (const key of keys) await page.keyboard.press(key);
  await drawn(page);
  expect({ keys, after: await focusOf(page) }).not.toEqual({ keys, after: 'BODY' });
}

describeInBrowser('acts by keyboard alone', () => {
  const terminal = withTerminal();

  test('one tour: views, ticker, analysis, time, Explain, table, copies, theme and sign-out; the focus is never lost', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    for (const view of VIEWS) {
      await pressFrom(page, 'g', VIEW_NAMES[view].key);
      await page.waitForSelector(`main[data-view="${view}"]`);
      expect(await addressOf(page)).toStartWith(`#/SPY/${view}`);
    }
    await pressFrom(page, 'g', 't');
    await figuresOf(page);
    const steps: readonly (readonly [string, RegExp])[] = [
      ['j', /^#\/QQQ\/ticker/],
      ['k', /^#\/SPY\/ticker/],
      ['2', /measure=delta/],
      ['1', /^#\/SPY\/ticker$/],
      ['w', /weight=volume/],
      ['w', /^#\/SPY\/ticker$/],
      ['n', /sign=flow/],
      ['n', /^#\/SPY\/ticker$/],
      ['+', /zoom=6\.92/],
      ['=', /^#\/SPY\/ticker$/],
      ['-', /zoom=11\.7/],
      ['=', /^#\/SPY\/ticker$/],
      ['p', /pin=20/],
      ['d', /diff=1/],
      ['d', /pin=[^&]+$/],
      ['i', /explain=gex_flip/],
      ['Escape', /pin=[^&]+$/],
    ];
    for (const [key, address] of steps) {
      await pressFrom(page, key);
      expect([key, await addressOf(page)]).toEqual([key, expect.stringMatching(address)]);
    }
    // The ladder is gone, and its panel keeps the focus, so that the same key shows the ladder again.
    const focusedPanel = () =>
      page.evaluate(() => document.activeElement!.closest<HTMLElement>('[data-panel]')?.dataset.panel);
    await pressFrom(page, 'v');
    await page.waitForSelector('[data-panel="ladder"] [role="grid"]');
    expect(await focusedPanel()).toBe('ladder');
    await page.keyboard.press('v');
    await page.waitForSelector('[data-panel="ladder"] canvas');
    expect(await focusedPanel()).toBe('ladder');
    await page.keyboard.press('c');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toStartWith('curl -H "X-API-Key: $ZOMMA_KEY"');
    // MCP has the figures of all expiries.
    await pressFrom(page, 'Shift+C');
    await page.getByText('There is no MCP form of this call.').waitFor();
    await page.focus('[data-horizon="all"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-panel="ladder"] .panel-title >> text=all expiries');
    await page.focus('[data-panel="ladder"] summary');
    await page.keyboard.press('Shift+C');
    expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toHaveProperty('method');
    await page.keyboard.press('y');
    // The page is live, and its link has the moment of its figures.
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/#\/SPY\/ticker\?at=20[^&]+Z&pin=/);
    await page.keyboard.press('t');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await pressFrom(page, '/', 'i', 'w', 'Enter');
    expect(await addressOf(page)).toStartWith('#/IWM/ticker');
    await page.keyboard.press('Control+K');
    await page.keyboard.type('sign out');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.sign-in');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('key');
  }, 60_000);

  test('in the ladder, arrows move strike by strike, a live region says it, and Enter explains the strike', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    await page.focus('[data-chart="ladder"] [role="application"]');
    await page.keyboard.press('ArrowUp');
    const first = await page.textContent('[data-panel="ladder"] .readout');
    await page.keyboard.press('ArrowUp');
    const second = await page.textContent('[data-panel="ladder"] .readout');
    expect(Number.parseFloat(second!)).toBeGreaterThan(Number.parseFloat(first!));
    await page.waitForFunction(
      (text) => document.querySelector('[data-chart="ladder"] [aria-live]')?.textContent === text,
      second!,
    );
    await page.keyboard.press('Shift+ArrowUp');
    expect(await page.textContent('[data-panel="ladder"] .readout')).toStartWith('2 strikes');
    await page.keyboard.press('Enter');
    expect(await addressOf(page)).toMatch(/explain=strike\.\d+/);
  });

  test('letters do nothing in fields, with modifiers, or when they are turned off, which the browser remembers', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    const before = await addressOf(page);
    await page.keyboard.press('Alt+j');
    await page.keyboard.press('Control+j');
    await page.keyboard.press('o');
    await page.fill('.fields input', 'next:30');
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    expect((await addressOf(page)).split('?')[0]).toBe(before);
    await page.keyboard.press('?');
    await page.uncheck('.keys input[type="checkbox"]');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    expect((await addressOf(page)).split('?')[0]).toBe(before);
    expect(await page.evaluate(() => localStorage.getItem('zomma-letters'))).toBe('off');
  });

  test('the list of keys shows exactly the keys that are bound', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    await page.keyboard.press('?');
    const shown = await page.$$eval('.key-groups section:not(:last-of-type) kbd', (found) =>
      found.map((each) => each.textContent),
    );
    expect(shown.toSorted()).toEqual(ACTION_LIST.flatMap(({ keys }) => keys ?? []).toSorted());
    expect(new Set(shown).size).toBe(shown.length);
  });

  test('Escape closes, then leaves the chart, then goes back to live', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    const asOf = await page.getAttribute('[data-panel="ladder"]', 'data-as-of');
    await page.evaluate((moment) => {
      location.hash = `#/SPY/ticker?at=${moment}&explain=gex_flip`;
    }, asOf);
    await page.waitForSelector('.explain');
    await page.focus('[data-chart="ladder"] [role="application"]');
    await page.keyboard.press('Escape');
    expect(await addressOf(page)).not.toContain('explain');
    await page.focus('[data-chart="ladder"] [role="application"]');
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).not.toBe('application');
    expect(await addressOf(page)).toContain('at=');
    await page.keyboard.press('Escape');
    expect(await addressOf(page)).toBe('#/SPY/ticker');
  });
});

describeInBrowser('the page keeps what the member does', () => {
  const terminal = withTerminal();

  test('300 live events leave zoom, selection, focus, open panels and the scroll position as they were', async () => {
    const page = await terminal.open('#/SPY/ticker?zoom=5&explain=gex_flip', { height: 340 });
    await figuresOf(page);
    await settled(page);
    await page.focus('[data-chart="ladder"] [role="application"]');
    for (const key of ['ArrowUp', 'Shift+ArrowUp', 'Shift+ArrowUp']) await page.keyboard.press(key);
    await page.evaluate(() => {
      document.querySelector('.watchlist')!.scrollTop = 60;
    });
    const state = () =>
      page.evaluate(() => ({
        address: location.hash,
        focus: document.activeElement?.getAttribute('aria-roledescription'),
        readout: document.querySelector('[data-panel="ladder"] .readout')?.textContent,
        explain: document.querySelector('.explain') !== null,
        scroll: document.querySelector('.watchlist')!.scrollTop,
      }));
    const before = await state();
    expect(before.scroll).toBe(60);
    await page.evaluate(async () => {
      const channel = new BroadcastChannel((await navigator.locks.query()).held![0]!.name!);
      for (let i = 0; i < 300; i++) {
        const event = {
          id: '',
          ticker: ['QQQ', 'IWM', 'NVDA'][i % 3],
          spot_price: 100 + i,
          call_wall: 1,
          put_wall: 1,
          gex_flip: 101,
          flip_resolved: true,
          net_gex_mil: i,
          regime: 'positive_gamma',
          provenance: { as_of: new Date().toISOString(), simulated: true, source: 'test' },
        };
        channel.postMessage({ kind: 'events', events: [event], lastId: '', isStreaming: true });
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      channel.close();
    });
    await page.waitForFunction(
      () => document.querySelector('[data-ticker="NVDA"]')?.textContent?.includes('399.00'),
      null,
      { polling: 100 },
    );
    expect(await state()).toEqual(before);
  });

  test('a ticker that changes ten times in a second: the last is shown, and no figure of another under its name', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    for (let i = 0; i < 10; i++) await page.keyboard.press('j');
    const name = (await page.textContent('h1'))!.split(' ')[0]!;
    await page.waitForSelector(`[data-ticker-of="${name}"]`);
    const rest = (await (await terminal.get(`/api/v1/nodes/gex/${name}`)).json()) as { spot_price: number };
    expect(Number((await figuresOf(page)).spot_price!.replaceAll(',', ''))).toBeCloseTo(rest.spot_price, 2);
  });

  test('back and forward walk through the states', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    await page.keyboard.press('j');
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.goBack();
    expect(await addressOf(page)).toBe('#/QQQ/ticker');
    await page.goBack();
    expect(await addressOf(page)).toStartWith('#/SPY/ticker');
    await page.goForward();
    expect(await addressOf(page)).toBe('#/QQQ/ticker');
  });

  test('the wheel scrolls the page over a chart, and zooms with Ctrl', async () => {
    const page = await terminal.open('#/SPY/ticker', { width: 500, height: 700 });
    await figuresOf(page);
    await settled(page);
    await page.hover('[data-chart="ladder"] [role="application"]', { position: { x: 100, y: 200 } });
    const before = await page.evaluate(() => document.querySelector('main')!.scrollTop);
    await page.mouse.wheel(0, 60);
    await page.waitForFunction((y) => document.querySelector('main')!.scrollTop > y, before);
    expect(await addressOf(page)).not.toContain('zoom');
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, 100);
    await page.keyboard.up('Control');
    await page.waitForFunction(() => location.hash.includes('zoom='));
  });
});
