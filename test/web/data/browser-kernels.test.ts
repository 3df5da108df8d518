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
import {
  BENCH_OPTIONS,
  type BrowserError,
  browserAccuracy,
  kernelWork,
  startKernels,
} from '../../../web/data/browser-kernels.ts';
import { type ReferenceSample, referenceSample } from '../../../web/data/reference-sample.ts';

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

const TABLES = ['bsm', 'merton'].map((name) =>
  readFileSync(join(ROOT, `src/bench/reference/${name}.csv`), 'utf8').trimEnd(),
) as [string, string];

test('on all rows of the reference the errors are those of zomma bench', () => {
  const sample = referenceSample(...TABLES);
  expect(sample.rows).toBe(5000);
  const byName = (errors: readonly BrowserError[]) =>
    errors
      .map(({ kernel, output, worstScaledError }) => `${kernel} ${output} ${worstScaledError}`)
      .toSorted((a, b) => a.localeCompare(b));
  expect(byName(browserAccuracy(kernels, sample))).toEqual(byName(measureAccuracy()));
});

test('the page has some tens of rows of each table', async () => {
  const { files } = await import('../../../build/web/manifest.js');
  const sample: ReferenceSample = await Bun.file(files.find(({ name }) => name.startsWith('reference-'))!.plain).json();
  const [bsm, merton] = TABLES.map((table) => table.split('\n')) as [string[], string[]];
  const rowsOf = ([header, ...rows]: string[], distance: number) =>
    [header, ...rows.filter((_, i) => i % distance === 0)].join('\n');
  expect(sample).toEqual(JSON.parse(JSON.stringify(referenceSample(rowsOf(bsm, 100), rowsOf(merton, 50)))));
  expect(sample.rows).toBe(60);
  for (const { worstScaledError } of browserAccuracy(kernels, sample)) {
    expect(worstScaledError).toBeGreaterThan(0.01);
    expect(worstScaledError).toBeLessThan(4);
  }
});

test('a wrong value shows as an error', () => {
  const sample = referenceSample(...TABLES);
  const outputs = sample.outputs.map((each) =>
    each.output === 'rho' ? { ...each, exact: each.exact.map((value) => value! * (1 + 1e-9)) } : each,
  );
  const large = browserAccuracy(kernels, { ...sample, outputs }).filter(
    ({ worstScaledError }) => worstScaledError > 100,
  );
  expect(large.map(({ output }) => output)).toEqual(['rho']);
});
