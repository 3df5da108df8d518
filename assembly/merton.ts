/**
 * The unit of the error below is the change that one rounding of each input and of the result can cause (`scaledError` of the tests).
 * `alone` stands for the kernel that computes only the probabilities.
 * Worst error found: probAbove alone 4.75, at S=55.9937, K=348.34, T=0.0365464, v=0.0414077, r=0.0770765, q=0.0630611, l=2183.31, m=-0.171504, d=0.138812.
 */
import { COLUMN, PAIR, rowAt } from './block';
import { MertonColumn } from './columns';
import { Exponential } from './exp';
import { add, atLeast, choose, div, half, magnitude, mul, one, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';
import { D_MAX, INV_SQRT_2_PI } from './normal';

// Symbols in this file:
// - S spot, K strike, T years to settlement, v volatility of the diffusion, r rate, q dividend yield;
// - l jumps per year, m and d mean and standard deviation of a jump's logarithm, k = e^(m + d^2 / 2) - 1;
// - n the number of jumps until settlement; x = ln(S / K) + (r - q - v^2 / 2 - l k) T, the log-moneyness at settlement without a jump;
// - s = sqrt(v^2 T + n d^2), the standard deviation of the log-return, d2 = (x + n m) / s, and d1 = d2 + s, all given n jumps;
// - N the standard normal distribution function, and phi its density.
// An option has two legs: K e^(-rT) in cash, and S e^(-qT) in spot. The part of a leg for n jumps is the leg times the probability of n
// jumps.

/**
 * Maximum expected number of jumps. If more jumps are expected, the result is NaN. The limit bounds the work: with 256 expected jumps, the
 * Poisson weights underflow after fewer than TERMS_MAX terms.
 */
const JUMPS_EXPECTED_MAX: f64 = 256.0;
const TERMS_MAX: f64 = 1200.0;
/** An upper bound for the omitted terms of a leg's two sums, relative to the smaller sum. */
const REMAINDER: f64 = 1e-17;

// Inputs.
const SPOT: usize = <usize>MertonColumn.spot * COLUMN;
const STRIKE: usize = <usize>MertonColumn.strike * COLUMN;
const TTE: usize = <usize>MertonColumn.tte * COLUMN;
const IV: usize = <usize>MertonColumn.iv * COLUMN;
const RATE: usize = <usize>MertonColumn.rate * COLUMN;
const DIVIDEND: usize = <usize>MertonColumn.dividend * COLUMN;
const JUMP_INTENSITY: usize = <usize>MertonColumn.jumpIntensity * COLUMN;
const JUMP_MEAN: usize = <usize>MertonColumn.jumpMean * COLUMN;
const JUMP_VOL: usize = <usize>MertonColumn.jumpVol * COLUMN;
// Outputs.
const PROB_ABOVE: usize = <usize>MertonColumn.probAbove * COLUMN;
const PROB_BELOW: usize = <usize>MertonColumn.probBelow * COLUMN;
const CALL: usize = <usize>MertonColumn.call * COLUMN;
const PUT: usize = <usize>MertonColumn.put * COLUMN;
// Columns of intermediate values for each row.
const SCRATCH: usize = <usize>MertonColumn.scratch * COLUMN;
/** The legs: K e^(-rT) in cash, and S e^(-qT) in spot. */
const STRIKE_NOW: usize = SCRATCH;
const SPOT_NOW: usize = SCRATCH + 1 * COLUMN;
/** The expected number of jumps: l T for the leg in cash, and l (1 + k) T for the leg in spot. */
const JUMPS: usize = SCRATCH + 2 * COLUMN;
const JUMPS_IN_SPOT: usize = SCRATCH + 3 * COLUMN;
/** v^2 T. */
const VARIANCE: usize = SCRATCH + 4 * COLUMN;
/** k until the pass `jumps`, and x from this pass on. */
const MONEYNESS: usize = SCRATCH + 5 * COLUMN;
/** The parts of the legs for n = 0. Each part is the leg times the leg's probability of no jump. */
const STRIKE_PART: usize = SCRATCH + 6 * COLUMN;
const SPOT_PART: usize = SCRATCH + 7 * COLUMN;
/** Intermediate values of logarithms and exponentials, two columns each: one pass computes the first half, a later pass the second half. */
const FIRST: usize = SCRATCH + 8 * COLUMN;
const SECOND: usize = SCRATCH + 10 * COLUMN;

/** The number of rows that go through all passes together. The number is so small that the rows stay in the first-level cache. */
const STRIP: i32 = 64;
/**
 * The offset of the fields in the block, after the 25 columns. The fields contain the values from which the terms of the sums are computed,
 * one term for each n. A field has one slot for each row of the strip. A slot has two lanes with one double each: a value of the row for
 * the term n, and the same value for the term n + 1.
 */
const TERMS: usize = SCRATCH + 12 * COLUMN;
/** The number of bytes from one field to the next: the slots of the field and one cache line. */
const SLOTS: usize = 64 * 16 + 64;
/** x. */
const X: usize = 0;
/** m. */
const MEAN: usize = 1 * SLOTS;
/** d^2. */
const SQUARE: usize = 2 * SLOTS;
/** v^2 T. */
const DIFFUSION: usize = 3 * SLOTS;
/** The density term that both legs share: the part of the leg in spot times phi(d1) equals the part of the leg in cash times phi(d2). */
const SHARED: usize = 4 * SLOTS;
/** Two fields with intermediate values of an exponential. One pass computes the first half, and a later pass the second half. */
const EXPONENT: usize = 5 * SLOTS;
// Each of the following fields exists twice: at IN_CASH for the leg in cash, and at IN_SPOT for the leg in spot.
/** The part of the leg for n jumps: the leg times the probability of n jumps. The part is 0 in a lane that needs no more terms. */
const PART: usize = 9 * SLOTS;
/** d2 for the leg in cash, and d1 for the leg in spot. */
const D: usize = 7 * SLOTS;
/** The smaller side of the part: for the leg in cash, the part times N(-|d2|), and for the leg in spot, the part times N(-|d1|). */
const TAIL: usize = 8 * SLOTS;
/** The expected number of jumps for the leg, as in JUMPS and JUMPS_IN_SPOT. */
const EXPECTED: usize = 10 * SLOTS;
/** The two sums of the leg's terms, above and below the strike. */
const ABOVE: usize = 11 * SLOTS;
const BELOW: usize = 12 * SLOTS;
const IN_CASH: usize = 0;
const IN_SPOT: usize = 6 * SLOTS;
/** The list of the open rows, which need more terms. An entry is the address of the row's first slot, in four bytes. */
const OPEN: usize = 19 * SLOTS;

/**
 * Computes the probability that spot ends at or above the strike, the probability that spot ends below the strike, and the prices of call
 * and put, by Merton, "Option pricing when underlying stock returns are discontinuous", J. Financial Economics 3 (1976). Given n jumps, the
 * log-return is normal with variance v^2 T + n d^2. The number n has a Poisson distribution with mean l T, or with mean l (1 + k) T if spot
 * is the unit of account. The mean factor of a jump is 1 + k. The results are NaN if one of these means exceeds 256 jumps.
 *
 * The probabilities and prices come from sums of positive terms, one term for each n. A leg has two sums, above and below the strike. Both
 * sums end together, when the omitted terms of each sum are below 1e-17 of the smaller sum. So a probability of 1e-100 has as many correct
 * digits as its complement. The two lanes have the terms n and n + 1 of one row. The terms of all open rows are computed together, in short
 * passes, as in black-scholes.ts.
 */
export function merton(count: i32, block: usize): void {
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    sums(row, end, block + TERMS, true);
    for (let priced = row, slot = block + TERMS; priced < end; priced += 8, slot += PAIR) {
      // Adding 0 turns -0 into 0.
      store<f64>(priced, max(load<f64>(slot, ABOVE + IN_SPOT) - load<f64>(slot, ABOVE), 0.0) + 0.0, CALL);
      store<f64>(priced, max(load<f64>(slot, BELOW) - load<f64>(slot, BELOW + IN_SPOT), 0.0) + 0.0, PUT);
    }
  }
}

