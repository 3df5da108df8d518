import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import { jumpProbability } from '../../../src/analytics/density/jump-probability.ts';
import { jumpSizesOf } from '../../../src/analytics/density/jump-sizes.ts';
import { surfaceOf, type VolatilitySurface } from '../../../src/analytics/density/surface.ts';
import { touchProbability } from '../../../src/analytics/density/touch-probability.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { normalCdf } from '../plain.ts';
import { recordedChain } from '../recorded.ts';
import { simulated } from '../simulated.ts';
import { range } from '../small-chains.ts';

const SIZES = { mean: -0.04, width: 0.06 };

/** A surface with volatility v everywhere and carry r - q. */
function flat(v: number, r = 0, q = 0): VolatilitySurface {
  return { variance: (_, tte) => v * v * tte, carry: (tte) => (r - q) * tte, rate: () => r };
}

/** The probabilities of ending beyond and of touching the strike, for a spot of 100. */
function both(surface: VolatilitySurface, strike: number, days: number, noJump: number, sizes = SIZES) {
  const reading = jumpProbability(surface, { spot: 100, strike, tte: days / 365.25, noJump, sizes });
  return { ends: reading.probability, touches: touchProbability(reading, 100, strike) };
}

describe('without jumps it follows the reflection principle', () => {
  test.each([
    [105, 30, 0.3, 0, 0],
    [95, 30, 0.3, 0, 0],
    [120, 365, 0.2, 0.05, 0.01],
    [70, 365, 0.4, 0.02, 0.08],
    [101, 1, 0.5, 0.04, 0],
  ])('strike %d, %d days, volatility %d, rate %d, yield %d', (strike, days, v, r, q) => {
    const tte = days / 365.25;
    const [side, s, drift] = [strike > 100 ? 1 : -1, v * Math.sqrt(tte), (r - q - (v * v) / 2) * tte];
    const x = Math.log(strike / 100);
    const known =
      normalCdf((side * (drift - x)) / s) + Math.exp((2 * drift * x) / s ** 2) * normalCdf((-side * (x + drift)) / s);
    expect(Math.abs(both(flat(v, r, q), strike, days, 1).touches - known)).toBeLessThan(1e-9);
  });
});

// Simulated price paths as Merton defines them: the drift compensates for the mean of the jumps.
describe('with jumps it agrees with simulated prices', () => {
  test.each([
    [108, 0.5],
    [90, 0.5],
    [93, 0.1],
  ])('strike %d, no jump with probability %d', (strike, noJump) => {
    const tte = 60 / 365.25;
    const reading = jumpProbability(flat(0.35, 0.05), { spot: 100, strike, tte, noJump, sizes: SIZES });
    const { diffusionVolatility: s, intensity, sizes } = reading;
    let state = 99;
    const uniform = () => {
      state = (state * 16_807) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    const mean = Math.exp(sizes.mean + sizes.width ** 2 / 2);
    const drift = 0.05 - intensity * (mean - 1) - s ** 2 / 2;
    const side = strike > 100 ? 1 : -1;
    const paths = 60_000;
    let touched = 0;
    for (let path = 0; path < paths; path++) {
      let [time, log, stays] = [0, 0, 1];
      while (time < tte && stays > 0) {
        const until = Math.min(time - Math.log(uniform()) / intensity, tte);
        const [variance, before] = [s ** 2 * (until - time), side * (Math.log(strike / 100) - log)];
        log += drift * (until - time) + Math.sqrt(variance) * normal();
        const after = side * (Math.log(strike / 100) - log);
        stays *= after <= 0 ? 0 : 1 - Math.exp((-2 * before * after) / variance);
        if (until < tte) log += sizes.mean + sizes.width * normal();
        if (side * (Math.log(strike / 100) - log) <= 0) stays = 0;
        time = until;
      }
      touched += 1 - stays;
    }
    expect(Math.abs(touchProbability(reading, 100, strike) - touched / paths)).toBeLessThan(0.006);
  });
});

// A path that ends beyond the strike has touched it. Without drift, half of the paths that touch end beyond, by
// reflection. With few jumps nearly half do.
test.each([0.001, 0.5, 0.9, 1])('lies between the probability of ending beyond and 1 (no jump: %d)', (noJump) => {
  for (const days of [1, 30, 365]) {
    for (const strike of [60, 90, 99, 101, 110, 160]) {
      const { ends, touches } = both(flat(0.3, 0.04), strike, days, noJump);
      expect(touches).toBeWithin(ends, 1 + 1e-15);
      if (ends > 1e-4) expect(touches / ends).toBeWithin(1, 3);
    }
  }
});

test('is 1 at spot, and close to 1 next to spot', () => {
  for (const noJump of [0.001, 0.5, 1]) {
    expect(both(flat(0.3), 100, 30, noJump).touches).toBe(1);
    for (const strike of [99.99, 100.01]) expect(both(flat(0.3), strike, 30, noJump).touches).toBeGreaterThan(0.99);
  }
});

test('rises with time', () => {
  for (const strike of [85, 110]) {
    let before = 0;
    for (let days = 1; days <= 400; days += 7) {
      const { touches } = both(flat(0.3), strike, days, 0.5);
      expect(touches).toBeGreaterThan(before);
      before = touches;
    }
  }
});

describe('the probability decreases with the distance of the strike', () => {
  test.each(['SPY', 'VXX', 'PLUG'])('%s', (ticker) => judge(simulated(ticker)));
});

describeRecorded('the farther the strike the less likely to be touched, of recorded chains', (dir) => {
  test.each(['SPX 2022-12-12', 'XLF 2026-08-21', 'TSLA 2026-08-21'])('%s', (name) => judge(recordedChain(dir, name)));
});

function judge(chain: Chain): void {
  const { spot } = chain;
  const prepared = prepareChain(chain, DEFAULT_OPTIONS);
  const surface = surfaceOf(prepared)!;
  const { sizes } = jumpSizesOf(prepared);
  for (const [days, noJump] of [
    [0, 0.5],
    [1, 0.5],
    [30, 0.9],
    [90, 0.001],
    [365, 1],
    [365, 0.5],
  ] as const) {
    for (const side of [1, -1]) {
      let before = 1;
      for (const i of range(0, 24)) {
        const strike = spot * 3 ** (side * (i / 24) ** 2);
        const reading = jumpProbability(surface, { spot, strike, tte: days / 365.25, noJump, sizes });
        const touches = touchProbability(reading, spot, strike);
        expect(touches).toBeWithin(reading.probability, 1 + 1e-15);
        expect(touches).toBeLessThanOrEqual(before);
        before = touches;
      }
    }
  }
}
