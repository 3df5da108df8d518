/**
 * Worst error found: levels a step apart 61.9, at level=187, first=17526.6, step=0.005, count=200, K=1000000000, T=0.00462271, v=62.7362, r=-0.175691, q=-0.247387.
 * The unit is the change that one rounding of each input and of the result can cause (`scaledError` of the tests).
 */
import { BLOCK_ROWS, COLUMN, PAIR, rowAt, STRIP } from './block';
import { GammaProfileColumn } from './columns';
import { Exponential } from './exp';
import { add, atMost, choose, div, half, mul, one, sub, times, unless } from './lanes';
import { Logarithm } from './log';
import { DEVIATION_MIN, INV_SQRT_2_PI } from './normal';

// In this file, a level is a spot price for which the gamma of all rows is added up. s = v sqrt(T) is the standard deviation of the
// log-return.

/**
 * For any smaller exponent, the power of e counts as 0. The power of e for this exponent is about the smallest normal double, which is
 * negligible beside any other gamma.
 */
const EXPONENT_MIN: f64 = -708.0;
/** An exponent far below EXPONENT_MIN, for which the power of e is 0. */
const EXPONENT_OF_ZERO: f64 = -1000.0;
/** The maximum length of a run. A run is a sequence of levels that are computed from one start value, see `addGammaLogProfile`. */
const RUN_MAX: i32 = 64;
/** A run of at most this length is not halved, because halving would take more time than it saves. */
const SHORTEST_RUN: i32 = 8;
/** Upper bound of a factor's exponent. For this exponent, the power of e is finite. */
const FACTOR_EXPONENT_MAX: f64 = 709.0;

// Inputs.
const STRIKE: usize = <usize>GammaProfileColumn.strike * COLUMN;
const TTE: usize = <usize>GammaProfileColumn.tte * COLUMN;
const IV: usize = <usize>GammaProfileColumn.iv * COLUMN;
const RATE: usize = <usize>GammaProfileColumn.rate * COLUMN;
const DIVIDEND: usize = <usize>GammaProfileColumn.dividend * COLUMN;
const WEIGHT: usize = <usize>GammaProfileColumn.weight * COLUMN;
// Columns of intermediate values. A row's weighted gamma at the level reference * e^move is SCALE e^(-d^2 / 2 - move), where d = D + move *
// PER_DEVIATION. PER_DEVIATION is 1 / s.
const D: usize = 6 * COLUMN;
const PER_DEVIATION: usize = 7 * COLUMN;
const SCALE: usize = 8 * COLUMN;
// Columns of a run's values. GAMMA is the weighted gamma at the first level of the run. Each level has a factor from its gamma to the gamma
// of the next level. The run has the first factor, and the ratio of each factor to the previous factor.
const GAMMA: usize = 9 * COLUMN;
const FACTOR: usize = 10 * COLUMN;
const CHANGE: usize = 11 * COLUMN;
/** Intermediate values of logarithms and exponentials, two columns each: one pass computes the first half, a later pass the second half. */
const FIRST: usize = 12 * COLUMN;
const SECOND: usize = 14 * COLUMN;
/**
 * Lists of pairs of rows. An entry of a list is the address of a pair, in four bytes. The lists follow each other: one list of all pairs,
 * and two lists for each halving of a run.
 */
const LISTS: usize = 16 * COLUMN;
const ADDRESS: usize = 4;
/**
 * The offset of a pair after the last possible pair. The gamma of this pair is 0. Entries for this pair fill a list up to a multiple of
 * four.
 */
const EMPTY_PAIR: usize = (<usize>BLOCK_ROWS) << 3;

/**
 * Adds the sum over rows of weight * gamma(S_l, K, T, v, r, q) to the two partial sums of each level, sums[2 l] and sums[2 l + 1]. The
 * level is S_l = reference * e^moves[l]. Gamma follows the Black-Scholes-Merton formula. Each strike has the same v at every level, and the
 * forward moves in proportion to spot. Rows with T = 0, v = 0 or weight 0 add nothing. A NaN in a row makes the sums NaN.
 *
 * Levels are given as logarithms relative to a reference near the strikes. So the kernel need not compute a logarithm for each row and
 * level. The given logarithms also limit the error of d1, because numbers below 1 are rounded to smaller units.
 */