/** Computes only the probabilities, in two thirds of the time of `merton`. */
export function mertonProbabilities(count: i32, block: usize): void {
  for (let from = 0; from < count; from += STRIP) {
    sums(rowAt(block, from), rowAt(block, min(from + STRIP, count)), block + TERMS, false);
  }
}

/** Computes each row's sums, and the two probabilities from the sums. Omits the sums of the leg in spot if `prices` is false. */
function sums(row: usize, end: usize, slots: usize, prices: bool): void {
  moneyness(row, end);
  jumps(row, end);
  discounts(row, end);
  firstParts(row, end);
  const open = slots + OPEN;
  let last = spread(row, end, slots);
  for (let n: f64 = 0.0; n < TERMS_MAX && last > open; n += 2.0) {
    if (prices) {
      deviations(open, last, n);
      densities(open, last);
      tails(open, last, IN_SPOT);
      addTerms(open, last, n, IN_SPOT);
    } else {
      cashDeviations(open, last, n);
      cashDensities(open, last);
    }
    tails(open, last, IN_CASH);
    addTerms(open, last, n, IN_CASH);
    last = prices ? stillOpen(open, last) : stillOpenInCash(open, last);
  }
  for (let slot = slots; row < end; row += 8, slot += PAIR) {
    const strikeNow = load<f64>(row, STRIKE_NOW);
    total(slot + IN_CASH, strikeNow);
    if (prices) total(slot + IN_SPOT, load<f64>(row, SPOT_NOW));
    store<f64>(row, load<f64>(slot, ABOVE) / strikeNow, PROB_ABOVE);
    store<f64>(row, load<f64>(slot, BELOW) / strikeNow, PROB_BELOW);
  }
}

