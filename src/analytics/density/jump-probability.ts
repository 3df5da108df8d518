import { YEAR_MS } from '../../market/calendar.ts';
import { mertonProbabilities } from '../../math/jump-diffusion.ts';
import { TTE_FLOOR_MS } from '../chain/time.ts';
import type { JumpSizes } from './jump-sizes.ts';
import type { Surface } from './surface.ts';

export interface JumpProbability {
  /** Probability of ending at or beyond the strike, 0 to 1: at or above where K >= S, at or below otherwise. */
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
  /** Sizes used: the given ones times `jumpScale`. */
  readonly sizes: JumpSizes;
  /** At the forward 1 or less; elsewhere in proportion to the strike's volatility. */
  readonly jumpScale: number;
  readonly rate: number;
  readonly dividend: number;
}

/** Jumps may take at most this share of a strike's variance; the rest stays diffusion. */
const JUMP_VARIANCE_SHARE_MAX = 0.75;

/**
 * Merton (1976) probability of ending beyond a strike. Total variance s^2 T + l T (m^2 + d^2) is held at the surface's at that
 * strike, so that the probability of no jump, e^(-l T), moves only the mix between diffusion and jumps.
 *
 * Jumps have one share of the variance at every strike of an expiry: theirs at the forward, three quarters at the most. So the
 * strike's volatility stretches one shape, and the probability falls with the strike as d2 does. With sizes that do not stretch,
 * all that varies with the strike would fall on the diffusion, and the probability could rise.
 */
export function jumpProbability(
  surface: Surface,
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
