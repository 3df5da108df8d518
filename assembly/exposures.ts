/**
 * Worst error found: change 0.133, at options 7000 to 8000 of reference and vectors.ts.
 * The unit is the sum of the changes that one rounding of each input and of each hedge can cause.
 */
import { COLUMN, PAIR, rowAt, STRIP } from './block';
import { ExposureColumn, GroupSum } from './columns';
import { Exponential } from './exp';
import { add, atLeast, atMost, choose, div, half, magnitude, mul, sub, times, unless } from './lanes';
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
const LATER_DRIFT: usize = <usize>ExposureColumn.laterDrift * COLUMN;
const LATER_FACTOR: usize = <usize>ExposureColumn.laterFactor * COLUMN;
/** The dealers' position in each pair at a spot, dollars. */
const WEIGHT: usize = <usize>ExposureColumn.weight * COLUMN;
// Inputs of the kernels of pairs.
const POSITION: usize = <usize>ExposureColumn.position * COLUMN;
const MULTIPLIER: usize = <usize>ExposureColumn.multiplier * COLUMN;
const SIDE: usize = <usize>ExposureColumn.side * COLUMN;
const GAMMA: usize = <usize>ExposureColumn.gamma * COLUMN;
const OPEN_INTEREST: usize = <usize>ExposureColumn.openInterest * COLUMN;
const VOLUME: usize = <usize>ExposureColumn.volume * COLUMN;
const CONTRACTS: usize = <usize>ExposureColumn.contracts * COLUMN;
const GROUP: usize = <usize>ExposureColumn.group * COLUMN;
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
 * call is laterFactor * N((l + v^2 laterDrift) / (v sqrt(laterTte))). For T = 0 or v = 0, the results are the limits.
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
 * plus a factor. A pair without a volatility has no exposure.
 */
export function addPairExposures(count: i32, block: usize, spot: f64, sums: usize): void {
  let otherDelta = load<f64>(sums, 3 * PAIR);
  let otherChange = load<f64>(sums, 3 * PAIR + 8);
  const end = rowAt(block, count);
  takeSides(count, block, spot);
  for (let row = block; row < end; row += 8) {
    let net = 0.0;
    if (load<f64>(row, IV) !== 0) {
      let other = 0.0;
      const stop = Contracts.end(block, row);
      for (let at = Contracts.start(block, row); at < stop; at += 8) {
        const dollars = load<f64>(at, POSITION) * load<f64>(at, MULTIPLIER) * spot;
        net += dollars;
        if (load<f64>(at, SIDE) !== load<f64>(row, CALL_PUT)) other += load<f64>(at, SIDE) * dollars;
      }
      otherDelta += other * load<f64>(row, FACTOR);
      otherChange += other * (load<f64>(row, LATER_FACTOR) - load<f64>(row, FACTOR));
    }
    store<f64>(row, net, WEIGHT);
  }
  store<f64>(sums, otherDelta, 3 * PAIR);
  store<f64>(sums, otherChange, 3 * PAIR + 8);
  let delta = v128.load(sums);
  let vanna = v128.load(sums, PAIR);
  let change = v128.load(sums, 2 * PAIR);
  hedges(count, block);
  for (let row = block; row < end; row += PAIR) {
    // If the count is odd, the second lane of the last pair does not belong to a row.
    const absent = i64x2.ge_s(i64x2.add(i64x2.splat(row), i64x2(0, 8)), i64x2.splat(end));
    const weight = v128.load(row, WEIGHT);
    delta = add(delta, unless(absent, mul(weight, v128.load(row, DELTA))));
    vanna = add(vanna, unless(absent, mul(weight, v128.load(row, VANNA))));
    change = add(change, unless(absent, mul(weight, v128.load(row, CHANGE))));
  }
  v128.store(sums, delta);
  v128.store(sums, vanna, PAIR);
  v128.store(sums, change, 2 * PAIR);
}

