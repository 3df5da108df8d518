import type { Print } from '../market/prints.ts';

export type Execution = Pick<Print, 'multiLeg' | 'sweep' | 'block' | 'canceled'>;
type Marks = Partial<Execution>;

const leg: Marks = { multiLeg: true };
const sweep: Marks = { sweep: true };
const block: Marks = { block: true };
const blockLeg: Marks = { multiLeg: true, block: true };
const canceled: Marks = { canceled: true };

/**
 * What OPRA's sale conditions say of a trade, by the four letters that tapes write for them (OPRA Pillar output specification,
 * message types of a last sale). Stock-option trades are orders of several legs too. A compression closes whole portfolios at
 * derived prices: it is agreed away from the quotes and no opinion on any one contract.
 */
export const CONDITIONS: ReadonlyMap<string, Marks> = mapOf({
  // Reported in the regular way, late, out of sequence, after a halt, out of hours.
  ...{ auto: {}, oseq: {}, late: {}, open: {}, opnl: {}, reop: {}, exht: {} },
  // The trade itself, the last, the opening, the only one is cancelled.
  ...{ canc: canceled, cncl: canceled, cnco: canceled, cnol: canceled },
  // Single leg: intermarket sweep order; auction and cross, plain or of such an order; floor.
  ...{ isoi: sweep, slan: {}, slai: sweep, slcn: block, slci: { ...block, ...sweep }, slft: block },
  // Several legs against several: electronic, auction, cross, floor.
  ...{ mlet: leg, mlat: leg, mlct: blockLeg, mlft: blockLeg },
  // Several legs against single ones: electronic, auction, floor.
  ...{ mesl: leg, masl: leg, mfsl: blockLeg },
  // Stock and options: the same, and against single legs.
  ...{ tlet: leg, tlat: leg, tlct: blockLeg, tlft: blockLeg, tesl: leg, tasl: leg, tfsl: blockLeg },
  // Proprietary products: floor trade of three legs or more, compression.
  ...{ cbmo: blockLeg, mctp: blockLeg },
});

/** The tape's own `report_flags`. */
const FLAGS: ReadonlyMap<string, Marks> = mapOf({
  ...{ sweep, intermarket_sweep: sweep },
  ...{ floor: block, cross: block, block },
  ...{ multi_leg: leg, multileg: leg, spread: leg },
});

/** Reads flags, written as `{sweep,floor}`, `["sweep"]` or words between any marks, and a condition; what is unknown says nothing. */
export function executionOf(flags: string, condition: string): Execution {
  const words = flags.toLowerCase().match(/[a-z_]+/g) ?? [];
  const marks = [CONDITIONS.get(condition.toLowerCase()), ...words.map((word) => FLAGS.get(word))];
  return Object.assign({ multiLeg: false, sweep: false, block: false, canceled: false }, ...marks);
}

function mapOf(marks: Readonly<Record<string, Marks>>): ReadonlyMap<string, Marks> {
  return new Map(Object.entries(marks));
}
