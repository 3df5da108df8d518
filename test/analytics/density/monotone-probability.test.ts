import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { varianceAt } from '../../../src/analytics/chain/smile-variance.ts';
import { densityOf } from '../../../src/analytics/density/density.ts';
import { jumpProbability } from '../../../src/analytics/density/jump-probability.ts';
import { jumpSizesOf } from '../../../src/analytics/density/jump-sizes.ts';
import { surfaceOf } from '../../../src/analytics/density/surface.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { normalCdf } from '../plain.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { SIMULATED, simulated } from '../simulated.ts';
import { range } from '../small-chains.ts';

const DAYS = [0, 1, 7, 30, 90, 365, 700];
const NO_JUMP = [0.001, 0.5, 0.9, 1];
/** From 0.3 to 3 times spot: a factor of ten in 160 steps of 1.5 %. */
const MONEYNESS = range(0, 160).map((i) => 0.3 * 10 ** (i / 160));
/** Maximum distance from the middle to either side for a quote that determines the volatility: half a vol point. */
const TIGHT = 0.005;

describe('the probability decreases with the distance of the strike', () => {
  test.each(SIMULATED)('%s', (ticker) => judgeOrder(simulated(ticker)));
});

describeRecorded('the farther the strike the less likely, of recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s', (name) => judgeOrder(recordedChain(dir, name)));

  test('near the money it agrees with narrow quotes', () => {
    const off = recordedNames(dir)
      .flatMap((name) => distances(prepareChain(recordedChain(dir, name), DEFAULT_OPTIONS)))
      .sort((a, b) => a - b);
    expect(off.length).toBeGreaterThan(6000);
    expect(off[off.length >> 1]).toBeLessThan(0.0005);
    expect(off[Math.floor(0.99 * off.length)]).toBeLessThan(0.005);
    expect(off.at(-1)).toBeLessThan(0.015);
  });
});

test('near the money of simulated chains it agrees with narrow quotes', () => {
  for (const ticker of SIMULATED) {
    const off = distances(prepareChain(simulated(ticker), DEFAULT_OPTIONS));
    expect(Math.max(0, ...off)).toBeLessThan(0.0015);
  }
});

function judgeOrder(chain: Chain): void {
  const { spot } = chain;
  const prepared = prepareChain(chain, DEFAULT_OPTIONS);
  const surface = surfaceOf(prepared)!;
  const { sizes } = jumpSizesOf(prepared);
  for (const days of DAYS) {
    for (const noJump of NO_JUMP) {
      const of = (moneyness: number) =>
        jumpProbability(surface, {
          ...{ spot, strike: spot * moneyness, tte: days / 365.25, noJump, sizes },
        }).probability;
      const outward = [
        MONEYNESS.filter((each) => each >= 1).map(of),
        MONEYNESS.filter((each) => each < 1)
          .map(of)
          .reverse(),
      ];
      for (const probabilities of outward) {
        const rises = probabilities.flatMap((each, i) =>
          each >= 0 && each <= 1 && (i === 0 || each <= probabilities[i - 1]!) ? [] : [{ days, noJump, i, each }],
        );
        expect(rises).toEqual([]);
      }
    }
  }
}

/**
 * The difference between N(d2) of the fitted density and of the quoted smile, at the strikes with narrow quotes within
 * one standard deviation of the forward.
 */
function distances(prepared: PreparedChain): number[] {
  const { chain } = prepared;
  return prepared.series.flatMap((series) => {
    const { smile, start, end, forward, tte } = series;
    if (smile.logMoneyness.length < 8) return [];
    const { atmIv, totalVariance } = densityOf(prepared, series);
    const found: number[] = [];
    for (let i = start; i < end; i++) {
      const x = Math.log(prepared.strike[i]! / forward);
      const isOutOfTheMoney = x >= 0 === (prepared.callPut[i] === 1);
      if (!isOutOfTheMoney || Math.abs(x) > atmIv * Math.sqrt(tte) || !smile.logMoneyness.includes(x)) continue;
      const quoted = varianceAt(smile, x);
      const row = prepared.row[i]!;
      const d1 = -x / Math.sqrt(quoted) + Math.sqrt(quoted) / 2;
      const vega = forward * Math.sqrt(tte / (2 * Math.PI)) * Math.exp((-d1 * d1) / 2);
      if (!((chain.ask[row]! - chain.bid[row]!) / 2 < TIGHT * vega)) continue;
      found.push(Math.abs(beyond(x, totalVariance(x)) - beyond(x, quoted)));
    }
    return found;
  });
}

/** N(d2). */
function beyond(x: number, variance: number): number {
  const deviation = Math.sqrt(variance);
  return normalCdf(-x / deviation - deviation / 2);
}
