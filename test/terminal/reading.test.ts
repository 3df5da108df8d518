import { expect } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { VIEWS, type ViewName } from '../../web/state/address.ts';
import { IS_LONG } from '../support/size.ts';
import { describeInBrowser, drawn, test } from './browser.ts';
import { cutTexts, sidewaysOf, smallTargets } from './layout.ts';
import { outlineOf } from './outline.ts';
import { goTo, openStored, STORED_TICKER, withStoredTerminal } from './stored-answers.ts';

interface Case {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Size of the page's text, pixels, if it is not the page's own. */
  readonly text?: number;
}

/** A browser's zoom of 200 % makes the window half as large. */
const CASES: readonly Case[] = [
  { name: '1280 pixels', width: 1280, height: 800 },
  { name: '320 pixels', width: 320, height: 740 },
  { name: 'a zoom of 200 %', width: 640, height: 400 },
];
/** Text of twice the size in a window that stays as it is: what some browsers call "zoom text only". */
const LARGE_TEXT: readonly Case[] = [
  { name: 'text of 200 %', width: 1280, height: 800, text: 26 },
  { name: 'text of 200 % at 320 pixels', width: 320, height: 740, text: 26 },
];

const OUTLINES = join(import.meta.dir, 'aria');
const OUTLINE_LINES_MAX = 150;
const UPDATES = process.env.ZOMMA_UPDATE_STORED === 'true';

/** Opens views in every case, and returns what `look` finds there. */
async function lookAt(
  page: Page,
  views: readonly ViewName[],
  cases: readonly Case[],
  look: (view: ViewName) => Promise<string[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const view of views) {
    // Some parts of a view are open or closed by the width at which it is opened.
    await page.setViewportSize(cases[0]!);
    await goTo(page, view);
    for (const { name, width, height, text } of cases) {
      await page.setViewportSize({ width, height });
      await page.evaluate((size) => {
        document.documentElement.style.fontSize = size ? `${size}px` : '';
      }, text);
      await drawn(page);
      const sideways = await sidewaysOf(page);
      const defects = [...(sideways > 0 ? [`scrolls sideways by ${sideways}`] : []), ...(await look(view))];
      found.push(...defects.map((defect) => `${view} at ${name}: ${defect}`));
    }
  }
  return found;
}

/**
 * What text of twice the size cuts, while the zoom of the browser cuts nothing: notes, read-outs (their height is fixed, so that a chart does
 * not move under the pointer) and the last label of an axis. And views that it makes too wide.
 */
const BY_LARGE_TEXT = new RegExp(
  [
    ': (?:div\\.x-axis|span\\.figure-note|p\\.readout|svg)(?![\\w-])',
    '^(?:ticker|flow) at text of 200 %: scrolls',
    '^(?:flow|history|odds|surface) at text of 200 % at 320 pixels: scrolls',
  ].join('|'),
);

/** Returns what a function returns, which is called once. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

describeInBrowser('reading', () => {
  const terminal = withStoredTerminal();

  /** The outlines of the views at 1280 pixels, and the defects of all cases. One page has both. */
  const looked = once(async () => {
    const { page } = await openStored(terminal, 'ticker', { userAgent: 'a browser' });
    const outlines: Record<string, string> = {};
    const defects = await lookAt(page, VIEWS, CASES, async (view) => {
      outlines[view] ??= outlineOf(await page.locator('main').ariaSnapshot());
      const small = await smallTargets(page, 24);
      return [...(await cutTexts(page)), ...small.map((target) => `too small: ${JSON.stringify(target)}`)];
    });
    return { outlines, defects };
  });

  async function largeTextDefects(views: readonly ViewName[]): Promise<string[]> {
    const { page } = await openStored(terminal, 'ticker');
    const found = await lookAt(page, views, LARGE_TEXT, () => cutTexts(page));
    return found;
  }

  test('the accessibility tree of each view is the stored one (after a wanted change: ZOMMA_UPDATE_STORED=true bun test test/terminal/reading)', async () => {
    const { outlines } = await looked();
    const stored: Record<string, string[]> = {};
    mkdirSync(OUTLINES, { recursive: true });
    for (const view of VIEWS) {
      const file = join(OUTLINES, `${view}.txt`);
      if (UPDATES) writeFileSync(file, outlines[view]!);
      stored[view] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    }
    const found = Object.fromEntries(VIEWS.map((view) => [view, outlines[view]!.split('\n')]));
    expect(found).toEqual(stored);
    expect(VIEWS.filter((view) => found[view]!.length > OUTLINE_LINES_MAX)).toEqual([]);
  });

  test('at 320 and 1280 pixels and a zoom of 200 % no text is cut, no view scrolls sideways, no target is too small', async () => {
    expect((await looked()).defects).toEqual([]);
  });

  test('text of 200 % cuts no heading, no figure, no cell, no state and no field', async () => {
    const found = await largeTextDefects(IS_LONG ? VIEWS : ['ticker']);
    expect(found.filter((each) => !BY_LARGE_TEXT.test(each))).toEqual([]);
  });

  test('forced colours leave marks, legends, levels, borders, states and the focus', async () => {
    let legends = 0;
    const schemes = (['dark', 'light'] as const).map(async (colorScheme) => {
      const { page } = await openStored(terminal, 'ticker', { forcedColors: 'active', colorScheme });
      const faint: string[] = [];
      // In CI the schemes share the views.
      for (const view of VIEWS.filter((_, i) => IS_LONG || (i % 2 === 0) === (colorScheme === 'dark'))) {
        await goTo(page, view);
        faint.push(...(await faintParts(page)).map((each) => `${view} ${colorScheme}: ${each}`));
        const legend = await page.$$eval('.legend i', (all) =>
          all.map((each) => getComputedStyle(each).backgroundColor),
        );
        if (new Set(legend).size < legend.length)
          faint.push(`${view} ${colorScheme}: two colours of the legend are one`);
        if (legend.length > 0) legends++;
      }
      return faint;
    });
    expect((await Promise.all(schemes)).flat()).toEqual([]);
    expect(legends).toBeGreaterThan(0);
  });

  test('a changed figure is underlined for a moment, and without motion nothing moves', async () => {
    const { page, served } = await openStored(terminal, 'ticker');
    const earlier = (day: number) => `2026-11-${day}T21:00:00.000Z`;
    served.change = (answer, at) =>
      answer.request.includes('/view?') && at
        ? {
            ...answer,
            body: { ...answer.body, levels: { ...answer.body.levels, spot_price: Number(at.slice(8, 10)) } },
          }
        : answer;
    const running: Record<string, number> = {};
    for (const [reducedMotion, day] of [
      ['no-preference', 18],
      ['reduce', 19],
    ] as const) {
      await page.emulateMedia({ reducedMotion });
      await page.evaluate(
        (hash) => {
          location.hash = hash;
        },
        `#/${STORED_TICKER}/ticker?at=${earlier(day)}`,
      );
      await page.waitForFunction(
        (text) => document.querySelector('[data-figure="spot_price"] .figure-value')?.textContent === text,
        `${day}.00`,
      );
      running[reducedMotion] = await page.evaluate(() => document.getAnimations().length);
    }
    const slow = await page.$$eval(
      '*',
      (all) =>
        all.filter((each) => {
          const { transitionDuration, scrollBehavior } = getComputedStyle(each);
          return (
            scrollBehavior === 'smooth' || transitionDuration.split(', ').some((time) => Number.parseFloat(time) > 0)
          );
        }).length,
    );
    expect(running).toEqual({ 'no-preference': expect.any(Number), reduce: 0 });
    expect(running['no-preference']).toBeGreaterThan(0);
    expect(slow).toBe(0);
  });
});

