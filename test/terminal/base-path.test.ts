import { expect } from 'bun:test';
import { VIEWS } from '../../web/state/address.ts';
import { startPathProxy } from '../support/path-proxy.ts';
import { PROGRAM, startServer, withFolder } from '../support/process.ts';
import { describeInBrowser, figuresOf, sharedBrowser, test, watch } from './browser.ts';

const BASE = '/zomma';

describeInBrowser('the terminal below a path', () => {
  test(
    'shows figures, and each request, link and printed address has the path',
    () =>
      withFolder(async (folder) => {
        const args = ['start', '--port', '0', '--data-dir', folder, '--base-path', BASE, '--rate-limit', 'off'];
        const server = await startServer(PROGRAM, args);
        await server.loaded;
        const [, code] = /#code=(\w+)/.exec(server.before.find((line) => line.startsWith('open: '))!)!;
        const proxy = startPathProxy(server.url, BASE, false);
        const context = await (await sharedBrowser()).newContext();
        const problems: string[] = [];
        try {
          const page = await context.newPage();
          watch(page, proxy.url, problems);
          await page.goto(`${proxy.url}/#code=${code}&/SPY/ticker`);
          await figuresOf(page);
          expect(new URL(page.url()).pathname).toBe(`${BASE}/`);
          for (const view of VIEWS) {
            await page.goto(`${proxy.url}/#/SPY/${view}`);
            await page.waitForSelector(`main[data-view="${view}"]`);
            const { links, text } = await page.evaluate(() => ({
              links: [...document.querySelectorAll('a')].map((each) => each.getAttribute('href')!),
              text: document.body.textContent,
            }));
            const outside = links.filter((link) => link.startsWith('/') && !link.startsWith('/zomma/'));
            expect([view, outside]).toEqual([view, []]);
            const { origin } = new URL(proxy.url);
            expect([view, text.replaceAll(proxy.url, '').includes(origin)]).toEqual([view, false]);
          }
          await page.goto(`${proxy.url}/#/SPY/house?_part=connect`);
          await page.waitForSelector('.status-cards pre >> nth=3');
          const snippets = await page.evaluate(() =>
            [...document.querySelectorAll('.status-cards pre')].map((each) => each.textContent!),
          );
          const addresses = snippets.flatMap((snippet) => snippet.match(/http:\/\/127[^\s"']*/g) ?? []);
          expect(addresses.length).toBeGreaterThan(3);
          expect(addresses.filter((address) => !address.startsWith(proxy.url))).toEqual([]);
          expect(problems).toEqual([]);
        } finally {
          await context.close();
          await proxy.stop();
          await server.stop('SIGTERM');
        }
      }),
    120_000,
  );
});
