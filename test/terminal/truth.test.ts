import { expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as format from '../../src/web/page-format.ts';
import { run } from '../support/process.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { describeInBrowser, figuresOf, withTerminal } from './browser.ts';

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
        const rest = (await (await terminal.get(`/api/v1/nodes/gex/${ticker}?at=${asOf}`)).json()) as Record<
          string,
          number
        >;
        expect({ ticker, ...figures }).toMatchObject({
          ticker,
          spot_price: format.price(rest.spot_price),
          call_wall: format.strikeText(rest.call_wall),
          put_wall: format.strikeText(rest.put_wall),
          max_pain: format.strikeText(rest.max_pain),
          net_gex: format.signedAmount(rest.net_gex_mil! * 1e6),
        });
        const view = (await (await terminal.get(`/api/v1/nodes/gex/${ticker}/view?at=${asOf}`)).json()) as {
          levels: { flip_resolved: boolean; gex_flip: number; net_gex_mil: number };
          strikes: { net_gex: number[] };
        };
        expect(figures.gex_flip).toBe(view.levels.flip_resolved ? format.price(view.levels.gex_flip) : format.UNKNOWN);
        // The bars of the ladder sum to the figure.
        const sum = view.strikes.net_gex.reduce((total, each) => total + each, 0);
        expect(sum / 1e6).toBeCloseTo(view.levels.net_gex_mil, 6);
      }
      await page.context().close();
    }, 60_000);

    test('every panel names one moment, and the copied curl gives the bytes that drew it', async () => {
      const page = await terminal.open('#/MSFT/ticker');
      const bodies = new Map<string, string>();
      page.on('response', async (response) =>
        bodies.set(new URL(response.url()).pathname, await response.text().catch(() => '')),
      );
      await page.reload();
      await page.waitForSelector('#key');
      await page.fill('#key', terminal.key);
      await page.press('#key', 'Enter');
      await figuresOf(page);
      const moments = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('[data-panel]')].map((each) => each.dataset.asOf),
      );
      expect(moments.length).toBeGreaterThanOrEqual(2);
      expect(new Set(moments).size).toBe(1);
      await page.focus('[data-panel="ladder"] [role="application"]');
      await page.keyboard.press('c');
      const curl = await page.evaluate(() => navigator.clipboard.readText());
      expect(curl).not.toContain(terminal.key);
      expect(curl).toContain(`at=${encodeURIComponent(moments[0]!)}`);
      const { stdout } = await run(['sh', '-c', `export ZOMMA_KEY=${terminal.key}; ${curl} -s`], []);
      const view = JSON.parse(bodies.get('/api/v1/nodes/gex/MSFT/view')!) as { strikes: unknown };
      expect(JSON.parse(stdout)).toEqual(view.strikes as never);
      expect(stdout).toBe(JSON.stringify(view.strikes));
      await page.context().close();
    }, 60_000);
  });
});
