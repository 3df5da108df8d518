import { StepwiseRegression } from '../../math/stepwise-regression.ts';
import { runToCompletion, type Steps } from '../../steps.ts';
import type { FittedSurface } from './fitted-surface.ts';

/** The total variance at the money at one settlement. */
export interface TermPoint {
  /** Years from the quotes to the settlement, in the clock of the surface. */
  readonly years: number;
  readonly variance: number;
  /** Half-width of the band of the volatility, as a share of it. */
  readonly band: number;
}

/** Variance that passes at once between two neighbouring settlements, for example at an earnings report. */
export interface EventVariance {
  /** Position of the first settlement after the event. The event lies after the settlement before, or after the quotes. */
  readonly settlement: number;
  /** Variance of the logarithm of the price over the event. */
  readonly variance: number;
  /** Change of the variance if each volatility moves to the edge of its band, as the root of the sum of squares. */
  readonly band: number;
  /** Standard error of the variance, from the errors of the smooth curve. */
  readonly error: number;
}

/** A volatility at the money is not known better than this share of it, nor than this share of its band. */
const ERROR_MIN = 0.003;
const BAND_SHARE = 0.2;
/** An event has at least this many standard errors. */
const ERRORS_MIN = 4;
/** The variance per year between the settlements of an event is at least this multiple of that on both sides. */
const JUMP_MIN = 1.08;
const EVENTS_MAX = 10;
/** Settlements per event, beyond those that the smooth curve needs. */
const POINTS_PER_EVENT = 3;
/** Degree of the smooth curve, by the least number of settlements. */
const DEGREES = [
  { points: 10, degree: 3 },
  { points: 7, degree: 2 },
  { points: 5, degree: 1 },
] as const;
/** If the errors are larger than this multiple of the standard errors, the degree rises, up to a maximum. */
const SCALE_MAX = 2.2;
const DEGREE_MAX = 5;
const POINTS_PER_DEGREE = 4;

/**
 * Finds events in a term structure, in order of time. The model: variance per year is a polynomial in the logarithm of time, and each event
 * adds its variance to all settlements after it. A weighted least-squares fit adds the events that explain most, up to a number, and
 * then removes those that are too small. Every number up to the maximum is tried, and the smallest error per degree of freedom wins. Points are
 * ordered by time.
 */
export function findEvents(points: readonly TermPoint[]): EventVariance[] {
  return runToCompletion(findEventsInSteps(points));
}

/** The same in steps. */
export function* findEventsInSteps(points: readonly TermPoint[]): Steps<EventVariance[]> {
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

/** Returns the variances at the money of a surface at its settlements. */
export function termStructure({ slices }: Pick<FittedSurface, 'slices'>): TermPoint[] {
  return slices.map(({ years, atmVariance, fit }) => ({ years, variance: atmVariance, band: fit.atmBand }));
}

/**
 * Returns the root mean square error of a smooth curve through a term structure without its events, as a share of the volatility. The curve
 * is the cubic of `findEvents`. Settlements are weighted by their bands. Returns `undefined` for fewer than five points.
 */
export function termResidual(points: readonly TermPoint[], events: readonly EventVariance[]): number | undefined {
  const degree = degreeFor(points);
  if (degree === undefined) return undefined;
  const model = EventModel.of(points, degree);
  for (const { settlement } of events) model.toggle(settlement);
  return model.residual();
}

/** Standard error of a volatility at the money, as a share of it. */
function relativeError(band: number): number {
  return Math.hypot(BAND_SHARE * band, ERROR_MIN);
}

function degreeFor(points: readonly TermPoint[]): number | undefined {
  return DEGREES.find((each) => points.length >= each.points)?.degree;
}

/** Variance per year between a settlement and the one before, or the quotes. */
function forwardVariance(points: readonly TermPoint[], settlement: number): number {
  const [own, before] = [points[settlement]!, points[settlement - 1] ?? { variance: 0, years: 0 }];
  return (own.variance - before.variance) / (own.years - before.years);
}

/** The regression of variance per year on powers of the logarithm of time and on the events of the model. */
class EventModel {
  private constructor(
    private readonly points: readonly TermPoint[],
    private readonly degree: number,
    /** Standard error of each variance per year. */
    private readonly errors: Float64Array,
    /** Variance per year of the calmest step from one settlement to the next. */
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
    // The years of the event's settlement scale its column. The coefficient is then a variance per year as well.
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

  toggle(settlement: number): void {
    this.regression.toggle(this.columnOf(settlement));
  }

  /** Adds the event with the largest gain. An event after the last settlement but one has no neighbours, and is not tried. */
  addBest(): void {
    let best = { gain: 0, settlement: -1 };
    for (let settlement = 0; settlement < this.points.length - 1; settlement++) {
      if (this.isEvent(settlement) || this.wouldMakeThree(settlement)) continue;
      const gain = this.regression.signedGain(this.columnOf(settlement));
      if (gain > best.gain) best = { gain, settlement };
    }
    if (best.settlement >= 0) this.toggle(best.settlement);
  }

  /** Removes the event that misses a threshold by most. Returns whether there was one. */
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

  events(): EventVariance[] {
    return this.settlements().map((settlement) => this.event(settlement));
  }

  /** Root mean square error in standard errors, per degree of freedom. */
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

  /** Variance of an event of the model. It leaves the variance of the calmest step between its settlements. */
  private varianceOf(settlement: number): number {
    const { years } = this.points[settlement]!;
    const step = years - (this.points[settlement - 1]?.years ?? 0);
    const most = (forwardVariance(this.points, settlement) - this.calmest) * step;
    return Math.min(most, years * this.regression.coefficient(this.columnOf(settlement)));
  }

  private errorOf(settlement: number): number {
    const { years } = this.points[settlement]!;
    return years * Math.max(1, this.scale) * Math.sqrt(this.regression.variance(this.columnOf(settlement)));
  }

  /**
   * Ratio of the variance per year between an event's settlements to the larger of those before and after, without their events. Before the first
   * settlement there is none. There, the change from the first step after the event to the second continues to the event.
   */
  private jump(settlement: number): number {
    const after = this.calm(settlement + 1);
    const later = this.calm(settlement + 2);
    const continued = settlement === 0 && later > 0 ? after ** 2 / later : 0;
    const before = settlement === 0 ? continued : this.calm(settlement - 1);
    return forwardVariance(this.points, settlement) / Math.max(0, after, before);
  }

  /** Variance per year between a settlement and the one before, without an event between them. 0 after the last settlement. */
  private calm(settlement: number): number {
    if (settlement >= this.points.length) return 0;
    const event = this.isEvent(settlement) ? this.varianceOf(settlement) : 0;
    const step = this.points[settlement]!.years - (this.points[settlement - 1]?.years ?? 0);
    return forwardVariance(this.points, settlement) - event / step;
  }

  private settlements(): number[] {
    return [...this.points.keys()].filter((settlement) => this.isEvent(settlement));
  }

  private isEvent(settlement: number): boolean {
    return settlement >= 0 && settlement < this.points.length && this.regression.has(this.columnOf(settlement));
  }

  /** Returns whether an event would be one of three in a row. Such events would follow any curve. */
  private wouldMakeThree(settlement: number): boolean {
    const [before, after] = [this.isEvent(settlement - 1), this.isEvent(settlement + 1)];
    return (before && after) || (before && this.isEvent(settlement - 2)) || (after && this.isEvent(settlement + 2));
  }

  private columnOf(settlement: number): number {
    return this.degree + 1 + settlement;
  }
}