export function addGammaProfile(
  count: i32,
  block: usize,
  reference: f64,
  levels: i32,
  moves: usize,
  sums: usize,
): void {
  prepare(count, block, reference);
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    for (let level: usize = 0; level < <usize>levels; level++) {
      exponents(row, end, load<f64>(moves + (level << 3)));
      addGammas(row, end, sums + (level << 4));
    }
  }
}

/**
 * Adds the same sums as `addGammaProfile` for the levels S_l = reference * e^(l * step), but takes much less time.
 *
 * With b = step / s, the exponents E_l = -(d + l b)^2 / 2 - l step are a parabola in l. So e^(E_(l+1)) is e^(E_l) times the factor R_l =
 * e^(E_(l+1) - E_l), and R_(l+1) is R_l times the constant e^(-b^2). So each level takes two products. In a run of 64 levels, the products
 * accumulate up to 64^2 / 2 rounding errors, which is a relative error of 2.3e-13. For the next run, e^E and R are computed again. Eight
 * rows are computed together, because each product waits for the previous product.
 *
 * No product may leave the range of doubles. The parabola opens downward, so E has its minimum within a run at one of the two ends.
 * - If E is at least -708 at both ends, E is at least -708 at every level between them, and the factors are from e^(-709) to e^709.
 * - If E is below -708 at both ends, and the maximum of the parabola is not between the ends, the gamma is 0 in the whole run.
 * - In any other run, the gamma rises from 0 or falls to 0. Such a run is halved. Runs of at most SHORTEST_RUN levels take an exponential
 *   for each level instead.
 */
export function addGammaLogProfile(
  count: i32,
  block: usize,
  reference: f64,
  step: f64,
  levels: i32,
  sums: usize,
): void {
  prepare(count, block, reference);
  changes(block, rowAt(block, count), step);
  const nothing = f64x2.splat(0.0);
  v128.store(block + EMPTY_PAIR, nothing, GAMMA);
  v128.store(block + EMPTY_PAIR, nothing, FACTOR);
  v128.store(block + EMPTY_PAIR, nothing, CHANGE);
  const list = block + LISTS;
  let last = list;
  for (let row = block, end = rowAt(block, count); row < end; row += PAIR, last += ADDRESS) store<u32>(last, <u32>row);
  const runs = (levels + RUN_MAX - 1) / RUN_MAX;
  const run = runs > 0 ? (levels + runs - 1) / runs : 0;
  for (let first = 0; first < levels; first += run) {
    addRun(list, last, block + EMPTY_PAIR, step, first, min(first + run, levels), sums);
  }
}

/**
 * Adds the weighted gamma of the listed rows at the levels `first` (included) to `end` (excluded). Sorts the pairs of rows into a list of
 * safe pairs, for which no product leaves the range of doubles in this run, and a list of unsafe pairs. `emptyPair` is the address of a
 * pair with gamma 0.
 */
function addRun(list: usize, last: usize, emptyPair: usize, step: f64, first: i32, end: i32, sums: usize): void {
  const move = step * <f64>first;
  const span = step * <f64>(end - 1 - first);
  // Each list is followed by room for entries that fill the list up to a multiple of four.
  const safe = last + 4 * ADDRESS;
  const unsafe = safe + (last - list) + 4 * ADDRESS;
  let safeEnd = safe;
  let unsafeEnd = unsafe;
  for (let open = list; open < last; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    const d = Row.d(row, f64x2.splat(move));
    const dEnd = Row.d(row, f64x2.splat(move + span));
    const start = Row.exponent(d, f64x2.splat(move));
    const finish = Row.exponent(dEnd, f64x2.splat(move + span));
    const fall = Row.fall(row, d, step);
    // If the slope has the same sign at both ends, the parabola has no maximum between the ends.
    const oneSided = f64x2.ge(mul(fall, Row.fall(row, dEnd, step)), f64x2.splat(0.0));
    const below = f64x2.lt(f64x2.pmax(start, finish), f64x2.splat(EXPONENT_MIN));
    const isNothing = v128.and(below, oneSided);
    const above = f64x2.ge(f64x2.pmin(start, finish), f64x2.splat(EXPONENT_MIN));
    const isSafe = i64x2.all_true(v128.or(above, isNothing));
    store<u32>(safeEnd, <u32>row);
    store<u32>(unsafeEnd, <u32>row);
    if (!isSafe) unsafeEnd += ADDRESS;
    else if (!i64x2.all_true(isNothing)) safeEnd += ADDRESS;
    v128.store(row, choose(isNothing, f64x2.splat(EXPONENT_OF_ZERO), start), GAMMA);
    v128.store(row, fall, FACTOR);
  }
  seedExponents(safe, safeEnd, step);
  seeds(safe, safeEnd);
  for (; (safeEnd - safe) % (4 * ADDRESS) > 0; safeEnd += ADDRESS) store<u32>(safeEnd, <u32>emptyPair);
  addSafe(safe, safeEnd, sums + ((<usize>first) << 4), sums + ((<usize>end) << 4));
  if (unsafeEnd === unsafe) return;
  if (end - first > SHORTEST_RUN) {
    const middle = (first + end) >> 1;
    addRun(unsafe, unsafeEnd, emptyPair, step, first, middle, sums);
    addRun(unsafe, unsafeEnd, emptyPair, step, middle, end, sums);
  } else {
    for (let level = first; level < end; level++) {
      addListed(unsafe, unsafeEnd, step * <f64>level, sums + ((<usize>level) << 4));
    }
  }
}

