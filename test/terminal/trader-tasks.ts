import { expect } from 'bun:test';
import type { FullAnswer } from '../../src/client/client.ts';
import { figuresOf, type Terminal, test } from './browser.ts';

/**
 * Tests a trader's tasks in a market with a past, with the number of presses that each may take. The comparison of five tickers is in
 * compare.test.ts.
 */
export function testTasks(terminal: Terminal): void {
  test("a trader's tasks, in presses: regime, levels, yesterday, the next expiry, hedging and the smile", async () => {
    const page = await terminal.open('#/QQQ/ticker');
    await figuresOf(page);
    let presses = 0;
    const press = async (selector: string) => {
      presses++;
      await page.click(selector);
    };
    const taken = () => {
      const count = presses;
      presses = 0;
      return count;
    };

    // Regime and levels of another ticker.
    await press('.shell > .watchlist [data-ticker="SPY"]');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent?.startsWith('SPY'));
    const figures = await figuresOf(page);
    expect([figures.call_wall, figures.put_wall, figures.gex_flip].every((text) => /\d/.test(text!))).toBe(true);
    expect(await page.textContent('[data-figure="net_gex"] .figure-meaning')).toMatch(/gamma|undetermined/);
    expect(taken()).toBeLessThanOrEqual(1);

    // What has changed since the previous close.
    await page.waitForSelector('[data-action="since"]:enabled', { timeout: 60_000 });
    await press('[data-action="since"]');
    await page.waitForSelector('[data-diff="shown"]');
    expect(await page.textContent('[data-figure="spot_price"] .figure-note')).toStartWith('was ');
    expect(taken()).toBeLessThanOrEqual(1);

    // The smile against yesterday: the page compares already, so that the view alone is left.
    await press('nav.views >> text=Surface');
    await page
      .getByText(/^at A, /)
      .first()
      .waitFor();
    expect(taken() + 1).toBeLessThanOrEqual(2);
    await press('[data-action="since"]');
    await press('nav.views >> text=Ticker');
    taken();

    // The strikes of the next expiry, and the page says that it is one expiry.
    await press('[data-option="expiries"] .switch button:first-child');
    await press('nav.views >> text=Strikes');
    await page.waitForSelector('main[data-view="strikes"] [role="gridcell"]');
    expect(await page.title()).toMatch(/1 of \d+ expiries/);
    expect(await page.locator('[data-option="expiries"].chosen').count()).toBe(1);
    expect(taken()).toBeLessThanOrEqual(2);
    await page.click('[data-action="reset-scope"]');
    await page.click('nav.views >> text=Ticker');
    await page.waitForSelector('[data-chart="profile"] svg');

    // What dealers do if spot falls by 2 %.
    const plot = (await page.locator('[data-chart="profile"] .plot').boundingBox())!;
    const hedging = (await (
      await terminal.get('/api/v1/nodes/gex/SPY/hedging?moves=-2&expiries=next:35')
    ).json()) as FullAnswer<'get_hedging_profile'>;
    const { shares, spot } = hedging.rows[0]!;
    const at = await page.evaluate((price) => {
      const labels = [...document.querySelectorAll<HTMLElement>('[data-chart="profile"] .y-axis [data-label]')].map(
        (label) => ({
          price: Number(label.textContent!.replaceAll(',', '')),
          y: label.getBoundingClientRect().top + label.getBoundingClientRect().height / 2,
        }),
      );
      const [a, b] = [labels[0]!, labels.at(-1)!];
      return a.y + ((price - a.price) * (b.y - a.y)) / (b.price - a.price);
    }, spot);
    presses++;
    await page.mouse.click(plot.x + plot.width / 2, at);
    const readout = page.locator('[data-panel="profile"] .readout');
    await readout.getByText(shares > 0 ? /dealers buy .* in all/ : /dealers sell .* in all/).waitFor();
    expect(await readout.textContent()).toMatch(/\(−[12]\.\d %\)/);
    expect(taken()).toBeLessThanOrEqual(1);
  }, 120_000);
}
