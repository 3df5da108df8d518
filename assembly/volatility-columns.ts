import { COLUMN } from './block';

// The block's columns that the parts of implied-volatility.ts hand on to each other; from FIRST on they are free for what a part needs
// between its passes, but for MONEYNESS_LOW.

// Inputs.
export const CALL_PUT: usize = 0;
export const PRICE: usize = 1 * COLUMN;
export const SPOT: usize = 2 * COLUMN;
export const STRIKE: usize = 3 * COLUMN;
export const TTE: usize = 4 * COLUMN;
export const RATE: usize = 5 * COLUMN;
export const DIVIDEND: usize = 6 * COLUMN;
// Output.
export const IV: usize = 7 * COLUMN;
// Between passes.
export const MONEYNESS: usize = 8 * COLUMN;
export const PART: usize = 9 * COLUMN;
export const LN_PART: usize = 10 * COLUMN;
export const LN_REST: usize = 11 * COLUMN;
export const DEVIATION: usize = 12 * COLUMN;
export const LOW: usize = 13 * COLUMN;
export const HIGH: usize = 14 * COLUMN;
export const GOING: usize = 15 * COLUMN;
/** 1, or the answer of a row that has no deviation to find: 0 or NaN. */
export const ANSWER: usize = 16 * COLUMN;
/** Halved logarithms and exponentials: pairs of columns. */
export const FIRST: usize = 17 * COLUMN;
export const SECOND: usize = 19 * COLUMN;
/** What MONEYNESS lacks. */
export const MONEYNESS_LOW: usize = 22 * COLUMN;
