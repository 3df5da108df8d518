import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import type { Exposures } from '../../analytics/exposure/dollar-exposures.ts';
import type { GammaFlip } from '../../analytics/exposure/gamma-flip.ts';
import {
  type GammaRegime,
  gammaRegime,
  SIGN_MARGIN_MIN_PCT,
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
    `positive_gamma or negative_gamma, by the sign of net GEX; undetermined if sign_margin_pct is below ${SIGN_MARGIN_MIN_PCT}.`,
  ),
  sign_margin_pct: number('Share of gross gamma that would need the opposite sign for net GEX to be 0, percent.'),
};

/** The description of the column for the sign margin of each row. */
export const MARGIN_OF_ROW =
  'Share of the gross gamma of the row that would need the opposite sign for its net GEX to be 0, percent.';

/** Returns the values of the fields in `regimeFields`. */
export function reportRegime(exposures: Pick<Exposures, 'gex' | 'grossGex'>) {
  return {
    regime: gammaRegime(exposures),
    sign_margin_pct: signMarginPct(exposures.gex, exposures.grossGex),
  };
}

/** A regime is firm from this sign margin on, percent. Below it, small changes of the quotes can make the regime undetermined. */
export const FIRM_MARGIN_PCT = 1.5 * SIGN_MARGIN_MIN_PCT;

/** Returns a note if the regime is undetermined or nearly so. The note states the limit, because the fields of an answer do not. */
export function regimeNotes(exposures: Pick<Exposures, 'gex' | 'grossGex'>): string[] {
  if (exposures.grossGex === 0) return ['No contract has gamma, so the regime is undetermined.'];
  const margin = signMarginPct(exposures.gex, exposures.grossGex);
  if (margin >= FIRM_MARGIN_PCT) return [];
  const verb = margin < SIGN_MARGIN_MIN_PCT ? 'is' : 'would be';
  return [
    `Net GEX would be 0 if ${margin.toPrecision(margin < 1 ? 2 : 3)} % of gross gamma had the opposite sign: below ${SIGN_MARGIN_MIN_PCT} %, the regime ${verb} undetermined.`,
  ];
}

export const UNRESOLVED_FLIP_NOTE =
  'Net gamma has one sign within 50 % of spot, so there is no flip: gex_flip is null, or the spot at which net gamma is nearest 0.';

/** Returns caveats about gamma and the flip, for answers that have neither the counts of contracts nor the field `flip_resolved`. */
export function gammaNotes({ counts: { used, left_out } }: PreparedChain, { resolved }: GammaFlip): string[] {
  const notes: string[] = [];
  if (left_out.no_volatility === used) notes.push('No contract has a volatility, so gamma is unknown and counts as 0.');
  if (!resolved) notes.push(UNRESOLVED_FLIP_NOTE);
  return notes;
}
