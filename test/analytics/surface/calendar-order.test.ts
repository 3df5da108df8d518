import { expect, test } from 'bun:test';
import { type Masses, otmPrices, raiseAbove } from '../../../src/analytics/surface/calendar-order.ts';
import { randomOf } from '../../../src/feeds/simulated/random.ts';

/** Random masses on random nodes, of mean 1. The nodes reach from below `low` to above `high`. */
function randomLaw(random: () => number, low: number, high: number, width: number): Masses {
  const count = 20 + Math.floor(40 * random());
  const inner = Array.from({ length: count - 2 }, () => Math.exp(width * (random() + random() + random() - 1.5)));
  const nodes = Float64Array.from([low, ...inner.filter((node) => node > low && node < high), high]).sort();
  const masses = nodes.map(() => random() ** 8);
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  const mean = masses.reduce((sum, mass, i) => sum + mass * nodes[i]!, 0) / total;
  return { nodes: nodes.map((node) => node / mean), masses: masses.map((mass) => mass / total) };
}

/** The price of an option by its definition. */
function priceOf({ nodes, masses }: Masses, strike: number): number {
  const callPut = strike < 1 ? -1 : 1;
  return masses.reduce((sum, mass, i) => sum + mass * Math.max(0, callPut * (nodes[i]! - strike)), 0);
}

test('prices are those of the masses, far out too', () => {
  const random = randomOf(5).uniform;
  for (let round = 0; round < 50; round++) {
    const law = randomLaw(random, 0.2, 5, 0.5);
    const strikes = Float64Array.from({ length: 40 }, () => Math.exp(3 * random() - 1.5)).sort();
    const prices = otmPrices(law, strikes);
    for (const [i, strike] of strikes.entries()) {
      const exact = priceOf(law, strike);
      expect(Math.abs(prices[i]! - exact)).toBeLessThanOrEqual(1e-13 * exact + 1e-300);
    }
  }
});

test('a raised law has positive masses and the same mean, and is worth at least as much as both laws at every strike', () => {
  const random = randomOf(11).uniform;
  let raised = 0;
  for (let round = 0; round < 200; round++) {
    const earlier = randomLaw(random, 0.4, 2.2, 0.3 + 0.3 * random());
    const own = randomLaw(random, 0.05, 20, 0.3 + 0.3 * random());
    const result = raiseAbove(own, earlier);
    if (result !== own) raised++;
    const total = result.masses.reduce((sum, mass) => sum + mass, 0);
    const mean = result.masses.reduce((sum, mass, i) => sum + mass * result.nodes[i]!, 0);
    // Random nodes are so close to each other that slopes lose some digits.
    expect([total, mean]).toEqual([expect.closeTo(1, 10), expect.closeTo(1, 10)]);
    expect(result.masses.every((mass) => mass >= 0)).toBe(true);
    for (let x = -3; x <= 3; x += 0.05) {
      const strike = Math.exp(x);
      const [price, least] = [priceOf(result, strike), Math.max(priceOf(earlier, strike), priceOf(own, strike))];
      expect(price).toBeGreaterThanOrEqual(least - 1e-13);
    }
  }
  expect(raised).toBeGreaterThan(100);
});

test('a law above the earlier one stays as it is', () => {
  const nodes = Float64Array.of(0.5, 1, 1.5);
  const later = { nodes, masses: Float64Array.of(0.3, 0.4, 0.3) };
  expect(raiseAbove(later, { nodes, masses: Float64Array.of(0.1, 0.8, 0.1) })).toBe(later);
});
