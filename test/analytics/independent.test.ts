import { describe, expect, test } from 'bun:test';
import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { gexLevels } from '../../src/analytics/exposure/gex-levels.ts';
import { maxPain } from '../../src/analytics/exposure/max-pain.ts';
import type { Wall } from '../../src/analytics/exposure/walls.ts';
import { densityFigures, QUANTILES } from '../../src/analytics/surface/density-figures.ts';
import { fitSurface } from '../../src/analytics/surface/fit-surface.ts';
import { ClientError } from '../../src/core/errors.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { buildChain } from '../../src/market/build-chain.ts';
import type { Chain } from '../../src/market/chain.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { IS_FULL } from '../support/size.ts';
import { damagedDelivery } from './damaged-chains.ts';
import { IntegratedDensity, independentLevels } from './independent.ts';
import { normalCdf } from './plain.ts';
import { recordedChain, someRecorded } from './recorded.ts';
import { simulated } from './simulated.ts';
import { contractsIn, preparedChain } from './small-chains.ts';

/** Tolerance relative to gross: sums of differences of deltas, each accurate to ten digits. */
const SUMS = 1e-9;
/** Tolerance relative to the level: the same grid and the same straight line between two of its levels. */
const LEVELS = 1e-9;
/** Tolerance relative to the forward: integrals by Gauss's rule. */
const INTEGRALS = 1e-10;

// A liquid fund, a volatile stock, and a stock at a few dollars.
const SIMULATED = ['IWM', 'TSLA', 'PLUG'];

describe('the reference implementation itself', () => {
  // Abramowitz and Stegun, tables 26.1 and 26.2; the last from 60-digit arithmetic.
  test.each([
    [0, 0.5],
    [1, 0.841344746068543],
    [-2, 0.0227501319481792],
    [-4, 3.16712418331199e-5],
    [3, 0.99865010196837],
    [-10, 7.61985302416053e-24],
  ])('N(%d) is %d', (x, known) => {
    expect(Math.abs(normalCdf(x) / known - 1)).toBeLessThan(1e-14);
  });
});

describe('simulated chains', () => {
  both(SIMULATED, simulated);
});

// Without flips: for three of 320 chains the last gamma underflows (1e-290 dollars), and its sign is lost.
test('sums, walls and max pain of damaged chains agree with an independent implementation', () => {
  let compared = 0;
  for (let seed = 0; seed < 150; seed++) {
    const { head, rows, damages } = damagedDelivery(seed);
    const prepared = answerOf(() => preparedChain(buildChain(head, rows)));
    if (!prepared) continue;
    compared++;
    try {
      agreeOnSums(prepared);
    } catch (error) {
      throw new Error(`seed ${seed} (${head.underlying}: ${damages.join(', ')}): ${error}`, { cause: error });
    }
  }
  expect(compared).toBeGreaterThan(75);
});

describeRecorded('recorded chains', (dir) => {
  both(someRecorded(dir), (name) => recordedChain(dir, name));
});

function both(names: readonly string[], chainOf: (name: string) => Chain): void {
  test.each(names)('%s: levels agree with an independent implementation', (name) => {
    agreeOnLevels(preparedChain(chainOf(name)));
  });

  test.each(names)('%s: levels by each contract’s own volatility, by volume, over two weeks', (name) => {
    agreeOnLevels(
      preparedChain(chainOf(name), {
        ...{ forward: 'flat', rate: 0.02, dividend: 0.01, iv: 'own', weight: 'volume' },
        expiries: { kind: 'next', days: 14 },
      }),
    );
  });

  // The largest chain takes three seconds on an idle machine.
  test.each(names)('%s: densities agree with numerical integrals', (name) => {
    agreeOnDensities(preparedChain(chainOf(name)));
  });
}

function agreeOnLevels(prepared: PreparedChain): void {
  const { found, known } = agreeOnSums(prepared);
  expect(found.flip.resolved).toBe(known.flip.resolved);
  expect(Math.abs(found.flip.level / known.flip.level - 1)).toBeLessThan(LEVELS);
}

