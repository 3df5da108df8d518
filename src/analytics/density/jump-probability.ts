import { YEAR_MS } from '../../market/calendar.ts';
import { mertonProbabilities } from '../../math/jump-diffusion.ts';
import { TTE_FLOOR_MS } from '../chain/prepared-chain.ts';
import type { JumpSizes } from './jump-sizes.ts';
import type { VolatilitySurface } from './surface.ts';

export interface JumpProbability {
  /** Probability of ending at or beyond the strike, 0 to 1: at or above it if K >= S, else at or below it. */
  readonly probability: number;
  readonly direction: 'at_or_above' | 'at_or_below';
  /** Years. */
  readonly tte: number;
  /** Total implied variance at the strike, which diffusion and jumps share. */
  readonly totalVariance: number;
  /** Volatility of the diffusion alone, decimal per year. */
  readonly diffusionVolatility: number;
  /** Jumps per year. */
  readonly intensity: number;
  /** Sizes that were used: the given sizes times `jumpScale`. */
  readonly sizes: JumpSizes;
  /** At the forward 1 or less. At other strikes in proportion to the strike's volatility. */
  readonly jumpScale: number;
  readonly rate: number;
  readonly dividend: number;
}

/** Jumps take at most this share of a strike's variance. The rest is diffusion. */
const JUMP_VARIANCE_SHARE_MAX = 0.75;

/**
 * Merton (1976) probability of ending beyond a strike. The total variance s^2 T + l T (m^2 + d^2) is set to the surface's variance at that
 * strike. So the probability of no jump, e^(-l T), changes only the mix of diffusion and jumps.
 *
 * Jumps have the same share of the variance at every strike of an expiry: their share at the forward, at most three quarters. So the
 * strike's volatility only stretches one shape, and the probability falls with the strike as d2 does. If the sizes did not stretch, the
 * diffusion alone would have to follow the variance from strike to strike, and the probability could rise with the strike.
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