/** Returns what the system's colours hide: marks of charts, borders, states and the focus with too little contrast against the ground. */
function faintParts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const channels = (color: string) => [...color.matchAll(/[\d.]+/g)].map(([each]) => Number(each));
    const luminance = (color: readonly number[]) => {
      const [red, green, blue] = color.map((each) => {
        const share = each / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    };
    const ground = channels(getComputedStyle(document.body).backgroundColor);
    const contrast = (color: readonly number[]) => {
      if ((color[3] ?? 1) === 0) return 1;
      const [a, b] = [luminance(color.slice(0, 3)), luminance(ground.slice(0, 3))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    const found: string[] = [];
    const need = (name: string, least: number, colors: readonly (readonly number[])[]) => {
      const best = Math.max(1, ...colors.map(contrast));
      if (best < least) found.push(`${name}: ${best.toFixed(1)}`);
    };
    const nameOf = (each: Element) => `${each.tagName.toLowerCase()}.${each.getAttribute('class') ?? ''}`;
    const visible = (selector: string) =>
      [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
    for (const canvas of visible('canvas') as HTMLCanvasElement[]) {
      // A copy, because Chromium warns of a canvas that is read twice.
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d')!;
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const counts = new Map<number, number>();
      for (const pixel of new Uint32Array(data.buffer))
        if (pixel >>> 24 === 255) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
      const often = [...counts].filter(([, count]) => count > 0.002 * canvas.width * canvas.height);
      need(
        nameOf(canvas),
        3,
        often.map(([pixel]) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]),
      );
    }
    const MARKS = ['curve', 'rule', 'point', 'zero', 'bars rect', 'flow-calls', 'flow-puts'].map(
      (each) => `svg .${each}`,
    );
    for (const mark of visible(MARKS.join())) {
      const { fill, stroke } = getComputedStyle(mark);
      // A fill may be a pattern, whose lines have the colour of the stroke.
      need(nameOf(mark), 3, [fill, stroke].filter((each) => each.startsWith('rgb')).map(channels));
    }
    for (const plot of visible('.plot'))
      if (!plot.querySelector(`canvas, ${MARKS}`)) found.push(`no mark in ${nameOf(plot)}`);
    for (const part of visible(
      'main .panel, header button, .strip button, .panel-head button, .panel-head select, main input',
    )) {
      const { borderBottomColor, borderBottomStyle } = getComputedStyle(part);
      need(`border of ${nameOf(part)}`, 3, borderBottomStyle === 'none' ? [] : [channels(borderBottomColor)]);
    }
    for (const text of visible('.ribbon strong, .figure-value, .level, .unit, .x-axis span, .y-axis span'))
      need(`text of ${nameOf(text)}`, 4.5, [channels(getComputedStyle(text).color)]);
    for (const chart of visible('[role="application"]') as HTMLElement[]) {
      chart.focus({ focusVisible: true } as FocusOptions);
      const { outlineColor, outlineStyle } = getComputedStyle(chart);
      need(`focus of ${nameOf(chart)}`, 3, outlineStyle === 'none' ? [] : [channels(outlineColor)]);
    }
    return [...new Set(found)];
  });
}
