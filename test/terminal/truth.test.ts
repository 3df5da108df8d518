import { expect } from 'bun:test';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as format from '../../web/page-format.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { goTo } from './answers.ts';
import { describeInBrowser, figuresOf, test, withTerminal } from './browser.ts';
import { checkPanels, menusOf } from './panel-actions.ts';

/** Ten recorded chains, in and outside of the universe. */
const CHAINS = ['AAPL', 'AMD', 'AMZN', 'F', 'GOOGL', 'JPM', 'MSFT', 'NVDA', 'TSLA', 'XLE'];

describeRecorded('recorded chains on the page', (dir) => {
  describeInBrowser('figures', () => {
    const terminal = withTerminal((folder) => {
      const drop = join(folder, 'chains');
      mkdirSync(drop);
      for (const name of readdirSync(join(dir, 'chains'))) copyFileSync(join(dir, 'chains', name), join(drop, name));
      return ['--feed', `files:${drop}`];
    });

    test('an address without a ticker opens the newest one with data, and a ticker without data offers those that have some', async () => {
      terminal.expected.push(/status of 400/);
      const page = await terminal.open('');
      await figuresOf(page);
      expect(await page.evaluate(() => location.hash)).toMatch(/^#\/(?!SPY)\w+\/ticker/);
      await goTo(page, '#/SPY/ticker');
      await page.getByRole('button', { name: /^AAPL, Fri 21 Aug/ }).click();
      await page.waitForFunction(() => location.hash === '#/AAPL/ticker');
      await figuresOf(page);
    });

    test('each figure is that of the REST answer of the same moment', async () => {
      const page = await terminal.open('#/AAPL/ticker');
      for (const ticker of CHAINS) {
        await page.evaluate((name) => {
          location.hash = `#/${name}/ticker`;
        }, ticker);
        await page.waitForFunction((name) => document.querySelector('h1')?.textContent?.startsWith(`${name} `), ticker);
        await page.waitForFunction(
          (name) =>
            document.querySelector('[data-panel="ladder"] [data-ticker-of]')?.getAttribute('data-ticker-of') === name,
          ticker,
        );
        const figures = await figuresOf(page);
        const asOf = await page.getAttribute('[data-panel="ladder"]', 'data-as-of');
        const rest = (await (
          await terminal.get(`/api/v1/nodes/gex/${ticker}?expiries=next:35&at=${asOf}`)
        ).json()) as Record<string, number>;
        expect({ ticker, ...figures }).toMatchObject({
          ticker,
          spot_price: format.price(rest.spot_price),
          call_wall: format.strikeText(rest.call_wall),
          put_wall: format.strikeText(rest.put_wall),
          max_pain: format.strikeText(rest.max_pain),
          net_gex: format.signedAmount(rest.net_gex_mil! * 1e6),
        });
        const view = (await (
          await terminal.get(`/api/v1/nodes/gex/${ticker}/view?expiries=next:35&at=${asOf}`)
        ).json()) as {
          levels: { flip_resolved: boolean; gex_flip: number; net_gex_mil: number };
          strikes: { net_gex: number[] };
        };
        expect(figures.gex_flip).toBe(view.levels.flip_resolved ? format.price(view.levels.gex_flip) : format.UNKNOWN);
        // The bars of the ladder sum to the figure.
        const sum = view.strikes.net_gex.reduce((total, each) => total + each, 0);
        expect(sum / 1e6).toBeCloseTo(view.levels.net_gex_mil, 6);
      }
    }, 60_000);

    test('what a panel of a live page copies and saves is what it shows', async () => {
      for (const view of ['ticker', 'history']) {
        // A page of its own, because Chromium lets a page save ten files without a press.
        const page = await terminal.open('#/MSFT/ticker', { width: 1900, height: 720, isAlone: true });
        await goTo(page, `#/MSFT/${view}`);
        await checkPanels(page, terminal, await menusOf(page), { ticker: 'MSFT', isSimulated: false });
      }
    }, 60_000);
  });
});
