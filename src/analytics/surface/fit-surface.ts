import { StepCache, StepMeter, type Steps } from '../../core/steps.ts';
import { VarianceClock } from '../../market/variance-clock.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { D1_OF_25_DELTA } from '../chain/skew.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { otmPrices } from './calendar-order.ts';
import { fitClock } from './fit-clock.ts';
import { type FittedDensity, fitSlice } from './fit-slice.ts';
import { type FitQuality, FittedSurface, type RefusedSeries, type SurfaceSlice } from './fitted-surface.ts';
import { NODE_Z } from './log-density-basis.ts';
import { lognormalLaw } from './price-law.ts';
import {
  askBounds,
  type BandSource,
  bandSource,
  joinColumns,
  quoteBands,
  quotedAtm,
  usableBands,
} from './quote-bands.ts';
import { lawOf, type Rung, rungAbove, rungOf, rungsBetween } from './rungs.ts';
import type { PriceBounds, QuoteBands, SliceModel } from './slice-model.ts';

/** Maximum of contracts that a step reads, and of quotes that a step fits. A settlement with more quotes gets its own step. */
const STEP_CONTRACTS = 10_000;
const STEP_QUOTES = 500;
/**
 * The maximum number of rounds in which settlements that contradict each other are fitted again. Two settlements contradict each other if
 * an option is cheaper at the later settlement, at the same ratio of strike to forward.
 */
const SWEEPS = 3;
/** Neighbouring settlements are compared up to this distance from the forward, in standard deviations. Every second node is compared. */
const BOUND_REACH = 4;
const BOUND_NODES = [...NODE_Z.keys()].filter((i) => i % 2 === 0 && Math.abs(NODE_Z[i]!) <= BOUND_REACH);
/** The smallest contradiction that causes a new fit, as a share of a quote's half-width. `raiseAbove` removes smaller contradictions. */
const CONTRADICTION_MIN = 0.05;
/** `FitQuality.error` uses quotes up to this distance from the forward, in standard deviations. */
const FIT_REACH = 3;
/**
 * A price counts as outside a band if its distance from the band exceeds this share of the half-width. Rounding causes smaller distances.
 */
const BAND_ROUNDING = 1e-4;

/** The series that settle at one instant, with their quotes. */
interface Settlement {
  readonly settlesAt: number;
  readonly series: readonly PreparedSeries[];
  /** The series with the most quotes. */
  readonly main: PreparedSeries;
  readonly quotes: QuoteBands;
  /** Upper bounds from options without a bid, beyond the outermost quotes. */
  readonly asks: PriceBounds;
  /** Standard deviation of the log-price at the money, which scales the nodes. */
  readonly deviation: number;
}

/** A settlement with the density that fits its quotes. */
interface Fit extends Settlement {
  /** The number of quotes that `usableBands` leaves out. */
  readonly leftOut: number;
  density: FittedDensity;
}

/** A series with its quotes. */
type Member = Readonly<{ series: PreparedSeries; quotes: QuoteBands; asks: PriceBounds }>;

function joinSeries(settlesAt: number, members: readonly Member[]): Settlement {
  const main = members.toSorted((a, b) => b.quotes.price.length - a.quotes.price.length)[0]!.series;
  const quotes = joinColumns(members.map((member) => member.quotes));
  const asks = joinColumns(members.map((member) => member.asks));
  const series = members.map((member) => member.series);
  return { settlesAt, series, main, quotes, asks, deviation: atmVolatility(main) * Math.sqrt(main.tte) };
}

/** Returns the surface of a chain, cached by `prepared`. `tokens` is the rate-limit cost if the surface is not cached. */
export function cachedSurface(prepared: PreparedChain, tokens = 0): Steps<FittedSurface> {
  return surfaces.of(prepared, '', { ...FITTING, tokens, steps: () => fitSurface(prepared) });
}

const surfaces = new StepCache<PreparedChain, FittedSurface>(() => 1);

/**
 * Fits the surface of a chain, which gives the probability distribution of the price at every later time. If `prepared` has only some series
 * of a chain, `source` is the data of the whole chain.
 */
