import { COLUMN, PAIR, rowAt } from './block';
import { Exponential } from './exp';
import { add, atMost, div, mul, sub, times, unless } from './lanes';
import { Logarithm } from './log';

const INV_SQRT_2_PI: f64 = 0.3989422804014327;
const DEVIATION_MIN: f64 = 1e-100;
/** e to less than this is below the smallest normal number, and 0 here: nothing next to any other gamma. */
const EXPONENT_MIN: f64 = -708.0;
/** Levels for which one seed serves; see `addGammaLogProfile`. */
const RUN_MAX: i32 = 64;
/** Halving a run further would cost more than it saves. */
const SHORTEST_RUN: i32 = 8;
const FACTOR_MAX: f64 = 709.0;

// Inputs.
const STRIKE: usize = 0;
const TTE: usize = 1 * COLUMN;
const IV: usize = 2 * COLUMN;
const RATE: usize = 3 * COLUMN;
const DIVIDEND: usize = 4 * COLUMN;
const WEIGHT: usize = 5 * COLUMN;
// Between passes: a row's gamma at reference * e^move is SCALE e^(-d^2 / 2 - move), d = D + move * PER_DEVIATION.
const D: usize = 6 * COLUMN;
const PER_DEVIATION: usize = 7 * COLUMN;
const SCALE: usize = 8 * COLUMN;
/** The factor of the factors. */
const CHANGE: usize = 9 * COLUMN;

/**
 * sums[2 l] + sums[2 l + 1] += sum over rows of weight * gamma(S_l, K, T, v, r, q), where S_l = reference * e^moves[l]:
 * Black-Scholes-Merton gamma, v held at the strike, the forward moving in proportion to spot. Rows with T = 0, v = 0 or weight 0
 * have none; a NaN spoils the sums.
 *
 * Levels come as logarithms from a reference near the strikes, which saves a logarithm a pair and keeps d1 exact to rounding
 * of numbers below 1.
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
  for (let row = block, end = rowAt(block, count); row < end; row += PAIR) {
    for (let level = 0; level < levels; level++) {
      const at = (<usize>level) << 3;
      Profile.add(row, v128.load64_splat(moves + at), sums + 2 * at);
    }
  }
}

/**
 * The same for S_l = reference * e^(l * step), in a small part of the time: the exponents E_l = -(d + l b)^2 / 2 - l step, where
 * b = step / s, are a parabola in l, so that e^E follows from its predecessor by the factor R_l = e^(E_(l+1) - E_l), and R from
 * its own by the constant e^(-b^2): two products a level. They gather l^2 / 2 roundings, 2.3e-13 in a run of 64 levels,
 * before both are computed anew. Four rows go together, since each product waits for the one before.
 *
 * No step may leave the doubles' range. A parabola open to below is least at the ends of a run: where both are above -708 so is
 * all between, and its factors are within e^(+-709). Where both are below and the summit is not between, all is 0. Any other
 * run, in which a gamma comes up from 0 or goes there, is halved, and its last levels take an exponential each.
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
  const runs = (levels + RUN_MAX - 1) / RUN_MAX;
  const run = runs > 0 ? (levels + runs - 1) / runs : 0;
  for (let row = block, end = rowAt(block, count); row < end; row += 2 * PAIR) {
    Run.constants(row, step);
    Run.constants(row + PAIR, step);
    for (let first = 0; first < levels; first += run) addRun(row, step, first, min(first + run, levels), sums);
  }
}

function addRun(row: usize, step: f64, first: i32, end: i32, sums: usize): void {
  const move = step * <f64>first;
  const span = step * <f64>(end - 1 - first);
  const nothing = v128.and(Run.isZero(row, step, move, span), Run.isZero(row + PAIR, step, move, span));
  if (i64x2.all_true(nothing)) return;
  if (!Run.isSafe(row, step, move, span) || !Run.isSafe(row + PAIR, step, move, span)) {
    if (end - first > SHORTEST_RUN) {
      const middle = (first + end) >> 1;
      addRun(row, step, first, middle, sums);
      addRun(row, step, middle, end, sums);
    } else {
      for (let level = first; level < end; level++) {
        const sum = sums + ((<usize>level) << 4);
        Profile.add(row, f64x2.splat(step * <f64>level), sum);
        Profile.add(row + PAIR, f64x2.splat(step * <f64>level), sum);
      }
    }
    return;
  }
  let gamma = Run.gamma(row, move);
  let gammaToo = Run.gamma(row + PAIR, move);
  let factor = Run.factor(row, step, move);
  let factorToo = Run.factor(row + PAIR, step, move);
  const change = v128.load(row, CHANGE);
  const changeToo = v128.load(row + PAIR, CHANGE);
  for (let at = sums + ((<usize>first) << 4), last = sums + ((<usize>end) << 4); at < last; at += PAIR) {
    v128.store(at, add(v128.load(at), add(gamma, gammaToo)));
    gamma = mul(gamma, factor);
    gammaToo = mul(gammaToo, factorToo);
    factor = mul(factor, change);
    factorToo = mul(factorToo, changeToo);
  }
}

/** Two rows over the levels from reference * e^move to reference * e^(move + span). */
class Run {
  /** e^(-b^2). */
  @inline
  static constants(row: usize, step: f64): void {
    const b = times(step, v128.load(row, PER_DEVIATION));
    v128.store(row, Exponential.of(f64x2.neg(mul(b, b))), CHANGE);
  }

