import { expect, test } from 'bun:test';
import { sectionOf as coldSection, measureCold } from '../../bench/cold.ts';
import { measureRepeats, sectionOf } from '../../bench/repeat.ts';
import { PROGRAM } from '../support/process.ts';

test('asks for every GET route and every tool again, and for first answers of new processes', async () => {
  const options = { rounds: 1, sliceMs: 0, pollS: 1 };
  const figures = await measureRepeats(PROGRAM, options);
  const asked = figures.rows.map(({ what }) => what);
  for (const each of [
    'GET /api/v1/surface/SPX',
    'POST /api/v1/tools/screen_tickers?extended=true',
    'MCP get_whale_prints',
  ])
    expect(asked).toContain(each);
  expect(figures.polled.length).toBeGreaterThan(10);
  if (process.platform === 'linux') expect(sectionOf(figures, options)).not.toMatch(/NaN|undefined/);
  const cold = await measureCold(PROGRAM, 1);
  if (process.platform === 'linux') expect(coldSection(cold)).not.toMatch(/NaN|undefined|not measured/);
}, 240_000);
