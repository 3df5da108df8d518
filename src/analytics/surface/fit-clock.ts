import { DAY_MS } from '../../market/calendar.ts';
import { CALENDAR, DEFAULT_WEIGHTS, VarianceClock } from '../../market/variance-clock.ts';

/** The total variance at the money that quotes imply up to a settlement. */
export interface VariancePoint {
  /** ms since the epoch. */
  readonly settlesAt: number;
  readonly variance: number;
}

/** The largest weight that the fit tries for a day without trading. */
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

/**
 * Returns the variance clock for which at-the-money volatilities change most smoothly from expiry to expiry. Fits the weight of a day
 * without trading, between 0 and 0.3. The weight of a night is the default. Returns calendar time if volatilities are far smoother by
 * calendar time than by the best trading clock. Returns the default clock if the chain has fewer than five expiries within 120 days.
 * `points` must be in order of settlement.
 */
export function fitClock(asOf: number, points: readonly VariancePoint[]): VarianceClock {
  const near = points.filter(({ settlesAt }) => settlesAt - asOf <= DAYS_MAX * DAY_MS);
  if (near.length < POINTS_MIN) return new VarianceClock(asOf);
  const variances = near.map(({ variance }) => variance);
  const clockOf = (shutDay: number) => new VarianceClock(asOf, { ...DEFAULT_WEIGHTS, shutDay });
  // The sessions to a settlement are linear in the weight, so that two clocks are enough. The unit of time does not change the roughness.
  const [least, most] = [0, SHUT_DAY_MAX].map((shutDay) => {
    const clock = clockOf(shutDay);
    return near.map(({ settlesAt }) => clock.sessions(settlesAt));
  }) as [number[], number[]];
  let best = { shutDay: DEFAULT_WEIGHTS.shutDay, roughness: Number.POSITIVE_INFINITY };
  for (let i = 0; i <= STEPS; i++) {
    const shutDay = (i / STEPS) * SHUT_DAY_MAX;
    const times = least.map((each, j) => each + (i / STEPS) * (most[j]! - each));
    const pull = (DEFAULT_PULL * (shutDay - DEFAULT_WEIGHTS.shutDay)) / 0.1;
    const roughness = roughnessOf(times, variances, 'logarithmic') + pull * pull;
    if (roughness < best.roughness) best = { shutDay, roughness };
  }
  const [trading, calendar] = [clockOf(best.shutDay), new VarianceClock(asOf, CALENDAR)];
  const linearRoughness = (clock: VarianceClock) => {
    const years = near.map(({ settlesAt }) => clock.years(settlesAt));
    return roughnessOf(years, variances, 'linear');
  };
  return linearRoughness(calendar) < CALENDAR_GAIN_MIN * linearRoughness(trading) ? calendar : trading;
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