  /** Lanes whose exponents are all below the least. */
  @inline
  static isZero(row: usize, step: f64, move: f64, span: f64): v128 {
    const d = Profile.d(row, move);
    const dEnd = Profile.d(row, move + span);
    const most = f64x2.pmax(Profile.exponent(d, f64x2.splat(move)), Profile.exponent(dEnd, f64x2.splat(move + span)));
    // No summit between: the slope has one sign.
    const slopes = mul(Run.fall(row, d, step), Run.fall(row, dEnd, step));
    return v128.and(f64x2.lt(most, f64x2.splat(EXPONENT_MIN)), f64x2.ge(slopes, f64x2.splat(0.0)));
  }

  /** Whether each lane's exponents are either all below the least or all above. */
  @inline
  static isSafe(row: usize, step: f64, move: f64, span: f64): bool {
    const start = Profile.exponent(Profile.d(row, move), f64x2.splat(move));
    const end = Profile.exponent(Profile.d(row, move + span), f64x2.splat(move + span));
    const above = f64x2.ge(f64x2.pmin(start, end), f64x2.splat(EXPONENT_MIN));
    return i64x2.all_true(v128.or(above, Run.isZero(row, step, move, span)));
  }

  @inline
  static gamma(row: usize, move: f64): v128 {
    const exponent = Profile.exponent(Profile.d(row, move), f64x2.splat(move));
    return mul(v128.load(row, SCALE), Exponential.of(exponent));
  }

  /** e^(E_(l+1) - E_l) = e^(-(d b + step) - b^2 / 2); a lane that is 0 throughout needs only one that is finite. */
  @inline
  static factor(row: usize, step: f64, move: f64): v128 {
    const b = times(step, v128.load(row, PER_DEVIATION));
    const exponent = sub(times(-0.5, mul(b, b)), Run.fall(row, Profile.d(row, move), step));
    return Exponential.of(atMost(exponent, FACTOR_MAX));
  }

  /** Minus the slope of the exponents. */
  @inline
  static fall(row: usize, d: v128, step: f64): v128 {
    return add(mul(d, times(step, v128.load(row, PER_DEVIATION))), f64x2.splat(step));
  }
}

function prepare(count: i32, block: usize, reference: f64): void {
  const end = rowAt(block, count);
  // Up to whole groups of four rows.
  for (let row = block, last = rowAt(block, count + 3); row < last; row += PAIR) {
    const T = v128.load(row, TTE);
    const weight = v128.load(row, WEIGHT);
    const q = v128.load(row, DIVIDEND);
    const s = mul(v128.load(row, IV), f64x2.sqrt(T));
    const absent = i64x2.ge_s(i64x2.add(i64x2.splat(row), i64x2(0, 8)), i64x2.splat(end));
    const none = v128.or(absent, v128.or(f64x2.lt(s, f64x2.splat(DEVIATION_MIN)), f64x2.eq(weight, f64x2.splat(0.0))));
    const perDeviation = unless(none, div(f64x2.splat(1.0), s));
    const carry = mul(sub(v128.load(row, RATE), q), T);
    const x = add(Logarithm.ofRatio(f64x2.splat(reference), v128.load(row, STRIKE)), carry);
    const discount = Exponential.of(f64x2.neg(mul(q, T)));
    const scale = mul(mul(times(INV_SQRT_2_PI / reference, weight), discount), perDeviation);
    v128.store(row, unless(none, add(mul(x, perDeviation), times(0.5, s))), D);
    v128.store(row, perDeviation, PER_DEVIATION);
    v128.store(row, unless(none, scale), SCALE);
  }
}

class Profile {
  /** Adds both rows' weighted gamma at the reference times e^move. */
  @inline
  static add(row: usize, move: v128, sum: usize): void {
    const d = add(v128.load(row, D), mul(move, v128.load(row, PER_DEVIATION)));
    const gamma = mul(v128.load(row, SCALE), Exponential.of(Profile.exponent(d, move)));
    v128.store(sum, add(v128.load(sum), gamma));
  }

  @inline
  static d(row: usize, move: f64): v128 {
    return add(v128.load(row, D), times(move, v128.load(row, PER_DEVIATION)));
  }

  @inline
  static exponent(d: v128, move: v128): v128 {
    return sub(mul(times(-0.5, d), d), move);
  }
}

/** moves[l] = ln(levels[l] / reference), two at a time. */
export function logMoves(count: i32, levels: usize, reference: f64, moves: usize): void {
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += PAIR) {
    v128.store(moves + at, Logarithm.ofRatio(v128.load(levels + at), f64x2.splat(reference)));
  }
}
