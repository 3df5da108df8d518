import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureAccuracy } from '../../../src/bench/accuracy.ts';
import { measureSpeed } from '../../../src/bench/speed.ts';
import { distinctOptions, jumpsFor, outOfTheMoney } from '../../../src/bench/workloads.ts';
import { callPutGreeks, greeks } from '../../../src/math/black-scholes.ts';
import { gammaProfile } from '../../../src/math/gamma-exposure.ts';
import { impliedVolatility } from '../../../src/math/implied-volatility.ts';
import { merton, mertonProbabilities } from '../../../src/math/jump-diffusion.ts';
import { BENCH_OPTIONS, browserAccuracy, kernelWork, startKernels } from '../../../src/web/data/browser-kernels.ts';

const ROOT = join(import.meta.dir, '../../..');
const kernels = startKernels(new WebAssembly.Module(readFileSync(join(ROOT, 'build/kernels.wasm'))));
const work = kernelWork(kernels);

const bits = (columns: readonly Float64Array[]) => columns.map((column) => new BigUint64Array(column.slice().buffer));

test('the page measures what zomma bench measures', () => {
  const server = measureSpeed(0.01);
  expect(work.map(({ kernel, unit }) => ({ kernel, unit }))).toEqual(
    server.map(({ kernel, unit }) => ({ kernel, unit })),
  );
});

test('each work has the results of the functions of the server, bit for bit', () => {
  const options = distinctOptions(BENCH_OPTIONS);
  const quoted = outOfTheMoney(options);
  const jumps = { ...options, ...jumpsFor(options) };
  const contracts = { ...options, weight: options.callPut };
  const { call, put } = callPutGreeks(options);
  const { price, delta, theta, rho, charm } = put;
  const { probAbove, probBelow } = mertonProbabilities(jumps);
  const expected: Record<string, readonly Float64Array[]> = {
    'price and eight Greeks': Object.values(greeks(options)),
    'price and eight Greeks, call and put': [...Object.values(call), price, delta, theta, rho, charm],
    'implied volatility': [impliedVolatility({ ...quoted, price: greeks(quoted).price })],
    'Merton probabilities': [probAbove, probBelow],
    'Merton probabilities and prices': Object.values(merton(jumps)),
    'gamma profile, log-spaced levels': [
      gammaProfile(contracts, { first: 100, step: Math.log(1.5) / 199, count: 200 }),
    ],
    'gamma profile, any levels': [
      gammaProfile(
        contracts,
        Float64Array.from({ length: 200 }, (_, i) => 100 + i),
      ),
    ],
  };
  expect(Object.keys(expected)).toEqual(work.map(({ kernel }) => kernel));
  for (const { kernel, run } of work) {
    // The second run must not depend on what the first has left in the memory.
    run();
    expect([kernel, bits(run())]).toEqual([kernel, bits(expected[kernel]!)]);
  }
});

test('the units of a work are those of its results', () => {
  expect(work.map(({ units }) => units)).toEqual([4096, 8192, 4096, 4096, 4096, 819_200, 819_200]);
});

test('on all rows of the reference the errors are those of zomma bench', () => {
  const tables = ['bsm', 'merton'].map((name) =>
    readFileSync(join(ROOT, `src/bench/reference/${name}.csv`), 'utf8').trimEnd(),
  );
  const { rows, errors } = browserAccuracy(kernels, tables.join('\n\n'));
  expect(rows).toBe(5000);
  const server = measureAccuracy();
  const byName = (list: typeof errors) =>
    list.toSorted((a, b) => `${a.kernel} ${a.output}`.localeCompare(`${b.kernel} ${b.output}`));
  expect(byName(errors)).toEqual(byName(server));
});

test('the page has some tens of rows of each table', async () => {
  const { files } = await import('../../../build/web/manifest.js');
  const sample = readFileSync(files.find(({ name }) => name.startsWith('reference-'))!.plain, 'utf8');
  const all = ['bsm', 'merton'].map((name) =>
    readFileSync(join(ROOT, `src/bench/reference/${name}.csv`), 'utf8').split('\n'),
  );
  const tables = sample.split('\n\n').map((table) => table.split('\n'));
  expect(tables.map(([header]) => header)).toEqual(all.map(([header]) => header));
  tables.forEach((table, i) => {
    expect(table.length).toBeGreaterThan(20);
    expect(table.length).toBeLessThan(100);
    expect(table.filter((line) => !all[i]!.includes(line))).toEqual([]);
  });
  const { rows, errors } = browserAccuracy(kernels, sample);
  expect(rows).toBe(60);
  for (const { worstScaledError } of errors) {
    expect(worstScaledError).toBeGreaterThan(0.01);
    expect(worstScaledError).toBeLessThan(4);
  }
});
