import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { VIEWS, type ViewName } from '../../web/state/address.ts';
import { IS_FULL } from '../support/size.ts';
import { describeInBrowser, drawn, test } from './browser.ts';
import { goTo, openStored, withStoredTerminal } from './stored-answers.ts';

/** The windows of a phone, a tablet, a small and a common desktop, and a wide one; each with a theme. */
const SIZES = [
  { width: 360, height: 740, colorScheme: 'dark' },
  { width: 768, height: 1024, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
  { width: 1920, height: 1080, colorScheme: 'light' },
  { width: 2560, height: 1300, colorScheme: 'dark' },
] as const;
type Size = (typeof SIZES)[number];
/**
 * The views in turn, each with its sizes: it is opened at the first, and the window then gets the others. In the everyday run, Ticker has all
 * sizes, and the other views take turns with two of them. At full size, each view is opened at each size.
 */
const VISITS: readonly (readonly [ViewName, readonly Size[]])[] = IS_FULL
  ? SIZES.flatMap((size) => VIEWS.map((view) => [view, [size]] as const))
  : VIEWS.map((view, i) => [view, view === 'ticker' ? SIZES : [SIZES[i % 5]!, SIZES[(i + 2) % 5]!]] as const);
/** The keys that open a dialog. */
const DIALOGS = ['Control+K', '?', 'o', '/'];

/** Opens every panel menu of the view in turn, and returns what is wrong with it, and with the document. */
function menuDefects(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const defects: string[] = [];
    const view = document.querySelector<HTMLElement>('main')!;
    const menus = [...view.querySelectorAll<HTMLDetailsElement>('.panel-menu')].filter(
      (menu) => menu.getBoundingClientRect().width > 0,
    );
    for (const menu of menus) {
      const summary = menu.querySelector('summary')!;
      const name = summary.getAttribute('aria-label');
      menu.scrollIntoView({ block: 'nearest' });
      menu.open = true;
      menu.dispatchEvent(new Event('toggle'));
      const list = menu.lastElementChild as HTMLElement;
      const box = list.getBoundingClientRect();
      const frame = view.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1) defects.push(`${name}: beyond a side`);
      if (box.bottom > frame.bottom + 1 || box.top < frame.top - 1) defects.push(`${name}: beyond the view`);
      if (list.scrollWidth > list.clientWidth) defects.push(`${name}: wider than its box`);
      for (const button of list.querySelectorAll<HTMLElement>('button')) {
        const { height, width } = button.getBoundingClientRect();
        if (width > 0 && (height > 46 || button.scrollWidth > button.clientWidth + 1))
          defects.push(`${name}: ${button.textContent} is cut or wraps`);
      }
      menu.open = false;
    }
    if (menus.length === 0 && view.dataset.view !== 'house') defects.push('no menu');
    // One more swipe at the end of a view must not move the page.
    view.scrollTop = view.scrollHeight;
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.documentElement;
    if (scrollHeight > clientHeight || scrollWidth > clientWidth) defects.push('the document scrolls');
    view.scrollTop = 0;
    return defects;
  });
}

/** Opens a dialog by its keys, and returns what is wrong with it. */
async function dialogDefects(page: Page, keys: string): Promise<string[]> {
  await page.keyboard.press(keys);
  await page.waitForSelector('dialog[open]');
  const defects = await page.evaluate((name) => {
    const dialog = document.querySelector('dialog[open]')!;
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    const isCut = dialog.scrollWidth > dialog.clientWidth;
    return [...(isInside ? [] : [`${name}: beyond the window`]), ...(isCut ? [`${name}: scrolls sideways`] : [])];
  }, keys);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  return defects;
}

describeInBrowser('menus and dialogs', () => {
  const terminal = withStoredTerminal();

  test('every one is whole at five sizes of the window, and no view scrolls the document', async () => {
    const { page } = await openStored(terminal, 'house');
    const defects: string[] = [];
    for (const [view, sizes] of VISITS) {
      for (const [i, size] of sizes.entries()) {
        await page.emulateMedia({ colorScheme: size.colorScheme });
        await page.setViewportSize(size);
        if (i === 0) await goTo(page, view);
        await drawn(page);
        const found = await menuDefects(page);
        if (view === 'ticker') for (const keys of DIALOGS) found.push(...(await dialogDefects(page, keys)));
        defects.push(...found.map((each) => `${view} at ${size.width} pixels: ${each}`));
      }
    }
    expect(defects).toEqual([]);
  }, 60_000);
});
