import { describe, expect, test } from 'bun:test';
import { NEAR, REACH } from '../../../src/analytics/surface/near-prices.ts';
import { lognormalPrice } from '../../../src/analytics/surface/price-law.ts';
import { PlainNearPrices } from './plain-near-prices.ts';

describe.each([0.0004, 0.01, 0.1, 0.4])('kernels of width %d', (kernel) => {
  const prices = new PlainNearPrices(kernel);

  test.each([1, -1])('prices of side %d are those of the closed form', (callPut) => {
    for (let first = -REACH; first < 1 - REACH; first += 0.037) {
      const found = new Float64Array(NEAR + 1);
      const from = callPut === 1 ? first : first + NEAR - 1;
      prices.write(from, callPut, NEAR, found, 1);
      expect(found[0]).toBe(0);
      for (let i = 0; i < NEAR; i++) {
        // The distance is from the strike to the node for a call, and from the node to the strike for a put.
        const node = Math.exp(kernel * (callPut * from + i));
        const exact = lognormalPrice(callPut, node, 1, kernel) / Math.sqrt(node);
        expect(Math.abs(found[i + 1]! - exact) / kernel).toBeLessThan(2e-8);
      }
    }
  });
});
