import { COLUMN } from './block';
import { ImpliedVolatilityColumn } from './columns';

// Columns of the block that the parts of implied-volatility.ts share. From FIRST on, a part may use columns between its own passes, except
// MONEYNESS_LOW.

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
// Between passes.
export const MONEYNESS: usize = 8 * COLUMN;
export const PART: usize = 9 * COLUMN;
export const LN_PART: usize = 10 * COLUMN;
export const LN_REST: usize = 11 * COLUMN;
export const DEVIATION: usize = 12 * COLUMN;
export const LOW: usize = 13 * COLUMN;
export const HIGH: usize = 14 * COLUMN;
export const GOING: usize = 15 * COLUMN;
/** 1, or the result of a row that has no deviation to solve for: 0 or NaN. */
export const ANSWER: usize = 16 * COLUMN;
/** Logarithms and exponentials between their first and second half: pairs of columns. */
export const FIRST: usize = 17 * COLUMN;
export const SECOND: usize = 19 * COLUMN;
/** The rounding error of MONEYNESS: exact value minus MONEYNESS. */
export const MONEYNESS_LOW: usize = 22 * COLUMN;
