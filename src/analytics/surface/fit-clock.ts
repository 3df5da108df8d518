import { DAY_MS, newYorkDate } from '../../market/calendar.ts';
import { CALENDAR, type ClockWeights, DEFAULT_WEIGHTS, VarianceClock } from '../../market/variance-clock.ts';

/** The total variance at the money that quotes imply up to a settlement. */
export interface VariancePoint {
  /** ms since the epoch. */
  readonly settlesAt: number;
  readonly variance: number;
  /** Half-width of the bid-ask band of the volatility, as a share of it. Absent if the volatility does not come from quotes. */
  readonly band?: number;
}

/** The largest weight that the fit tries for a day of a weekend. */
const SHUT_DAY_MAX = 0.3;
/** The number of equal steps from weight 0 to the largest weight. */
const STEPS = 30;
/** The fit uses expiries up to `DAYS_MAX` days after the quotes. Later, weekends are nearly a constant share of the time to expiry. */
const DAYS_MAX = 120;
const POINTS_MIN = 5;
/** The share of errors that the fit leaves out. The fit leaves out the largest errors, because events and faulty quotes cause them. */
const TRIMMED_SHARE = 0.3;
/** The fit uses calendar time if its roughness is below this share of the roughness for the best trading clock. */
const CALENDAR_GAIN_MIN = 0.25;
/** A weight that is 0.1 away from the default has the same penalty as a relative volatility error of this size. */
const DEFAULT_PULL = 0.003;

/** The number of fits of the weight of a night. */
const PASSES = 3;
/** The weights that the fit tries for a night, and the standard deviation of the prior around the default. */
const NIGHT = { least: 0.1, most: 1, step: 0.01, prior: 0.3 };
/**
 * The standard error of a volatility, compared with those of settlements next to it: `PAIR_ERROR_MIN` of the volatility and `PAIR_BAND_SHARE`
 * of its half-width, added in squares. Both are smaller than for events, because errors of neighbours are alike.
 */
const [PAIR_ERROR_MIN, PAIR_BAND_SHARE] = [0.0003, 0.1];
/** The standard error of a session's variance per time, as a share of the difference between the variances per time before and after. */
const SLOPE_SHARE = 0.5;
/** If the variance per time of the interval before and that of the interval after differ by more, the larger has an event, and the other counts. */
const EVENT_RATIO = 1.25;
/** Errors beyond this number of standard errors cost linearly (Huber), because an event may lie between the settlements. */
const HUBER = 1.5;

/**
 * Returns the variance clock of a chain. The weight of a night comes from dates on which options settle at the open and at the close, and
 * is the default if the quotes have no such date (`fitNight`). The weight of a day of a weekend, between 0 and 0.3, is the one with which
 * at-the-money volatilities change most smoothly from expiry to expiry, and the default with fewer than five expiries within 120 days.
 * Returns calendar time if volatilities are far smoother by calendar time than by the best trading clock. `points` must be in order of
 * settlement.
 */
export function fitClock(asOf: number, points: readonly VariancePoint[]): VarianceClock {
  const first = fitNight(asOf, points, DEFAULT_WEIGHTS.shutDay);
  const near = points.filter(({ settlesAt }) => settlesAt - asOf <= DAYS_MAX * DAY_MS);
  if (near.length < POINTS_MIN) return new VarianceClock(asOf, first);
  const weights = fitNight(asOf, points, fitShutDay(asOf, near, first));
  const [trading, calendar] = [new VarianceClock(asOf, weights), new VarianceClock(asOf, CALENDAR)];
  const linearRoughness = (clock: VarianceClock) => {
    const years = near.map(({ settlesAt }) => clock.years(settlesAt));
    const variances = near.map(({ variance }) => variance);
    return roughnessOf(years, variances, 'linear');
  };
  return linearRoughness(calendar) < CALENDAR_GAIN_MIN * linearRoughness(trading) ? calendar : trading;
}

