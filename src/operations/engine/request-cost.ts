import type { Chain } from '../../market/chain.ts';
import type { PrintsQuery } from '../../market/tape.ts';

/**
 * The cost of work in tokens of the account's rate limit. A request costs one token. The costs below are added if the result is not cached.
 * One token pays for a few milliseconds of work of one core.
 */

/** Contracts analysed for one token: an index of 30,000 contracts costs 15 tokens. */
export const ANALYSIS_CONTRACTS = 2_000;
/** Contracts priced at another spot for one token. A contract that is priced at n spots is n contracts here. */
export const MOVED_CONTRACTS = 50_000;
/** Tickers of a screen whose stored levels are read for one token. */
export const SCREENED_TICKERS = 10;
/** Contracts of stored snapshots whose volumes are summed for one token. */
export const SNAPSHOT_CONTRACTS = 20_000;
/** Prints of a tape for one token, if they are read from stored sums. */
export const SUMMED_PRINTS = 200_000;
/** Prints of a tape for one token, if they are read one by one because the request has a minimum premium. */
export const SINGLE_PRINTS = 20_000;
/**
 * Rows of a table for one token, as JSON or as binary columns. The token that each request costs pays for the first rows up to this number.
 */
export const JSON_ROWS = 1_000;
export const BINARY_ROWS = 10_000;

/** Returns the cost of the analysis of a chain, tokens. */
export function analysisCost({ count }: Chain): number {
  return Math.ceil(count / ANALYSIS_CONTRACTS);
}

/** Returns the cost of pricing `contracts` contracts at each of `spots` spots, tokens. The token of the request pays for the first part. */
export function movesCost(contracts: number, spots: number): number {
  return rowsCost(contracts * spots, MOVED_CONTRACTS);
}

/** Returns the cost of reading a tape, tokens. `minPremium` is the minimum premium that the request asks for, dollars. */
export function tapeCost({ count }: PrintsQuery, minPremium = 0): number {
  return Math.ceil(count / (minPremium > 0 ? SINGLE_PRINTS : SUMMED_PRINTS));
}

/** Returns the cost of a table beyond the token of its request, tokens. */
export function rowsCost(rows: number, rowsPerToken: number): number {
  return Math.max(0, Math.ceil(rows / rowsPerToken) - 1);
}
