import type { Steps } from '../../core/steps.ts';
import { StepwiseRegression } from '../../math/stepwise-regression.ts';
import type { FittedSurface } from './fitted-surface.ts';

/** The total variance at the money at one settlement. */
export interface TermPoint {
  /** Years of trading time from the quotes to the settlement, measured by the surface's variance clock. */
  readonly years: number;
  readonly variance: number;
  /** Half-width of the bid-ask band for the at-the-money volatility, as a share of this volatility. */
  readonly band: number;
}

/** Variance of a sudden price move between two neighbouring settlements, for example after an earnings report. */
export interface EventVariance {
  /** Position of the first settlement after the event. Position 0 means that the event lies between the quotes and the first settlement. */
  readonly settlement: number;
  /** Variance of the change of the log-price at the event. */
  readonly variance: number;
  /** Uncertainty from the bid-ask bands: the root of the summed squared changes as each volatility moves to the edge of its band. */
  readonly band: number;
  /** Standard error of the variance, estimated from distances between the volatilities and the fitted curve. */
  readonly error: number;
}

/** The standard error of an at-the-money volatility: `ERROR_MIN` of the volatility and `BAND_SHARE` of its half-width, added in squares. */
const ERROR_MIN = 0.003;
const BAND_SHARE = 0.2;
/** The minimum variance of an event, as a multiple of the variance's standard error. */
const ERRORS_MIN = 4;
/** The minimum variance per year between an event's two settlements, as a multiple of that in each neighbouring interval. */
const JUMP_MIN = 1.08;
/** The largest number of events in a term structure. */
const EVENTS_MAX = 10;
/** The number of events is at most (settlements - coefficients of the fitted curve) / `POINTS_PER_EVENT`. */
const POINTS_PER_EVENT = 3;
/** The lowest degree of the fitted curve is the `degree` of the first entry whose `points` is at most the number of settlements. */
const DEGREES = [
  { points: 10, degree: 3 },
  { points: 7, degree: 2 },
  { points: 5, degree: 1 },
] as const;
/**
 * A fit tries a higher degree only if its root mean square error is at least this number of standard errors. Such a degree is at most
 * `DEGREE_MAX`, and at most the number of settlements divided by `POINTS_PER_DEGREE`.
 */
const SCALE_MAX = 2.2;
const DEGREE_MAX = 5;
const POINTS_PER_DEGREE = 4;

/**
 * Finds events in a term structure, `points` in order of time, and returns them in this order. Without events, total variance per year is a
 * polynomial in the logarithm of time. Each event adds its variance to every later settlement. The algorithm fits this model by weighted
 * least squares, adds the event that reduces the error most, one at a time, and removes events that are too small. The model with the
 * smallest error per degree of freedom has the result.
 */
export function* findEvents(points: readonly TermPoint[]): Steps<EventVariance[]> {
  const least = degreeFor(points);
  if (least === undefined) return [];
  const most = Math.max(least, Math.min(DEGREE_MAX, Math.floor(points.length / POINTS_PER_DEGREE)));
  let best = EventModel.of(points, least);
  for (let degree = least; degree <= most && (degree === least || best.scale > SCALE_MAX); degree++) {
    const grown = EventModel.of(points, degree);
    const count = Math.min(EVENTS_MAX, Math.floor((points.length - degree - 1) / POINTS_PER_EVENT));
    for (let i = 0; i <= count; i++) {
      if (i > 0) grown.addBest();
      const model = grown.copy();
      while (model.removeWorst());
      if (model.scale < best.scale) best = model;
      yield { message: 'Finding events' };
    }
  }
  return best.events();
}

/** Returns the at-the-money variance at each settlement of a surface. */
export function termStructure({ slices }: Pick<FittedSurface, 'slices'>): TermPoint[] {
  return slices.map(({ years, atmVariance, fit }) => ({ years, variance: atmVariance, band: fit.atmBand }));
}

