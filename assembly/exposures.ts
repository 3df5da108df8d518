/**
 * Worst error found: delta 0.0969, at options 6000 to 7000 of reference and vectors.ts.
 * The unit is the sum of the changes that one rounding of each input and of each hedge can cause.
 */
import { COLUMN, PAIR, rowAt, STRIP } from './block';
import { ExposureColumn } from './columns';
import { Exponential } from './exp';
import { add, atLeast, atMost, choose, div, half, magnitude, mul, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';
import { D_MAX, DEVIATION_MIN, INV_SQRT_2_PI } from './normal';

// Inputs.
const CALL_PUT: usize = <usize>ExposureColumn.callPut * COLUMN;
const SPOT: usize = <usize>ExposureColumn.spot * COLUMN;
const STRIKE: usize = <usize>ExposureColumn.strike * COLUMN;
const IV: usize = <usize>ExposureColumn.iv * COLUMN;
const TTE: usize = <usize>ExposureColumn.tte * COLUMN;
const CARRY: usize = <usize>ExposureColumn.carry * COLUMN;
const FACTOR: usize = <usize>ExposureColumn.factor * COLUMN;
const LATER_TTE: usize = <usize>ExposureColumn.laterTte * COLUMN;
const LATER_FACTOR: usize = <usize>ExposureColumn.laterFactor * COLUMN;
/** The dealers' position in each pair at a spot, dollars. */
const WEIGHT: usize = <usize>ExposureColumn.weight * COLUMN;
// Inputs of the kernels of pairs.
const POSITION: usize = <usize>ExposureColumn.position * COLUMN;
const MULTIPLIER: usize = <usize>ExposureColumn.multiplier * COLUMN;
const SIDE: usize = <usize>ExposureColumn.side * COLUMN;
const CONTRACTS: usize = <usize>ExposureColumn.contracts * COLUMN;
// Outputs.
const DELTA: usize = <usize>ExposureColumn.delta * COLUMN;
const VANNA: usize = <usize>ExposureColumn.vanna * COLUMN;
const CHANGE: usize = <usize>ExposureColumn.change * COLUMN;
// Intermediate values. QUOTIENT, EXPONENT and LATER_EXPONENT take two columns each. EXPONENT is computed after the last use of QUOTIENT.
const QUOTIENT: usize = 16 * COLUMN;
const EXPONENT: usize = 16 * COLUMN;
const LATER_EXPONENT: usize = 18 * COLUMN;
const D1: usize = 20 * COLUMN;
const LATER_D1: usize = 21 * COLUMN;

/**
 * Computes delta, vanna, and the change of delta until a later time. With l = ln(S / K) + carry, which is ln(F / K), d1 is l / (v sqrt(T))
 * + v sqrt(T) / 2. The delta of a call is factor * N(d1), and its vanna is -factor * phi(d1) (d1 - v sqrt(T)) / v. The later delta of a
 * call is laterFactor * N((l + v^2 laterTte / 2) / (v sqrt(laterTte))). For T = 0, v = 0 or laterTte = 0, the results are the limits. A
 * negative laterTte says that the later delta is unknown: the change is then 0.
 */
export function hedges(count: i32, block: usize): void {
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    quotients(row, end);
    deviations(row, end);
    squares(row, end);
    present(row, end);
    changes(row, end);
  }
}

/**
 * Adds the exposures of pairs at a spot to eight numbers at `sums`: two partial sums for each of delta, vanna and the change of delta of the
 * out-of-the-money sides, and the differences of the other sides' delta and change. By put-call parity, a call's delta is its put's delta
 * plus a factor. A pair without a volatility has no exposure. The block then has the hedges of the pairs' out-of-the-money sides.
 */
