import { Type } from '@sinclair/typebox';
import type { Exposures } from '../analytics/exposure/dollar-exposures.ts';
import { gammaRegime, SIGN_MARGIN_MIN_PCT, signMarginPct } from '../analytics/exposure/sign-margin.ts';
import { number } from './schemas.ts';

/** The fields that state the sign of net GEX, and how certain the sign is. */
export const regimeFields = {
  regime: Type.String({
    description: `positive_gamma or negative_gamma, by the sign of net GEX; undetermined if sign_margin_pct is below ${SIGN_MARGIN_MIN_PCT}.`,
  }),
  sign_margin_pct: number(
    'Share of gross gamma that must be on the other side for net GEX to change its sign, percent.',
  ),
};

/** Describes a column with the sign margin of each row. */
export const MARGIN_OF_ROW =
  'Share of the gross gamma of the row that must be on the other side for its net GEX to change its sign, percent.';

export function reportRegime(exposures: Pick<Exposures, 'gex' | 'grossGex'>) {
  return {
    regime: gammaRegime(exposures) as string,
    sign_margin_pct: signMarginPct(exposures.gex, exposures.grossGex),
  };
}

/** Returns the note for answers without these fields, or an empty list if the sign of net GEX is certain enough. */
export function regimeNotes(exposures: Pick<Exposures, 'gex' | 'grossGex'>): string[] {
  if (gammaRegime(exposures) !== 'undetermined') return [];
  if (exposures.grossGex === 0) return ['No contract has gamma, so the regime is undetermined.'];
  const margin = signMarginPct(exposures.gex, exposures.grossGex).toPrecision(2);
  return [
    `Net GEX changes its sign if ${margin} % of gross gamma is on the other side, so the regime is undetermined.`,
  ];
}
