import type { Print } from '../market/prints.ts';

export type Execution = Pick<Print, 'multiLeg' | 'sweep' | 'block' | 'canceled'>;
type Flags = Partial<Execution>;

const leg: Flags = { multiLeg: true };
const sweep: Flags = { sweep: true };
const block: Flags = { block: true };
const blockLeg: Flags = { multiLeg: true, block: true };
const canceled: Flags = { canceled: true };

/**
 * The flags of each of OPRA's sale conditions, by the four letters that tapes write (OPRA Pillar output specification, message types of a
 * last sale). Trades of stock and options together are orders of several legs too. A compression closes whole portfolios at derived prices:
 * it is agreed away from the quotes, and says nothing about a single contract.
 */
export const CONDITIONS: ReadonlyMap<string, Flags> = mapOf({
  // Reported in the regular way, late, out of sequence, after a halt, out of hours.
  ...{ auto: {}, oseq: {}, late: {}, open: {}, opnl: {}, reop: {}, exht: {} },
  // Cancellations: of the trade itself, of the last trade, of the opening trade, of the only trade.
  ...{ canc: canceled, cncl: canceled, cnco: canceled, cnol: canceled },
  // Single leg: intermarket sweep order; auction and cross, each also as an intermarket sweep; floor trade.
  ...{ isoi: sweep, slan: {}, slai: sweep, slcn: block, slci: { ...block, ...sweep }, slft: block },
  // Several legs against several: electronic, auction, cross, floor.
  ...{ mlet: leg, mlat: leg, mlct: blockLeg, mlft: blockLeg },
  // Several legs against single ones: electronic, auction, floor.
  ...{ mesl: leg, masl: leg, mfsl: blockLeg },
  // Stock and options: the same, against several legs and then against single ones.
  ...{ tlet: leg, tlat: leg, tlct: blockLeg, tlft: blockLeg, tesl: leg, tasl: leg, tfsl: blockLeg },
  // Proprietary products: floor trade of three legs or more, compression.
  ...{ cbmo: blockLeg, mctp: blockLeg },
});

/** The flags by the words of a tape's `report_flags`. */
const FLAGS_BY_WORD: ReadonlyMap<string, Flags> = mapOf({
  ...{ sweep, intermarket_sweep: sweep },
  ...{ floor: block, cross: block, block },
  ...{ multi_leg: leg, multileg: leg, spread: leg },
});

/** Reads a condition, and flags written as `{sweep,floor}`, `["sweep"]` or words with any separators. Unknown words have no effect. */
export function executionOf(reportFlags: string, condition: string): Execution {
  const words = reportFlags.toLowerCase().match(/[a-z_]+/g) ?? [];
  const flags = [CONDITIONS.get(condition.toLowerCase()), ...words.map((word) => FLAGS_BY_WORD.get(word))];
  return Object.assign({ multiLeg: false, sweep: false, block: false, canceled: false }, ...flags);
}

function mapOf(flags: Readonly<Record<string, Flags>>): ReadonlyMap<string, Flags> {
  return new Map(Object.entries(flags));
}
