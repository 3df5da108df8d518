import type { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { normalCdf } from '../../../src/math/normal.ts';

/** Returns the undiscounted price of an option on a lognormal. `mean` is the lognormal's mean, `width` its log's standard deviation. */
export function lognormalPrice(callPut: number, mean: number, strike: number, width: number): number {
  const distance = Math.log(mean / strike) / width;
  return (
    callPut *
    (mean * normalCdf(callPut * (distance + width / 2)) - strike * normalCdf(callPut * (distance - width / 2)))
  );
}

/** Figures of a mixture of lognormals, each as a sum over all lognormals in the engine's own arithmetic. */
export function figuresOf({ nodes, masses, widths }: PriceLaw, moneyness: number) {
  const sum = (term: (node: number, width: number) => number) =>
    masses.reduce((total, mass, i) => total + mass * term(nodes[i]!, widths[i]!), 0);
  const x = Math.log(moneyness);
  return {
    call: sum((node, width) => lognormalPrice(1, node, moneyness, width)),
    put: sum((node, width) => lognormalPrice(-1, node, moneyness, width)),
    below: sum((node, width) => normalCdf(Math.log(moneyness / node) / width + width / 2)),
    above: sum((node, width) => normalCdf(Math.log(node / moneyness) / width - width / 2)),
    density: sum((node, width) => {
      const z = (x - Math.log(node)) / width + width / 2;
      return Math.exp((-z * z) / 2) / (width * Math.sqrt(2 * Math.PI));
    }),
  };
}
