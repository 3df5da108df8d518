import type { ContentFacts } from '../files/opened-file.ts';
import type { PackedDelivery } from './packed-delivery.ts';

/** What a reader is to read on its standard input. */
export type ReaderJob =
  /** A file of market data, open at its standard input. */
  | { readonly kind: 'file'; readonly facts: ContentFacts; readonly nowMs: number }
  /** Delayed quotes of a ticker, in whole. */
  | { readonly kind: 'quotes'; readonly source: string; readonly ticker: string };

/** From the service to a reader: first its job, then one `taken` for each delivery. */
export type ToReader = { readonly job: ReaderJob } | { readonly taken: true };

/** From a reader to the service. */
export type FromReader =
  | { readonly delivery: PackedDelivery }
  /** Bytes read so far; a sign of life too. */
  | { readonly reached: number }
  /** Nothing can be taken, for this reason. */
  | { readonly failure: string }
  /** What the file system said. */
  | { readonly errno: string; readonly message: string }
  | { readonly done: true };

/** Deliveries that a reader sends ahead of the last one taken: it works while they are stored, and no more lie in memory. */
export const AHEAD_MAX = 2;
/** Resident memory of a reader: the largest chain that is taken needs two thirds of it. */
export const READER_BYTES_MAX = 384 * 1024 * 1024;
export const TOO_MUCH_MEMORY = `reading it took more than ${READER_BYTES_MAX / 2 ** 20} MB of memory`;
