import type { Chain } from '../../market/chain.ts';
import { greeks } from '../../math/black-scholes.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';

/** Options to price. A strike is a multiple of the forward. */
export interface QuotedStrikes {
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
}

/** The prices to which a model of one series is fitted: prices of out-of-the-money options, undiscounted, as multiples of the forward. */
export interface PricePoints extends QuotedStrikes {
  readonly price: Float64Array;
  /** Price per 1.00 of volatility. It converts a price error to a volatility error. */
  readonly vega: Float64Array;
  /** The trust in the quote, 0 to 1. A wider quote has a smaller weight. */
  readonly weight: Float64Array;
}

/** The half-width of a quote, in volatility, at which its weight is a half. */
const WIDTH = 0.02;
/**
 * This share of the largest vega is added to each vega. In the tails, vega is so small that one tick of price is a large error in
 * volatility. The addition damps these errors.
 */
const VEGA_FLOOR = 0.05;
/** A larger error, in volatility, is taken as a fault of the quote and not of the fit. */
const OUTLIER = 0.03;
/** The error of a fit is measured within this many standard deviations from the forward. */
const ERROR_DEVIATIONS = 2.5;

/** Returns the prices at the strikes of a series' smile, each of the out-of-the-money option. */
export function pricePoints(prepared: PreparedChain, { start, end, forward, tte, smile }: PreparedSeries): PricePoints {
  const known = new Set(smile.logMoneyness);
  const chosen: number[] = [];
  for (let i = start; i < end; i++) {
    const otm = prepared.strike[i]! >= forward === (prepared.callPut[i] === 1);
    // Interpolated volatilities are not quotes.
    if (otm && known.has(Math.log(prepared.strike[i]! / forward))) chosen.push(i);
  }
  const callPut = Float64Array.from(chosen, (i) => prepared.callPut[i]!);
  const strike = Float64Array.from(chosen, (i) => prepared.strike[i]! / forward);
  const iv = Float64Array.from(chosen, (i) => prepared.iv[i]!);
  const { price, vega } = greeks({ count: chosen.length, callPut, spot: 1, strike, tte, iv, rate: 0, dividend: 0 });
  const weight = Float64Array.from(chosen, (row, i) =>
    quoteWeight(prepared.chain, prepared.row[row]!, vega[i]! * forward),
  );
  return { callPut, strike, price, vega, weight };
}

/** Returns the weight of a quote: 1 for a tight quote, and a half for a quote with a half-width of two vol points or with only one side. */
function quoteWeight(chain: Chain, row: number, vega: number): number {
  const halfWidth = (chain.ask[row]! - chain.bid[row]!) / 2 / vega;
  return halfWidth >= 0 ? WIDTH / (WIDTH + halfWidth) : 0.5;
}

/**
 * Returns the residuals of a least-squares fit: errors in volatility, weighted by the trust in the quotes. Large errors are damped, so that
 * one absurd quote does not bend the fit.
 */
export function pricingErrors({ price, vega, weight }: PricePoints, prices: Float64Array): Float64Array {
  const floor = VEGA_FLOOR * Math.max(...vega);
  return prices.map((each, i) => weight[i]! * softL1((each - price[i]!) / (vega[i]! + floor)));
}

/** Joins residuals of a fit into one column. */
export function concatenate(columns: readonly ArrayLike<number>[]): Float64Array {
  const column = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0));
  let i = 0;
  for (const each of columns) {
    column.set(each, i);
    i += each.length;
  }
  return column;
}

/** Damps an error: beyond `OUTLIER`, the result grows only like the square root of the error (soft L1 loss). */
function softL1(error: number): number {
  const ratio = error / OUTLIER;
  return OUTLIER * Math.sign(error) * Math.sqrt(2 * (Math.sqrt(1 + ratio * ratio) - 1));
}

/** The points of one series, and the prices that a model gives them. */
export interface Fit {
  readonly points: PricePoints;
  readonly prices: Float64Array;
  /** At-the-money volatility, decimal per year. */
  readonly atmIv: number;
  readonly tte: number;
}

/**
 * Returns the root mean square error of fits, vol points: over points within 2.5 standard deviations, weighted by the trust in their
 * quotes. Returns 0 if there is no such point.
 */
export function fitError(fits: readonly Fit[]): number {
  let squares = 0;
  let weights = 0;
  for (const { points, prices, atmIv, tte } of fits) {
    const { callPut, strike, weight } = points;
    const columns = { count: strike.length, callPut, spot: 1, strike, tte, rate: 0, dividend: 0 };
    const quoted = impliedVolatility({ ...columns, price: points.price });
    const fitted = impliedVolatility({ ...columns, price: prices });
    const reach = ERROR_DEVIATIONS * atmIv * Math.sqrt(tte);
    for (let i = 0; i < strike.length; i++) {
      const error = 100 * (fitted[i]! - quoted[i]!);
      if (!(Number.isFinite(error) && Math.abs(Math.log(strike[i]!)) <= reach)) continue;
      squares += (weight[i]! * error) ** 2;
      weights += weight[i]! ** 2;
    }
  }
  return weights === 0 ? 0 : Math.sqrt(squares / weights);
}
