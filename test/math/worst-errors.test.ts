import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureAll, statedIn, volatilityErrors, worstOf } from '../../scripts/worst-errors.ts';

const volatilities = volatilityErrors();
const measured = await measureAll(volatilities);

/**
 * Exponential, logarithm and Mills' ratio in units of the last place, the rest in units of the effect of one rounding
 * of each input. A gamma that is computed by recurrence accumulates the errors of sixty levels.
 */
const BOUNDS: Readonly<Record<string, number>> = {
  'exp.ts': 2.4,
  'log.ts': 1.9,
  'mills.ts': 5.5,
  'normal.ts': 4,
  'inverse-normal.ts': 4,
  'black-scholes.ts': 4,
  'implied-volatility.ts': 1,
  'merton.ts': 8,
  'exposures.ts': 4,
  'gamma-profile.ts': 100,
  'gamma-by-strike.ts': 4,
  'slice-model.ts': 8,
};

/** Files without errors: the tests of decimals and of delimited rows compare them with the engine. */
const EXACT = new Set(['decimal-reader.ts', 'decimal-writer.ts', 'planes.ts', 'row-scanner.ts']);

test('each measured file has a bound, and each file that assembly/index.ts exports from is measured', () => {
  expect(Object.keys(BOUNDS).sort(), 'BOUNDS has each measured file').toEqual(Object.keys(measured).sort());
  const index = readFileSync(join(import.meta.dir, '../../assembly/index.ts'), 'utf8');
  const exported = [...index.matchAll(/^export \{[^}]*\} from '\.\/([\w-]+)'/gm)].map(([, name]) => `${name}.ts`);
  const unmeasured = exported.filter((file) => !(file in measured || EXACT.has(file)));
  expect(unmeasured, 'scripts/worst-errors.ts measures each file').toEqual([]);
});

describe.each(Object.entries(measured))('assembly/%s', (file, outputs) => {
  test.each(Object.keys(outputs))('%s', (output) => {
    const { error, at } = outputs[output]!;
    expect(error, `at ${at}`).toBeLessThan(BOUNDS[file]!);
  });

  test('the file states its worst error', () => {
    expect(statedIn(file), 'bun scripts/worst-errors.ts --write').toBe(worstOf(outputs));
  });
});

describe('implied volatilities', () => {
  test('are measured on at least 50,000 rows', () => {
    expect(volatilities.rows).toBeGreaterThanOrEqual(50_000);
    expect(volatilities.determined).toBeGreaterThan(40_000);
  });

  test('that input roundings make uncertain are finite and attainable with rounded inputs', () => {
    expect(volatilities.wrong.slice(0, 20)).toEqual([]);
  });
});
