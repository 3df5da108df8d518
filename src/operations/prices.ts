import type { Chain } from '../market/chain.ts';
import type { Tape } from '../market/tape.ts';

/**
 * What work costs an account, in tokens of its rate limit. A request costs one; these come on top, for what the service has to compute and
 * does not have cached. A token pays for some milliseconds of a core.
 */

/** Contracts analysed for a token: an index of 30,000 contracts read in a new way costs 15. */
export const ANALYSIS_CONTRACTS = 2_000;
/** Contracts of stored snapshots summed up for a token. */
export const SNAPSHOT_CONTRACTS = 20_000;
/** Prints of a tape read for a token: from stored sums, or one by one if a least premium selects them. */
export const SUMMED_PRINTS = 200_000;
export const SINGLE_PRINTS = 20_000;
/** Rows of a table for a token, the first of which the request pays for: as JSON, or as binary columns. */
export const JSON_ROWS = 1_000;
export const BINARY_ROWS = 10_000;

export function analysisPrice({ count }: Chain): number {
  return Math.ceil(count / ANALYSIS_CONTRACTS);
}

export function tapePrice({ count }: Tape, minPremium = 0): number {
  return Math.ceil(count / (minPremium > 0 ? SINGLE_PRINTS : SUMMED_PRINTS));
}

export function rowsPrice(rows: number, rowsPerToken: number): number {
  return Math.max(0, Math.ceil(rows / rowsPerToken) - 1);
}
