import { expect, test } from 'bun:test';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { VIEWS } from '../../src/web/state/address.ts';
import { ROOT } from '../support/process.ts';
import { describeInBrowser, settled, withTerminal } from './browser.ts';

const WIDTHS = [360, 1280, 2560] as const;
const HEIGHTS = { 360: 740, 1280: 800, 2560: 1300 } as const;
const PICTURES = join(ROOT, 'build/pictures');
const THEMES = ['dark', 'light'] as const;
const IS_FULL = process.env.ZOMMA_TERMINAL_FULL === 'true';
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Runs axe in the page. The policy of the page forbids script elements, so the source is evaluated. */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (tags) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(document, { runOnly: { type: 'tag', values: tags } }),
    TAGS,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

describeInBrowser('WCAG 2.2 AA by axe', () => {
  const terminal = withTerminal();

  test.each(WIDTHS)(
    'no view violates it at %d pixels; a picture of each is in build/pictures',
    async (width) => {
      const visit = async (theme: (typeof THEMES)[number]) => {
        const page = await terminal.open('#/SPY/ticker', { width, height: HEIGHTS[width], colorScheme: theme });
        await page.waitForSelector('[data-figure]');
        for (const view of VIEWS) {
          await page.evaluate((name) => {
            location.hash = `#/SPY/${name}`;
          }, view);
          await page.waitForSelector(`main[data-view="${view}"]`);
          await settled(page);
          await page.screenshot({ path: join(PICTURES, `${view}-${width}-${theme}.png`) });
          expect({ view, theme, found: await violationsOf(page) }).toEqual({ view, theme, found: [] });
          const wide = await page.evaluate(() =>
            Math.max(
              ...[document.documentElement, document.querySelector('main')!].map(
                (each) => each.scrollWidth - each.clientWidth,
              ),
            ),
          );
          expect({ view, wide }).toEqual({ view, wide: 0 });
        }
        await page.context().close();
      };
      // Both at once, because the machine has more than one core. In CI, which has four minutes for the terminal, the widths take turns:
      // `bun run test:terminal` visits every view in both themes, and a test of the style sheet has the contrast of all colours.
      const themes = IS_FULL ? THEMES : [THEMES[WIDTHS.indexOf(width) % 2]!];
      await Promise.all(themes.map(visit));
    },
    180_000,
  );

  test.each([
    ['the sign-in page', '', false],
    ['the keys', '?', true],
    ['the commands', 'Control+K', true],
    ['the options', 'o', true],
    ['the panel Explain', 'i', true],
    ['a table in place of a chart', 'v', true],
  ] as const)('%s does not violate it', async (_, key, isSignedIn) => {
    const page = await terminal.open('#/SPY/ticker', { isSignedIn });
    if (isSignedIn) await page.waitForSelector('[data-figure]');
    if (key) await page.keyboard.press(key);
    await page.waitForTimeout(100);
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('nothing is cut at 200 % text and 320 pixels, and only grids scroll sideways', async () => {
    const page = await terminal.open('#/SPY/ticker', { width: 320, height: 800 });
    await page.waitForSelector('[data-figure]');
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '26px';
    });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.context().close();
  });
});
