import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { VIEWS } from '../../web/state/address.ts';
import { describeInBrowser, still, test } from './browser.ts';
import { goTo, openStored, withStoredTerminal } from './stored-answers.ts';

/** The widths of a phone, a tablet, a small and a common desktop, and a wide one; each with a theme. */
const SIZES = [
  [360, 740, 'dark'],
  [768, 1024, 'light'],
  [1280, 800, 'dark'],
  [1920, 1080, 'light'],
  [2560, 1300, 'dark'],
] as const;

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

  test.each(SIZES as unknown as [number, number, 'dark' | 'light'][])(
    'at %d × %d pixels (%s), every one is whole, and no view scrolls the document',
    async (width, height, colorScheme) => {
      const { page } = await openStored(terminal, 'ticker', { width, height, colorScheme });
      const defects: string[] = [];
      for (const view of VIEWS) {
        await goTo(page, view);
        defects.push(...(await menuDefects(page)).map((each) => `${view}: ${each}`));
      }
      await goTo(page, 'ticker');
      for (const keys of ['Control+K', '?', 'o', '/']) defects.push(...(await dialogDefects(page, keys)));
      await still(page);
      expect(defects).toEqual([]);
    },
  );
});
