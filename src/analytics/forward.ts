import type { Chain, Series } from '../market/chain.ts';
import { isEuropeanIndexRoot } from '../market/option-symbol.ts';
import { inverseNormalCdf } from '../math/normal.ts';
import type { AnalysisOptions } from './options.ts';
import type { ForwardMethod } from './prepared-chain.ts';
import { mid } from './quotes.ts';

export interface Forward {
  readonly forward: number;
  /** Continuously compounded, per year. */
  readonly rate: number;
  readonly method: ForwardMethod;
}

/** Pairs of the regression: enough of them, near the money, where both sides trade. */
const REGRESSION_PAIRS_MIN = 8;
const REGRESSION_MONEYNESS_MAX = 0.05;
/** Within a week a cent of quote noise moves the slope by more than the rate itself. */
const REGRESSION_TTE_MIN = 7 / 365.25;
const REGRESSION_RATE_MAX = 0.1;
const PARITY_PAIRS = 5;

/** Volatilities outside this range are feeds' sentinels, not opinions. */
export const FEED_IV_MIN = 0.02;
export const FEED_IV_MAX = 5;

/**
 * The forward of one series, by the first route that its quotes allow: regression of put-call parity over strikes (European
 * index options, which also yields the discount), the median of parity at the pairs nearest spot, the feed's deltas, and
 * last the carried spot. Parity: Stoll 1969.
 */
export function seriesForward(chain: Chain, series: Series, tte: number, options: AnalysisOptions): Forward {
  const flat = chain.spot * Math.exp((options.rate - options.dividend) * tte);
  if (options.forward === 'flat') return { forward: flat, rate: options.rate, method: 'flat' };
  const pairs = twoSidedPairs(chain, series);
  if (isEuropeanIndexRoot(series.root) && tte > REGRESSION_TTE_MIN) {
    const fitted = byRegression(pairs, chain.spot, tte);
    if (fitted) return fitted;
  }
  const forward = byParity(pairs, chain.spot, Math.exp(-options.rate * tte));
  if (forward !== undefined) return { forward, rate: options.rate, method: 'parity' };
  const fromDelta = byDelta(chain, series, tte);
  if (fromDelta !== undefined) return { forward: fromDelta, rate: options.rate, method: 'delta' };
  return { forward: flat, rate: options.rate, method: 'carry' };
}

interface Pair {
  readonly strike: number;
  /** mid(call) - mid(put) */
  readonly difference: number;
}

function byRegression(pairs: readonly Pair[], spot: number, tte: number): Forward | undefined {
  const near = pairs.filter((pair) => Math.abs(pair.strike - spot) <= REGRESSION_MONEYNESS_MAX * spot);
  if (near.length < REGRESSION_PAIRS_MIN) return undefined;
  const meanStrike = mean(near.map((pair) => pair.strike));
  const meanDifference = mean(near.map((pair) => pair.difference));
  let covariance = 0;
  let variance = 0;
  for (const pair of near) {
    covariance += (pair.strike - meanStrike) * (pair.difference - meanDifference);
    variance += (pair.strike - meanStrike) ** 2;
  }
  const discount = -covariance / variance;
  const rate = -Math.log(discount) / tte;
  if (!(rate >= 0 && rate <= REGRESSION_RATE_MAX)) return undefined;
  const forward = meanStrike + meanDifference / discount;
  return forward > 0 ? { forward, rate, method: 'regression' } : undefined;
}

function byParity(pairs: readonly Pair[], spot: number, discount: number): number | undefined {
  const nearest = pairs
    .toSorted((a, b) => Math.abs(a.strike - spot) - Math.abs(b.strike - spot) || a.strike - b.strike)
    .slice(0, PARITY_PAIRS);
  return positiveMedian(nearest.map((pair) => pair.strike + pair.difference / discount));
}

/** From N(d1) = delta: F = K exp(N^-1(delta) s - s^2/2), s = IV sqrt(T), over calls around the money. */
function byDelta(chain: Chain, series: Series, tte: number): number | undefined {
  const forwards: number[] = [];
  for (let row = series.start; row < series.end; row++) {
    const delta = chain.delta[row]!;
    const iv = chain.iv[row]!;
    if (chain.callPut[row] !== 1 || !(delta > 0.3 && delta < 0.7 && iv >= FEED_IV_MIN && iv <= FEED_IV_MAX)) continue;
    const s = iv * Math.sqrt(tte);
    forwards.push(chain.strike[row]! * Math.exp(inverseNormalCdf(delta) * s - (s * s) / 2));
  }
  return positiveMedian(forwards);
}

function twoSidedPairs(chain: Chain, series: Series): Pair[] {
  const pairs: Pair[] = [];
  for (let row = series.start; row + 1 < series.end; row++) {
    const strike = chain.strike[row]!;
    // Rows are ordered by strike, calls before puts: a pair is two neighbours.
    if (chain.callPut[row] !== 1 || chain.strike[row + 1] !== strike) continue;
    const difference = mid(chain, row) - mid(chain, row + 1);
    if (!Number.isNaN(difference)) pairs.push({ strike, difference });
  }
  return pairs;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function positiveMedian(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return median > 0 ? median : undefined;
}
