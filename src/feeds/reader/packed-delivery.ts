import type { Delivery } from '../../market/feed.ts';
import { type BatchColumns, PrintBatch } from '../../market/print-batch.ts';

/** Prints as plain columns, because a message between processes loses the class of an object. */
interface PackedPrints {
  readonly kind: 'packed prints';
  readonly columns: BatchColumns;
  readonly refused?: Readonly<Record<string, number>>;
}

/** The format in which a delivery is sent between processes. */
export type PackedDelivery = Exclude<Delivery, { kind: 'prints' }> | PackedPrints;

/** Converts a delivery to the format in which it is sent between processes. Only deliveries of prints change. */
export function packDelivery(delivery: Delivery): PackedDelivery {
  if (delivery.kind !== 'prints') return delivery;
  const { prints, refused } = delivery;
  return { kind: 'packed prints', columns: PrintBatch.of(prints).columns(), ...(refused && { refused }) };
}

/** Converts a delivery from another process to its original format. */
export function unpackDelivery(packed: PackedDelivery): Delivery {
  if (packed.kind !== 'packed prints') return packed;
  const { columns, refused } = packed;
  return { kind: 'prints', prints: PrintBatch.fromColumns(columns), ...(refused && { refused }) };
}