/**
 * Returns the root mean square distance between the volatilities and a smooth curve, as a share of the volatility. The fit includes the
 * given events. The curve is a polynomial of the lowest degree that `findEvents` tries. Settlements with narrow bands have more weight.
 * Returns `undefined` for fewer than five points.
 */
export function termResidual(points: readonly TermPoint[], events: readonly EventVariance[]): number | undefined {
  const degree = degreeFor(points);
  if (degree === undefined) return undefined;
  const model = EventModel.of(points, degree);
  for (const { settlement } of events) model.toggle(settlement);
  return model.residual();
}

/** Returns the standard error of a volatility at the money, as a share of this volatility. */
function relativeError(band: number): number {
  return Math.hypot(BAND_SHARE * band, ERROR_MIN);
}

/** Returns the lowest degree of the fitted curve, or `undefined` if there are too few points for a curve. */
function degreeFor(points: readonly TermPoint[]): number | undefined {
  return DEGREES.find((each) => points.length >= each.points)?.degree;
}

/** Returns the variance per year in the interval before a settlement. The interval begins at the previous settlement or at the quotes. */
function forwardVariance(points: readonly TermPoint[], settlement: number): number {
  const [own, before] = [points[settlement]!, points[settlement - 1] ?? { variance: 0, years: 0 }];
  return (own.variance - before.variance) / (own.years - before.years);
}

/** Regression of the variance per year on the events and on powers of the logarithm of time. */
class EventModel {
  private constructor(
    private readonly points: readonly TermPoint[],
    private readonly degree: number,
    /** Standard error of each variance per year. */
    private readonly errors: Float64Array,
    /** The smallest variance per year between two successive settlements, at least 0. */
    private readonly calmest: number,
    private readonly regression: StepwiseRegression,
  ) {}

  /** Returns a model without events. */
  static of(points: readonly TermPoint[], degree: number): EventModel {
    const errors = Float64Array.from(
      points,
      ({ years, variance, band }) => (2 * variance * relativeError(band)) / years,
    );
    const column = (value: (point: TermPoint, i: number) => number) =>
      Float64Array.from(points, (point, i) => value(point, i) / errors[i]!);
    const logs = points.map(({ years }) => Math.log(years));
    const center = logs.reduce((sum, each) => sum + each, 0) / logs.length;
    const powers = Array.from({ length: degree + 1 }, (_, power) => column((_, i) => (logs[i]! - center) ** power));
    // An event's column is multiplied by the years up to the event's settlement. So the column's coefficient is also a variance per year.
    const steps = points.map((event, at) => column(({ years }, i) => (i >= at ? event.years / years : 0)));
    const values = column(({ variance, years }) => variance / years);
    const regression = StepwiseRegression.of([...powers, ...steps], values);
    for (let power = 0; power <= degree; power++) regression.toggle(power);
    const calmest = Math.max(0, Math.min(...points.map((_, i) => forwardVariance(points, i))));
    return new EventModel(points, degree, errors, calmest, regression);
  }

  copy(): EventModel {
    return new EventModel(this.points, this.degree, this.errors, this.calmest, this.regression.copy());
  }

  /** Adds the event before a settlement to the model. If the model already has this event, removes the event. */
  toggle(settlement: number): void {
    this.regression.toggle(this.columnOf(settlement));
  }

  /** Adds the event that reduces the error most. The last interval gets no event, because no later settlement could confirm the event. */
  addBest(): void {
    let best = { gain: 0, settlement: -1 };
    for (let settlement = 0; settlement < this.points.length - 1; settlement++) {
      if (this.isEvent(settlement) || this.wouldMakeThree(settlement)) continue;
      const gain = this.regression.signedGain(this.columnOf(settlement));
      if (gain > best.gain) best = { gain, settlement };
    }
    if (best.settlement >= 0) this.toggle(best.settlement);
  }

