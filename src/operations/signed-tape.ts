import { Type } from '@sinclair/typebox';
import { premiumOf } from '../analytics/flow.ts';
import { type SignedPrint, signPrints } from '../analytics/trade-side.ts';
import type { Chain } from '../market/chain.ts';
import { rootOf } from '../market/option-symbol.ts';
import type { Print } from '../market/prints.ts';
import type { Context } from './operation.ts';
import { defaulted, number, ticker } from './schemas.ts';

/** The longest window, calendar days. */
const DAYS_MAX = 366;

/** Whose prints, over how long, and how large. */
export const tapeInput = {
  ticker,
  days: defaulted(
    Type.Integer({
      description: 'Calendar days that end at the later of the snapshot and the last print.',
      minimum: 1,
      maximum: DAYS_MAX,
    }),
    30,
  ),
  min_premium: defaulted(number('Least premium of a print that counts, dollars.', { minimum: 0, maximum: 1e12 }), 0),
};

/** Signed prints of a chain's underlying over some days, in time order; those of adjusted deliverables and below a premium left out. */
export function signedTape(chain: Chain, days: number, minPremium: number, { market }: Context): SignedPrint[] {
  return signedOf(market.recentPrints(chain, days)).filter(
    ({ print }) => premiumOf(print) >= minPremium && !rootOf(print.root).adjusted,
  );
}

/** Signing reads the whole tape, small prints too: kept while the tape is the same. */
function signedOf(prints: readonly Print[]): readonly SignedPrint[] {
  const known = signed.get(prints) ?? signPrints(prints);
  signed.set(prints, known);
  return known;
}

const signed = new WeakMap<readonly Print[], readonly SignedPrint[]>();
