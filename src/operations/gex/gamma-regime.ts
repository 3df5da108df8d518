import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import type { GammaFlip } from '../../analytics/exposure/gamma-flip.ts';
import {
  type GammaRegime,
  gammaRegime,
  regimeProbability,
  SIGN_MARGIN_MIN_PCT,
  SIGN_PROBABILITY_MIN,
  type SignedGamma,
  signMarginPct,
} from '../../analytics/exposure/sign-margin.ts';
import { number, wordField } from '../engine/schemas.ts';
import { wordColumn } from '../engine/wrapped-schemas.ts';

const REGIMES = ['positive_gamma', 'negative_gamma', 'undetermined'] as const satisfies readonly GammaRegime[];

export const regimeField = (description: string) => wordField(REGIMES, description, 'Regime');
export const regimeColumn = (description: string) => wordColumn(REGIMES, description, 'Regime');

/** The fields that state the sign of net GEX, and how certain the sign is. */
export const regimeFields = {
  regime: regimeField(
    `positive_gamma or negative_gamma, by the sign of net GEX; undetermined if sign_margin_pct is below ${SIGN_MARGIN_MIN_PCT}, or the probability that this sign is right below ${SIGN_PROBABILITY_MIN}.`,
  ),
  regime_probability: number(
    "Probability that dealers' net gamma has the sign of net GEX, under a prior of the positions that they hold, 0 to 1.",
  ),
  sign_margin_pct: number('Share of gross gamma that would need the opposite sign for net GEX to be 0, percent.'),
};

/** The description of the column for the sign margin of each row. */
export const MARGIN_OF_ROW =
  'Share of the gross gamma of the row that would need the opposite sign for its net GEX to be 0, percent.';

/** Returns the values of the fields in `regimeFields`. */
export function reportRegime(exposures: SignedGamma) {
  return {
    regime: gammaRegime(exposures),
    regime_probability: regimeProbability(exposures),
    sign_margin_pct: signMarginPct(exposures.gex, exposures.grossGex),
  };
}

/** A regime is firm from this sign margin on, percent. Below it, small changes of the quotes can make the regime undetermined. */
const FIRM_MARGIN_PCT = 1.5 * SIGN_MARGIN_MIN_PCT;
/** A regime is firm from this probability of the sign on. */
export const FIRM_PROBABILITY = 0.85;

/** Returns notes if the regime is undetermined or nearly so. The notes state the limits, because the fields of an answer do not. */
export function regimeNotes(exposures: SignedGamma): string[] {
  if (exposures.grossGex === 0) return ['No contract has gamma, so the regime is undetermined.'];
  const notes: string[] = [];
  const margin = signMarginPct(exposures.gex, exposures.grossGex);
  const verb = (isOpen: boolean) => (isOpen ? 'is' : 'would be');
  if (margin < FIRM_MARGIN_PCT) {
    notes.push(
      `Net GEX would be 0 if ${margin.toPrecision(margin < 1 ? 2 : 3)} % of gross gamma had the opposite sign: below ${SIGN_MARGIN_MIN_PCT} %, the regime ${verb(margin < SIGN_MARGIN_MIN_PCT)} undetermined.`,
    );
  }
  const probability = regimeProbability(exposures);
  if (probability < FIRM_PROBABILITY) {
    notes.push(
      `What dealers hold is assumed: the sign of net GEX is right with a probability of ${(100 * probability).toFixed(0)} %. Below ${100 * SIGN_PROBABILITY_MIN} %, the regime ${verb(probability < SIGN_PROBABILITY_MIN)} undetermined.`,
    );
  }
  return notes;
}

/** The note on a flip that is not resolved, of stored levels, which do not say why. */
export const UNRESOLVED_FLIP_NOTE =
  'Net gamma has one sign within 50 % of spot or at all quoted strikes, so there is no flip: gex_flip is null, or a spot without meaning.';
const ONE_SIGN_NOTE =
  'Net gamma has one sign within 50 % of spot, so there is no flip: gex_flip is null, or the spot at which net gamma is nearest 0.';
const OUTSIDE_NOTE =
  'The flip is outside the quoted strikes, where no quote gives volatilities, so it is not resolved.';

/** Returns caveats about gamma and the flip, for answers that have neither the counts of contracts nor the field `flip_resolved`. */
export function gammaNotes(
  { counts: { used, left_out } }: PreparedChain,
  { resolved, isOutside }: GammaFlip,
): string[] {
  const notes: string[] = [];
  if (left_out.no_volatility === used) notes.push('No contract has a volatility, so gamma is unknown and counts as 0.');
  if (!resolved) notes.push(isOutside ? OUTSIDE_NOTE : ONE_SIGN_NOTE);
  return notes;
}
