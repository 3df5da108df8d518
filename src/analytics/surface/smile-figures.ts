import { falsePosition } from '../../math/false-position.ts';
import { normalCdf } from '../../math/normal.ts';
import { D1_OF_25_DELTA } from '../chain/skew.ts';
import type { HorizonLaw } from './fitted-surface.ts';
import { clampProbability, type PriceLaw } from './price-law.ts';
import { type QuotedRange, tailFigures } from './tail-figures.ts';

/** The d1 of puts with forward deltas of -0.25 and -0.10, `N^-1(0.75)` and `N^-1(0.90)`. Calls have the opposite sign. */
const D1 = { 25: D1_OF_25_DELTA, 10: 1.2815515655446004 } as const;

export type SmileFigures = ReturnType<typeof smileFigures>;

/**
 * Returns the figures of a distribution `years` after the quotes. Volatilities are decimal per year: at the money, at absolute forward
 * deltas of 0.25 and 0.10, and the fair volatility of a variance swap (log contract), the square root of `-2 E[ln(S/F)]` per year, with the
 * lowest and the highest one that the quotes leave open. Skewness and kurtosis (3 if normal) are those of the log return (Bakshi, Kapadia and
 * Madan 2003). Both are `NaN` if more than half of their moment lies beyond the quoted range. `tailShares` has the shares of the second, third
 * and fourth moment there.
 */
export function smileFigures(law: PriceLaw, years: number, quoted: QuotedRange) {
  const volatility = (logMoneyness: number) => Math.sqrt(law.totalVariance(logMoneyness) / years);
  const atm = volatility(0);
  const [put25, call25] = [volatility(strikeOf(law, D1[25])), volatility(strikeOf(law, -D1[25]))];
  const { shares, total, varianceSwap, skewness, kurtosis } = quotedMoments(law, quoted);
  const [lowest, highest] = varianceSwap.map((each) => Math.sqrt(each / years));
  return {
    atm,
    put25,
    call25,
    put10: volatility(strikeOf(law, D1[10])),
    call10: volatility(strikeOf(law, -D1[10])),
    skew25: put25 - call25,
    convexity25: (put25 + call25) / 2 - atm,
    varianceSwap: Math.sqrt(total / years),
    varianceSwapLow: lowest!,
    varianceSwapHigh: highest!,
    tailShares: shares,
    ...{ skewness, kurtosis },
  };
}

/** Returns `tailFigures` and the skewness and the kurtosis of the log return: each is `NaN` if more than half of its moment lies beyond the quotes. */
export function quotedMoments(law: PriceLaw, quoted: QuotedRange) {
  const tails = tailFigures(law, quoted);
  const moments = law.logMoments();
  const [, third, fourth] = tails.shares;
  return {
    ...tails,
    skewness: third <= TAIL_SHARE_MAX ? moments.skewness : Number.NaN,
    kurtosis: fourth <= TAIL_SHARE_MAX ? moments.kurtosis : Number.NaN,
  };
}

/** Returns the 25-delta skew of a distribution, decimal per calendar year: `skew25` of `smileFigures` without the other figures. */
export function skewOf({ law, tte }: Pick<HorizonLaw, 'law' | 'tte'>): number {
  const volatility = (d1: number) => Math.sqrt(law.totalVariance(strikeOf(law, d1)) / tte);
  return volatility(D1[25]) - volatility(-D1[25]);
}

/** Above this share of a moment beyond the quotes, the figure rests more on extrapolation than on quotes. */
const TAIL_SHARE_MAX = 0.5;

/** The number of points of a smile, and the distance of the first and the last point from the forward, in standard deviations at the money. */
const POINTS = 61;
const POINTS_REACH = 3;

/**
 * Returns points of the smile of a distribution, evenly spaced in ln(K/F): strike (in the unit of the forward), volatility per calendar year,
 * forward delta of the option out of the money, and probability of ending at or below the strike.
 */
export function smilePoints({ law, forward, tte, atmVariance }: HorizonLaw) {
  const reach = POINTS_REACH * Math.sqrt(atmVariance);
  return Array.from({ length: POINTS }, (_, i) => {
    const x = reach * ((2 * i) / (POINTS - 1) - 1);
    const deviation = Math.sqrt(law.totalVariance(x));
    return {
      strike: forward * Math.exp(x),
      iv: deviation / Math.sqrt(tte),
      delta: normalCdf(deviation / 2 - x / deviation) - (x < 0 ? 1 : 0),
      below: clampProbability(law.below(Math.exp(x))),
    };
  });
}

/**
 * Returns the log-moneyness x that solves the equation `-x / s(x) + s(x) / 2 = d1`, where `s(x)^2` is the total variance at x. Without
 * arbitrage, the left side of the equation always falls with x (Fukasawa 2012).
 */
function strikeOf(law: PriceLaw, d1: number): number {
  const atm = Math.sqrt(law.totalVariance(0));
  const error = (x: number) => {
    const s = Math.sqrt(law.totalVariance(x));
    return -x / s + s / 2 - d1;
  };
  const limits = { width: PRECISION * atm, value: PRECISION, iterations: ITERATIONS_MAX };
  return falsePosition(error, [-REACH * atm, REACH * atm], limits);
}

/** The search range on each side of the forward, in standard deviations at the money. */
const REACH = 8;
const ITERATIONS_MAX = 60;
/** The search ends if the error of d1, or the ratio of the interval's width to `atm`, is below this limit. */
const PRECISION = 1e-10;
