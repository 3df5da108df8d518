import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedSpeed, parseServerBench, sameBits } from '../../../src/web/data/server-speed.ts';

const page = readFileSync(join(import.meta.dir, '../../../docs/benchmarks.md'), 'utf8');

describe('the documented speed', () => {
  const documented = documentedSpeed(page);

  test('docs/benchmarks.md has the machine and five kernels', () => {
    expect(documented.machine).toMatch(/, Bun \d+\.\d+\.\d+$/);
    expect([...documented.times.keys()]).toEqual([
      'price and eight Greeks',
      'implied volatility',
      'Merton probabilities',
      'gamma profile, log-spaced levels',
      'gamma profile, any levels',
    ]);
    // The fastest kernel takes less than a nanosecond, the slowest less than a microsecond.
    for (const ns of documented.times.values()) expect(ns > 0.05 && ns < 1000).toBe(true);
    expect(documented.workloads.get('implied volatility')).toStartWith('Implied volatility, ');
  });

  test('each figure stands in its row of the page', () => {
    for (const ns of documented.times.values()) expect(page).toMatch(new RegExp(`^\\| Zomma[^|]*\\| ${ns}0? \\|`, 'm'));
  });

  test('a page without the rows has no figures', () => {
    expect(documentedSpeed('# Benchmarks\n\n## Gamma profile\n\n| a | b |\n').times.size).toBe(0);
  });
});

describe('what zomma bench --json prints', () => {
  const machine = { processor: 'AMD\u202e EPYC', cores: 8, memory_gib: 32, system: 'linux x64', bun: '1.4.5' };

  test('machine and times', () => {
    const { machine: named, times } = parseServerBench(
      JSON.stringify({ machine, speed: [{ kernel: 'implied volatility', unit: 'option', ns: 67.4 }], accuracy: [] }),
    );
    expect(named).toBe('AMD  EPYC, 8 cores, linux x64, Bun 1.4.5');
    expect([...times]).toEqual([['implied volatility', 67.4]]);
  });

  test.each([
    ['speed', 'not JSON'],
    ['null', 'no times'],
    ['{"speed":{}}', 'no times'],
    ['{"speed":[null,{"kernel":1,"ns":2},{"kernel":"a","ns":-1}]}', 'no times'],
  ])('%p is refused: %s', (text, message) => {
    expect(() => parseServerBench(text)).toThrow(message);
  });
});

test('counts the numbers with the same bits', () => {
  const columns = [Float64Array.of(1, 0), Float64Array.of(Number.NaN, 0.1 + 0.2)];
  expect(sameBits(columns, Float64Array.of(1, -0, Number.NaN, 0.3))).toEqual({ same: 2, all: 4 });
  expect(sameBits(columns, Float64Array.of(1, 0, Number.NaN, 0.1 + 0.2))).toEqual({ same: 4, all: 4 });
});
