import { expect, test } from 'bun:test';
import { measureStalls, sectionOf } from '../../bench/stalls.ts';
import { PROGRAM } from '../support/process.ts';

test('a service answers /health while it loads and computes', async () => {
  const options = { tapeRows: 5_000, tickers: 2, everyMs: 100, rounds: 1, names: 2, batchRows: 5_000, calls: 2 };
  const stalls = await measureStalls(PROGRAM, options);
  expect(stalls.map(({ load }) => load)).toHaveLength(8);
  for (const { p50, p99, max } of stalls) {
    expect(p50).toBeGreaterThan(0);
    expect([p99 >= p50, max >= p99]).toEqual([true, true]);
  }
  const section = sectionOf(stalls, options);
  expect(section).toContain('no step of more than 25 ms of its own CPU: ');
}, 240_000);
