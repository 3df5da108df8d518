import type { ContentFacts } from '../files/opened-file.ts';
import type { PackedDelivery } from './packed-delivery.ts';

/** The job of a reader. Its input is at the reader's standard input. */
export type ReaderJob =
  /** A file of market data, opened as standard input. */
  | { readonly kind: 'file'; readonly facts: ContentFacts; readonly nowMs: number }
  /** The whole answer with the delayed quotes of a ticker, as bytes. */
  | { readonly kind: 'quotes'; readonly source: string; readonly ticker: string };

/** From the service to a reader: first the job, then one acknowledgement for each delivery. */
export type ToReader = { readonly job: ReaderJob } | { readonly acknowledged: true };

/** From a reader to the service. */
export type FromReader =
  | { readonly delivery: PackedDelivery }
  /** Bytes read so far. Also shows that the reader is alive. */
  | { readonly bytesRead: number }
  /** The input is rejected for this reason. */
  | { readonly rejection: string }
  /** An error of the file system. */
  | { readonly errno: string; readonly message: string }
  | { readonly done: true };

/**
 * Deliveries that a reader may send before the service acknowledges them. The reader works while deliveries are stored, and at most this
 * many are in memory.
 */
export const UNACKNOWLEDGED_MAX = 2;
/** Limit of a reader's resident memory. The largest chain that is accepted needs two thirds of it. */
export const READER_BYTES_MAX = 384 * 1024 * 1024;
export const TOO_MUCH_MEMORY = `reading the data took more than ${READER_BYTES_MAX / 2 ** 20} MB of memory`;
