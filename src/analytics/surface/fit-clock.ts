import { DAY_MS } from '../../market/calendar.ts';
import { CALENDAR, type ClockWeights, DEFAULT_WEIGHTS, VarianceClock } from '../../market/variance-clock.ts';

/** The total variance at the money that quotes imply up to a settlement. */
export interface VariancePoint {
  /** ms since the epoch. */
  readonly settlesAt: number;
  readonly variance: number;
}

/** Bounds of the fitted weight of a day without trading. */
const SHUT_DAY_MAX = 0.3;
const STEPS = 30;
/** The fit uses expiries within this many days. In longer ones, weekends are an even share of the time. */
const DAYS_MAX = 120;
const POINTS_MIN = 5;
/** An error above this, relative to the volatility, is an event or a faulty quote, and not the clock. */
const ERROR_MAX = 0.03;
/** The calendar is the clock only if its roughness is less than this share of that of the best trading clock. */
const CALENDAR_GAIN_MIN = 0.25;
/** Penalty of a weight that is 0.1 away from the default, as a relative error of the volatilities. */
const DEFAULT_PULL = 0.003;

/**
 * Returns the clock in which a chain's volatilities at the money are smoothest from expiry to expiry. Fits the weight of a day without trading
 * in [0, 0.3]. The weight of a night is the default. Returns the calendar if it is far smoother than every trading clock. Returns the default
 * clock if the chain has fewer than five expiries within 120 days. `points` are ordered by settlement.
 */
export function fitClock(asOf: number, points: readonly VariancePoint[]): VarianceClock {
  const near = points.filter(({ settlesAt }) => settlesAt - asOf <= DAYS_MAX * DAY_MS);
  if (near.length < POINTS_MIN) return new VarianceClock(asOf);
  let best = { clock: new VarianceClock(asOf), roughness: Number.POSITIVE_INFINITY };
  for (let i = 0; i <= STEPS; i++) {
    const weights: ClockWeights = { ...DEFAULT_WEIGHTS, shutDay: (i / STEPS) * SHUT_DAY_MAX };
    const clock = new VarianceClock(asOf, weights);
    const pull = (DEFAULT_PULL * (weights.shutDay - DEFAULT_WEIGHTS.shutDay)) / 0.1;
    const roughness = roughnessOf(clock, near) + pull * pull;
    if (roughness < best.roughness) best = { clock, roughness };
  }
  const calendar = new VarianceClock(asOf, CALENDAR);
  return roughnessOf(calendar, near) < CALENDAR_GAIN_MIN * best.roughness ? calendar : best.clock;
}

/** Mean squared distance of each volatility from the line through its neighbours, in the logarithms of time and volatility. */
function roughnessOf(clock: VarianceClock, points: readonly VariancePoint[]): number {
  const x = points.map(({ settlesAt }) => Math.log(clock.years(settlesAt)));
  const y = points.map(({ variance }, i) => (Math.log(variance) - x[i]!) / 2);
  let sum = 0;
  for (let i = 1; i + 1 < points.length; i++) {
    const share = (x[i]! - x[i - 1]!) / (x[i + 1]! - x[i - 1]!);
    const error = y[i]! - y[i - 1]! - share * (y[i + 1]! - y[i - 1]!);
    sum += Math.min(error * error, ERROR_MAX * ERROR_MAX);
  }
  return sum / (points.length - 2);
}
