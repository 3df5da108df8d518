import { recordOf } from '../../core/record-of.ts';
import { rootOf } from '../../market/option-symbol.ts';
import type { Print } from '../../market/prints.ts';
import {
  CELL,
  lostIn,
  MANNERS,
  PREMIUM_UNITS,
  SHARE_PARTS,
  type TapeSums,
  toShareParts,
} from '../../market/tape-sums.ts';
import type { DeltaLookup } from './flow-notional.ts';

/** Sums of prints in four groups: bought calls, sold calls, bought puts and sold puts. Values are in dollars, unless stated otherwise. */
export interface AggressorFlow {
  readonly prints: number;
  /** The number of contracts in all prints, including prints with an unknown aggressor. */
  readonly contracts: number;
  readonly premium: number;
  readonly callBought: number;
  readonly callSold: number;
  readonly putBought: number;
  readonly putSold: number;
  /** Premium of prints with an unknown aggressor. */
  readonly unsigned: number;
  /** Delta-notional bought by customers minus delta-notional sold by customers, in prints with a known aggressor and delta. */
  readonly netDelta: number;
}

/** How a print was executed. */
export type Manner = (typeof MANNERS)[number];

/** Returns how a print was executed. If several flags are set, `multi_leg` has priority over `sweep`, and `sweep` over `block`. */
export function mannerOf({ multiLeg, sweep, block }: Print): Manner {
  if (multiLeg) return 'multi_leg';
  if (sweep) return 'sweep';
  return block ? 'block' : 'single';
}

/** The inputs for converting shares to delta-notional. For a print without a delta, `deltaOf` returns the contract's delta. */
export type DeltaReading = Readonly<{ spot: number; deltaOf: DeltaLookup }>;

/** Flow in total, by kind of execution, by New York day, and by expiry. */
export type FlowGroups = Record<(typeof GROUPS)[number], Map<string, AggressorFlow>>;
const GROUPS = ['total', 'manner', 'day', 'expiry'] as const;

/**
 * Adds up the days of a tape, without contracts with adjusted deliverables. Premiums and shares are summed as whole numbers, so the result
 * does not depend on how a day's prints are divided into groups.
 */
export class FlowSums {
  readonly #groups = recordOf(GROUPS, () => new Map<string, Float64Array>());
  /** The number of prints whose side no rule determines. */
  unknown = 0;

  constructor(private readonly reading: DeltaReading) {}

  /** Adds the sums of a day. The aggressor of pending prints depends on earlier prints (see `TapeSums`), and counts as unknown here. */
  add(day: string, { contracts, cells }: TapeSums): void {
    // The code first sums by series and manner, of which there are few, and so looks up few names.
    const sums = new Float64Array(contracts.series.length * MANNERS.length * WIDTH);
    const { values } = cells;
    const add = (to: number, { values: from, lost }: TapeSums['cells'], figure: number) =>
      addTo(sums, to, from[figure]!, lost?.[figure]);
    const sumsOf = (group: keyof FlowGroups, name: string) =>
      this.#groups[group].getOrInsertComputed(name, () => new Float64Array(WIDTH));
    const isAdjusted = contracts.series.map(({ root }) => rootOf(root).adjusted);
    for (let cell = 0, offset = 0; cell < cells.count; cell++, offset += CELL.width) {
      const contract = cells.contract[cell]!;
      const series = contracts.seriesIndex[contract]!;
      const to = (series * MANNERS.length + cells.manner[cell]!) * WIDTH;
      const isCall = contracts.series[series]!.callPut === 1;
      add(to + COLUMN.prints, cells, offset + CELL.prints);
      add(to + COLUMN.contracts, cells, offset + CELL.contracts);
      add(to + COLUMN.premium, cells, offset + CELL.bought);
      add(to + COLUMN.premium, cells, offset + CELL.sold);
      add(to + COLUMN.premium, cells, offset + CELL.pendingPremium);
      add(to + (isCall ? COLUMN.callBought : COLUMN.putBought), cells, offset + CELL.bought);
      add(to + (isCall ? COLUMN.callSold : COLUMN.putSold), cells, offset + CELL.sold);
      add(to + COLUMN.unsigned, cells, offset + CELL.pendingPremium);
      add(to + COLUMN.netDelta, cells, offset + CELL.deltaShares);
      const shares = values[offset + CELL.shares]!;
      if (shares !== 0) {
        const { root, expiry, callPut } = contracts.series[series]!;
        const delta = this.reading.deltaOf({ root, expiry, callPut, strike: contracts.strike[contract]! }) ?? 0;
        addTo(sums, to + COLUMN.netDelta, toShareParts(delta * shares));
      }
      if (!isAdjusted[series]) this.unknown += values[offset + CELL.pendingPrints]!;
    }
    for (const [index, { expiry }] of contracts.series.entries()) {
      if (isAdjusted[index]) continue;
      for (const [manner, name] of MANNERS.entries()) {
        const from = (index * MANNERS.length + manner) * WIDTH;
        if (sums[from] === 0) continue;
        const groups = [sumsOf('total', 'all'), sumsOf('manner', name), sumsOf('day', day), sumsOf('expiry', expiry)];
        for (const group of groups) {
          for (let field = 0; field < FIELDS; field++) {
            addTo(group, field, sums[from + field]!, sums[from + field + FIELDS]);
          }
        }
      }
    }
  }

  /** Returns the sums, converted to dollars. */
  groups(): FlowGroups {
    const inDollars = (sums: Float64Array): AggressorFlow => {
      const exact = (field: Field) => sums[COLUMN[field]]! + sums[COLUMN[field] + FIELDS]!;
      const dollars = (field: Field) => exact(field) / PREMIUM_UNITS;
      return {
        ...recordOf(FIELD_NAMES, dollars),
        prints: exact('prints'),
        contracts: exact('contracts'),
        netDelta: (exact('netDelta') / SHARE_PARTS) * this.reading.spot,
      };
    };
    const inGroups = (group: keyof FlowGroups) =>
      new Map([...this.#groups[group]].map(([name, sums]) => [name, inDollars(sums)]));
    return recordOf(GROUPS, inGroups);
  }
}

type Field = keyof AggressorFlow;

const FIELD_NAMES = [
  ...(['prints', 'contracts', 'premium', 'callBought', 'callSold'] as const),
  ...(['putBought', 'putSold', 'unsigned', 'netDelta'] as const),
];
const COLUMN = recordOf(FIELD_NAMES, (field) => FIELD_NAMES.indexOf(field));
/** The number of fields. The array of a group has the totals of all fields, followed by the rounding errors of all fields. */
const FIELDS = FIELD_NAMES.length;
const WIDTH = 2 * FIELDS;

/** Adds an amount to a field, and the rounding error of this addition and of the amount itself (`lost`) to the field's sum of errors. */
function addTo(sums: Float64Array, i: number, amount: number, lost = 0): void {
  const before = sums[i]!;
  const sum = before + amount;
  sums[i] = sum;
  sums[i + FIELDS]! += lostIn(sum, before, amount) + lost;
}

export const NO_AGGRESSOR_FLOW: AggressorFlow = recordOf(FIELD_NAMES, () => 0);
