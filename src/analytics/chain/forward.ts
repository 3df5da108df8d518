import type { Chain, Series } from '../../market/chain.ts';
import { isEuropeanIndexRoot } from '../../market/option-symbol.ts';
import { inverseNormalCdf } from '../../math/normal.ts';
import type { AnalysisOptions } from './options.ts';
import type { ForwardMethod } from './prepared-chain.ts';
import { mid } from './quotes.ts';

/** The forward of one series and its discount rate. */
export interface Forward {
  readonly forward: number;
  /** Continuously compounded, per year. */
  readonly rate: number;
  readonly method: ForwardMethod;
}

/** Minimum number of strikes for the regression. Only strikes near the money with a two-sided quote of both the call and the put count. */
const REGRESSION_PAIRS_MIN = 8;
/** The maximum distance between spot and the strikes in the regression, as a fraction of spot. */
const REGRESSION_MONEYNESS_MAX = 0.05;
/** Least time to settlement for the regression, years. Near settlement, a cent of quote noise distorts the regression's slope too much. */
const REGRESSION_TTE_MIN = 7 / 365.25;
const REGRESSION_RATE_MAX = 0.1;
/** The parity method uses the median forward of this number of call-put pairs nearest to spot. */
const PARITY_PAIRS = 5;
/** If the forward and spot differ by a larger factor, the quotes are damaged. In a panic, the VIX forward can be a third of spot. */
const SPOT_FACTOR_MAX = 4;

/** If a feed does not know the volatility of a contract, it writes a volatility outside this range. */
const FEED_IV_MIN = 0.02;
export const FEED_IV_MAX = 5;

/** Returns whether a feed's volatility is in the range of computed volatilities. */
export function isPlausibleIv(iv: number): boolean {
  return iv >= FEED_IV_MIN && iv <= FEED_IV_MAX;
}

/** Placeholder volatilities that recorded feeds write if they cannot compute a volatility. */
const PLACEHOLDER_IVS = [0.02, 0.062509, 0.125009, 0.250008, 0.500005];
const PLACEHOLDER_PRECISION = 1e-6;

/** Returns false if a volatility is implausible or is a known placeholder. */
export function isComputedIv(iv: number): boolean {
  return isPlausibleIv(iv) && !PLACEHOLDER_IVS.some((each) => Math.abs(iv - each) < PLACEHOLDER_PRECISION);
}

/**
 * Returns the forward of one series. The function uses the first method in this list that gives a plausible forward:
 * 1. For European index options only, a regression of put-call parity (Stoll 1969). The regression also gives the discount.
 * 2. The median of the forwards that put-call parity gives for the call-put pairs nearest to spot.
 * 3. The forward that the feed's deltas imply.
 * 4. Spot, carried to settlement at the `rate` and the `dividend` of the analysis options.
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

/** The strikes at which both call and put have a two-sided quote, ascending. */
interface Pairs {
  readonly strike: Float64Array;
  /** The call's mid minus the put's mid, dollars. */
  readonly difference: Float64Array;
}

function byRegression(pairs: Pairs, spot: number, tte: number): Forward | undefined {
  const isNear = (i: number) => Math.abs(pairs.strike[i]! - spot) <= REGRESSION_MONEYNESS_MAX * spot;
  let [from, to] = [0, pairs.strike.length];
  while (from < to && !isNear(from)) from++;
  while (from < to && !isNear(to - 1)) to--;
  if (to - from < REGRESSION_PAIRS_MIN) return undefined;
  const strike = pairs.strike.subarray(from, to);
  const difference = pairs.difference.subarray(from, to);
  const meanStrike = mean(strike);
  const meanDifference = mean(difference);
  let covariance = 0;
  let variance = 0;
  for (let i = 0; i < strike.length; i++) {
    covariance += (strike[i]! - meanStrike) * (difference[i]! - meanDifference);
    variance += (strike[i]! - meanStrike) ** 2;
  }
  const discount = -covariance / variance;
  const rate = -Math.log(discount) / tte;
  if (!(rate >= 0 && rate <= REGRESSION_RATE_MAX)) return undefined;
  const forward = meanStrike + meanDifference / discount;
  return isPlausible(forward, spot) ? { forward, rate, method: 'regression' } : undefined;
}

/** Returns the median forward of the call-put pairs nearest to spot. If two pairs are equally near, the lower strike comes first. */
function byParity({ strike, difference }: Pairs, spot: number, discount: number): number | undefined {
  const forwards: number[] = [];
  let above = 0;
  while (above < strike.length && strike[above]! < spot) above++;
  let below = above - 1;
  while (forwards.length < PARITY_PAIRS && (below >= 0 || above < strike.length)) {
    const lower = below >= 0 && !(strike[above]! - spot < spot - strike[below]!);
    const i = lower ? below-- : above++;
    forwards.push(strike[i]! + difference[i]! / discount);
  }
  return plausibleMedian(forwards, spot);
}

/**
 * Returns the median of the forwards that the feed's deltas imply, for calls near the money. The equation `N(d1) = delta` gives
 * `F = K exp(N^-1(delta) s - s^2/2)`, where `s = IV sqrt(T)`.
 */
function byDelta(chain: Chain, series: Series, tte: number): number | undefined {
  const forwards: number[] = [];
  for (let row = series.start; row < series.end; row++) {
    const delta = chain.delta[row]!;
    const iv = chain.iv[row]!;
    if (chain.callPut[row] !== 1 || !(delta > 0.3 && delta < 0.7 && isPlausibleIv(iv))) continue;
    const s = iv * Math.sqrt(tte);
    forwards.push(chain.strike[row]! * Math.exp(inverseNormalCdf(delta) * s - (s * s) / 2));
  }
  return plausibleMedian(forwards, chain.spot);
}

function twoSidedPairs(chain: Chain, series: Series): Pairs {
  const strike = new Float64Array((series.end - series.start) >> 1);
  const difference = new Float64Array(strike.length);
  let count = 0;
  for (let row = series.start; row + 1 < series.end; row++) {
    // Rows are sorted by strike, and each call comes before its put, so a call and its put are adjacent rows.
    if (chain.callPut[row] !== 1 || chain.strike[row + 1] !== chain.strike[row]) continue;
    const between = mid(chain, row) - mid(chain, row + 1);
    if (Number.isNaN(between)) continue;
    strike[count] = chain.strike[row]!;
    difference[count++] = between;
  }
  return { strike: strike.subarray(0, count), difference: difference.subarray(0, count) };
}

function mean(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

function isPlausible(forward: number, spot: number): boolean {
  return forward >= spot / SPOT_FACTOR_MAX && forward <= spot * SPOT_FACTOR_MAX;
}

function plausibleMedian(values: readonly number[], spot: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return isPlausible(median, spot) ? median : undefined;
}
