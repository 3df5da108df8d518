import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedSpeed } from '../../../web/data/documented-speed.ts';

const page = readFileSync(join(import.meta.dir, '../../../docs/benchmarks.md'), 'utf8');
const { machine, times, workloads } = documentedSpeed(page);

test('docs/benchmarks.md has the machine and five kernels', () => {
  expect(machine).toMatch(/, Bun \d+\.\d+\.\d+$/);
  expect(Object.keys(times)).toEqual([
    'price and eight Greeks',
    'implied volatility',
    'Merton probabilities',
    'gamma profile, log-spaced levels',
    'gamma profile, any levels',
  ]);
  // The fastest kernel takes less than a nanosecond, the slowest less than a microsecond.
  for (const ns of Object.values(times)) expect(ns > 0.05 && ns < 1000).toBe(true);
  expect(workloads).toHaveLength(4);
  expect(workloads[1]).toStartWith('Implied volatility, ');
});

test('each figure stands in its row of the page', () => {
  for (const ns of Object.values(times)) expect(page).toMatch(new RegExp(`^\\| Zomma[^|]*\\| ${ns}0? \\|`, 'm'));
});

test('the page of the terminal has these figures', async () => {
  const { files } = await import('../../../build/web/manifest.js');
  const given = await Bun.file(files.find(({ name }) => name.startsWith('benchmarks-'))!.plain).json();
  expect(given).toEqual({ machine, times, workloads });
});

test('a page without the rows has no figures', () => {
  expect(documentedSpeed('# Benchmarks\n\n## Gamma profile\n\n| a | b |\n').times).toEqual({});
});
