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
export const SCRATCH: usize = <usize>ImpliedVolatilityColumn.scratch * COLUMN;
/** x. */
export const MONEYNESS: usize = SCRATCH;
/** part, ln(part) and ln(rest). */
export const PART: usize = SCRATCH + 1 * COLUMN;
export const LN_PART: usize = SCRATCH + 2 * COLUMN;
export const LN_REST: usize = SCRATCH + 3 * COLUMN;
/** The present approximation of s. */
export const DEVIATION: usize = SCRATCH + 4 * COLUMN;
/** The lower and the upper bound of s. */
export const LOW: usize = SCRATCH + 5 * COLUMN;
export const HIGH: usize = SCRATCH + 6 * COLUMN;
/** A mask that is set in rows whose s is not accurate yet. */
export const UNSOLVED: usize = SCRATCH + 7 * COLUMN;
/** 1 if the row has an s to solve for. Otherwise, the result of the row: 0 or NaN. */
export const STATUS: usize = SCRATCH + 8 * COLUMN;
/** Intermediate values of logarithms and exponentials, two columns each: one pass computes the first half, a later pass the second half. */
export const FIRST: usize = SCRATCH + 9 * COLUMN;
export const SECOND: usize = SCRATCH + 11 * COLUMN;
/** The rounding error of MONEYNESS: the exact value minus the stored value. */
export const MONEYNESS_LOW: usize = SCRATCH + 14 * COLUMN;
