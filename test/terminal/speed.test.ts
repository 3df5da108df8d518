import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { describeInBrowser, figuresOf, settled, withTerminal } from './browser.ts';

/** A machine that also runs other tests is slower than the machine of the budgets, which `bun run test:terminal` measures alone. */
const IS_FULL = process.env.ZOMMA_TERMINAL_FULL === 'true';
const SLACK = IS_FULL ? 1 : 4;
/** Draws of which the median is taken. A draw of uPlot takes a second. */
const ROUNDS = IS_FULL ? 25 : 9;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

describeInBrowser('budgets of the page', () => {
  const terminal = withTerminal();

  test('the first figure stands within a second after navigation with a cold cache', async () => {
    const times: number[] = [];
    const empty: number[] = [];
    for (let i = 0; i < 5; i++) {
      const context = await terminal.browser.newContext();
      const blank = await context.newPage();
      await blank.goto(`${terminal.url}/health`);
      empty.push(await blank.evaluate(() => performance.now()));
      const page = await context.newPage();
      await page.addInitScript(() => {
        new MutationObserver((_, observer) => {
          if (!document.querySelector('[data-figure] .figure-value')) return;
          observer.disconnect();
          requestAnimationFrame(() => Object.assign(globalThis, { firstFigureAt: performance.now() }));
        }).observe(document, { subtree: true, childList: true });
      });
      await page.goto(`${terminal.url}/#key=${terminal.key}`);
      await page.waitForFunction(() => 'firstFigureAt' in globalThis);
      times.push(await page.evaluate(() => (globalThis as unknown as { firstFigureAt: number }).firstFigureAt));
      await context.close();
    }
    console.log(`first figure ${median(times).toFixed(0)} ms, an empty page ${median(empty).toFixed(0)} ms`);
    expect(median(times)).toBeLessThanOrEqual(1_000 * SLACK);
  }, 60_000);

  test('a live event takes at most 1 ms of script, and 59 at once at most 8 ms in one frame', async () => {
    const page = await terminal.open();
    await figuresOf(page);
    await settled(page);
    const cost = await page.evaluate(async () => {
      const name = (await navigator.locks.query()).held![0]!.name!;
      const channel = new BroadcastChannel(name);
      const names = [...document.querySelectorAll<HTMLElement>('[data-ticker]')].map((each) => each.dataset.ticker!);
      let id = 2_000_000;
      const event = (ticker: string) => ({
        id: id++,
        ticker,
        spot_price: 100 + Math.random(),
        call_wall: 1,
        put_wall: 1,
        gex_flip: 101 + Math.random(),
        flip_resolved: true,
        net_gex_mil: Math.random() * 1e3,
        regime: 'positive_gamma',
        provenance: { as_of: '2026-11-20T21:00:00Z', simulated: true, source: 'test' },
      });
      /** The script time of a frame: from the frame's callback that the page queued to the end of its microtasks. */
      const round = async (tickers: string[]) => {
        const native = globalThis.requestAnimationFrame;
        const spent = new Promise<number>((resolve) => {
          globalThis.requestAnimationFrame = (callback) =>
            native((at) => {
              const from = performance.now();
              callback(at);
              // Preact draws in a microtask after the signals have changed.
              queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => resolve(performance.now() - from))));
            });
        });
        channel.postMessage({ kind: 'events', events: tickers.map(event), isStreaming: true });
        const ms = await spent;
        globalThis.requestAnimationFrame = native;
        return ms;
      };
      const one: number[] = [];
      const all: number[] = [];
      for (let i = 0; i < 30; i++) {
        one.push(await round([names[1 + (i % 20)]!]));
        all.push(await round(names.filter((each) => each !== 'SPY')));
      }
      return { one, all };
    });
    console.log(`one event ${median(cost.one).toFixed(2)} ms, 58 events ${median(cost.all).toFixed(2)} ms`);
    expect(median(cost.one)).toBeLessThanOrEqual(1 * SLACK);
    expect(median(cost.all)).toBeLessThanOrEqual(8 * SLACK);
    await page.context().close();
  }, 60_000);

  test('a ladder of 10,000 strikes takes at most 16 ms, and is no slower than uPlot in the same run', async () => {
    const { outputs } = await Bun.build({
      entrypoints: [join(import.meta.dir, 'bench/charts.ts')],
      target: 'browser',
      minify: true,
    });
    const context = await terminal.browser.newContext();
    const page = await context.newPage();
    await page.evaluate(await outputs[0]!.text());
    type Times = { script: number[]; frame: number[] };
    const { ladder, uplot } = await page.evaluate(
      (rounds) =>
        (
          globalThis as unknown as { compareLadder(count: number, rounds: number): { ladder: Times; uplot: Times } }
        ).compareLadder(10_000, rounds),
      ROUNDS,
    );
    console.log(
      `ladder ${median(ladder.script).toFixed(1)} ms of script, ${median(ladder.frame).toFixed(1)} ms in all; uPlot ${median(uplot.script).toFixed(1)} and ${median(uplot.frame).toFixed(1)} ms`,
    );
    expect(median(ladder.frame)).toBeLessThanOrEqual(16 * SLACK);
    expect(median(ladder.frame)).toBeLessThanOrEqual(median(uplot.frame));
    await context.close();
  }, 60_000);

  test('a grid of 10,000 rows mounts within 50 ms, and has at most 2,500 nodes', async () => {
    const page = await terminal.open();
    await page.route('**/view*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { strikes: Record<string, unknown> };
      const count = 10_000;
      for (const [name, column] of Object.entries(body.strikes)) {
        if (Array.isArray(column))
          body.strikes[name] = Array.from({ length: count }, (_, i) => (name === 'strike' ? 500 + i / 40 : i * 1_000));
      }
      body.strikes.count = count;
      await route.fulfill({ response, json: body });
    });
    await page.evaluate(() => {
      location.hash = '#/QQQ/ticker';
    });
    await page.waitForSelector('[data-ticker-of="QQQ"]');
    await settled(page);
    const times: number[] = [];
    for (let i = 0; i < 7; i++) {
      times.push(
        await page.evaluate(async () => {
          const from = performance.now();
          document.dispatchEvent(new KeyboardEvent('keydown', { key: 'v', bubbles: true }));
          while (!document.querySelector('[data-panel="ladder"] .grid-row'))
            await new Promise((resolve) => queueMicrotask(() => resolve(0)));
          return performance.now() - from;
        }),
      );
      await page.keyboard.press('v');
      await page.waitForSelector('[data-panel="ladder"] canvas');
    }
    console.log(`grid of 10,000 rows: ${median(times).toFixed(1)} ms`);
    expect(median(times)).toBeLessThanOrEqual(50 * SLACK);
    await page.keyboard.press('v');
    await page.waitForSelector('[data-panel="ladder"] .grid-row');
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThanOrEqual(2_500);
    expect(await page.getAttribute('[data-panel="ladder"] [role="grid"]', 'aria-rowcount')).toBe('10001');
    await page.context().close();
  }, 60_000);

  test.skipIf(!IS_FULL)(
    '30,000 live events grow the heap by at most 5 MB, and leave no node or listener behind',
    async () => {
      const page = await terminal.open();
      await figuresOf(page);
      await settled(page);
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable');
      const metrics = async () => {
        await session.send('HeapProfiler.collectGarbage');
        const { metrics: found } = await session.send('Performance.getMetrics');
        const get = (name: string) => found.find((each) => each.name === name)!.value;
        return { heap: get('JSHeapUsedSize'), nodes: get('Nodes'), listeners: get('JSEventListeners') };
      };
      const send = (from: number, count: number) =>
        page.evaluate(
          async ([first, many]) => {
            const channel = new BroadcastChannel((await navigator.locks.query()).held![0]!.name!);
            const names = [...document.querySelectorAll<HTMLElement>('[data-ticker]')]
              .map((each) => each.dataset.ticker!)
              .filter((each) => each !== 'SPY');
            for (let i = 0; i < many!; i++) {
              const event = {
                id: first! + i,
                ticker: names[i % names.length],
                spot_price: 100 + Math.random(),
                call_wall: 1,
                put_wall: 1,
                gex_flip: 101,
                flip_resolved: true,
                net_gex_mil: i,
                regime: 'positive_gamma',
                provenance: { as_of: '2026-11-20T21:00:00Z', simulated: true, source: 'test' },
              };
              channel.postMessage({ kind: 'events', events: [event], isStreaming: true });
              if (i % 50 === 49) await new Promise((resolve) => requestAnimationFrame(resolve));
            }
            channel.close();
          },
          [from, count],
        );
      await send(3_000_000, 1_000);
      const before = await metrics();
      await send(4_000_000, 30_000);
      const after = await metrics();
      console.log(`30,000 events: heap ${((after.heap - before.heap) / 1e6).toFixed(2)} MB`);
      expect(after.heap - before.heap).toBeLessThanOrEqual(5e6);
      expect(after.nodes - before.nodes).toBeLessThanOrEqual(50);
      expect(after.listeners - before.listeners).toBeLessThanOrEqual(5);
      await page.context().close();
    },
    600_000,
  );
});
