import { recordOf } from '../../core/record-of.ts';
import type { Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import { type DayAhead, dayAheadOf, isNear } from './day-ahead.ts';
import { type Exposures, pricedExposures } from './dollar-exposures.ts';
import {
  type ChainPositions,
  gexOfColumns,
  POSITION_COLUMNS,
  type PositionColumns,
  positionsOf,
  STEP,
} from './gamma-profile.ts';

/** The nearest spots, dollars, at which vanna and charm exposure change their signs, or `NaN` beyond `REACH`. */
export type ExposureFlips = Readonly<{ vanna: number; charm: number }>;

/** The search range on each side of spot, as a fraction of spot. The narrowest gamma profile has the same range. */
const REACH = 0.2;
/** The step of the coarse grid, as a fraction of spot. The step with the sign change is divided into `SUBINTERVALS`. */
const SPACING = 0.01;
const SUBINTERVALS = 4;
const MESSAGE = 'Pricing the chain at other spots';

/**
 * Finds the spots at which vanna and charm exposure change their signs. The whole chain is priced only at spots whose sign the bounds of
 * `sketchExposures` leave open, and at the two spots between which the flip is interpolated.
 */
export function* exposureFlips(prepared: PreparedChain, positions?: ChainPositions): Steps<ExposureFlips> {
  const { spot } = prepared.chain;
  const exact = new Map<number, Pick<Exposures, 'vex' | 'cex'>>();
  const price = function* (spots: readonly number[]): Steps<void> {
    const missing = spots.filter((each) => !exact.has(each));
    if (missing.length === 0) return;
    yield { message: MESSAGE };
    const priced = yield* pricedExposures(prepared, missing, MESSAGE);
    for (const [i, each] of missing.entries()) exact.set(each, priced[i]!);
  };
  /** The charm exposure of the near series, which the sketch leaves out, shares. They are the first ones. */
  const nearCharm = new Map<number, number>();
  const near = prepared.pairs.contracts.indexOf(prepared.series.findLast(isNear)?.end ?? 0);
  const priceNear = function* (spots: readonly number[]): Steps<void> {
    const priced = near === 0 ? [] : yield* pricedExposures(prepared, spots, MESSAGE, near);
    for (const [i, each] of spots.entries()) nearCharm.set(each, (priced[i]?.cex ?? 0) / each);
  };
  const sketch = yield* sketchExposures(prepared, positions ?? (yield* positionsOf(prepared)), REACH);
  yield* price([spot]);
  yield* priceNear([spot]);
  const charm = exact.get(spot)!.cex / spot - nearCharm.get(spot)!;
  /** Returns a number with the sign of the exposure at a spot, or `undefined` if the sign is uncertain. */
  const signAt = (name: 'vex' | 'cex', at: number) => {
    if (exact.has(at)) return Math.sign(exact.get(at)![name]);
    if (!sketch) return undefined;
    const [least, most] =
      name === 'vex' ? sketch(at).vanna : sketch(at).charm.map((each) => charm + each + nearCharm.get(at)!);
    if (least! > 0) return 1;
    return most! < 0 ? -1 : undefined;
  };
  const change = function* (name: 'vex' | 'cex', spots: readonly number[]): Steps<[number, number] | undefined> {
    if (name === 'cex' && sketch) yield* priceNear(spots);
    yield* price(spots.filter((each) => signAt(name, each) === undefined));
    return nearestChange(
      spots,
      spots.map((each) => signAt(name, each)!),
      spot,
    );
  };
  const half = Math.round(REACH / SPACING);
  const grid = Array.from({ length: 2 * half + 1 }, (_, i) => spot * (1 + (i - half) * SPACING));
  const flip = function* (name: 'vex' | 'cex'): Steps<number> {
    const [from, to] = (yield* change(name, grid)) ?? [];
    if (from === undefined || to === undefined) return Number.NaN;
    const finer = Array.from({ length: SUBINTERVALS }, (_, i) => from + ((to - from) * i) / SUBINTERVALS).concat(to);
    // Of exposures that are nearly 0, a bound and the exact value may differ in sign by rounding. Such a change is none.
    const [low, high] = (yield* change(name, finer)) ?? [from, to];
    yield* price([low, high]);
    const [a, b] = [exact.get(low)![name], exact.get(high)![name]];
    return a * b > 0 ? Number.NaN : low + ((high - low) * a) / (a - b);
  };
  return { vanna: yield* flip('vex'), charm: yield* flip('cex') };
}

/** Returns the two adjacent spots between which the values change their sign, the nearest to `spot`, or `undefined` if there are none. */
function nearestChange(
  spots: readonly number[],
  values: readonly number[],
  spot: number,
): [from: number, to: number] | undefined {
  let nearest: [number, number] | undefined;
  const distance = ([from, to]: [number, number]) => Math.max(from - spot, spot - to, 0);
  for (let i = 1; i < spots.length; i++) {
    if (!(values[i - 1]! * values[i]! <= 0) || values[i - 1] === values[i]) continue;
    const interval: [number, number] = [spots[i - 1]!, spots[i]!];
    if (nearest === undefined || distance(interval) < distance(nearest)) nearest = interval;
  }
  return nearest;
}

/**
 * Bounds of vanna and charm exposure at a spot, each up to a positive factor. `charm` is relative to its value at the present spot, without
 * the near series (`isNear`).
 */
type ExposureBounds = Readonly<Record<'vanna' | 'charm', readonly [least: number, most: number]>>;

/** Narrow gamma curves need a finer grid. A curve with a standard deviation below two of its steps could lie between two grid points. */
const FINENESS = 16;
const DEVIATION_STEPS_MIN = 2;
/** The number of grid points beyond the searched spots on each side. */
const MARGIN = 4;
/** An upper bound of the rounding errors of the sums at the grid points, as a share of the largest sum. */
const ROUNDING = 1e-10;

/**
 * Returns a function that bounds the dealers' vanna and charm exposure at spots up to `reach` (a fraction) from the present spot, or
 * `undefined` if a curve is too narrow for the grid. With x = ln(spot), the vanna exposure is H'(x) + H(x), where H is the sum of weight *
 * sqrt(T) * factor * phi(d1): a sum of gammas with other weights, which takes little time on levels a fixed percentage apart. The
 * derivative of the charm exposure by x is a difference of two sums of gammas, a day later and now. Differences of fourth order give the
 * derivative of H and the integral, and the distances to the results of second order bound the errors.
 */
function* sketchExposures(
  prepared: PreparedChain,
  { pairsOf, ...positions }: ChainPositions,
  reach: number,
): Steps<((spot: number) => ExposureBounds) | undefined> {
  const ahead = dayAheadOf(prepared);
  const groups: ((spot: number) => ExposureBounds)[] = [];
  const wide = Math.log1p(STEP);
  for (const name of ['wide', 'narrow'] as const) {
    const { later, deviation } = laterColumns(prepared, ahead, positions[name], pairsOf[name]);
    // A curve that is wide now can be narrow after the coming day. Wide curves fill the array from its front, and narrow ones from its back.
    const rows = new Uint32Array(deviation.length);
    let [front, back, least] = [0, rows.length, Number.POSITIVE_INFINITY];
    for (let row = 0; row < rows.length; row++) {
      rows[deviation[row]! >= DEVIATION_STEPS_MIN * wide ? front++ : --back] = row;
      least = Math.min(least, deviation[row]!);
    }
    if (least < (DEVIATION_STEPS_MIN * wide) / FINENESS) return undefined;
    for (const isWide of [true, false]) {
      const part = isWide ? rows.subarray(0, front) : rows.subarray(front);
      if (part.length === 0) continue;
      const [now, then] = [positions[name], later].map((columns) => ({
        count: part.length,
        ...recordOf(POSITION_COLUMNS, (column) => rowsOfColumn(columns[column], part)),
      }));
      groups.push(yield* boundsOf(now!, then!, prepared.chain.spot, reach, isWide ? wide : wide / FINENESS));
    }
  }
  return (spot) => {
    const bounds = { vanna: [0, 0], charm: [0, 0] } satisfies Record<string, [number, number]>;
    for (const group of groups) {
      const more = group(spot);
      for (const name of ['vanna', 'charm'] as const) {
        bounds[name][0]! += more[name][0];
        bounds[name][1]! += more[name][1];
      }
    }
    return bounds as ExposureBounds;
  };
}

/**
 * Returns columns with the gamma after the coming day (`DayAhead`), of near series the present gamma, and the deviation of each curve, now or
 * then, whichever is smaller.
 */
function laterColumns(
  { pairs, series, seriesIndex }: PreparedChain,
  ahead: readonly DayAhead[],
  columns: PositionColumns,
  pair: Uint32Array,
): { later: PositionColumns; deviation: Float64Array } {
  const { count, iv, tte: present } = columns;
  const { contracts } = pairs;
  const yields = ahead.map(({ laterFactor, laterTte }) => -Math.log(laterFactor) / laterTte);
  const [tte, rate, dividend] = [present.slice(), columns.rate.slice(), columns.dividend.slice()];
  const deviation = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const index = seriesIndex[contracts[pair[i]!]!]!;
    if (!isNear(series[index]!)) {
      const { carry, laterTte } = ahead[index]!;
      tte[i] = laterTte;
      dividend[i] = yields[index]!;
      rate[i] = dividend[i]! + carry / laterTte;
    }
    deviation[i] = iv[i]! * Math.sqrt(tte[i]!);
  }
  return { later: { ...columns, tte, rate, dividend }, deviation };
}