export function* fitSurface(prepared: PreparedChain, source = bandSource(prepared)): Steps<FittedSurface> {
  const refused: RefusedSeries[] = [];
  const settlements = new Map<number, Member[]>();
  const reading = new StepMeter(STEP_CONTRACTS);
  for (const series of prepared.series) {
    if (reading.beginsNextStep(series.end - series.start)) yield FITTING;
    const quotes = quoteBands(prepared, series, source);
    if (typeof quotes === 'string') refused.push({ series, reason: quotes, atm: quotedAtm(prepared, series) });
    else
      settlements
        .getOrInsert(series.series.settlesAt, [])
        .push({ series, quotes, asks: askBounds(prepared, series, quotes) });
  }
  const meter = new StepMeter(STEP_QUOTES);
  const fits: Fit[] = [];
  const ordered = [...settlements]
    .sort(([a], [b]) => a - b)
    .map(([settlesAt, members]) => joinSeries(settlesAt, members));
  const usable = usableBands(
    ordered.map(({ quotes }) => quotes),
    ordered.map(({ deviation }) => deviation),
  );
  for (const [i, settlement] of ordered.entries()) {
    const quotes = usable[i]!;
    if (meter.beginsNextStep(quotes.price.length + settlement.asks.price.length)) yield FITTING;
    const density = fitSlice(quotes, settlement.deviation, fits.at(-1)?.density.coefficients, settlement.asks);
    fits.push({ ...settlement, quotes, leftOut: settlement.quotes.price.length - quotes.price.length, density });
  }
  yield* reconcile(fits, meter);
  const clock = fitClock(
    prepared.chain.asOf,
    fits.map(({ settlesAt, density, deviation, quotes }) => {
      const variance = rungOf(density, deviation, 0).atmVariance;
      return { settlesAt, variance, ...(source === 'quotes' && { band: bandAt(quotes, 0, Math.sqrt(variance)) }) };
    }),
  );
  const slices: SurfaceSlice[] = [];
  const rungs: Rung[] = [];
  for (const { settlesAt, series, main, quotes, asks, leftOut, deviation: own, density: fitted } of fits) {
    if (meter.beginsNextStep(quotes.price.length)) yield FITTING;
    const before = rungs.at(-1);
    // The kernel width is proportional to the deviation, and must not decrease with time (see `raiseAbove`).
    const deviation = Math.max(own, before?.deviation ?? 0);
    const density = deviation === own ? fitted : fitSlice(quotes, deviation, fitted.coefficients, asks);
    const years = clock.years(settlesAt);
    if (before) rungs.push(...rungsBetween(before, rungOf(density, deviation, years)));
    const rung = rungAbove(rungs.at(-1), density, deviation, years);
    rungs.push(rung);
    const { forward, rate, tte } = main;
    const { law, atmVariance } = rung;
    const fit = qualityOf(rung, quotes, density.model);
    slices.push({ settlesAt, series, quotes, leftOut, forward, rate, tte, years, law, atmVariance, fit });
  }
  if (slices.length === 0) return lognormalSurface(prepared, source, refused);
  return new FittedSurface(prepared.chain.spot, clock, source, slices, refused, rungs);
}

/**
 * Returns a surface of lognormal distributions. The surface is for chains in which no series has enough strikes to determine a smile. The
 * at-the-money variances come from the few strikes with a volatility.
 */
function lognormalSurface(
  prepared: PreparedChain,
  source: BandSource,
  refused: readonly RefusedSeries[],
): FittedSurface {
  const clock = new VarianceClock(prepared.chain.asOf);
  const known = prepared.series
    .filter(({ smile }) => smile.logMoneyness.length > 0)
    .toSorted((a, b) => a.series.settlesAt - b.series.settlesAt);
  const rungs: Rung[] = [];
  for (const series of known) {
    const before = rungs.at(-1);
    const years = clock.years(series.series.settlesAt);
    const atmVariance = Math.max(atmVolatility(series) ** 2 * series.tte, before?.atmVariance ?? 0);
    if (years === before?.years) continue;
    const law = lognormalLaw(atmVariance);
    rungs.push({ nodes: law.nodes, masses: law.masses, deviation: Math.sqrt(atmVariance), years, law, atmVariance });
  }
  return new FittedSurface(prepared.chain.spot, clock, source, [], refused, rungs, known);
}

const FITTING = { message: 'Fitting the surface' };

/** Fits a settlement again if it contradicts a neighbouring settlement. The settlement with the wider quotes changes more. */
function* reconcile(fits: readonly Fit[], meter: StepMeter): Steps<void> {
  /** The sweep after which each settlement was last fitted. Without a change, two settlements still do not contradict each other. */
  const fittedIn = fits.map(() => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let hasChanged = false;
    for (let i = fits.length - 1; i >= 0; i--) {
      const fit = fits[i]!;
      if ([i - 1, i, i + 1].every((each) => !(fittedIn[each]! >= sweep))) continue;
      const bounds = boundsOf(fit, fits[i - 1], fits[i + 1]);
      if (bounds === undefined) continue;
      if (meter.beginsNextStep(fit.quotes.price.length)) yield FITTING;
      const { coefficients, model } = fit.density;
      fit.density = fitSlice(fit.quotes, fit.deviation, coefficients, bounds, undefined, model);
      fittedIn[i] = sweep + 1;
      hasChanged = true;
    }
    if (!hasChanged) return;
  }
}