/**
 * Adds the values of the two lanes, for both sums of a leg. Then replaces the larger sum by the complete leg minus the smaller sum. The
 * difference does not have the rounding errors of many Poisson weights.
 */
function total(slot: usize, whole: f64): void {
  const above = load<f64>(slot, ABOVE) + load<f64>(slot, ABOVE + 8);
  const below = load<f64>(slot, BELOW) + load<f64>(slot, BELOW + 8);
  store<f64>(slot, above > below ? whole - below : above, ABOVE);
  store<f64>(slot, above > below ? below : whole - above, BELOW);
}

/** Begins the computation of ln(S / K), which `jumps` completes. Computes k, the mean factor of a jump minus one. */
function moneyness(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    Logarithm.reduce(v128.load(row, SPOT), v128.load(row, STRIKE), row, FIRST);
    const d = v128.load(row, JUMP_VOL);
    v128.store(row, Exponential.minusOne(add(v128.load(row, JUMP_MEAN), half(mul(d, d)))), MONEYNESS);
  }
}

/** Computes the expected numbers of jumps, the variance v^2 T of the diffusion, and x. Completes ln(S / K), which x needs. */
function jumps(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const T = v128.load(row, TTE);
    const v = v128.load(row, IV);
    const k = v128.load(row, MONEYNESS);
    const jumps = mul(v128.load(row, JUMP_INTENSITY), T);
    const variance = mul(mul(v, v), T);
    const carry = sub(mul(sub(v128.load(row, RATE), v128.load(row, DIVIDEND)), T), half(variance));
    v128.store(row, jumps, JUMPS);
    v128.store(row, mul(jumps, add(one(), k)), JUMPS_IN_SPOT);
    v128.store(row, variance, VARIANCE);
    v128.store(row, sub(add(Logarithm.reduced(row, FIRST), carry), mul(jumps, k)), MONEYNESS);
  }
}

/**
 * Computes the legs S e^(-qT) and K e^(-rT). Both legs are NaN if too many jumps are expected or an input is NaN. Also begins the
 * computation of the probabilities of no jump, e^(-l T) and e^(-l (1 + k) T), which `firstParts` completes.
 */
function discounts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const minusT = f64x2.neg(v128.load(row, TTE));
    const most = f64x2.pmax(v128.load(row, JUMPS), v128.load(row, JUMPS_IN_SPOT));
    const x = v128.load(row, MONEYNESS);
    // If all bits of a lane are set, the lane is a NaN.
    const unknown = v128.or(v128.not(f64x2.le(most, f64x2.splat(JUMPS_EXPECTED_MAX))), f64x2.ne(x, x));
    const strikeNow = mul(v128.load(row, STRIKE), Exponential.of(mul(v128.load(row, RATE), minusT)));
    const spotNow = mul(v128.load(row, SPOT), Exponential.of(mul(v128.load(row, DIVIDEND), minusT)));
    v128.store(row, v128.or(strikeNow, unknown), STRIKE_NOW);
    v128.store(row, v128.or(spotNow, unknown), SPOT_NOW);
    Exponential.reduce(f64x2.neg(v128.load(row, JUMPS)), row, FIRST);
    Exponential.reduce(f64x2.neg(v128.load(row, JUMPS_IN_SPOT)), row, SECOND);
  }
}