function* boundsOf(
  columns: PositionColumns,
  later: PositionColumns,
  spot: number,
  reach: number,
  step: number,
): Steps<(spot: number) => ExposureBounds> {
  const center = Math.ceil(-Math.log1p(-reach) / step) + MARGIN;
  const count = center + Math.ceil(Math.log1p(reach) / step) + MARGIN + 1;
  const first = spot * Math.exp(-center * step);
  const sums = function* (of: PositionColumns): Steps<Float64Array> {
    yield { message: 'Pricing the chain at other spots' };
    const gex = yield* gexOfColumns(of, { first, step, count });
    return gex.map((each, i) => each / (0.01 * first * Math.exp(i * step)));
  };
  const { weight, iv, tte } = columns;
  const rooted = new Float64Array(columns.count);
  for (let i = 0; i < rooted.length; i++) rooted[i] = weight[i]! * iv[i]! * tte[i]!;
  const root = yield* sums({ ...columns, weight: rooted });
  const [now, then] = [yield* sums(columns), yield* sums(later)];
  const slope = then.map((each, i) => each - now[i]!);
  const size = (values: Float64Array) => ROUNDING * values.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const vanna = new Float64Array(count);
  const vannaError = new Float64Array(count).fill(size(root) / step);
  const charm = new Float64Array(count);
  const charmError = new Float64Array(count).fill(size(now) + size(then));
  for (let i = 2; i < count - 2; i++) {
    const simple = (root[i + 1]! - root[i - 1]!) / (2 * step);
    const wider = (root[i + 2]! - root[i - 2]!) / (4 * step);
    vanna[i] = (4 * simple - wider) / 3 + root[i]!;
    vannaError[i]! += Math.abs(simple - wider) / 3;
  }
  const integrate = (i: number, direction: 1 | -1) => {
    const at = direction > 0 ? i - 1 : i;
    const outer = (slope[at - 1]! - slope[at]! - slope[at + 1]! + slope[at + 2]!) / 24;
    charm[i] = charm[i - direction]! + direction * step * ((slope[at]! + slope[at + 1]!) / 2 - outer);
    charmError[i] = charmError[i - direction]! + step * Math.abs(outer);
  };
  for (let i = center + 1; i < count - 2; i++) integrate(i, 1);
  for (let i = center - 1; i >= 1; i--) integrate(i, -1);
  // As in `sketchProfile`, the second differences at the two ends of a step bound the error of linear interpolation. The bound is doubled,
  // because vanna and charm bend more than gamma.
  const bend = (values: Float64Array, i: number) => Math.abs(values[i - 1]! - 2 * values[i]! + values[i + 1]!);
  const bounds = (values: Float64Array, errors: Float64Array, at: number): readonly [number, number] => {
    const left = Math.floor(at);
    const share = at - left;
    const value = values[left]! + share * (values[left + 1]! - values[left]!);
    const bent = 2 * share * (1 - share) * Math.max(bend(values, left), bend(values, left + 1));
    const slack = bent + errors[left]! + errors[left + 1]!;
    return [value - slack, value + slack];
  };
  return (at) => {
    const place = center + Math.log(at / spot) / step;
    return { vanna: bounds(vanna, vannaError, place), charm: bounds(charm, charmError, place) };
  };
}
