import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { VIEWS } from '../../web/state/address.ts';
import { IS_LONG } from '../support/size.ts';
import { describeInBrowser, drawn, test } from './browser.ts';
import { smallTargets } from './layout.ts';
import { goTo, openStored, readAnswers, withStoredTerminal } from './stored-answers.ts';

const PHONE = { width: 360, height: 740, hasTouch: true, isMobile: true } as const;
/** How long an answer to a finger may take on a machine whose cores are busy, ms. */
const PATIENCE_MS = 5_000;
/** Every chart with a pointer, and the number of its plots. */
const PLOTS = {
  ladder: 1,
  profile: 1,
  matrix: 1,
  term: 3,
  flow: 2,
  history: 3,
  density: 1,
  smile: 1,
  'surface-term': 2,
};
/** The cursors of the density are dragged, and nothing else is read out. */
const DRAGGED = new Set(['density']);
/** Length of a stroke of a finger and of a turn of a wheel, pixels. */
const STROKE = 60;

/** A plot of the view, in the middle of the window, and what is under a finger on it. */
async function plotAt(page: Page, index: number) {
  return page.evaluate((i) => {
    const plot = [...document.querySelectorAll('main .plot')].filter((each) => each.checkVisibility())[i];
    if (!plot) return undefined;
    plot.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = plot.getBoundingClientRect();
    const main = document.querySelector('main')!;
    return {
      chart: plot.closest<HTMLElement>('[data-chart]')!.dataset.chart!,
      // Not in the middle, where the density has its handles.
      x: left + 0.8 * width,
      y: Math.min(top + height / 2, innerHeight - 160),
      top: main.scrollTop,
      below: main.scrollHeight - main.clientHeight - main.scrollTop,
    };
  }, index);
}

/** Returns whether the view is soon scrolled away from a position. */
function isScrolledFrom(page: Page, top: number): Promise<boolean> {
  return page
    .waitForFunction((from) => Math.abs(document.querySelector('main')!.scrollTop - from) > 4, top, {
      timeout: PATIENCE_MS,
    })
    .then(
      () => true,
      () => false,
    );
}

/** Waits until the view no longer glides. */
async function atRest(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      new Promise((resolve) => {
        const { scrollTop } = document.querySelector('main')!;
        requestAnimationFrame(() =>
          requestAnimationFrame(() => resolve(document.querySelector('main')!.scrollTop === scrollTop)),
        );
      }),
  );
}

/** The read-out of the panel of a plot. */
function readoutOf(index: number): string {
  const plots = [...document.querySelectorAll('main .plot')].filter((each) => each.checkVisibility());
  return plots[index]!.closest('.panel')!.querySelector('.readout')!.textContent!;
}

describeInBrowser('a finger', () => {
  const terminal = withStoredTerminal();

  test('scrolls the page over every chart, as the bare wheel does, reads charts out with a tap, and has targets of 44 by 44 pixels', async () => {
    const { page, served } = await openStored(terminal, 'ticker', PHONE);
    // A tap on a day of the flow asks for more rows of the tape.
    const prints = readAnswers().find(({ request }) => request.includes('/prints?'))!;
    served.change = (answer) => (answer.request.includes('/prints?') ? prints : answer);
    const cdp = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
    const seen: Record<string, number> = {};
    const defects: string[] = [];
    for (const view of VIEWS) {
      await goTo(page, view);
      // The heads of grids are as high as the rows, which are dense on purpose.
      const small = (await smallTargets(page, 44)).filter(({ name }) => !/^div\./.test(name));
      defects.push(...small.map((target) => `${view}: ${JSON.stringify(target)} is too small`));
      for (let i = 0; ; i++) {
        const plot = await plotAt(page, i);
        if (!plot) break;
        const { chart, x, y, top, below } = plot;
        seen[chart] = (seen[chart] ?? 0) + 1;
        // In CI, the first plot of a chart stands for those below it.
        if (!IS_LONG && seen[chart]! > 1) continue;
        const down = below > 2 * STROKE ? 1 : -1;
        await touch('touchStart', { x, y });
        for (const part of [0.25, 0.5, 0.75, 1]) await touch('touchMove', { x, y: y - down * part * STROKE });
        await touch('touchEnd');
        if (!(await isScrolledFrom(page, top))) defects.push(`${chart} ${i}: one finger does not scroll`);
        await atRest(page);
        const turned = (await plotAt(page, i))!;
        await page.mouse.move(turned.x, turned.y);
        let isTurned = false;
        // The browser drops a turn of the wheel while it ends the scroll by the finger.
        for (let turn = 0; turn < 3 && !isTurned; turn++) {
          await page.mouse.wheel(0, down * STROKE);
          isTurned = await isScrolledFrom(page, turned.top);
        }
        if (!isTurned) defects.push(`${chart} ${i}: the wheel does not scroll`);
        if (DRAGGED.has(chart)) continue;
        await atRest(page);
        const tapped = (await plotAt(page, i))!;
        const before = await page.evaluate(readoutOf, i);
        let isReadOut = false;
        // The browser takes a tap during the last frames of a scroll for its end, so a second tap may be needed.
        for (let tap = 0; tap < 3 && !isReadOut; tap++) {
          await page.touchscreen.tap(tapped.x - 0.4 * PHONE.width, tapped.y + 40 - 15 * tap);
          const until = Date.now() + PATIENCE_MS / 3;
          do {
            await drawn(page);
            isReadOut = (await page.evaluate(readoutOf, i)) !== before;
          } while (!isReadOut && Date.now() < until);
        }
        if (!isReadOut) defects.push(`${chart} ${i}: a tap reads nothing out`);
      }
    }
    expect(defects).toEqual([]);
    expect(seen).toEqual(PLOTS);
  }, 120_000);
});
