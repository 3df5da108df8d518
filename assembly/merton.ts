import { COLUMN, PAIR, rowAt } from './block';
import { Exponential } from './exp';
import { add, atLeast, atMost, choose, div, mul, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';

/**
 * More jumps than this are not expected by any answer. It bounds the work: with so many expected, the Poisson weights underflow
 * after less than TERMS_MAX terms.
 */
const JUMPS_EXPECTED_MAX: f64 = 256.0;
const TERMS_MAX: f64 = 1200.0;
/** What is left out, relative to each sum. */
const REMAINDER: f64 = 1e-17;
const D_MAX: f64 = 1e9;
const INV_SQRT_2_PI: f64 = 0.3989422804014327;

// Inputs.
const SPOT: usize = 0;
const STRIKE: usize = 1 * COLUMN;
const TTE: usize = 2 * COLUMN;
const IV: usize = 3 * COLUMN;
const RATE: usize = 4 * COLUMN;
const DIVIDEND: usize = 5 * COLUMN;
const JUMP_INTENSITY: usize = 6 * COLUMN;
const JUMP_MEAN: usize = 7 * COLUMN;
const JUMP_VOL: usize = 8 * COLUMN;
// Outputs.
const PROB_ABOVE: usize = 9 * COLUMN;
const PROB_BELOW: usize = 10 * COLUMN;
const CALL: usize = 11 * COLUMN;
const PUT: usize = 12 * COLUMN;

/**
 * Merton, "Option pricing when underlying stock returns are discontinuous", J. Financial Economics 3 (1976): the probabilities
 * of ending at or above the strike and below it, and the prices of call and put. Given n jumps the log-return is normal with
 * variance s^2 T + n d^2; n is Poisson with mean l T, and with mean l (1 + k) T where spot is the unit of account.
 *
 * All four are sums of positive terms, each taken until its own remainder is below 1e-17 of it, so that a probability of 1e-100
 * is as accurate as its complement. NaN where more than 256 jumps are expected.
 */
export function merton(count: i32, block: usize): void {
  for (let row = block, end = rowAt(block, count); row < end; row += PAIR) Terms.sum(row, true);
}

/** The probabilities alone, for two thirds of the time. */
export function mertonProbabilities(count: i32, block: usize): void {
  for (let row = block, end = rowAt(block, count); row < end; row += PAIR) Terms.sum(row, false);
}

class Terms {
  @inline
  static sum(row: usize, prices: bool): void {
    const zero = f64x2.splat(0.0);
    const T = v128.load(row, TTE);
    const v = v128.load(row, IV);
    const r = v128.load(row, RATE);
    const q = v128.load(row, DIVIDEND);
    const m = v128.load(row, JUMP_MEAN);
    const d = v128.load(row, JUMP_VOL);
    const S = v128.load(row, SPOT);
    const K = v128.load(row, STRIKE);

    const dd = mul(d, d);
    const k = Exponential.minusOne(add(m, times(0.5, dd)));
    const jumps = mul(v128.load(row, JUMP_INTENSITY), T);
    const jumpsInSpot = mul(jumps, add(f64x2.splat(1.0), k));
    const diffusionVariance = mul(mul(v, v), T);
    const carry = sub(mul(sub(r, q), T), times(0.5, diffusionVariance));
    const x = sub(add(Logarithm.ofRatio(S, K), carry), mul(jumps, k));

    // All bits set are a NaN.
    const unknown = v128.not(f64x2.le(f64x2.pmax(jumps, jumpsInSpot), f64x2.splat(JUMPS_EXPECTED_MAX)));
    const strikeNow = v128.or(mul(K, Exponential.of(f64x2.neg(mul(r, T)))), unknown);
    const spotNow = v128.or(mul(S, Exponential.of(f64x2.neg(mul(q, T)))), unknown);
    let strikePart = mul(strikeNow, Exponential.of(f64x2.neg(jumps)));
    let spotPart = mul(spotNow, Exponential.of(f64x2.neg(jumpsInSpot)));
    let strikeAbove = zero;
    let strikeBelow = zero;
    let spotAbove = zero;
    let spotBelow = zero;
    for (let n: f64 = 0.0; n < TERMS_MAX; n += 1.0) {
      const deviation = f64x2.sqrt(add(diffusionVariance, times(n, dd)));
      const d2 = Terms.standardised(add(x, times(n, m)), deviation);
      const a2 = f64x2.abs(d2);
      const d1 = add(d2, deviation);
      const a1 = f64x2.abs(d1);
      // As in black-scholes.ts, one density for both legs: spotPart phi(d1) = strikePart phi(d2).
      const spotNearer = f64x2.lt(a1, a2);
      const nearer = prices ? choose(spotNearer, a1, a2) : a2;
      const density = times(INV_SQRT_2_PI, Exponential.of(mul(times(-0.5, nearer), nearer)));
      const shared = mul(prices ? choose(spotNearer, spotPart, strikePart) : strikePart, density);
      const strikeTail = mul(shared, Mills.ratio(a2));
      const strikeRest = sub(strikePart, strikeTail);
      const strikeUnder = f64x2.lt(d2, zero);
      strikeAbove = add(strikeAbove, choose(strikeUnder, strikeTail, strikeRest));
      strikeBelow = add(strikeBelow, choose(strikeUnder, strikeRest, strikeTail));
      strikePart = mul(strikePart, div(jumps, f64x2.splat(n + 1.0)));
      if (prices) {
        const spotTail = mul(shared, Mills.ratio(a1));
        const spotRest = sub(spotPart, spotTail);
        const spotUnder = f64x2.lt(d1, zero);
        spotAbove = add(spotAbove, choose(spotUnder, spotTail, spotRest));
        spotBelow = add(spotBelow, choose(spotUnder, spotRest, spotTail));
        spotPart = mul(spotPart, div(jumpsInSpot, f64x2.splat(n + 1.0)));
      }
      const perNext = 1.0 / (n + 2.0);
      let more = Terms.remain(strikePart, times(perNext, jumps), f64x2.pmin(strikeAbove, strikeBelow));
      if (prices) {
        more = v128.or(more, Terms.remain(spotPart, times(perNext, jumpsInSpot), f64x2.pmin(spotAbove, spotBelow)));
        spotPart = v128.and(spotPart, more);
      }
      // A row that has enough adds nothing while its neighbour goes on.
      strikePart = v128.and(strikePart, more);
      if (!v128.any_true(more)) break;
    }
    v128.store(row, atMost(div(strikeAbove, strikeNow), 1.0), PROB_ABOVE);
    v128.store(row, atMost(div(strikeBelow, strikeNow), 1.0), PROB_BELOW);
    if (prices) {
      // The sums make 0 of -0.
      v128.store(row, add(atLeast(sub(spotAbove, strikeAbove), 0.0), zero), CALL);
      v128.store(row, add(atLeast(sub(strikeBelow, spotBelow), 0.0), zero), PUT);
    }
  }

  /** x / deviation; without deviation the outcome is certain, and x = 0 is at the strike, which counts as above. */
  @inline
  static standardised(x: v128, deviation: v128): v128 {
    const certain = choose(f64x2.lt(x, f64x2.splat(0.0)), f64x2.splat(-D_MAX), f64x2.splat(D_MAX));
    const standard = atMost(atLeast(div(x, deviation), -D_MAX), D_MAX);
    return choose(f64x2.eq(deviation, f64x2.splat(0.0)), certain, standard);
  }

  /**
   * Where the terms from `part` on may still count. They fall at least geometrically, by `ratio`; before the mode that exceeds 1
   * and the bound is negative, which every part exceeds.
   */
  @inline
  static remain(part: v128, ratio: v128, sum: v128): v128 {
    return f64x2.gt(part, mul(times(REMAINDER, sub(f64x2.splat(1.0), ratio)), sum));
  }
}
