import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VIEWS } from '../../src/web/state/address.ts';
import { describeInBrowser } from './browser.ts';
import { outlineOf } from './outline.ts';
import { goTo, openStored, withStoredTerminal } from './stored-answers.ts';

const OUTLINES = join(import.meta.dir, 'aria');
const UPDATES = process.env.ZOMMA_UPDATE_STORED === 'true';
const LINES_MAX = 150;

describe('the outline of an accessibility tree', () => {
  test.each([
    ['figures are masked, levels are not', '- heading "SPY 650.25" [level=2]', '- heading "SPY #" [level=2]'],
    ['signs and sizes belong to the figures', '- text: −30.1M of 1,200 at 16:00', '- text: # of # at #'],
    ['words with digits in them stay', '- text: 0DTE', '- text: 0DTE'],
    [
      'choices are on one line',
      '- combobox:\n  - option "a" [selected]\n  - option "b"',
      '- combobox:\n  - option: a | b',
    ],
    [
      'the first row stands for all',
      '- rowgroup:\n  - row "x 1":\n    - gridcell "x"\n    - gridcell "1"\n  - row "y 2":\n    - gridcell "y"',
      '- rowgroup:\n  - row:\n    - gridcell: x | #',
    ],
    [
      'another role follows a list',
      '- list:\n  - listitem: a\n  - listitem: b\n- button "c"',
      '- list:\n  - listitem: a\n- button "c"',
    ],
  ])('%s', (_, snapshot, outline) => {
    expect(outlineOf(snapshot)).toBe(`${outline}\n`);
  });
});

describeInBrowser('the accessibility tree', () => {
  const terminal = withStoredTerminal();

  test('that of each view is the stored one (after a wanted change: ZOMMA_UPDATE_STORED=true bun test test/terminal/outline)', async () => {
    const { page } = await openStored(terminal, 'ticker', { userAgent: 'a browser' });
    for (const view of VIEWS) {
      await goTo(page, view);
      const outline = outlineOf(await page.locator('main').ariaSnapshot());
      const file = join(OUTLINES, `${view}.txt`);
      if (UPDATES) {
        mkdirSync(OUTLINES, { recursive: true });
        writeFileSync(file, outline);
      }
      expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(outline);
      expect({ view, isSmall: outline.split('\n').length < LINES_MAX }).toEqual({ view, isSmall: true });
    }
    await page.context().close();
  });
});
