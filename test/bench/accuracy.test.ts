import { expect, test } from 'bun:test';
import { measureAccuracy } from '../../src/bench/accuracy.ts';

/** The accuracy that `zomma bench` reports equals the reference's, and is within the bound of the kernels. */
const measured = measureAccuracy();

test('reports every output of both references', () => {
  expect(measured.map(({ kernel, output }) => `${kernel} ${output}`)).toEqual([
    ...['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'].map(
      (each) => `Black-Scholes-Merton ${each}`,
    ),
    'implied volatility iv',
    ...['prob_above', 'call', 'put'].map((each) => `Merton ${each}`),
  ]);
});

test.each(measured)('$kernel $output', ({ worstScaledError, at }) => {
  expect(worstScaledError).toBeGreaterThan(0.1);
  expect(worstScaledError).toBeLessThan(4);
  expect(Object.values(at).length).toBeGreaterThan(5);
  expect(Object.values(at)).not.toContain(Number.NaN);
});
