import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { otherReadings } from '../../web/explain/figure-readings.ts';
import { FIRST_EXPIRIES } from '../../web/state/address.ts';
import { describeInBrowser, figuresOf, test, withTerminal } from './browser.ts';

/** The options of a page without options. */
const FIRST = { expiries: FIRST_EXPIRIES };

describeInBrowser('the panel Explain', () => {
  const terminal = withTerminal();
  const headingOf = (page: Page) => page.textContent('.explain h2');
  const show = (page: Page, part: string) =>
    page.evaluate((name) => document.querySelector(`[data-part="${name}"]`)!.scrollIntoView(), part);

  test('names the figure with value, unit, moment and formula, and each reading is that of its own REST call', async () => {
    const page = await terminal.open('#/SPY/ticker?explain=gex_flip');
    const figures = await figuresOf(page);
    const at = await page.getAttribute('.explain [data-as-of]', 'data-as-of');
    await page.waitForSelector('.explain .formula');
    const text = (await page.textContent('.explain'))!;
    for (const part of [`${figures.gex_flip} dollars`, 'New York', 'Σ sign · Γ(S) · OI', 'contracts', 'used'])
      expect(text).toContain(part);
    await show(page, 'firmness');
    await page.waitForSelector('[data-reading="page"]');
    const shown = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll<HTMLElement>('[data-reading]')].map((each) => [
          each.dataset.reading!,
          Number(Number(each.dataset.value).toPrecision(10)),
        ]),
      ),
    );
    // The page has some figures from wide answers, which have ten digits.
    const inTenDigits = (value: number) => Number(value.toPrecision(10));
    const asked = await Promise.all(
      [{ option: 'page', options: FIRST }, ...otherReadings(FIRST)].map(async ({ option, options }) => {
        const query = new URLSearchParams({ ...(options as Record<string, string>), at: at! });
        const body = (await (await terminal.get(`/api/v1/nodes/gex/SPY?${query}`)).json()) as { gex_flip: number };
        return [option, inTenDigits(body.gex_flip)];
      }),
    );
    expect(asked).toHaveLength(7);
    expect(shown).toEqual(Object.fromEntries(asked));

    await page.focus('[data-reading="weight"] button');
    await page.keyboard.press('Enter');
    expect(page.url()).toContain('weight=volume');
    await page.waitForSelector(`[data-reading="page"][data-value^="${String(shown.weight).slice(0, 9)}"]`);
    expect(await page.evaluate(() => document.activeElement?.closest('[data-reading]') !== null)).toBe(true);
  });

  test('opened by a key it takes the focus, and closed it gives the focus back', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    const focus = () => page.evaluate(() => document.activeElement!.outerHTML.slice(0, 100));
    for (const [opener, key] of [
      ['[data-figure="put_wall"]', 'Enter'],
      ['[data-chart="ladder"] [role="application"]', 'Enter'],
      ['[data-panel="profile"] summary', 'i'],
    ] as const) {
      await page.focus(opener);
      const before = await focus();
      await page.keyboard.press(key);
      expect(await focus()).toStartWith('<h2');
      await page.keyboard.press('Escape');
      expect(await focus()).toBe(before);
      expect(await page.$('.explain')).toBeNull();
    }
    await page.click('[data-figure="call_wall"]');
    expect(await headingOf(page)).toBe('Call wall');
    expect(await focus()).toContain('data-figure="call_wall"');
  });

  test('shows how the figure is made, from the documentation, and follows its links', async () => {
    const page = await terminal.open('#/SPY/ticker?explain=net_gex');
    await page.click('.explain-method summary');
    expect(await page.textContent('.methods .marked')).toStartWith('GEX (gamma exposure) of a contract is');
    expect(await page.$$('.methods a')).toEqual([]);
    const formula = await page.$eval('.methods .marked math', (math) => [math.namespaceURI, math.textContent]);
    expect(formula).toEqual(['http://www.w3.org/1998/Math/MathML', 'GEX=sign⋅Γ⋅OI⋅multiplier⋅S2⋅0.01']);
    await page.click('.methods .jump >> text=the coming calendar day');
    expect(await page.getAttribute('.methods', 'data-methods')).toBe('the-coming-day');
    expect(await page.textContent('.methods h5')).toBe('The coming day');
    await page.click('.methods button >> text=Back to GEX nodes');
    await page.waitForSelector('.methods .marked');
  });

  test('a strike has its row, and the call that gives it', async () => {
    const page = await terminal.open('#/SPY/ticker?expiries=all&explain=strike.650');
    await page.waitForSelector('.explain [data-fact="share of gross"]');
    expect(await headingOf(page)).toBe('Strike 650');
    const curl = (await page.textContent('[data-call="curl"]'))!;
    const body = (await (await terminal.get(/'(?:http:\/\/[^/]+)([^']+)'/.exec(curl)![1]!)).json()) as {
      strike: number[];
      call_open_interest: number[];
    };
    const calls = body.call_open_interest[body.strike.indexOf(650)]!;
    expect(await page.textContent('[data-fact="open interest"] dd')).toStartWith(
      `${calls.toLocaleString('en-US')} calls`,
    );
    await page.click('#call-curl');
    await page.keyboard.press('ArrowRight');
    expect(await page.textContent('[data-call="MCP"]')).toMatch(/strikes\/all\?at=20/);
  });

  test('every panel explains its figures, and a column of a grid explains its own', async () => {
    const page = await terminal.open('#/SPY/expiries');
    await page.locator('[data-panel="term"] .panel-menu summary').click();
    await page.locator('[data-panel="term"]').getByRole('button', { name: 'Explain the figures' }).click();
    expect(await headingOf(page)).toBe('GEX and volatility by expiry');
    await page.getByText('Years to settlement.').waitFor();
    await page.locator('.explain').getByRole('button', { name: 'Close' }).click();
    await page.locator('[data-panel="expiries"] [role="gridcell"][data-column="skew_25d"]').first().click();
    await page.keyboard.press('i');
    await page.waitForSelector('[data-sentence="skew_25d"]');
    expect(await headingOf(page)).toBe('skew 25d');
    expect(await page.textContent('#call-text')).toContain('/expiries?expiries=all&at=');
  });

  test('even a wide page explains only what is chosen, and closes it; a narrow page has a sheet', async () => {
    const wide = await terminal.open('#/SPY/ticker', { width: 1920, height: 1000 });
    await figuresOf(wide);
    expect(await wide.$('.explain')).toBeNull();
    await wide.click('[data-figure="gex_flip"]');
    expect(await headingOf(wide)).toBe('Gamma flip');
    await wide.locator('.explain').getByRole('button', { name: 'Close' }).click();
    await wide.waitForSelector('.explain', { state: 'detached' });
    expect(new URL(wide.url()).hash).toBe('#/SPY/ticker');
    await wide.context().close();
    const narrow = await terminal.open('#/SPY/ticker', { width: 360, height: 740 });
    await figuresOf(narrow);
    expect(await narrow.$('.explain')).toBeNull();
    await narrow.click('[data-figure="gex_flip"]');
    const { y, height } = (await (await narrow.waitForSelector('.explain')).boundingBox())!;
    expect(height).toBeLessThanOrEqual(0.7 * 740 + 1);
    expect(Math.round(y + height)).toBe(740);
    await narrow.context().close();
  });
});
