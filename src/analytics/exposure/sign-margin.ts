import type { Exposures } from './dollar-exposures.ts';

/** The sign of dealers' net gamma. The sign is `undetermined` if the sign margin (see `signMarginPct`) is below `SIGN_MARGIN_MIN_PCT`. */
export type GammaRegime = 'positive_gamma' | 'negative_gamma' | 'undetermined';

/**
 * The smallest sign margin for a determined regime, in percent of gross gamma. On the recorded chains, other methods (feed gammas, flat
 * forwards, the own volatility of each contract) reverse the sign of net GEX only below this limit. The limit says nothing about the
 * dealers' positions, which are less certain than the quotes.
 */
export const SIGN_MARGIN_MIN_PCT = 2.5;

/**
 * Returns the sign margin in percent, 0 to 50: the smallest share of gross gamma that reverses the sign of net GEX if this share changes
 * its sign. If a part of gamma changes its sign, net GEX changes by twice the part. Returns 0 if there is no gamma.
 */
export function signMarginPct(netGex: number, grossGex: number): number {
  return grossGex > 0 ? (50 * Math.abs(netGex)) / grossGex : 0;
}

/** Returns the regime of given exposures. */
export function gammaRegime({ gex, grossGex }: Pick<Exposures, 'gex' | 'grossGex'>): GammaRegime {
  if (signMarginPct(gex, grossGex) < SIGN_MARGIN_MIN_PCT) return 'undetermined';
  return gex < 0 ? 'negative_gamma' : 'positive_gamma';
}
