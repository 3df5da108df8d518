import type { Exposures } from './dollar-exposures.ts';

/** The sign of dealers' net gamma. The sign is `undetermined` if the sign margin (see `signMarginPct`) is below `SIGN_MARGIN_MIN_PCT`. */
export type GammaRegime = 'positive_gamma' | 'negative_gamma' | 'undetermined';

/**
 * The smallest sign margin for a determined regime, percent of gross gamma. On the recorded chains, other methods (feed gammas, flat
 * forwards, own volatilities) reverse the sign of net GEX only below it. Dealers' positions are less certain than that.
 */
export const SIGN_MARGIN_MIN_PCT = 2.5;

/** Returns the sign margin, 0 to 50 %: the smallest share of gross gamma whose change of sign reverses net GEX. 0 without gamma. */
export function signMarginPct(netGex: number, grossGex: number): number {
  return grossGex > 0 ? (50 * Math.abs(netGex)) / grossGex : 0;
}

/** Returns the regime of given exposures. */
export function gammaRegime({ gex, grossGex }: Pick<Exposures, 'gex' | 'grossGex'>): GammaRegime {
  if (signMarginPct(gex, grossGex) < SIGN_MARGIN_MIN_PCT) return 'undetermined';
  return gex < 0 ? 'negative_gamma' : 'positive_gamma';
}
