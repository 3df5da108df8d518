import { YEAR_MS } from '../../market/calendar.ts';
import { mertonProbabilities } from '../../math/jump-diffusion.ts';
import { TTE_FLOOR_MS } from '../chain/prepared-chain.ts';
import type { JumpSizes } from './jump-sizes.ts';
import type { VolatilitySurface } from './surface.ts';

export interface JumpProbability {
  /** Probability of ending at or above the strike if K >= S, or at or below the strike if K < S, 0 to 1. */
  readonly probability: number;
  readonly direction: 'at_or_above' | 'at_or_below';
  /** Time to expiry, years. */
  readonly tte: number;
  /** Total implied variance at the strike. It is the sum of the variances of diffusion and jumps. */
  readonly totalVariance: number;
  /** Volatility of the diffusion alone, decimal per year. */
  readonly diffusionVolatility: number;
  /** Jumps per year. */
  readonly intensity: number;
  /** The jump sizes of the model: the given sizes times `jumpScale`. */
  readonly sizes: JumpSizes;
  /** The factor of the jump sizes. At the forward it is at most 1. At other strikes it is in proportion to the strike's volatility. */
  readonly jumpScale: number;
  readonly rate: number;
  readonly dividend: number;
}

/** The largest share of a strike's variance that comes from jumps. The rest comes from diffusion. */
const JUMP_VARIANCE_SHARE_MAX = 0.75;

/**
 * Returns the probability of ending beyond a strike by Merton (1976). The model has a diffusion with volatility s and, on average, l jumps
 * per year with mean m and standard deviation d. Its total variance s^2 T + l T (m^2 + d^2) is set to the variance of the surface at the
 * strike. So the probability of no jump, `noJump` = e^(-l T), changes only the shares of diffusion and jumps in the variance.
 *
 * The share of the jumps is the same at every strike of an expiry: their share at the forward, at most three quarters. So all strikes have
 * the same distribution, stretched in proportion to the strike's volatility, and the probability of ending above falls with the strike as
 * d2 does. If the jump sizes were not stretched, the variance of the diffusion alone would change from strike to strike, and the
 * probability could rise with the strike.
 */
export function jumpProbability(
  surface: VolatilitySurface,
  {
    spot,
    strike,
    tte: years,
    noJump,
    sizes,
  }: { spot: number; strike: number; tte: number; noJump: number; sizes: JumpSizes },
): JumpProbability {
  const tte = Math.max(years, TTE_FLOOR_MS / YEAR_MS);
  const carry = surface.carry(tte);
  const rate = surface.rate(tte);
  const dividend = rate - carry / tte;
  const totalVariance = surface.variance(Math.log(strike / spot) - carry, tte);
  const expectedJumps = Math.log(1 / noJump);
  const jumpVariance = expectedJumps * (sizes.mean ** 2 + sizes.width ** 2);
  const stretch = totalVariance / surface.variance(0, tte);
  const jumpScale =
    jumpVariance > 0 ? Math.sqrt(Math.min(stretch, (JUMP_VARIANCE_SHARE_MAX * totalVariance) / jumpVariance)) : 1;
  const used = { mean: sizes.mean * jumpScale, width: sizes.width * jumpScale };
  const diffusionVolatility = Math.sqrt((totalVariance - jumpVariance * jumpScale ** 2) / tte);
  const intensity = expectedJumps / tte;
  const { probAbove, probBelow } = mertonProbabilities({
    count: 1,
    spot,
    strike,
    tte,
    iv: diffusionVolatility,
    rate,
    dividend,
    jumpIntensity: intensity,
    jumpMean: used.mean,
    jumpVol: used.width,
  });
  const above = strike >= spot;
  return {
    probability: (above ? probAbove : probBelow)[0]!,
    direction: above ? 'at_or_above' : 'at_or_below',
    tte,
    totalVariance,
    diffusionVolatility,
    intensity,
    sizes: used,
    jumpScale,
    rate,
    dividend,
  };
}