/**
 * Returns price bounds for the new fit of a contradicting settlement. The bounds are the neighbour's prices. Returns `undefined` if the
 * settlement contradicts neither neighbour. The tolerance of a bound is the half-width of the neighbour's quotes, so narrow quotes give
 * firm bounds.
 */
function boundsOf(fit: Fit, before: Fit | undefined, after: Fit | undefined): PriceBounds | undefined {
  const strikes = Float64Array.from(BOUND_NODES, (i) => fit.density.nodes[i]!);
  const own = otmPrices(fit.density, strikes);
  const bounds: PriceBounds[] = [];
  for (const [neighbour, side] of [
    [before, -1],
    [after, 1],
  ] as const) {
    if (!neighbour) continue;
    const price = otmPrices(neighbour.density, strikes);
    const contradicts = own.some((each, i) => {
      const beyond = side * (each - price[i]!);
      if (!(beyond > 0)) return false;
      const tolerances = [neighbour, fit].map(({ quotes }) => halfWidthAt(quotes, strikes[i]!));
      return beyond > CONTRADICTION_MIN * Math.min(...tolerances);
    });
    if (!contradicts) continue;
    const callPut = strikes.map((strike) => (strike < 1 ? -1 : 1));
    const tolerance = strikes.map((strike) => halfWidthAt(neighbour.quotes, strike));
    // The fit compares prices of spread masses, unlike the test above. Without the spread, a bound is too low by 1 % at the money.
    const law = lawOf(neighbour.density.nodes, neighbour.density.masses, neighbour.deviation);
    const spread = strikes.map((strike, i) => law.price(callPut[i]!, strike));
    bounds.push({ callPut, moneyness: strikes, price: spread, tolerance, side: strikes.map(() => side) });
  }
  return bounds.length === 0 ? undefined : joinColumns([fit.asks, ...bounds]);
}

/** Returns the half-width of the quote nearest to `strike`, which is a multiple of the forward. */
function halfWidthAt({ moneyness, halfWidth }: QuoteBands, strike: number): number {
  let nearest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < moneyness.length; i++) {
    const distance = Math.abs(moneyness[i]! - strike);
    if (distance >= least) continue;
    least = distance;
    nearest = i;
  }
  return halfWidth[nearest]!;
}

function qualityOf({ masses, atmVariance }: Rung, quotes: QuoteBands, model: SliceModel): FitQuality {
  const errors = model.errorsOf(masses);
  const atmDeviation = Math.sqrt(atmVariance);
  const reach = Math.exp(FIT_REACH * atmDeviation);
  let outside = 0;
  let squares = 0;
  let count = 0;
  for (let i = 0; i < quotes.price.length; i++) {
    const error = errors[i]!;
    const moneyness = quotes.moneyness[i]!;
    if (Math.abs(error) > 1 + BAND_ROUNDING) outside++;
    if (moneyness > reach || moneyness * reach < 1) continue;
    squares += error * error;
    count++;
  }
  const band = (z: number) => bandAt(quotes, z, atmDeviation);
  return {
    outside,
    error: count === 0 ? 0 : Math.sqrt(squares / count),
    atmBand: band(0),
    // The argument of `band` is the approximate distance of the strike from the forward, in standard deviations.
    skewBand: band(-D1_OF_25_DELTA) + band(D1_OF_25_DELTA),
  };
}

/** Returns the half-width of a quote's band in volatility, as a share of that at the money. The quote is at `z` deviations. */
function bandAt(quotes: QuoteBands, z: number, deviation: number): number {
  return halfWidthAt(quotes, Math.exp(z * deviation)) / (deviation * vegaAt(z, deviation));
}

/**
 * Returns the derivative of an option price with respect to `deviation`, in multiples of the forward. The strike is `z` deviations from the
 * forward.
 */
function vegaAt(z: number, deviation: number): number {
  const d1 = -z + deviation / 2;
  return Math.exp(-(d1 * d1) / 2) / Math.sqrt(2 * Math.PI);
}