/** Completes the probabilities of no jump, and multiplies each leg by its probability of no jump. */
function firstParts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, mul(v128.load(row, STRIKE_NOW), Exponential.reduced(row, FIRST)), STRIKE_PART);
    v128.store(row, mul(v128.load(row, SPOT_NOW), Exponential.reduced(row, SECOND)), SPOT_PART);
  }
}

/**
 * Copies the values that the terms of a row need into both lanes of the row's slots. Puts all rows on the list of open rows, and returns
 * the end of the list.
 */
function spread(row: usize, end: usize, slot: usize): usize {
  let open = slot + OPEN;
  for (; row < end; row += 8, slot += PAIR, open += 4) {
    const d = v128.load64_splat(row, JUMP_VOL);
    v128.store(slot, v128.load64_splat(row, MONEYNESS), X);
    v128.store(slot, v128.load64_splat(row, JUMP_MEAN), MEAN);
    v128.store(slot, mul(d, d), SQUARE);
    v128.store(slot, v128.load64_splat(row, VARIANCE), DIFFUSION);
    Leg.start(slot + IN_CASH, load<f64>(row, STRIKE_PART), load<f64>(row, JUMPS));
    Leg.start(slot + IN_SPOT, load<f64>(row, SPOT_PART), load<f64>(row, JUMPS_IN_SPOT));
    store<u32>(open, <u32>slot);
  }
  return open;
}

class Leg {
  /** Stores the parts of a leg for n = 0 and n = 1, the expected number of jumps, and sums of 0. `part` is the leg's part for n = 0. */
  @inline
  static start(slot: usize, part: f64, jumps: f64): void {
    v128.store(slot, f64x2(part, part * jumps), PART);
    v128.store(slot, f64x2.splat(jumps), EXPECTED);
    v128.store(slot, f64x2.splat(0.0), ABOVE);
    v128.store(slot, f64x2.splat(0.0), BELOW);
  }
}

class Term {
  /** Returns s, the standard deviation of the log-return if there are n jumps. */
  @inline
  static deviation(slot: usize, n: v128): v128 {
    return f64x2.sqrt(add(v128.load(slot, DIFFUSION), mul(n, v128.load(slot, SQUARE))));
  }

  /**
   * Returns d2 = (x + n m) / s for n jumps, limited to the range from -D_MAX to D_MAX. If s is 0 and the price certainly ends at the
   * strike, d2 is 0 / 0, which is NaN. A certain end at the strike counts as above the strike, because pmin returns D_MAX if its other
   * argument is NaN.
   */
  @inline
  static standardised(slot: usize, n: v128, deviation: v128): v128 {
    const x = add(v128.load(slot, X), mul(n, v128.load(slot, MEAN)));
    return f64x2.pmin(f64x2.splat(D_MAX), atLeast(div(x, deviation), -D_MAX));
  }
}

/** Computes d2 and d1 for n jumps. z is d1 or d2, whichever is nearer to 0. Begins e^(-z^2 / 2), which `densities` completes. */
function deviations(open: usize, end: usize, n: f64): void {
  const ns = f64x2(n, n + 1.0);
  for (; open < end; open += 4) {
    const slot = <usize>load<u32>(open);
    const deviation = Term.deviation(slot, ns);
    const d2 = Term.standardised(slot, ns, deviation);
    const d1 = add(d2, deviation);
    v128.store(slot, d2, D);
    v128.store(slot, d1, D + IN_SPOT);
    const nearer = f64x2.pmin(magnitude(d1), magnitude(d2));
    Exponential.reduce(mul(times(-0.5, nearer), nearer), slot, EXPONENT, SLOTS);
  }
}

/** Computes d2 for n jumps. Begins the computation of e^(-d2^2 / 2), which `cashDensities` completes. */
function cashDeviations(open: usize, end: usize, n: f64): void {
  const ns = f64x2(n, n + 1.0);
  for (; open < end; open += 4) {
    const slot = <usize>load<u32>(open);
    const d2 = Term.standardised(slot, ns, Term.deviation(slot, ns));
    v128.store(slot, d2, D);
    Exponential.reduce(mul(times(-0.5, d2), d2), slot, EXPONENT, SLOTS);
  }
}