/** Returns the weight of a day of a weekend with which volatilities are smoothest. */
function fitShutDay(asOf: number, near: readonly VariancePoint[], weights: ClockWeights): number {
  const variances = near.map(({ variance }) => variance);
  const [least, most] = sessionsOfBoth(asOf, near, (shutDay) => ({ ...weights, shutDay }), SHUT_DAY_MAX);
  let best = { shutDay: DEFAULT_WEIGHTS.shutDay, roughness: Number.POSITIVE_INFINITY };
  for (let i = 0; i <= STEPS; i++) {
    const shutDay = (i / STEPS) * SHUT_DAY_MAX;
    const times = least.map((each, j) => each + (i / STEPS) * (most[j]! - each));
    const pull = (DEFAULT_PULL * (shutDay - DEFAULT_WEIGHTS.shutDay)) / 0.1;
    const roughness = roughnessOf(times, variances, 'logarithmic') + pull * pull;
    if (roughness < best.roughness) best = { shutDay, roughness };
  }
  return best.shutDay;
}

/**
 * Returns weights whose night fits the settlements of one date, with a given weight of a day of a weekend. Between the settlement at the
 * open of a date and that at its close lies one session. Before and after them lie nights and sessions. The weight is right if the session
 * has the variance per time that a straight line gives between the intervals before and after it. The fit minimises the errors of all such
 * dates, in standard errors, and the distance from the default. The result has the default if no date has quotes.
 */
function fitNight(asOf: number, points: readonly VariancePoint[], shutDay: number): ClockWeights {
  const pairs = pairsOf(asOf, points);
  const defaults = { ...DEFAULT_WEIGHTS, shutDay };
  if (pairs.length === 0) return defaults;
  const [least, most] = sessionsOfBoth(asOf, pairs.flat(), (night) => ({ night, shutDay }), 1);
  const timesOf = (at: number, night: number) =>
    [0, 1, 2, 3].map((i) => least[4 * at + i]! + night * (most[4 * at + i]! - least[4 * at + i]!));
  const count = Math.round((NIGHT.most - NIGHT.least) / NIGHT.step);
  const nights = Array.from({ length: count + 1 }, (_, i) => Number((NIGHT.least + i * NIGHT.step).toFixed(2)));
  /** Returns the cost of each weight, with the standard errors at `from`. `weighs` gives the weight of the interval after each session. */
  const costsBy = (from: number, weighs: typeof weightAfter) => {
    const shares = pairs.map((four, at) => weighs(four, timesOf(at, from)));
    const scales = pairs.map((four, at) => sessionError(four, timesOf(at, from), shares[at]!).scale);
    return nights.map((night) =>
      pairs.reduce(
        (sum, four, at) => sum + huber(sessionError(four, timesOf(at, night), shares[at]!).error / scales[at]!),
        ((night - defaults.night) / NIGHT.prior) ** 2,
      ),
    );
  };
  // Whether an interval has an event, and the standard errors, depend on the weight: each fit takes those of the fit before.
  let costs = costsBy(defaults.night, weightAfter);
  for (let pass = 1; pass < PASSES; pass++) costs = costsBy(nights[leastAt(costs)]!, calmWeightAfter);
  const best = leastAt(costs);
  const [night, lowest] = [nights[best]!, costs[best]!];
  const odds = costs.map((cost) => Math.exp((lowest - cost) / 2));
  const squares = odds.reduce((sum, each, i) => sum + each * (nights[i]! - night) ** 2, 0);
  const error = Math.sqrt(squares / odds.reduce((sum, each) => sum + each, 0));
  return { night, shutDay, nightFit: { pairs: pairs.length, error } };
}

type Four = readonly [before: VariancePoint, open: VariancePoint, close: VariancePoint, after: VariancePoint];

/** Returns the settlements at the open and the close of a date, with those before and after, for each date with quotes of all four. */
function pairsOf(asOf: number, points: readonly VariancePoint[]): Four[] {
  const all = [{ settlesAt: asOf, variance: 0, band: 0 }, ...points];
  const fours = all.slice(3).map((_, i): Four => [all[i]!, all[i + 1]!, all[i + 2]!, all[i + 3]!]);
  return fours.filter(
    (four) =>
      newYorkDate(four[1].settlesAt) === newYorkDate(four[2].settlesAt) &&
      four.every(({ band }) => Number.isFinite(band)),
  );
}

