import type { LevelRecord } from '../../market/level-record.ts';
import type { Exposures } from './dollar-exposures.ts';
import { usualSignProbability } from './sign-probability.ts';

/**
 * The sign of dealers' net gamma. The sign is `undetermined` if the sign margin (see `signMarginPct`) is below `SIGN_MARGIN_MIN_PCT`, or the
 * probability of the sign is below `SIGN_PROBABILITY_MIN`.
 */
export type GammaRegime = 'positive_gamma' | 'negative_gamma' | 'undetermined';

/** Net and gross gamma, with the probability of the sign (see `signProbability`) if it is known. */
export type SignedGamma = Pick<Exposures, 'gex' | 'grossGex'> & { readonly signProbability?: number | null };

/**
 * The smallest sign margin for a determined regime, percent of gross gamma. It is for the uncertainty of the quotes alone: on the recorded
 * chains, other methods (feed gammas, flat forwards, own volatilities) reverse the sign of net GEX only below it.
 */
export const SIGN_MARGIN_MIN_PCT = 2.5;

/** The smallest probability of the sign for a determined regime. It is for the uncertainty of the dealers' positions. */
export const SIGN_PROBABILITY_MIN = 0.8;

/** Returns the sign margin, 0 to 50 %: the smallest share of gross gamma whose change of sign reverses net GEX. 0 without gamma. */
export function signMarginPct(netGex: number, grossGex: number): number {
  return grossGex > 0 ? (50 * Math.abs(netGex)) / grossGex : 0;
}

/** Returns the probability that the sign of net GEX is right, 0 to 1. If it is not known, it follows from the usual size of cells. */
export function regimeProbability({ gex, grossGex, signProbability }: SignedGamma): number {
  return signProbability ?? usualSignProbability(gex, grossGex);
}

/** Returns the regime of given exposures. */
export function gammaRegime(exposures: SignedGamma): GammaRegime {
  const { gex, grossGex } = exposures;
  if (signMarginPct(gex, grossGex) < SIGN_MARGIN_MIN_PCT) return 'undetermined';
  if (regimeProbability(exposures) < SIGN_PROBABILITY_MIN) return 'undetermined';
  return gex < 0 ? 'negative_gamma' : 'positive_gamma';
}

/** Returns the gamma of stored levels. */
export function gammaOfRecord({
  netGex: gex,
  grossGex,
  signProbability,
}: Pick<LevelRecord, 'netGex' | 'grossGex' | 'signProbability'>): SignedGamma {
  return { gex, grossGex, signProbability };
}
