import { normalCdf } from '../../math/normal.ts';
import type { PriceLaw } from './price-law.ts';

/** Log-moneyness ln(K/F) of the lowest and the highest quote. The law beyond them is an extrapolation. */
export type QuotedRange = readonly [low: number, high: number];

/** The highest moment of which the share beyond the quotes is computed. */
const ORDER = 4;

/**
 * Returns how much of a law's figures rests on its tails beyond the quoted range:
 * - `shares`: the shares of the variance and of the absolute third and fourth central moment of the log-price, 0 to 1.
 * - `varianceSwap`: the lowest and the highest total variance of a variance swap for the law's prices and slopes at the outermost quotes.
 *   Without arbitrage, prices beyond a quote are at least those on the tangent there. They are at most log-linear in ln(K/F) if their
 *   logarithm is concave, as in the law. `total` is the law's own.
 */
export function tailFigures(law: PriceLaw, [low, high]: QuotedRange) {
  const { mean } = law.logMoments();
  const [all, below, upToMean, inside] = [Number.POSITIVE_INFINITY, low, mean, high].map((to) =>
    momentsUpTo(law, mean, to),
  ) as [number[], number[], number[], number[]];
  const shares = [2, 3, 4].map((order) => {
    const sizes = [below[order]!, all[order]! - inside[order]!].map((each) => Math.abs(each));
    const total = order % 2 === 0 ? all[order]! : all[order]! - 2 * upToMean[order]!;
    return Math.min(1, Math.max(0, (sizes[0]! + sizes[1]!) / total));
  }) as [number, number, number];
  const tails = [tailVariance(law, -1, low), tailVariance(law, 1, high)] as const;
  const total = -2 * mean;
  const change = (name: 'tangent' | 'logLinear') => tails.reduce((sum, tail) => sum + tail[name] - tail.own, 0);
  // The law's own prices may exceed the log-linear ones where the order in time has raised them.
  const varianceSwap = [total + Math.min(0, change('tangent')), total + Math.max(0, change('logLinear'))] as const;
  return { shares, total, varianceSwap };
}

/** Returns the integrals of (x - center)^k over the law of the log-price x up to a limit, for k from 0 to `ORDER`. */
function momentsUpTo({ nodes, masses, widths }: PriceLaw, center: number, limit: number): number[] {
  const sums = new Array<number>(ORDER + 1).fill(0);
  for (let i = 0; i < nodes.length; i++) {
    const width = widths[i]!;
    const distance = Math.log(nodes[i]!) - (width * width) / 2 - center;
    const u = (limit - center - distance) / width;
    // The integrals of t^k over the standard normal law up to u.
    const density = Number.isFinite(u) ? Math.exp((-u * u) / 2) / Math.sqrt(2 * Math.PI) : 0;
    const powers = [normalCdf(u), -density];
    for (let k = 2; k <= ORDER; k++) powers.push((k - 1) * powers[k - 2]! - (density > 0 ? u ** (k - 1) * density : 0));
    for (let k = 0; k <= ORDER; k++) {
      let [sum, binomial] = [0, 1];
      for (let j = 0; j <= k; j++) {
        sum += binomial * distance ** (k - j) * width ** j * powers[j]!;
        binomial *= (k - j) / (j + 1);
      }
      sums[k]! += masses[i]! * sum;
    }
  }
  return sums;
}

/**
 * Returns the part of a variance swap's total variance that options beyond a quote contribute (2 / K^2 of each strike): by the law, on the
 * tangent of the prices at the quote, and with prices that are log-linear from there on. `side` is -1 for puts below, +1 for calls above.
 */
function tailVariance(law: PriceLaw, side: 1 | -1, logMoneyness: number) {
  const strike = Math.exp(logMoneyness);
  const price = law.price(side, strike);
  const probability = side < 0 ? law.below(strike) : law.above(strike);
  if (!(price > 0 && probability > 0)) return { own: 0, tangent: 0, logLinear: 0 };
  // E[ln(S/K)] beyond the strike.
  const first = momentsUpTo(law, logMoneyness, logMoneyness)[1]!;
  const log = side < 0 ? first : momentsUpTo(law, logMoneyness, Number.POSITIVE_INFINITY)[1]! - first;
  const relative = price / strike;
  /** The strike at which the tangent is zero, as a multiple of the strike of the quote. */
  const end = 1 + (side * relative) / probability;
  const steepness = probability / relative;
  return {
    own: 2 * (side * relative - log),
    tangent: 2 * probability * (end - 1 - Math.log(end)),
    logLinear: (2 * relative) / (steepness + side),
  };
}
