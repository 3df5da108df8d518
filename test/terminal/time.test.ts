import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser, figuresOf, type Terminal, withTerminal } from './browser.ts';

const A = '2026-';

/** Opens a page whose strip has the past of SPY: sixty days, of which five have half-hours. */
async function openWithPast(terminal: Terminal, fragment = '#/SPY/ticker'): Promise<Page> {
  const page = await terminal.open(fragment);
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>('.strip-track')?.dataset.stops) > 120, null, {
    timeout: 120_000,
  });
  return page;
}