/** Computes the first halves of the first gamma and of the first factor. A factor's exponent is E_(l+1) - E_l = -(d b + step) - b^2 / 2. */
function seedExponents(open: usize, end: usize, step: f64): void {
  for (; open < end; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    const b = times(step, v128.load(row, PER_DEVIATION));
    const factor = sub(times(-0.5, mul(b, b)), v128.load(row, FACTOR));
    Exponential.reduce(v128.load(row, GAMMA), row, FIRST);
    // If the gamma of a lane is 0 at every level, its factor only has to be finite.
    Exponential.reduce(atMost(factor, FACTOR_EXPONENT_MAX), row, SECOND);
  }
}

/** Computes the first gamma and the first factor of each listed row. */
function seeds(open: usize, end: usize): void {
  for (; open < end; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    v128.store(row, mul(v128.load(row, SCALE), Exponential.reduced(row, FIRST)), GAMMA);
    v128.store(row, Exponential.reduced(row, SECOND), FACTOR);
  }
}

/** Adds the gamma of the listed rows at every level of a run, by recurrence and for four pairs of rows at a time. */
function addSafe(open: usize, end: usize, first: usize, last: usize): void {
  for (; open < end; open += 4 * ADDRESS) {
    const a = <usize>load<u32>(open);
    const b = <usize>load<u32>(open, ADDRESS);
    const c = <usize>load<u32>(open, 2 * ADDRESS);
    const d = <usize>load<u32>(open, 3 * ADDRESS);
    let gammaA = v128.load(a, GAMMA);
    let gammaB = v128.load(b, GAMMA);
    let gammaC = v128.load(c, GAMMA);
    let gammaD = v128.load(d, GAMMA);
    let factorA = v128.load(a, FACTOR);
    let factorB = v128.load(b, FACTOR);
    let factorC = v128.load(c, FACTOR);
    let factorD = v128.load(d, FACTOR);
    const changeA = v128.load(a, CHANGE);
    const changeB = v128.load(b, CHANGE);
    const changeC = v128.load(c, CHANGE);
    const changeD = v128.load(d, CHANGE);
    for (let sum = first; sum < last; sum += PAIR) {
      v128.store(sum, add(v128.load(sum), add(add(gammaA, gammaB), add(gammaC, gammaD))));
      gammaA = mul(gammaA, factorA);
      gammaB = mul(gammaB, factorB);
      gammaC = mul(gammaC, factorC);
      gammaD = mul(gammaD, factorD);
      factorA = mul(factorA, changeA);
      factorB = mul(factorB, changeB);
      factorC = mul(factorC, changeC);
      factorD = mul(factorD, changeD);
    }
  }
}

/** Adds the gamma of the listed rows at one level, with one exponential per row. */
function addListed(open: usize, end: usize, move: f64, sum: usize): void {
  let total = v128.load(sum);
  for (; open < end; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    const exponent = Row.exponent(Row.d(row, f64x2.splat(move)), f64x2.splat(move));
    total = add(total, mul(v128.load(row, SCALE), Exponential.of(exponent)));
  }
  v128.store(sum, total);
}

