import type { Delivery } from '../../market/feed.ts';
import { type BatchColumns, PrintBatch } from '../../market/print-batch.ts';
import type { ContentFacts } from '../files/opened-file.ts';

/** The job of a reader. A reader is a separate process that reads its standard input. */
export type ReaderJob =
  /** Reads a file of market data, which is open as standard input. */
  | { readonly kind: 'file'; readonly facts: ContentFacts; readonly nowMs: number }
  /** Reads the delayed quotes of a ticker. The standard input is the whole answer of the exchange. */
  | { readonly kind: 'quotes'; readonly source: string; readonly ticker: string };

/** A message from the service to a reader. The first message is the job. Each further message acknowledges a delivery. */
export type ToReader = { readonly job: ReaderJob } | { readonly acknowledged: true };

/** A message from a reader to the service. */
export type FromReader =
  | { readonly delivery: PackedDelivery }
  /** Number of bytes read so far. The message also shows that the reader is alive. */
  | { readonly bytesRead: number }
  /** The reason why the input is rejected. */
  | { readonly rejection: string }
  /** An error of the file system. */
  | { readonly errno: string; readonly message: string }
  | { readonly done: true };

/**
 * Maximum number of unacknowledged deliveries: above one, so that the reader works while the service stores one, but few, as they are in
 * memory.
 */
export const UNACKNOWLEDGED_MAX = 2;
/** Maximum resident memory of a reader, bytes. The largest accepted chain needs two thirds of the maximum. */
export const READER_BYTES_MAX = 384 * 1024 * 1024;
export const TOO_MUCH_MEMORY = `reading the data took more than ${READER_BYTES_MAX / 2 ** 20} MB of memory`;

/** Prints as plain columns, because a message between processes loses the class of an object. */
interface PackedPrints {
  readonly kind: 'packed prints';
  readonly columns: BatchColumns;
  readonly refused?: Readonly<Record<string, number>>;
}

/** The format in which a delivery is sent between processes. */
type PackedDelivery = Exclude<Delivery, { kind: 'prints' }> | PackedPrints;

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
