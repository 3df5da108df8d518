import { type Print, premiumOf } from '../../market/prints.ts';
import type { SignedPrint } from './trade-side.ts';

/** What customers paid for in some prints, and which way it leans. Dollars. */
export interface AggressorFlow {
  readonly prints: number;
  /** Contracts, whoever started the trade. */
  readonly contracts: number;
  readonly premium: number;
  readonly callBought: number;
  readonly callSold: number;
  readonly putBought: number;
  readonly putSold: number;
  /** Premium of prints of unknown side. */
  readonly unsigned: number;
  /** Delta-notional that customers took on, by signed prints whose delta is known. */
  readonly netDelta: number;
}

/** How a print was executed; of several the first. */
export type Manner = 'multi_leg' | 'sweep' | 'block' | 'single';

export const MANNERS: readonly Manner[] = ['multi_leg', 'sweep', 'block', 'single'];

export function mannerOf({ multiLeg, sweep, block }: Print): Manner {
  if (multiLeg) return 'multi_leg';
  if (sweep) return 'sweep';
  return block ? 'block' : 'single';
}

/** Dollars of the underlying per 1.00 of delta, and the delta of a contract whose print does not give one. */
export interface DeltaReading {
  readonly spot: number;
  readonly deltaOf: (print: Print) => number | undefined;
}

/** Adds signed prints up by what each of some groupings makes of them, in one pass. */
export function flowBy<Grouping extends string>(
  signed: Iterable<SignedPrint>,
  groupings: Readonly<Record<Grouping, (print: Print) => string>>,
  { spot, deltaOf }: DeltaReading,
): Record<Grouping, Map<string, AggressorFlow>> {
  const names = Object.keys(groupings) as Grouping[];
  const groups = Object.fromEntries(names.map((name) => [name, new Map<string, Sums>()])) as Record<
    Grouping,
    Map<string, Sums>
  >;
  for (const { print, aggressor } of signed) {
    const premium = premiumOf(print);
    const field = fieldOf(print, aggressor);
    const delta = aggressor === 0 ? 0 : (print.delta ?? deltaOf(print) ?? 0);
    const dollars = aggressor * delta * print.size * print.multiplier * spot;
    for (const name of names) {
      const group = groupings[name](print);
      const sums = groups[name].get(group) ?? { ...NOTHING };
      groups[name].set(group, sums);
      sums.prints++;
      sums.contracts += print.size;
      sums.premium += premium;
      sums[field] += premium;
      sums.netDelta += dollars;
    }
  }
  return groups;
}

type Sums = { -readonly [Field in keyof AggressorFlow]: number };

export const NOTHING: AggressorFlow = {
  prints: 0,
  contracts: 0,
  premium: 0,
  callBought: 0,
  callSold: 0,
  putBought: 0,
  putSold: 0,
  unsigned: 0,
  netDelta: 0,
};

function fieldOf({ callPut }: Print, aggressor: SignedPrint['aggressor']) {
  if (aggressor === 0) return 'unsigned';
  if (callPut === 1) return aggressor === 1 ? 'callBought' : 'callSold';
  return aggressor === 1 ? 'putBought' : 'putSold';
}