/** Returns the variance per time before and after a session. `times` are sessions from the quotes to the four settlements. */
function ratesOf([before, open, close, after]: Four, times: readonly number[]): readonly [number, number] {
  return [
    (open.variance - before.variance) / (times[1]! - times[0]!),
    (after.variance - close.variance) / (times[3]! - times[2]!),
  ];
}

/** Returns the weight of the interval after a session in the straight line to its middle, from the middles of the two intervals. */
function weightAfter(_: Four, times: readonly number[]): number {
  return (times[2]! - times[0]!) / (times[2]! - times[0]! + times[3]! - times[1]!);
}

/** Like `weightAfter`, but an interval with an event has no weight. */
function calmWeightAfter(four: Four, times: readonly number[]): number {
  const [early, late] = ratesOf(four, times);
  const hasEvent = Math.max(early, late) > EVENT_RATIO * Math.min(early, late);
  return hasEvent ? Number(late < early) : weightAfter(four, times);
}

/** Returns by how much a session's variance differs from the one that its neighbours give, and the standard error of the difference. */
function sessionError(four: Four, times: readonly number[], weight: number) {
  const [before, open, close, after] = four;
  const [early, late] = ratesOf(four, times);
  const session = times[2]! - times[1]!;
  const error = close.variance - open.variance - session * (early + weight * (late - early));
  const fromEarly = (session * (1 - weight)) / (times[1]! - times[0]!);
  const fromLate = (session * weight) / (times[3]! - times[2]!);
  const slope = SLOPE_SHARE * session * Math.min(Math.abs(late - early), (EVENT_RATIO - 1) * Math.min(early, late));
  const scale = Math.hypot(
    slope,
    fromEarly * varianceError(before),
    (1 + fromEarly) * varianceError(open),
    (1 + fromLate) * varianceError(close),
    fromLate * varianceError(after),
  );
  return { error, scale };
}

function varianceError({ variance, band }: VariancePoint): number {
  return 2 * variance * Math.hypot(PAIR_BAND_SHARE * band!, PAIR_ERROR_MIN);
}

function leastAt(costs: readonly number[]): number {
  return costs.indexOf(Math.min(...costs));
}

function huber(errors: number): number {
  const size = Math.abs(errors);
  return size <= HUBER ? size * size : HUBER * (2 * size - HUBER);
}

/**
 * Returns the sessions up to each point by clocks with a weight of 0 and of `most`. Sessions are linear in the weight, so that two clocks
 * are enough for all weights. The unit of time changes no fit.
 */
function sessionsOfBoth(
  asOf: number,
  points: readonly VariancePoint[],
  weights: (weight: number) => ClockWeights,
  most: number,
): [number[], number[]] {
  return [0, most].map((weight) => {
    const clock = new VarianceClock(asOf, weights(weight));
    return points.map(({ settlesAt }) => clock.sessions(settlesAt));
  }) as [number[], number[]];
}

/**
 * Returns the mean squared distance of a variance from the line through its two neighbours. Distances are measured as shares of the
 * volatility. The largest distances are left out. For `logarithmic`, the lines are straight on logarithmic scales of time and variance.
 * Logarithmic scales suit the curvature of term structures. For `linear`, the lines are straight on linear scales of time and variance. On
 * linear scales, an event bends the term structure only at the settlements before and after the event.
 */
function roughnessOf(times: readonly number[], variances: readonly number[], scale: 'logarithmic' | 'linear'): number {
  const [x, y] = scale === 'linear' ? [times, variances] : [times.map(Math.log), variances.map(Math.log)];
  const squares = x.slice(2).map((_, i) => {
    const share = (x[i + 1]! - x[i]!) / (x[i + 2]! - x[i]!);
    const distance = y[i + 1]! - y[i]! - share * (y[i + 2]! - y[i]!);
    return (distance / (scale === 'linear' ? 2 * y[i + 1]! : 2)) ** 2;
  });
  const kept = squares.sort((a, b) => a - b).slice(0, squares.length - Math.ceil(TRIMMED_SHARE * squares.length));
  return kept.reduce((sum, each) => sum + each, 0) / kept.length;
}
