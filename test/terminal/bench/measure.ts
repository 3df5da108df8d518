import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { signIn } from '../browser.ts';

/** Measurements of the terminal in a browser, for the tests of its budgets and for docs/benchmarks.md. Times are medians in milliseconds. */

export interface Served {
  readonly browser: Browser;
  readonly url: string;
  readonly key: string;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** The time from navigation to the first figure on screen with a cold cache, and that of a page without content from the same server. */
export async function measureFirstFigure({ browser, url, key }: Served, rounds: number) {
  const figure: number[] = [];
  const empty: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const context = await browser.newContext();
    const blank = await context.newPage();
    await blank.goto(`${url}/health`);
    empty.push(await blank.evaluate(() => performance.now()));
    const page = await context.newPage();
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector('[data-figure] .figure-value')) return;
        observer.disconnect();
        requestAnimationFrame(() => Object.assign(globalThis, { firstFigureAt: performance.now() }));
      }).observe(document, { subtree: true, childList: true });
    });
    await page.goto(`${url}/#key=${key}`);
    await page.waitForFunction(() => 'firstFigureAt' in globalThis);
    figure.push(await page.evaluate(() => (globalThis as unknown as { firstFigureAt: number }).firstFigureAt));
    await context.close();
  }
  return { figure: median(figure), empty: median(empty) };
}

/** The script of a frame that draws one live event, and of a frame that draws an event of each ticker. */
export async function measureEvents(served: Served, rounds: number) {
  const page = await signIn(served);
  const times = await page.evaluate(async (count) => {
    const channel = new BroadcastChannel((await navigator.locks.query()).held![0]!.name!);
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
    for (let i = 0; i < count; i++) {
      one.push(await round([names[i % names.length]!]));
      all.push(await round(names));
    }
    channel.close();
    return { one, all, tickers: names.length };
  }, rounds);
  await page.context().close();
  return { one: median(times.one), all: median(times.all), tickers: times.tickers };
}

type ChartTimes = { readonly script: number[]; readonly pixels: number[]; readonly frame: number[] };

/**
 * A ladder of 10,000 strikes beside uPlot with the same bars: the script, the time until the pixels can be read, and the time between two
 * frames that each draw it, if there are `frames`. `browser` should have no limit of frames a second. `figureOf` makes one figure of the
 * times of all rounds.
 */
export async function measureLadder(
  { browser }: { readonly browser: Browser },
  rounds: number,
  { figureOf = median, frames = rounds } = {},
) {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'charts.ts')],
    target: 'browser',
    minify: true,
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.evaluate(await outputs[0]!.text());
  const { ladder, uplot } = await page.evaluate(
    ([count, shown]) =>
      (
        globalThis as unknown as {
          compareLadder(
            strikes: number,
            rounds: number,
            frames: number,
          ): Promise<{ ladder: ChartTimes; uplot: ChartTimes }>;
        }
      ).compareLadder(10_000, count, shown),
    [rounds, frames] as const,
  );
  await context.close();
  const figuresOf = ({ script, pixels, frame }: ChartTimes) => ({
    script: figureOf(script),
    pixels: figureOf(pixels),
    frame: figureOf(frame),
  });
  return { ladder: figuresOf(ladder), uplot: figuresOf(uplot) };
}

/** The time to mount a grid of 10,000 rows, and the number of elements of the page with it. Leaves the page with the grid open. */
export async function measureGrid(served: Served, rounds: number) {
  const page = await signIn(served);
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
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    if (i > 0) {
      await page.keyboard.press('v');
      await page.waitForSelector('[data-panel="ladder"] canvas');
    }
    times.push(
      await page.evaluate(async () => {
        const from = performance.now();
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'v', bubbles: true }));
        while (!document.querySelector('[data-panel="ladder"] .grid-row'))
          await new Promise((resolve) => queueMicrotask(() => resolve(0)));
        return performance.now() - from;
      }),
    );
  }
  const { nodes, rows } = await page.evaluate(() => ({
    nodes: document.querySelectorAll('*').length,
    rows: document.querySelector('[data-panel="ladder"] [role="grid"]')!.getAttribute('aria-rowcount'),
  }));
  await page.context().close();
  return { mount: median(times), nodes, rows: Number(rows) };
}

/** How much the heap, in bytes, the DOM nodes and the listeners of the page grow over live events. */
export async function measureGrowth(served: Served, events: number) {
  const page = await signIn(served);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const metrics = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics: found } = await session.send('Performance.getMetrics');
    const get = (name: string) => found.find((each) => each.name === name)!.value;
    return { heap: get('JSHeapUsedSize'), nodes: get('Nodes'), listeners: get('JSEventListeners') };
  };
  await sendEvents(page, 3_000_000, 1_000);
  const before = await metrics();
  await sendEvents(page, 4_000_000, events);
  const after = await metrics();
  await page.context().close();
  return {
    heap: after.heap - before.heap,
    nodes: after.nodes - before.nodes,
    listeners: after.listeners - before.listeners,
  };
}

/** Sends live events to the page as the leading tab does, 50 a frame. */
async function sendEvents(page: Page, firstId: number, count: number): Promise<void> {
  await page.evaluate(
    async ([first, many]) => {
      const channel = new BroadcastChannel((await navigator.locks.query()).held![0]!.name!);
      const names = [...document.querySelectorAll<HTMLElement>('[data-ticker]')]
        .map((each) => each.dataset.ticker!)
        .filter((each) => each !== 'SPY');
      for (let i = 0; i < many; i++) {
        const event = {
          id: first + i,
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
    [firstId, count] as const,
  );
}

/** The gzipped bytes of the script and of the style sheet, as the server sends them. */
export async function measureSizes({ url }: { readonly url: string }) {
  const page = await (await fetch(`${url}/`)).text();
  const sizes = { js: 0, css: 0, json: 0 };
  for (const [, path] of page.matchAll(/"(\/web\/[^"]+)"/g)) {
    const response = await fetch(`${url}${path}`, { headers: { 'Accept-Encoding': 'gzip' }, decompress: false });
    const kind = path!.slice(path!.lastIndexOf('.') + 1) as keyof typeof sizes;
    sizes[kind] += (await response.arrayBuffer()).byteLength;
  }
  return sizes;
}
