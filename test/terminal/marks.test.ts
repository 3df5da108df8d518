import { expect } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { distance } from '../support/oklab.ts';
import { ROOT } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';
import { describeInBrowser, drawn, still, test } from './browser.ts';
import { differingShare, readPixels } from './pixels.ts';
import {
  DEFICIENCIES,
  expectSidesAndHatching,
  expectSigns,
  meanOf,
  placesOf,
  type Sight,
  seenMarks,
  tonesOf,
} from './sight.ts';
import { goTo, openStored, withStoredTerminal } from './stored-answers.ts';

const THEMES = ['dark', 'light'] as const;
const UPDATES = process.env.ZOMMA_UPDATE_STORED === 'true';
const STORED = join(import.meta.dir, 'marks');
/** Pictures that differ from the stored ones are written here. */
const FOUND = join(ROOT, 'build/pictures/marks');

/** A chart whose marks are compared with stored pictures. */
interface MarkedChart {
  readonly id: string;
  readonly view: string;
  /** The part of Explain that has the chart. */
  readonly part?: string;
  /** The element of the chart. */
  readonly root: string;
  /** The parts of it that have the marks. Each gets this height, pixels. */
  readonly parts: string;
  readonly height: number;
}

const chart = (id: string, view: string, height: number): MarkedChart => ({
  id,
  view,
  root: `[data-chart="${id}"]`,
  parts: '.plot',
  height,
});

const CHARTS: readonly MarkedChart[] = [
  chart('ladder', 'ticker', 240),
  chart('profile', 'ticker', 240),
  { ...chart('readings', 'ticker?explain=gex_flip', 20), part: '[data-part="firmness"]', parts: '.reading-track' },
  // The height of its cells follows the window. They are too low for texts.
  chart('matrix', 'expiries', 300),
  chart('term', 'expiries', 110),
  chart('flow', 'flow', 160),
  chart('history', 'history', 110),
  { id: 'record', view: 'history', root: '[data-panel="record"]', parts: 'svg', height: 26 },
  chart('density', 'odds', 200),
  chart('smile', 'surface', 200),
];
const WINDOW = { width: 1280, height: 500 } as const;
const WIDTH = 360;
const SHARE_MAX = 0.001;

/**
 * Shows the marks of a chart alone, in a corner of the window, at a size that depends on no font. Texts are hidden, as fonts differ between
 * machines.
 */
async function isolate(page: Page, { root, parts, height }: MarkedChart): Promise<void> {
  await page.evaluate(
    ([chartOf, part, high, wide]) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`
        * { container-type: normal !important; animation: none !important; }
        body * { visibility: hidden !important; }
        ${chartOf} { position: fixed !important; inset: 0 auto auto 0 !important; z-index: 99; width: ${wide}px !important;
          height: auto !important; max-height: none !important; display: block !important; padding: 0 !important; border: 0 !important;
          background: var(--ground) !important; visibility: visible !important; }
        ${chartOf} *:has(${part}) { display: block !important; width: 100% !important; height: auto !important; margin: 0 !important;
          padding: 0 !important; border: 0 !important; position: static !important; }
        ${chartOf} *:not(${part}, :has(${part}), ${part} *) { display: none !important; }
        ${chartOf} ${part} { display: block !important; position: relative !important; width: 100% !important; height: ${high}px !important;
          min-height: 0 !important; margin: 0 !important; border: 0 !important; inset: auto !important; flex: none !important; }
        ${chartOf} :is(svg, svg *, canvas, i) { visibility: visible !important; }
        ${chartOf} :is(svg text, [data-label], .legend *) { visibility: hidden !important; }
      `);
      document.adoptedStyleSheets = [sheet];
    },
    [root, parts, height, WIDTH] as const,
  );
  await drawn(page);
}

/** Distances of positive and negative marks in OKLab: of the two tones, and of the means over the four steps of either sign. */
const LEAST = { ladder: 20, matrix: 15 } as const;
/** A page so wide that a cell of the matrix has room for its sign, and not for its value. */
const SIGNS_WIDTH = 1180;

describeInBrowser('marks', () => {
  const terminal = withStoredTerminal();

  test('those of each chart are those of the stored pictures (after a wanted change: ZOMMA_UPDATE_STORED=true bun test test/terminal/marks)', async () => {
    const { page } = await openStored(terminal, 'house', WINDOW);
    const blank = await terminal.browser.newPage();
    const differing: string[] = [];
    for (const each of CHARTS) {
      await page.evaluate(() => {
        document.adoptedStyleSheets = [];
      });
      await goTo(page, each.view);
      // A part of Explain asks once it is in view.
      if (each.part) await page.locator(each.part).scrollIntoViewIfNeeded();
      await page.waitForSelector(`${each.root} ${each.parts}`, { state: 'attached' });
      await isolate(page, each);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await drawn(page);
        const name = `${each.id}-${theme}.png`;
        const png = await page.locator(each.root).screenshot();
        if (UPDATES) {
          mkdirSync(STORED, { recursive: true });
          writeFileSync(join(STORED, name), png);
        }
        const stored = existsSync(join(STORED, name)) ? readFileSync(join(STORED, name)) : undefined;
        const share = stored ? differingShare(await readPixels(blank, stored), await readPixels(blank, png)) : 1;
        if (share < SHARE_MAX) continue;
        mkdirSync(FOUND, { recursive: true });
        writeFileSync(join(FOUND, name), png);
        differing.push(`${name}: ${(100 * share).toFixed(2)} % of the pixels differ, see ${join(FOUND, name)}`);
      }
    }
    await blank.close();
    expect(differing).toEqual([]);
  }, 60_000);

  test.each(
    // In CI each chart has one theme: the colours of both are held to the limits by the tests of the style sheet.
    THEMES.flatMap((theme) => [['ladder', theme] as const, ['matrix', theme] as const]).filter(
      ([name, theme]) => IS_LONG || (name === 'ladder') === (theme === 'dark'),
    ),
  )(
    'the signs of the %s are apart (%s)',
    async (name, theme) => {
      const { page } = await openStored(terminal, name === 'ladder' ? 'ticker' : 'expiries', {
        colorScheme: theme,
        width: SIGNS_WIDTH,
        isAlone: true,
      });
      await page.waitForSelector(`[data-chart="${name}"] canvas`);
      await still(page);
      const tones = await tonesOf(page, name);
      const cdp = await page.context().newCDPSession(page);
      const blank = await terminal.browser.newPage();
      const seenAs = async (sight: Sight) => seenMarks(page, cdp, blank, name, sight);
      const plain = await seenAs('none');
      const marks = [placesOf(plain, tones.positive), placesOf(plain, tones.negative)] as const;
      for (const places of marks) expect(places.length).toBeGreaterThan(3_000);
      const apart: Record<string, number> = {};
      for (const sight of DEFICIENCIES) {
        const seen = await seenAs(sight);
        apart[sight] = distance(meanOf(seen, marks[0]), meanOf(seen, marks[1]));
      }
      expect(Object.entries(apart).filter(([, each]) => each < LEAST[name])).toEqual([]);

      // Without any colour the two hues are greys of like lightness. Then the ladder says the sign by the side, and puts by their hatching, and
      // a cell of the matrix by its text.
      const grey = await seenAs('achromatopsia');
      expect(distance(meanOf(grey, marks[0]), meanOf(grey, marks[1]))).toBeLessThan(LEAST[name]);
      if (name === 'ladder') expectSidesAndHatching(grey, marks);
      else expectSigns(grey);
      await blank.close();
    },
    60_000,
  );
});
