import type { Chain } from '../../market/chain.ts';
import type { PrintsQuery } from '../../market/tape.ts';

/**
 * The cost of work, in tokens of the account's rate limit. Each request costs one token. A request whose result is not cached also costs
 * tokens at the rates of the constants below. One token pays for a few milliseconds of work on one core.
 */

/** Number of contracts that are analysed for one token. The analysis of an index with 30,000 contracts costs 15 tokens. */
export const ANALYSIS_CONTRACTS = 2_000;
/** Number of option prices that are computed at moved spots for one token. A contract that is priced at n spots counts n times. */
export const MOVED_CONTRACTS = 50_000;
/** Size of the computation of a touch probability by a jump diffusion for one token (see `touchProducts`). */
export const TOUCH_PRODUCTS = 500_000;
/** The cost of the probabilities of touching all prices by continuous paths, once per chain. */
export const TOUCH_GRID_TOKENS = 4;
/** Number of tickers whose stored levels a screen reads for one token. */
export const SCREENED_TICKERS = 100;
/**
 * Number of moments with stored levels that are found in a range for one token: those of all snapshots, or the last of each day. The token
 * that each request costs covers as many.
 */
export const MOMENTS_FOUND = { snapshot: 20_000, day: 5_000 };
/** Number of trading days whose stored levels and spots a level record reads for one token. */
export const RECORD_DAYS = 10;
/** Number of contracts in stored snapshots whose volumes are summed for one token. */
export const SNAPSHOT_CONTRACTS = 20_000;
/** Number of prints that are read for one token, if the sums of the prints are stored. */
export const SUMMED_PRINTS = 200_000;
/** Number of prints that are read one by one for one token, as a request with a minimum premium does. */
export const SINGLE_PRINTS = 20_000;
/** Number of table rows for one token, as JSON or as binary columns. The token that each request costs covers JSON_ROWS rows. */
export const JSON_ROWS = 1_000;
export const BINARY_ROWS = 10_000;

/** Returns the cost of the analysis of a chain, tokens. */
export function analysisCost({ count }: Chain): number {
  return Math.ceil(count / ANALYSIS_CONTRACTS);
}

/** Returns the cost of pricing contracts at some spots each, tokens. The request's own token covers MOVED_CONTRACTS prices. */
export function movesCost(contracts: number, spots: number): number {
  return rowsCost(contracts * spots, MOVED_CONTRACTS);
}

/** Returns the cost of a touch probability, tokens. The request's own token covers TOUCH_PRODUCTS products. */
export function touchCost(products: number): number {
  return rowsCost(products, TOUCH_PRODUCTS);
}

/** Returns the cost of reading a tape, tokens. `minPremium` is the minimum premium that the request asks for, dollars. */
export function tapeCost({ count }: PrintsQuery, minPremium = 0): number {
  return Math.ceil(count / (minPremium > 0 ? SINGLE_PRINTS : SUMMED_PRINTS));
}

/** Returns the additional cost of a table, tokens. The request itself costs one token. */
export function rowsCost(rows: number, rowsPerToken: number): number {
  return Math.max(0, Math.ceil(rows / rowsPerToken) - 1);
}