/** Completes the density that both legs share (see SHARED). Multiplies the density from `deviations` by the part of its leg. */
function densities(open: usize, end: usize): void {
  for (; open < end; open += 4) {
    const slot = <usize>load<u32>(open);
    const spotNearer = f64x2.lt(magnitude(v128.load(slot, D + IN_SPOT)), magnitude(v128.load(slot, D)));
    const part = choose(spotNearer, v128.load(slot, PART + IN_SPOT), v128.load(slot, PART));
    v128.store(slot, mul(times(INV_SQRT_2_PI, part), Exponential.reduced(slot, EXPONENT, SLOTS)), SHARED);
  }
}

/** Computes the part of the leg in cash times phi(d2). */
function cashDensities(open: usize, end: usize): void {
  for (; open < end; open += 4) {
    const slot = <usize>load<u32>(open);
    const part = times(INV_SQRT_2_PI, v128.load(slot, PART));
    v128.store(slot, mul(part, Exponential.reduced(slot, EXPONENT, SLOTS)), SHARED);
  }
}

/** Computes the smaller side of each part of a leg (see TAIL). Mills' ratio of |d2| is N(-|d2|) / phi(d2). */
function tails(open: usize, end: usize, leg: usize): void {
  for (; open < end; open += 4) {
    const slot = <usize>load<u32>(open);
    const d = magnitude(v128.load(slot + leg, D));
    v128.store(slot + leg, mul(v128.load(slot, SHARED), Mills.ratio(d)), TAIL);
  }
}

/**
 * Adds the terms n and n + 1 of a leg to the leg's sums, and computes the parts for n + 2 and n + 3. If the later terms in a lane are
 * negligible for both sums, the part in this lane becomes 0.
 */
function addTerms(open: usize, end: usize, n: f64, leg: usize): void {
  const perJumps = f64x2(1.0 / ((n + 1.0) * (n + 2.0)), 1.0 / ((n + 2.0) * (n + 3.0)));
  for (; open < end; open += 4) {
    const slot = <usize>load<u32>(open) + leg;
    const part = v128.load(slot, PART);
    const tail = v128.load(slot, TAIL);
    const jumps = v128.load(slot, EXPECTED);
    const rest = sub(part, tail);
    const under = f64x2.lt(v128.load(slot, D), f64x2.splat(0.0));
    const above = add(v128.load(slot, ABOVE), choose(under, tail, rest));
    const below = add(v128.load(slot, BELOW), choose(under, rest, tail));
    // Multiplies by `jumps` twice. The square of `jumps` would have one rounding error, which would be the same in all terms.
    const growth = mul(jumps, mul(jumps, perJumps));
    const next = mul(part, growth);
    // The growth of later terms is at most `growth`. So if `growth` is below 1, the remainder is at most next / (1 - growth). While the
    // terms grow, the bound is negative or 0, so every part is above the bound.
    const bound = mul(sub(f64x2.splat(REMAINDER), times(REMAINDER, growth)), f64x2.pmin(above, below));
    v128.store(slot, above, ABOVE);
    v128.store(slot, below, BELOW);
    v128.store(slot, v128.and(next, f64x2.gt(next, bound)), PART);
  }
}

/** Removes rows from the list if their parts of both legs are 0 in both lanes. Returns the new end of the list. */
function stillOpen(open: usize, end: usize): usize {
  let newEnd = open;
  for (; open < end; open += 4) {
    const slot = load<u32>(open);
    store<u32>(newEnd, slot);
    if (v128.any_true(v128.or(v128.load(slot, PART), v128.load(slot, PART + IN_SPOT)))) newEnd += 4;
  }
  return newEnd;
}

/** Removes rows from the list if their parts of the leg in cash are 0 in both lanes. Returns the new end of the list. */
function stillOpenInCash(open: usize, end: usize): usize {
  let newEnd = open;
  for (; open < end; open += 4) {
    const slot = load<u32>(open);
    store<u32>(newEnd, slot);
    if (v128.any_true(v128.load(slot, PART))) newEnd += 4;
  }
  return newEnd;
}
