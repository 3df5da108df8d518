import { expect, test } from 'bun:test';
import { measureText, sectionOf } from '../../bench/text.ts';
import { PROGRAM } from '../support/process.ts';

test('Zomma, Polars and numpy compute the same levels and Greeks, if the peers are installed', async () => {
  const options = { chainRounds: 2, greeksRounds: 1, rows: 500 };
  const figures = await measureText(PROGRAM, options);
  expect([figures.chain.ours[1] > 0, figures.greeks.ours[1] > 0]).toEqual([true, true]);
  const section = sectionOf(figures, options);
  if (figures.missing.length > 0) expect(section).toContain(`Not installed: ${figures.missing.join(', ')}`);
  expect(section.match(/: not measured$/gm) ?? []).toHaveLength(figures.missing.length > 0 ? 2 : 0);
}, 120_000);
