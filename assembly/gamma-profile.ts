/** Worst error found: levels a step apart 61.9, at level=187, first=17526.6, step=0.005, count=200, K=1000000000, T=0.00462271, v=62.7362, r=-0.175691, q=-0.247387. */
import { BLOCK_ROWS, COLUMN, PAIR, rowAt } from './block';
import { GammaProfileColumn } from './columns';
import { Exponential } from './exp';
import { add, atMost, choose, div, half, mul, one, sub, times, unless } from './lanes';
import { Logarithm } from './log';

const INV_SQRT_2_PI: f64 = 0.3989422804014327;
const DEVIATION_MIN: f64 = 1e-100;
/** e to a smaller exponent is below the smallest normal number and counts as 0: it is negligible next to any other gamma. */
const EXPONENT_MIN: f64 = -708.0;
/** An exponent well below EXPONENT_MIN. */
const NOTHING: f64 = -1000.0;
/** Levels that are computed from one seed, see `addGammaLogProfile`. */
const RUN_MAX: i32 = 64;
/** Runs up to this length are not halved: that would cost more than it saves. */
const SHORTEST_RUN: i32 = 8;
const FACTOR_MAX: f64 = 709.0;
/** Rows that go through all passes together, so that they stay in the first-level cache. */
const STRIP: i32 = 128;

// Inputs.
const STRIKE: usize = <usize>GammaProfileColumn.strike * COLUMN;
const TTE: usize = <usize>GammaProfileColumn.tte * COLUMN;
const IV: usize = <usize>GammaProfileColumn.iv * COLUMN;
const RATE: usize = <usize>GammaProfileColumn.rate * COLUMN;
const DIVIDEND: usize = <usize>GammaProfileColumn.dividend * COLUMN;
const WEIGHT: usize = <usize>GammaProfileColumn.weight * COLUMN;
// Between passes: a row's gamma at reference * e^move is SCALE e^(-d^2 / 2 - move), d = D + move * PER_DEVIATION.
const D: usize = 6 * COLUMN;
const PER_DEVIATION: usize = 7 * COLUMN;
const SCALE: usize = 8 * COLUMN;
// Of a run: gamma at its first level, the factor to the next level, and the factor from that factor to the next.
const GAMMA: usize = 9 * COLUMN;
const FACTOR: usize = 10 * COLUMN;
const CHANGE: usize = 11 * COLUMN;
/** Logarithms and exponentials between their first and second half: pairs of columns. */
const FIRST: usize = 12 * COLUMN;
const SECOND: usize = 14 * COLUMN;
/**
 * Lists of pairs of rows. An entry is an address of four bytes. The lists follow each other: one of all pairs, and two for each halving.
 */
const LISTS: usize = 16 * COLUMN;
const ADDRESS: usize = 4;
/** The pair after the last possible one. Its gamma is 0, and it fills up groups. */
const NOBODY: usize = (<usize>BLOCK_ROWS) << 3;

/**
 * sums[2 l] + sums[2 l + 1] += sum over rows of weight * gamma(S_l, K, T, v, r, q), where S_l = reference * e^moves[l]:
 * Black-Scholes-Merton gamma, where v stays with the strike and the forward moves in proportion to spot. Rows with T = 0, v = 0 or weight 0
 * add nothing. A NaN makes the sums NaN.
 *
 * Levels are given as logarithms relative to a reference near the strikes. This saves a logarithm for each row and level, and keeps d1
 * exact to the rounding of numbers below 1.
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
 * The same for S_l = reference * e^(l * step), in a small part of the time. The exponents E_l = -(d + l b)^2 / 2 - l step, where
 * b = step / s, are a parabola in l. So e^E follows from its predecessor by the factor R_l = e^(E_(l+1) - E_l), and R follows from its
 * predecessor by the constant e^(-b^2): two products a level. They accumulate l^2 / 2 roundings, 2.3e-13 in a run of 64 levels, before both
 * are computed anew. Eight rows are computed together, since each product waits for the one before.
 *
 * No step may leave the range of doubles. A parabola that opens downward is least at the ends of a run. If both ends are above -708,
 * everything between is too, and the factors are within e^(+-709). If both ends are below, and the summit is not between them, the whole
 * run is 0. Any other run, in which a gamma rises from 0 or falls to 0, is halved. The shortest runs take an exponential for each level.
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
  v128.store(block + NOBODY, nothing, GAMMA);
  v128.store(block + NOBODY, nothing, FACTOR);
  v128.store(block + NOBODY, nothing, CHANGE);
  const list = block + LISTS;
  let last = list;
  for (let row = block, end = rowAt(block, count); row < end; row += PAIR, last += ADDRESS) store<u32>(last, <u32>row);
  const runs = (levels + RUN_MAX - 1) / RUN_MAX;
  const run = runs > 0 ? (levels + runs - 1) / runs : 0;
  for (let first = 0; first < levels; first += run) {
    addRun(list, last, block + NOBODY, step, first, min(first + run, levels), sums);
  }
}

/** Adds the listed rows' gamma at the levels [first, end). */
function addRun(list: usize, last: usize, nobody: usize, step: f64, first: i32, end: i32, sums: usize): void {
  const move = step * <f64>first;
  const span = step * <f64>(end - 1 - first);
  // Each list has room to be filled up to a whole group.
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
    // No summit between the ends: the slope has the same sign at both.
    const oneSided = f64x2.ge(mul(fall, Row.fall(row, dEnd, step)), f64x2.splat(0.0));
    const below = f64x2.lt(f64x2.pmax(start, finish), f64x2.splat(EXPONENT_MIN));
    const isNothing = v128.and(below, oneSided);
    const above = f64x2.ge(f64x2.pmin(start, finish), f64x2.splat(EXPONENT_MIN));
    const isSafe = i64x2.all_true(v128.or(above, isNothing));
    store<u32>(safeEnd, <u32>row);
    store<u32>(unsafeEnd, <u32>row);
    if (!isSafe) unsafeEnd += ADDRESS;
    else if (!i64x2.all_true(isNothing)) safeEnd += ADDRESS;
    v128.store(row, choose(isNothing, f64x2.splat(NOTHING), start), GAMMA);
    v128.store(row, fall, FACTOR);
  }
  seedExponents(safe, safeEnd, step);
  seeds(safe, safeEnd);
  for (; (safeEnd - safe) % (4 * ADDRESS) > 0; safeEnd += ADDRESS) store<u32>(safeEnd, <u32>nobody);
  addSafe(safe, safeEnd, sums + ((<usize>first) << 4), sums + ((<usize>end) << 4));
  if (unsafeEnd === unsafe) return;
  if (end - first > SHORTEST_RUN) {
    const middle = (first + end) >> 1;
    addRun(unsafe, unsafeEnd, nobody, step, first, middle, sums);
    addRun(unsafe, unsafeEnd, nobody, step, middle, end, sums);
  } else {
    for (let level = first; level < end; level++) {
      addListed(unsafe, unsafeEnd, step * <f64>level, sums + ((<usize>level) << 4));
    }
  }
}