  /** Removes the event that is furthest below a threshold. Returns false if all events reach the thresholds. */
  removeWorst(): boolean {
    let worst = { size: 1, settlement: -1 };
    for (const settlement of this.settlements()) {
      const errors = this.varianceOf(settlement) / this.errorOf(settlement);
      const size = Math.min(errors / ERRORS_MIN, this.jump(settlement) / JUMP_MIN);
      if (size < worst.size) worst = { size, settlement };
    }
    if (worst.settlement >= 0) this.toggle(worst.settlement);
    return worst.settlement >= 0;
  }

  /** Returns the events of the model in time order. */
  events(): EventVariance[] {
    return this.settlements().map((settlement) => this.event(settlement));
  }

  /** Square root of the sum of squared errors per degree of freedom. Errors are measured in standard errors. */
  get scale(): number {
    const parameters = this.degree + 1 + this.settlements().length;
    return Math.sqrt(this.regression.sumOfSquares / (this.points.length - parameters));
  }

  /** Root mean square error as a share of the volatility. */
  residual(): number {
    const weights = this.points.map(({ band }) => relativeError(band) ** -2);
    return Math.sqrt(this.regression.sumOfSquares / weights.reduce((sum, each) => sum + each, 0));
  }

  private event(settlement: number): EventVariance {
    const { years } = this.points[settlement]!;
    const moves = this.regression.leverage(this.columnOf(settlement)).map((each, i) => {
      const { band, variance, years: own } = this.points[i]!;
      return (each * 2 * band * variance) / own / this.errors[i]!;
    });
    const variance = this.varianceOf(settlement);
    return { settlement, variance, band: years * Math.hypot(...moves), error: this.errorOf(settlement) };
  }

  /**
   * Returns the variance of one event, limited so that the rest of its interval has at least the variance per year of the calmest interval.
   */
  private varianceOf(settlement: number): number {
    const { years } = this.points[settlement]!;
    const step = years - (this.points[settlement - 1]?.years ?? 0);
    const most = (forwardVariance(this.points, settlement) - this.calmest) * step;
    return Math.min(most, years * this.regression.coefficient(this.columnOf(settlement)));
  }

  /** Returns the standard error of one event's variance. */
  private errorOf(settlement: number): number {
    const { years } = this.points[settlement]!;
    return years * Math.max(1, this.scale) * Math.sqrt(this.regression.variance(this.columnOf(settlement)));
  }

  /**
   * Returns the variance per year in an event's interval over that in the neighbouring interval with more variance, without the neighbours'
   * events. The first interval has one neighbour, and is also compared with an extrapolation of the next two at a constant ratio.
   */
  private jump(settlement: number): number {
    const after = this.calm(settlement + 1);
    const later = this.calm(settlement + 2);
    const continued = settlement === 0 && later > 0 ? after ** 2 / later : 0;
    const before = settlement === 0 ? continued : this.calm(settlement - 1);
    return forwardVariance(this.points, settlement) / Math.max(0, after, before);
  }

  /** Returns the variance per year in the interval before a settlement without its event, or 0 after the last settlement. */
  private calm(settlement: number): number {
    if (settlement >= this.points.length) return 0;
    const event = this.isEvent(settlement) ? this.varianceOf(settlement) : 0;
    const step = this.points[settlement]!.years - (this.points[settlement - 1]?.years ?? 0);
    return forwardVariance(this.points, settlement) - event / step;
  }

  /** Returns the settlements of the events of the model. */
  private settlements(): number[] {
    return [...this.points.keys()].filter((settlement) => this.isEvent(settlement));
  }

  private isEvent(settlement: number): boolean {
    return settlement >= 0 && settlement < this.points.length && this.regression.has(this.columnOf(settlement));
  }

  /** Returns whether an event would be the third in successive intervals. Three could explain any term structure. */
  private wouldMakeThree(settlement: number): boolean {
    const [before, after] = [this.isEvent(settlement - 1), this.isEvent(settlement + 1)];
    return (before && after) || (before && this.isEvent(settlement - 2)) || (after && this.isEvent(settlement + 2));
  }

  private columnOf(settlement: number): number {
    return this.degree + 1 + settlement;
  }
}
