import { COLUMN } from './block';
import { ImpliedVolatilityColumn } from './columns';

// Columns of the block that implied-volatility.ts, time-value.ts and volatility-guess.ts share. The file uses the notation of
// implied-volatility.ts. Each of the three files may use the columns from FIRST on for its own intermediate values, except MONEYNESS_LOW.

// Inputs.
export const CALL_PUT: usize = <usize>ImpliedVolatilityColumn.callPut * COLUMN;
export const PRICE: usize = <usize>ImpliedVolatilityColumn.price * COLUMN;
export const SPOT: usize = <usize>ImpliedVolatilityColumn.spot * COLUMN;
export const STRIKE: usize = <usize>ImpliedVolatilityColumn.strike * COLUMN;
export const TTE: usize = <usize>ImpliedVolatilityColumn.tte * COLUMN;
export const RATE: usize = <usize>ImpliedVolatilityColumn.rate * COLUMN;
export const DIVIDEND: usize = <usize>ImpliedVolatilityColumn.dividend * COLUMN;
// Output.
export const IV: usize = <usize>ImpliedVolatilityColumn.iv * COLUMN;
// Intermediate values.
/** x. */
export const MONEYNESS: usize = 8 * COLUMN;
/** part, ln(part) and ln(rest). */
export const PART: usize = 9 * COLUMN;
export const LN_PART: usize = 10 * COLUMN;
export const LN_REST: usize = 11 * COLUMN;
/** The present approximation of s. */
export const DEVIATION: usize = 12 * COLUMN;
/** The lower and the upper bound of s. */
export const LOW: usize = 13 * COLUMN;
export const HIGH: usize = 14 * COLUMN;
/** A mask that is set in rows whose s is not accurate yet. */
export const UNSOLVED: usize = 15 * COLUMN;
/** 1 if the row has an s to solve for. Otherwise, the result of the row: 0 or NaN. */
export const STATUS: usize = 16 * COLUMN;
/** Intermediate values of logarithms and exponentials, two columns each: one pass computes the first half, a later pass the second half. */
export const FIRST: usize = 17 * COLUMN;
export const SECOND: usize = 19 * COLUMN;
/** The rounding error of MONEYNESS: the exact value minus the stored value. */
export const MONEYNESS_LOW: usize = 22 * COLUMN;
