import type { Exposures } from './dollar-exposures.ts';

/** The sign of dealers' net gamma, or `undetermined` if the sign margin is below `SIGN_MARGIN_MIN_PCT`. */
export type GammaRegime = 'positive_gamma' | 'negative_gamma' | 'undetermined';

/**
 * The least sign margin of a regime, percent of gross gamma. Other readings of the same quotes (feed gammas, flat forwards, each contract's
 * own volatility) move the margins of the recorded chains by up to three points, and reverse the sign of net GEX only on chains with a
 * smaller margin than this. So below it, the sign depends on the method. Who holds which contract is less certain than the quotes.
 */
export const SIGN_MARGIN_MIN_PCT = 2.5;

/**
 * Returns the share of gross gamma that must be on the other side for net GEX to change its sign, percent, 0 to 50. Gamma that changes its
 * side changes net GEX by twice its amount. Returns 0 if there is no gamma.
 */
export function signMarginPct(netGex: number, grossGex: number): number {
  return grossGex > 0 ? (50 * Math.abs(netGex)) / grossGex : 0;
}

export function gammaRegime({ gex, grossGex }: Pick<Exposures, 'gex' | 'grossGex'>): GammaRegime {
  if (signMarginPct(gex, grossGex) < SIGN_MARGIN_MIN_PCT) return 'undetermined';
  return gex < 0 ? 'negative_gamma' : 'positive_gamma';
}
