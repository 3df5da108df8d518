import type { Delivery } from '../../market/feed.ts';
import type { Print } from '../../market/prints.ts';

/** Prints as columns. Sending prints as objects between processes would take longer than reading them from a file. */
export interface PackedPrints {
  readonly kind: 'packed prints';
  readonly ids: readonly string[];
  /** Underlying, root and expiry of each series. */
  readonly series: readonly (readonly [underlying: string, root: string, expiry: string])[];
  /** Index into `series` for each print. */
  readonly seriesOf: Uint32Array;
  /** The values of NUMBERS for each print. NaN means null. */
  readonly numbers: Float64Array;
  /** A sum for each print: CALL for a call, plus the FLAGS of the print, plus SIDE times the index of the print's side in SIDES. */
  readonly flags: Uint8Array;
  readonly refused?: Readonly<Record<string, number>>;
}

const NUMBERS = ['strike', 'price', 'size', 'multiplier', 'at', 'bid', 'ask', 'delta'] as const;
const CALL = 1;
const FLAGS = { multiLeg: 2, sweep: 4, block: 8, canceled: 16, simulated: 32 } as const;
/** The sides by index. The two highest bits of an entry of `flags` contain the index of the side. */
const SIDES = [null, 'ask', 'bid', 'mid'] as const;
const SIDE = 64;

/** The format in which a delivery is sent between processes. */
export type PackedDelivery = Exclude<Delivery, { kind: 'prints' }> | PackedPrints;

/** Converts a delivery to the format in which it is sent between processes. Prints become columns, and other deliveries stay unchanged. */
export function packDelivery(delivery: Delivery): PackedDelivery {
  if (delivery.kind !== 'prints') return delivery;
  const { prints, refused } = delivery;
  const indexes = new Map<string, number>();
  const series: [string, string, string][] = [];
  const seriesOf = new Uint32Array(prints.length);
  const numbers = new Float64Array(NUMBERS.length * prints.length);
  const flags = new Uint8Array(prints.length);
  for (const [i, print] of prints.entries()) {
    const { underlying, root, expiry } = print;
    const key = `${underlying} ${root} ${expiry}`;
    seriesOf[i] = indexes.getOrInsertComputed(key, () => series.push([underlying, root, expiry]) - 1);
    for (let field = 0; field < NUMBERS.length; field++) {
      numbers[i * NUMBERS.length + field] = print[NUMBERS[field]!] ?? Number.NaN;
    }
    flags[i] =
      (print.callPut === 1 ? CALL : 0) |
      (print.multiLeg ? FLAGS.multiLeg : 0) |
      (print.sweep ? FLAGS.sweep : 0) |
      (print.block ? FLAGS.block : 0) |
      (print.canceled ? FLAGS.canceled : 0) |
      (print.simulated ? FLAGS.simulated : 0) |
      (SIDE * SIDES.indexOf(print.side));
  }
  const ids = prints.map(({ id }) => id);
  return { kind: 'packed prints', ids, series, seriesOf, numbers, flags, ...(refused && { refused }) };
}

/** Converts a delivery from another process to its original format. */
export function unpackDelivery(packed: PackedDelivery): Delivery {
  if (packed.kind !== 'packed prints') return packed;
  const { ids, series, seriesOf, numbers, flags, refused } = packed;
  const prints = ids.map((id, i): Print => {
    const [underlying, root, expiry] = series[seriesOf[i]!]!;
    const offset = i * NUMBERS.length;
    const flag = flags[i]!;
    return {
      id,
      underlying,
      root,
      expiry,
      callPut: flag & CALL ? 1 : -1,
      strike: numbers[offset]!,
      price: numbers[offset + 1]!,
      size: numbers[offset + 2]!,
      multiplier: numbers[offset + 3]!,
      at: numbers[offset + 4]!,
      side: SIDES[flag >> 6]!,
      bid: nullIfNaN(numbers[offset + 5]!),
      ask: nullIfNaN(numbers[offset + 6]!),
      delta: nullIfNaN(numbers[offset + 7]!),
      multiLeg: (flag & FLAGS.multiLeg) > 0,
      sweep: (flag & FLAGS.sweep) > 0,
      block: (flag & FLAGS.block) > 0,
      canceled: (flag & FLAGS.canceled) > 0,
      simulated: (flag & FLAGS.simulated) > 0,
    };
  });
  return { kind: 'prints', prints, ...(refused && { refused }) };
}

function nullIfNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
