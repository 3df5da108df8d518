import { expect, test } from 'bun:test';
import { sectionOf as fanOutSection, measureFanOut } from '../../bench/fan-out.ts';
import { measureMarket, sectionOf } from '../../bench/market.ts';
import { PROGRAM } from '../support/process.ts';

test('measures a market whose quotes arrive as files, and its screen', async () => {
  const options = { names: 3, minutes: 1, screens: [4], small: 0, large: 0 };
  const figures = await measureMarket(PROGRAM, options);
  expect(figures.costs.map(({ what, contracts }) => [what, contracts])).toEqual([['market', (16 * (6 + 8 + 9)) / 3]]);
  expect(figures.screens[0]!.matched).toBe(4);
  if (process.platform === 'linux') expect(sectionOf(figures, options)).not.toMatch(/NaN|undefined/);
}, 120_000);

test('streams get each event once while levels are fanned out', async () => {
  const options = { tickers: 2, streams: [3], rounds: 1 };
  const figures = await measureFanOut(PROGRAM, options);
  expect(figures.map(({ streams, lost }) => [streams, lost])).toEqual([
    [0, 0],
    [3, 0],
  ]);
  expect(fanOutSection(figures, options)).toContain('- events lost <= 0: reached');
}, 120_000);
