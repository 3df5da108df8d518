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

/** The prices to which a model of one series is fitted: out of the money, undiscounted, as multiples of the forward. */
export interface PricePoints extends QuotedStrikes {
  readonly price: Float64Array;
  /** Price per 1.00 of volatility. It converts a price error to a volatility error. */
  readonly vega: Float64Array;
  /** Trust in the quote, 0 to 1. The wider the quote, the smaller the weight. */
  readonly weight: Float64Array;
}

/** Half-width of a quote, in volatility, at which it counts half. */
const WIDTH = 0.02;
/** Tails are quoted in ticks, not in volatility. This share of the largest vega damps their errors. */
const VEGA_FLOOR = 0.05;
/** A larger error, in volatility, is taken to be a fault of the quote and not of the fit. */
const OUTLIER = 0.03;
/** A fit is judged within this many standard deviations from the forward. */
const ERROR_DEVIATIONS = 2.5;

/** Out-of-the-money strikes of a series' smile. */
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

/** 1 for a tight quote. A half for a quote whose half-width is two vol points, or that has one side only. */
function quoteWeight(chain: Chain, row: number, vega: number): number {
  const halfWidth = (chain.ask[row]! - chain.bid[row]!) / 2 / vega;
  return halfWidth >= 0 ? WIDTH / (WIDTH + halfWidth) : 0.5;
}

/** The errors that a least-squares fit minimizes: in volatility, weighted by trust. One absurd quote does not bend the rest. */
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

/** Lets errors beyond `OUTLIER` grow like their root only (soft L1 loss). */
function softL1(error: number): number {
  const ratio = error / OUTLIER;
  return OUTLIER * Math.sign(error) * Math.sqrt(2 * (Math.sqrt(1 + ratio * ratio) - 1));
}

/** The points of one series, and the prices that a model gives them. */
export interface Fit {
  readonly points: PricePoints;
  readonly prices: Float64Array;
  /** Decimal per year, at the money. */
  readonly atmIv: number;
  readonly tte: number;
}

/**
 * Root mean square error within two and a half standard deviations, weighted by the quotes' weights, vol points. 0 if no point is there.
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