/** Compares everything except the flip. */
function agreeOnSums(prepared: PreparedChain) {
  const found = runToCompletion(gexLevels(prepared, new Map()));
  const known = independentLevels(contractsIn(prepared), prepared.chain.spot);
  // Deltas that hardly change lose digits in their differences.
  const rounding = 1e-12 * known.dex;
  const { gex, grossGex, dex, vex, cex } = found.exposures;
  expect(Math.abs(gex - known.net)).toBeLessThanOrEqual(SUMS * known.gross + rounding);
  expect(Math.abs(grossGex - known.gross)).toBeLessThanOrEqual(SUMS * known.gross + rounding);
  expect(Math.abs(dex - known.dex)).toBeLessThanOrEqual(SUMS * known.dex);
  expect(Math.abs(vex - known.vex)).toBeLessThanOrEqual(SUMS * known.grossVex + rounding);
  expect(Math.abs(cex - known.cex)).toBeLessThanOrEqual(SUMS * known.grossCex + rounding);
  const { call, put, callUnsided, putUnsided, absolute } = found.walls;
  const sided = ({ strike, sided }: Wall) => (sided ? strike : Number.NaN);
  expect({ call: sided(call), put: sided(put), callUnsided, putUnsided, absolute }).toEqual({
    ...{ call: known.callWall, put: known.putWall, callUnsided: known.callUnsided, putUnsided: known.putUnsided },
    absolute: known.absolute,
  });
  expect(prepared.series.indexOf(found.dominant)).toBe(known.dominant);
  expect(found.maxPain).toBe(known.maxPain.get(known.dominant)!);
  expect(prepared.series.map((series) => maxPain(prepared, series))).toEqual(
    prepared.series.map((_, i) => known.maxPain.get(i)!),
  );
  return { found, known };
}

/** Integrals over 135 components are slow: some settlements of each chain. */
const SETTLEMENTS = IS_FULL ? 3 : 2;

function agreeOnDensities(prepared: PreparedChain): void {
  const { slices } = runToCompletion(fitSurface(prepared));
  for (const index of pickEvenly(Float64Array.from(slices.keys()), Math.min(SETTLEMENTS, slices.length))) {
    const { law, forward, tte, atmVariance, series } = slices[index]!;
    const deviation = Math.sqrt(atmVariance);
    const { quantiles, mode, divergence } = densityFigures(law, deviation);
    const { skewness } = law.logMoments();
    const components = Array.from(law.nodes, (mean, i) => ({
      ...{ weight: law.masses[i]!, mean, volatility: law.widths[i]! / Math.sqrt(tte) },
    }));
    const known = new IntegratedDensity(components, forward, tte);
    expect(Math.abs(known.expected(() => 1) - 1)).toBeLessThan(INTEGRALS);
    expect(Math.abs(known.expected((price) => price) / forward - 1)).toBeLessThan(INTEGRALS);
    quantiles.forEach((price, i) => {
      expect(Math.abs(known.expected(() => 1, 0, forward * price) - QUANTILES[i]!)).toBeLessThan(INTEGRALS);
    });

    const { start, end } = series[0]!;
    const strikes = pickEvenly(prepared.strike.subarray(start, end), 8);
    for (const strike of strikes) {
      for (const callPut of [1, -1]) {
        const price = law.price(callPut, strike / forward);
        expect(Math.abs(price - known.price(callPut, strike) / forward)).toBeLessThan(INTEGRALS);
      }
      const below = known.expected(() => 1, 0, strike);
      expect(Math.abs(law.below(strike / forward) - below)).toBeLessThan(INTEGRALS);
      expect(Math.abs(law.above(strike / forward) - (1 - below))).toBeLessThan(INTEGRALS);
    }

    const mean = known.expected(Math.log);
    const moment = (power: number) => known.expected((price) => (Math.log(price) - mean) ** power);
    expect(Math.abs(skewness - moment(3) / moment(2) ** 1.5)).toBeLessThan(1e-8);
    const lognormal = new IntegratedDensity(
      [{ weight: 1, mean: 1, volatility: deviation / Math.sqrt(tte) }],
      forward,
      tte,
    );
    const surprise = known.expected((price) => {
      // If both densities are 0, the integrand is 0.
      const [its, plain] = [known.at(price), lognormal.at(price)];
      return its > 0 && plain > 0 ? Math.log(its / plain) : 0;
    });
    expect(Math.abs(divergence - surprise)).toBeLessThan(1e-8);
    const likeliest = known.at(forward * mode);
    for (const price of [...strikes, ...quantiles.map((each) => forward * each)]) {
      expect(likeliest).toBeGreaterThanOrEqual(known.at(price) * (1 - 1e-9));
    }
  }
}

/** Returns `undefined` if the work throws a `ClientError`. */
function answerOf<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}

/** Some values of an ascending column, including both ends. */
function pickEvenly(values: Float64Array, count: number): number[] {
  const distinct = [...new Set(values)];
  return Array.from({ length: count }, (_, i) => distinct[Math.round((i * (distinct.length - 1)) / (count - 1))]!);
}
