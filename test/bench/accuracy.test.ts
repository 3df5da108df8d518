import { expect, test } from 'bun:test';
import { measureAccuracy } from '../../src/bench/accuracy.ts';

/** What `zomma bench` says of accuracy is what the reference says, and within the bound that the kernels are held to. */
const measured = measureAccuracy();

test('every output of both references is there', () => {
  expect(measured.map(({ kernel, output }) => `${kernel} ${output}`)).toEqual([
    ...['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'].map(
      (each) => `Black-Scholes-Merton ${each}`,
    ),
    ...['prob_above', 'call', 'put'].map((each) => `Merton ${each}`),
  ]);
});

test.each(measured)('$kernel $output', ({ worstScaledError, line }) => {
  expect(worstScaledError).toBeGreaterThan(0.1);
  expect(worstScaledError).toBeLessThan(4);
  expect(line).toBeGreaterThan(1);
});