/**
 * Adds the exposures of each pair's contracts to the sums of the pair's group. `sums` has a column for each `GroupSum`, `apart` bytes after
 * the column before, with the groups from `first` to `last`. Leaves out pairs of other groups. `scale` converts gamma * contracts *
 * multiplier to GEX.
 */
export function addGroupExposures(
  count: i32,
  block: usize,
  spot: f64,
  scale: f64,
  vannaUnit: f64,
  first: u32,
  last: u32,
  sums: usize,
  apart: usize,
): void {
  takeSides(count, block, spot);
  hedges(count, block);
  for (let i = 0; i < count; i++) {
    const group = load<u32>(block + ((<usize>i) << 2), GROUP);
    if (group < first || group > last) continue;
    const to = sums + ((<usize>(group - first)) << 3);
    const row = rowAt(block, i);
    const stop = Contracts.end(block, row);
    for (let at = Contracts.start(block, row); at < stop; at += 8) {
      const side = load<f64>(at, SIDE);
      const held = load<f64>(at, POSITION);
      const gex = held * load<f64>(at, GAMMA) * load<f64>(at, MULTIPLIER) * scale;
      const isPut: usize = side === 1 ? 0 : apart;
      Sum.add(to + GroupSum.netGex * apart, gex);
      Sum.add(to + GroupSum.grossGex * apart, Math.abs(gex));
      Sum.add(to + GroupSum.callGex * apart + isPut, gex);
      Sum.add(to + GroupSum.callOpenInterest * apart + isPut, Sum.known(load<f64>(at, OPEN_INTEREST)));
      Sum.add(to + GroupSum.callVolume * apart + isPut, Sum.known(load<f64>(at, VOLUME)));
      if (load<f64>(row, IV) === 0) continue;
      const dollars = held * load<f64>(at, MULTIPLIER) * spot;
      const factor = load<f64>(row, FACTOR);
      const other = side === load<f64>(row, CALL_PUT) ? 0.0 : side;
      Sum.add(to + GroupSum.dex * apart, dollars * (load<f64>(row, DELTA) + other * factor));
      Sum.add(to + GroupSum.vex * apart, dollars * load<f64>(row, VANNA) * vannaUnit);
      const later = other * (load<f64>(row, LATER_FACTOR) - factor);
      Sum.add(to + GroupSum.cex * apart, dollars * (load<f64>(row, CHANGE) + later));
    }
  }
}

/** Represents each pair by its out-of-the-money side. A missing volatility becomes 0. */
function takeSides(count: i32, block: usize, spot: f64): void {
  const end = rowAt(block, count);
  for (let row = block; row < end; row += 8) {
    const iv = load<f64>(row, IV);
    if (!(iv > 0)) store<f64>(row, 0, IV);
    store<f64>(row, spot, SPOT);
    store<f64>(row, load<f64>(row, STRIKE) >= spot ? 1.0 : -1.0, CALL_PUT);
  }
}

class Contracts {
  /** Returns the address of the row of a pair's first contract. */
  @inline
  static start(block: usize, row: usize): usize {
    return block + ((<usize>(load<u32>(block + ((row - block) >> 1), CONTRACTS) - load<u32>(block, CONTRACTS))) << 3);
  }

  /** Returns the address of the row after a pair's last contract. */
  @inline
  static end(block: usize, row: usize): usize {
    return Contracts.start(block, row + 8);
  }
}

class Sum {
  @inline
  static add(sum: usize, value: f64): void {
    store<f64>(sum, load<f64>(sum) + value);
  }

  /** Returns a number of contracts, or 0 if it is not known. */
  @inline
  static known(value: f64): f64 {
    return value > 0 ? value : 0.0;
  }
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
    const drift = mul(mul(v, v), v128.load(row, LATER_DRIFT));
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
    v128.store(row, sub(later, v128.load(row, DELTA)), CHANGE);
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