/** The exponents of the first gamma and of the first factor, which is E_(l+1) - E_l = -(d b + step) - b^2 / 2. */
function seedExponents(open: usize, end: usize, step: f64): void {
  for (; open < end; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    const b = times(step, v128.load(row, PER_DEVIATION));
    const factor = sub(times(-0.5, mul(b, b)), v128.load(row, FACTOR));
    Exponential.reduce(v128.load(row, GAMMA), row, FIRST);
    // A lane that is 0 throughout only needs a finite factor.
    Exponential.reduce(atMost(factor, FACTOR_MAX), row, SECOND);
  }
}

function seeds(open: usize, end: usize): void {
  for (; open < end; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    v128.store(row, mul(v128.load(row, SCALE), Exponential.reduced(row, FIRST)), GAMMA);
    v128.store(row, Exponential.reduced(row, SECOND), FACTOR);
  }
}

/** Adds four pairs of rows at a time, by recurrence. */
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

/** Adds listed rows at one level, directly. */
function addListed(open: usize, end: usize, move: f64, sum: usize): void {
  let total = v128.load(sum);
  for (; open < end; open += ADDRESS) {
    const row = <usize>load<u32>(open);
    const exponent = Row.exponent(Row.d(row, f64x2.splat(move)), f64x2.splat(move));
    total = add(total, mul(v128.load(row, SCALE), Exponential.of(exponent)));
  }
  v128.store(sum, total);
}

/** Adding all rows at one level, directly, takes two passes: this one, and `addGammas`. */
function exponents(row: usize, end: usize, move: f64): void {
  const moves = f64x2.splat(move);
  for (; row < end; row += PAIR) Exponential.reduce(Row.exponent(Row.d(row, moves), moves), row, FIRST);
}

function addGammas(row: usize, end: usize, sum: usize): void {
  let total = v128.load(sum);
  for (; row < end; row += PAIR) {
    total = add(total, mul(v128.load(row, SCALE), Exponential.reduced(row, FIRST)));
  }
  v128.store(sum, total);
}

class Row {
  @inline
  static d(row: usize, move: v128): v128 {
    return add(v128.load(row, D), mul(move, v128.load(row, PER_DEVIATION)));
  }

  @inline
  static exponent(d: v128, move: v128): v128 {
    return sub(mul(times(-0.5, d), d), move);
  }

  /** Minus the slope of the exponents. */
  @inline
  static fall(row: usize, d: v128, step: f64): v128 {
    return add(mul(d, times(step, v128.load(row, PER_DEVIATION))), f64x2.splat(step));
  }
}

function prepare(count: i32, block: usize, reference: f64): void {
  const end = rowAt(block, count);
  reduce(block, end, reference);
  scales(block, end, reference);
}

function reduce(row: usize, end: usize, reference: f64): void {
  for (; row < end; row += PAIR) {
    Logarithm.reduce(f64x2.splat(reference), v128.load(row, STRIKE), row, FIRST);
    Exponential.reduce(mul(f64x2.neg(v128.load(row, TTE)), v128.load(row, DIVIDEND)), row, SECOND);
  }
}

function scales(row: usize, end: usize, reference: f64): void {
  const last = end;
  for (; row < end; row += PAIR) {
    const T = v128.load(row, TTE);
    const weight = v128.load(row, WEIGHT);
    const s = mul(v128.load(row, IV), f64x2.sqrt(T));
    // After an odd count, the second lane is not a row.
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

/** e^(-b^2). */
function changes(row: usize, end: usize, step: f64): void {
  for (; row < end; row += PAIR) {
    const b = times(step, v128.load(row, PER_DEVIATION));
    v128.store(row, Exponential.of(f64x2.neg(mul(b, b))), CHANGE);
  }
}

/** moves[l] = ln(levels[l] / reference), two at a time. */
export function logMoves(count: i32, levels: usize, reference: f64, moves: usize): void {
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += PAIR) {
    v128.store(moves + at, Logarithm.ofRatio(v128.load(levels + at), f64x2.splat(reference)));
  }
}