export function addPairExposures(count: i32, block: usize, spot: f64, sums: usize): void {
  let otherDelta = load<f64>(sums, 3 * PAIR);
  let otherChange = load<f64>(sums, 3 * PAIR + 8);
  const end = rowAt(block, count);
  for (let row = block; row < end; row += 8) {
    if (!(load<f64>(row, IV) > 0)) store<f64>(row, 0, IV);
    store<f64>(row, spot, SPOT);
    store<f64>(row, load<f64>(row, STRIKE) >= spot ? 1.0 : -1.0, CALL_PUT);
  }
  hedges(count, block);
  let at = block;
  for (let row = block; row < end; row += 8) {
    let net = 0.0;
    let other = 0.0;
    for (const stop = endOf(row, block); at < stop; at += 8) {
      if (load<f64>(row, IV) === 0) continue;
      const dollars = load<f64>(at, POSITION) * load<f64>(at, MULTIPLIER) * spot;
      net += dollars;
      if (load<f64>(at, SIDE) !== load<f64>(row, CALL_PUT)) other += load<f64>(at, SIDE) * dollars;
    }
    otherDelta += other * load<f64>(row, FACTOR);
    otherChange += other * (load<f64>(row, LATER_FACTOR) - load<f64>(row, FACTOR));
    store<f64>(row, net, WEIGHT);
  }
  store<f64>(sums, otherDelta, 3 * PAIR);
  store<f64>(sums, otherChange, 3 * PAIR + 8);
  // If the count is odd, the second lane of the last pair does not belong to a row.
  for (let column = WEIGHT; column <= CHANGE; column += COLUMN) store<f64>(end + column, 0);
  for (let hedge = DELTA; hedge <= CHANGE; hedge += COLUMN, sums += PAIR) {
    let sum = v128.load(sums);
    for (let row = block; row < end; row += PAIR) sum = add(sum, mul(v128.load(row, WEIGHT), v128.load(row + hedge)));
    v128.store(sums, sum);
  }
}

/** Returns the address of the row after a pair's last contract. */
function endOf(row: usize, block: usize): usize {
  const next = load<u32>(block + ((row - block) >> 1), CONTRACTS + 4);
  return rowAt(block, next - load<u32>(block, CONTRACTS));
}

/** Computes the first half of ln(S / K). */
function quotients(row: usize, end: usize): void {
  for (; row < end; row += PAIR) Logarithm.reduce(v128.load(row, SPOT), v128.load(row, STRIKE), row, QUOTIENT);
}

/** Computes d1 for both times. */
function deviations(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const v = v128.load(row, IV);
    const moneyness = add(Logarithm.reduced(row, QUOTIENT), v128.load(row, CARRY));
    const s = mul(v, f64x2.sqrt(v128.load(row, TTE)));
    v128.store(row, add(Hedge.bounded(div(moneyness, atLeast(s, DEVIATION_MIN))), half(s)), D1);
    const laterS = mul(v, f64x2.sqrt(v128.load(row, LATER_TTE)));
    const drift = mul(mul(v, v), half(v128.load(row, LATER_TTE)));
    v128.store(row, Hedge.bounded(div(add(moneyness, drift), atLeast(laterS, DEVIATION_MIN))), LATER_D1);
  }
}

/** Computes the first halves of e^(-d1^2 / 2) for both times. */
function squares(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const d1 = v128.load(row, D1);
    const laterD1 = v128.load(row, LATER_D1);
    Exponential.reduce(mul(times(-0.5, d1), d1), row, EXPONENT);
    Exponential.reduce(mul(times(-0.5, laterD1), laterD1), row, LATER_EXPONENT);
  }
}

/** Computes delta and vanna. */
function present(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const v = v128.load(row, IV);
    const d1 = v128.load(row, D1);
    const density = mul(times(INV_SQRT_2_PI, Exponential.reduced(row, EXPONENT)), v128.load(row, FACTOR));
    const d2 = sub(d1, mul(v, f64x2.sqrt(v128.load(row, TTE))));
    v128.store(row, f64x2.neg(mul(density, div(d2, atLeast(v, DEVIATION_MIN)))), VANNA);
    v128.store(row, Hedge.delta(v128.load(row, CALL_PUT), d1, density, v128.load(row, FACTOR)), DELTA);
  }
}

/** Computes the change of delta. */
function changes(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const factor = v128.load(row, LATER_FACTOR);
    const density = mul(times(INV_SQRT_2_PI, Exponential.reduced(row, LATER_EXPONENT)), factor);
    const later = Hedge.delta(v128.load(row, CALL_PUT), v128.load(row, LATER_D1), density, factor);
    const isUnknown = f64x2.lt(v128.load(row, LATER_TTE), f64x2.splat(0.0));
    v128.store(row, choose(isUnknown, f64x2.splat(0.0), sub(later, v128.load(row, DELTA))), CHANGE);
  }
}

class Hedge {
  /** Returns d limited to the range from -D_MAX to D_MAX. */
  @inline
  static bounded(d: v128): v128 {
    return atMost(atLeast(d, -D_MAX), D_MAX);
  }

  /** Returns factor * N(d1) for a call, and -factor * N(-d1) for a put. `density` is factor * phi(d1). */
  @inline
  static delta(callPut: v128, d1: v128, density: v128, factor: v128): v128 {
    const zero = f64x2.splat(0.0);
    const tail = mul(density, Mills.ratio(magnitude(d1)));
    const isTail = v128.xor(f64x2.lt(callPut, zero), f64x2.lt(d1, zero));
    return mul(callPut, choose(isTail, tail, sub(factor, tail)));
  }
}
