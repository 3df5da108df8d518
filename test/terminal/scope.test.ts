import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { formatAddress, START, VIEWS } from '../../web/state/address.ts';
import { goTo } from './answers.ts';
import { describeInBrowser, figuresOf, test, withTerminal } from './browser.ts';

/** The options of the analysis that differ from the defaults, with the words that must be visible. */
const OPTIONS = [
  ['expiries', 'next:7', 'next 7 days'],
  ['weight', 'volume', "the day's volume"],
  ['sign', 'flow', 'by signed flow'],
  ['iv', 'own', 'own of each contract'],
  ['gamma', 'feed', "the feed's"],
  ['forward', 'flat', 'flat'],
] as const;

/** Returns the texts of the scope bar that are visible: the value of each menu, and the notes. */
const scopeOf = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLSelectElement>('[data-scope] .chosen select')]
      .filter((each) => each.getBoundingClientRect().width > 0)
      .map((each) => `${each.closest<HTMLElement>('[data-option]')!.dataset.option} ${each.selectedOptions[0]!.text}`),
  );

describeInBrowser('the scope of the page', () => {
  const terminal = withTerminal();

  test('each option that is not the default is named on every view, in the ribbon and in the title', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    const all = Object.fromEntries(OPTIONS.map(([name, value]) => [name, value]));
    const pages = [
      ...VIEWS.map((view) => ({ view, options: all })),
      ...OPTIONS.map(([name, value]) => ({ view: 'ticker' as const, options: { [name]: value } })),
    ];
    for (const { view, options } of pages) {
      await goTo(page, formatAddress({ ...START, view, options }));
      const names = OPTIONS.filter(([name]) => name in options);
      await page.waitForFunction((n) => document.querySelectorAll('[data-scope] .chosen').length === n, names.length);
      const shown = (await scopeOf(page)).join('\n');
      const ribbon = await page.textContent('[data-state="scope"]');
      const title = await page.title();
      for (const [name, , words] of names) {
        expect([view, shown]).toEqual([
          view,
          expect.stringContaining(name === 'expiries' ? 'expiries ' : `${name} ${words}`),
        ]);
        expect([view, ribbon]).toEqual([view, expect.stringContaining(words)]);
        expect([view, title]).toEqual([view, expect.stringContaining(words)]);
      }
    }
  }, 120_000);

  test.each([
    ['a desktop', 1280, 800],
    ['a phone', 360, 740],
  ])(
    'the session, or the next expiry, is one press on %s, the title says it, and one press restores the defaults',
    async (_, width, height) => {
      const page = await terminal.open('#/SPY/ticker', { width, height });
      const before = await figuresOf(page);
      const first = page.locator('[data-option="expiries"] .switch button').first();
      const name = (await first.textContent())!.replace('Session', 'the session');
      await first.click();
      await page.waitForFunction((text) => document.title.includes(text), name);
      expect(await page.evaluate(() => location.hash)).toMatch(/expiries=(?:session|20)/);
      await page.waitForFunction(
        (all) => document.querySelector('[data-figure="net_gex"] .figure-value')?.textContent !== all,
        before.net_gex,
      );
      expect(await page.title()).toMatch(/1 of \d+ expiries \(/);
      await page.locator('[data-action="reset-scope"]').click();
      await page.waitForFunction(() => location.hash === '#/SPY/ticker');
      expect((await figuresOf(page)).net_gex).toBe(before.net_gex!);
    },
  );

  test('a selection without a contract is a sentence, and one press leads back', async () => {
    terminal.expected.push(/status of 400/);
    const page = await terminal.open('#/SPY/ticker?expiries=2020-01-17');
    await page.waitForSelector('main .problem');
    await page.locator('[data-action="reset-scope"]').click();
    await figuresOf(page);
  });

  test('saved tables and pictures name the options', async () => {
    const page = await terminal.open('#/SPY/ticker?weight=volume');
    await figuresOf(page);
    const saved = page.waitForEvent('download');
    await page.locator('[data-panel="ladder"] .panel-menu summary').click();
    await page.locator('[data-panel="ladder"]').getByRole('button', { name: 'Save CSV' }).click();
    const path = await (await saved).path();
    const [head, first] = (await Bun.file(path).text()).split('\r\n');
    expect(head).toStartWith('ticker,as_of,simulated,options,');
    expect(first).toContain(`true,"Expiries next 35 days, Weight the day's volume",`);
    await page.evaluate(() => {
      const drawn: string[] = [];
      Object.assign(globalThis, { drawn });
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        drawn.push(text);
        fillText.call(this, text, ...place);
      };
    });
    const picture = page.waitForEvent('download');
    await page.locator('[data-panel="ladder"] .panel-menu summary').click();
    await page.locator('[data-panel="ladder"]').getByRole('button', { name: 'Save picture' }).click();
    await picture;
    const drawn = await page.evaluate(() => (globalThis as unknown as { drawn: string[] }).drawn.join('\n'));
    expect(drawn).toContain("Weight the day's volume");
  });
});
