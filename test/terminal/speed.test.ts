import { expect } from 'bun:test';
import { ALL_TICKERS } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';
import { measureEvents, measureFirstFigure, measureGrid, measureGrowth, measureLadder } from './bench/measure.ts';
import { describeInBrowser, test, withTerminal } from './browser.ts';

/** `bun run test:terminal` measures alone. In CI, the limits of times are four times as high, with an eighth of the rounds. */
const SLACK = IS_LONG ? 1 : 4;
/** The same for times that are compared with those of uPlot in the same run. */
const UPLOT_SLACK = IS_LONG ? 1 : 1.5;
const rounds = (full: number) => (IS_LONG ? full : Math.ceil(full / 8));
/** Other work on the cores only adds to a time, so the shortest of a few rounds shows the page's own part. */
const shortest = (times: readonly number[]) => Math.min(...times);

describeInBrowser('budgets of the page', () => {
  const terminal = withTerminal(() => [], ALL_TICKERS);

  test('the first figure stands within a second after navigation with a cold cache', async () => {
    const { figure } = await measureFirstFigure(terminal, rounds(7));
    expect(figure).toBeLessThanOrEqual(1_000 * SLACK);
  }, 60_000);

  test('a live event takes at most 1 ms of script, and all at once at most 8 ms in one frame', async () => {
    const { one, all, tickers } = await measureEvents(terminal, rounds(30));
    expect(tickers).toBe(61);
    expect(one).toBeLessThanOrEqual(1 * SLACK);
    expect(all).toBeLessThanOrEqual(8 * SLACK);
  }, 60_000);

  test('a ladder of 10,000 strikes takes at most 16 ms, and is no slower than uPlot in the same run', async () => {
    const { ladder, uplot } = await measureLadder(terminal, IS_LONG ? 25 : 8, {
      frames: 0,
      ...(!IS_LONG && { figureOf: shortest }),
    });
    for (const figure of ['script', 'pixels'] as const) {
      expect([figure, ladder[figure] <= 16 * SLACK]).toEqual([figure, true]);
      expect([figure, ladder[figure] <= uplot[figure] * UPLOT_SLACK]).toEqual([figure, true]);
    }
  }, 60_000);

  test('a grid of 10,000 rows mounts within 50 ms, and has at most 2,500 nodes', async () => {
    const { mount, nodes, rows } = await measureGrid(terminal, rounds(7));
    expect(mount).toBeLessThanOrEqual(50 * SLACK);
    expect(nodes).toBeLessThanOrEqual(2_500);
    expect(rows).toBe(10_001);
  }, 60_000);

  test('live events grow the heap by at most 5 MB, and leave no node or listener behind', async () => {
    const { heap, nodes, listeners } = await measureGrowth(terminal, IS_LONG ? 30_000 : 3_000);
    expect(heap).toBeLessThanOrEqual(5e6);
    expect(nodes).toBeLessThanOrEqual(50);
    expect(listeners).toBeLessThanOrEqual(5);
  }, 600_000);
});
