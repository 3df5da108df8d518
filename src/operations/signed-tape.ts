import { Type } from '@sinclair/typebox';
import { type SignedPrint, signPrints } from '../analytics/flow/trade-side.ts';
import type { Chain } from '../market/chain.ts';
import { rootOf } from '../market/option-symbol.ts';
import { type Print, premiumOf } from '../market/prints.ts';
import { gapNotes } from './gap-notes.ts';
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

/**
 * What `work` makes of the signed prints of a chain's underlying over some days, in time order; those of adjusted deliverables and
 * below a premium left out. A long tape takes seconds: the last answers are kept while the tape is the same.
 */
export function ofSignedTape<Result>(
  kept: WeakMap<Chain, Map<string, Result>>,
  chain: Chain,
  { days, min_premium, limit }: { readonly days: number; readonly min_premium: number; readonly limit?: number },
  { market }: Context,
  work: (signed: Iterable<SignedPrint>) => Result,
): Result {
  const { mark, prints } = market.tape(chain, days);
  const results = kept.get(chain) ?? new Map<string, Result>();
  kept.set(chain, results);
  const key = `${mark} ${min_premium} ${limit}`;
  const known = results.get(key) ?? work(countedOf(prints, min_premium));
  if (!results.has(key) && results.size >= KEPT) results.clear();
  results.set(key, known);
  return known;
}

/** Ways to ask that are kept by chain. */
const KEPT = 4;

function* countedOf(prints: Iterable<Print>, minPremium: number): Generator<SignedPrint, void> {
  // Signing goes through the whole tape, small prints too.
  for (const signed of signPrints(prints)) {
    if (premiumOf(signed.print) >= minPremium && !rootOf(signed.print.root).adjusted) yield signed;
  }
}

export function tapeNotes(chain: Chain, days: number, context: Context): string[] {
  if (context.market.hasPrints(chain.underlying)) return gapNotes(chain, days, context);
  return ['No prints of it are known: there is no flow to sign.'];
}
