import type { Print } from '../market/prints.ts';
import { premiumOf } from './flow.ts';
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

/** Adds signed prints up by what `groupOf` makes of each; cancelled ones count nowhere. */
export function flowBy(
  signed: readonly SignedPrint[],
  groupOf: (print: Print) => string,
  { spot, deltaOf }: DeltaReading,
): Map<string, AggressorFlow> {
  const groups = new Map<string, Sums>();
  for (const { print, aggressor } of signed) {
    if (print.canceled) continue;
    const group = groupOf(print);
    const sums = groups.get(group) ?? { ...NOTHING };
    groups.set(group, sums);
    const premium = premiumOf(print);
    sums.prints++;
    sums.contracts += print.size;
    sums.premium += premium;
    sums[fieldOf(print, aggressor)] += premium;
    sums.netDelta += aggressor * (print.delta ?? deltaOf(print) ?? 0) * print.size * print.multiplier * spot;
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