/** Computes the first half of every row's exponential for one level. `addGammas` computes the second half. */
function exponents(row: usize, end: usize, move: f64): void {
  const moves = f64x2.splat(move);
  for (; row < end; row += PAIR) Exponential.reduce(Row.exponent(Row.d(row, moves), moves), row, FIRST);
}

/** Adds the gamma of all rows at one level. */
function addGammas(row: usize, end: usize, sum: usize): void {
  let total = v128.load(sum);
  for (; row < end; row += PAIR) {
    total = add(total, mul(v128.load(row, SCALE), Exponential.reduced(row, FIRST)));
  }
  v128.store(sum, total);
}

class Row {
  /** Returns d1 at the level reference * e^move. */
  @inline
  static d(row: usize, move: v128): v128 {
    return add(v128.load(row, D), mul(move, v128.load(row, PER_DEVIATION)));
  }

  /** Returns the exponent of gamma, E = -d^2 / 2 - move. */
  @inline
  static exponent(d: v128, move: v128): v128 {
    return sub(mul(times(-0.5, d), d), move);
  }

  /** Returns the slope of -E with respect to the level: d b + step. */
  @inline
  static fall(row: usize, d: v128, step: f64): v128 {
    return add(mul(d, times(step, v128.load(row, PER_DEVIATION))), f64x2.splat(step));
  }
}

/** Computes the values of each row that do not depend on the level. */
function prepare(count: i32, block: usize, reference: f64): void {
  const end = rowAt(block, count);
  reduce(block, end, reference);
  scales(block, end, reference);
}

/** Computes the first halves of ln(reference / K) and of e^(-qT). */
function reduce(row: usize, end: usize, reference: f64): void {
  for (; row < end; row += PAIR) {
    Logarithm.reduce(f64x2.splat(reference), v128.load(row, STRIKE), row, FIRST);
    Exponential.reduce(mul(f64x2.neg(v128.load(row, TTE)), v128.load(row, DIVIDEND)), row, SECOND);
  }
}

/** Computes D, PER_DEVIATION and SCALE. */
function scales(row: usize, end: usize, reference: f64): void {
  const last = end;
  for (; row < end; row += PAIR) {
    const T = v128.load(row, TTE);
    const weight = v128.load(row, WEIGHT);
    const s = mul(v128.load(row, IV), f64x2.sqrt(T));
    // If the count is odd, the second lane of the last pair does not belong to a row.
    const absent = i64x2.ge_s(i64x2.add(i64x2.splat(row), i64x2(0, 8)), i64x2.splat(last));
    const none = v128.or(absent, v128.or(f64x2.lt(s, f64x2.splat(DEVIATION_MIN)), f64x2.eq(weight, f64x2.splat(0.0))));
    const perDeviation = unless(none, div(one(), s));
    const carry = mul(sub(v128.load(row, RATE), v128.load(row, DIVIDEND)), T);
    const x = add(Logarithm.reduced(row, FIRST), carry);
    const scale = mul(mul(times(INV_SQRT_2_PI / reference, weight), Exponential.reduced(row, SECOND)), perDeviation);
    v128.store(row, unless(none, add(mul(x, perDeviation), half(s))), D);
    v128.store(row, perDeviation, PER_DEVIATION);
    v128.store(row, unless(none, scale), SCALE);
  }
}

/** Computes e^(-b^2), the ratio of each factor to the previous factor. */
function changes(row: usize, end: usize, step: f64): void {
  for (; row < end; row += PAIR) {
    const b = times(step, v128.load(row, PER_DEVIATION));
    v128.store(row, Exponential.of(f64x2.neg(mul(b, b))), CHANGE);
  }
}

/** Writes ln(levels[l] / reference) to moves[l] for `count` levels. May write one number more than `count`. */
export function logMoves(count: i32, levels: usize, reference: f64, moves: usize): void {
  for (let offset: usize = 0, end = (<usize>count) << 3; offset < end; offset += PAIR) {
    v128.store(moves + offset, Logarithm.ofRatio(v128.load(levels + offset), f64x2.splat(reference)));
  }
}
