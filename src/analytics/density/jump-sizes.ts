import { merton } from '../../math/jump-diffusion.ts';
import { type LeastSquares, leastSquaresInSteps } from '../../math/least-squares.ts';
import { runToCompletion, StepCache, type Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { concatenate, fitError, type PricePoints, pricePoints, pricingErrors } from './price-points.ts';

/** The distribution of jump sizes. The logarithm of a jump is normal with this mean and this standard deviation (`width`). */
export interface JumpSizes {
  readonly mean: number;
  readonly width: number;
}

/** The sizes if the chain does not determine them: a mean fall of two percent, with a standard deviation of four percent. */
export const DEFAULT_JUMP_SIZES: JumpSizes = { mean: -0.02, width: 0.04 };

export interface JumpFit {
  readonly sizes: JumpSizes;
  /** The rest of the fit. Null if the chain has too few quotes. The sizes are then the defaults. */
  readonly fitted: {
    /** Jumps per year. */
    readonly intensity: number;
    /** The volatility of the diffusion alone in each fitted series, decimal per year. */
    readonly diffusionVolatilities: readonly number[];
    /**
     * Root mean square error of the fit, vol points: over strikes within 2.5 standard deviations, weighted by the trust in their quotes.
     */
    readonly error: number;
  } | null;
  /** The number of suitable strikes. If they are too few, they were not fitted. */
  readonly points: number;
}

/**
 * The range of days to expiry in the fit. Jumps are visible in short options only: over a quarter, there are so many jumps that their sum
 * is almost normal. Below a week, quotes are coarse.
 */
const DAYS_MIN = 6;
const DAYS_MAX = 100;
const YEAR_DAYS = 365.25;
/** Limits on the number of series, and of strikes in each. They are chosen at even distances. A larger number adds little information. */
const SERIES_MAX = 4;
const STRIKES_MAX = 16;
const STRIKES_MIN = 5;
/** Strikes further from the forward than this many standard deviations are left out. Their quotes are a few ticks, or not real. */
const DEVIATIONS_MAX = 4;
const POINTS_MIN = 20;

const MEAN_MIN = -0.2;
const MEAN_MAX = 0.1;
const WIDTH_MAX = 0.2;
/** The typical number of jumps per year. Fitted intensities are relative to it. */
const INTENSITY = 2;
const LOG_INTENSITY_MAX = 3.2;
/**
 * The strength of the pull toward the typical intensity and the default sizes. A parameter that is off by 1 costs as much as an error of
 * this much volatility at every point. If the smile shows no jumps, the pull alone determines the sizes.
 */
const REGULARIZATION = 0.0003;
/** Starts of the fit: [log of intensity / `INTENSITY`, sizes, log of diffusion volatility / at-the-money volatility]. */
const STARTS: readonly [number, JumpSizes, number][] = [
  // The default sizes.
  [0, DEFAULT_JUMP_SIZES, -0.1],
  // Many small jumps.
  [1.5, { mean: -0.035, width: 0.02 }, -0.1],
  // Few large jumps.
  [-1, { mean: -0.09, width: 0.075 }, -0.15],
];
const TRIAL_ITERATIONS = 8;
const ITERATIONS_MAX = 30;
/** The number of evaluations in a step of some 3 ms. Each evaluation prices the strikes of all targets. */
const STEP_EVALUATIONS = 10;

/**
 * Fits Merton's jump diffusion to a ticker's options between about a week and three months to expiry. All series have one intensity, one
 * mean and one width of jumps. Each series has a diffusion volatility of its own. The result is cached by prepared chain, since it depends
 * on the snapshot only.
 */
export function jumpSizesOf(prepared: PreparedChain): JumpFit {
  return runToCompletion(jumpSizesInSteps(prepared));
}

export function jumpSizesInSteps(prepared: PreparedChain): Steps<JumpFit> {
  return fits.of(prepared, '', { message: 'Fitting jumps', steps: () => fit(prepared) });
}

const fits = new StepCache<PreparedChain, JumpFit>(() => 1);

/** A series to which the model is fitted. */
interface Target {
  readonly points: PricePoints;
  readonly atmIv: number;
  readonly tte: number;
}

function* fit(prepared: PreparedChain): Steps<JumpFit> {
  const targets = evenlySpaced(targetsOf(prepared), SERIES_MAX);
  const points = targets.reduce((sum, { points: { strike } }) => sum + strike.length, 0);
  if (points < POINTS_MIN) return { sizes: DEFAULT_JUMP_SIZES, fitted: null, points };
  const penalty = REGULARIZATION * Math.sqrt(points);
  const defaults = encode([0, DEFAULT_JUMP_SIZES, 0], 0);
  const residuals = (parameters: readonly number[]): Float64Array => {
    const { intensity, sizes, volatilities } = decode(parameters, targets);
    const errors = targets.map((target, i) =>
      pricingErrors(target.points, prices(target, volatilities[i]!, intensity, sizes)),
    );
    return concatenate([...errors, defaults.map((each, i) => penalty * (parameters[i]! - each))]);
  };
  const fitFrom = (start: readonly number[], iterationsMax: number) =>
    leastSquaresInSteps(residuals, start, { iterationsMax, evaluations: STEP_EVALUATIONS });
  let best: LeastSquares | undefined;
  for (const start of STARTS) {
    const trial = yield* fitFrom(encode(start, targets.length), TRIAL_ITERATIONS);
    if (!best || trial.sumOfSquares < best.sumOfSquares) best = trial;
  }
  const { parameters } = yield* fitFrom(best!.parameters, ITERATIONS_MAX);
  const { intensity, sizes, volatilities } = decode(parameters, targets);
  const error = fitError(
    targets.map((target, i) => ({ ...target, prices: prices(target, volatilities[i]!, intensity, sizes) })),
  );
  return { sizes, fitted: { intensity, diffusionVolatilities: volatilities, error }, points };
}

function targetsOf(prepared: PreparedChain): Target[] {
  return prepared.series
    .filter(({ tte }) => tte * YEAR_DAYS >= DAYS_MIN && tte * YEAR_DAYS <= DAYS_MAX)
    .map((series) => {
      const { tte } = series;
      const atmIv = atmVolatility(series);
      return { points: sampled(pricePoints(prepared, series), DEVIATIONS_MAX * atmIv * Math.sqrt(tte)), atmIv, tte };
    })
    .filter(({ points }) => points.strike.length >= STRIKES_MIN);
}

/** Returns at most `STRIKES_MAX` of the points whose absolute log-moneyness is at most `reach`. */
function sampled(points: PricePoints, reach: number): PricePoints {
  const near = [...points.strike.keys()].filter((i) => Math.abs(Math.log(points.strike[i]!)) <= reach);
  const rows = Uint32Array.from(evenlySpaced(near, STRIKES_MAX));
  const { callPut, strike, price, vega, weight } = points;
  return {
    callPut: rowsOfColumn(callPut, rows),
    strike: rowsOfColumn(strike, rows),
    price: rowsOfColumn(price, rows),
    vega: rowsOfColumn(vega, rows),
    weight: rowsOfColumn(weight, rows),
  };
}

/** Returns at most `most` of the items, at even distances, including the first and the last. */
function evenlySpaced<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))]!);
}

function prices({ points, tte }: Target, iv: number, jumpIntensity: number, { mean, width }: JumpSizes): Float64Array {
  const { callPut, strike } = points;
  const count = strike.length;
  const model = {
    count,
    spot: 1,
    strike,
    tte,
    iv,
    rate: 0,
    dividend: 0,
    jumpIntensity,
    jumpMean: mean,
    jumpVol: width,
  };
  const { call, put } = merton(model);
  return call.map((each, i) => (callPut[i] === 1 ? each : put[i]!));
}

const MEAN_CENTRE = (MEAN_MIN + MEAN_MAX) / 2;
const MEAN_REACH = (MEAN_MAX - MEAN_MIN) / 2;

/**
 * Encodes a start as parameters that need no bounds: the log intensity, the mean and the width, and a log volatility for each series.
 * Functions map the parameters of mean and width into their bounds.
 */
function encode([logIntensity, { mean, width }, logVolatility]: (typeof STARTS)[number], series: number): number[] {
  return [
    logIntensity,
    Math.atanh((mean - MEAN_CENTRE) / MEAN_REACH),
    Math.log(width / (WIDTH_MAX - width)),
    ...new Array<number>(series).fill(logVolatility),
  ];
}

function decode(parameters: readonly number[], targets: readonly Target[]) {
  const [logIntensity, mean, width, ...logVolatilities] = parameters as [number, number, number, ...number[]];
  return {
    intensity: INTENSITY * Math.exp(Math.min(Math.max(logIntensity, -LOG_INTENSITY_MAX), LOG_INTENSITY_MAX)),
    sizes: {
      mean: MEAN_CENTRE + MEAN_REACH * Math.tanh(mean),
      width: WIDTH_MAX / (1 + Math.exp(-width)),
    },
    volatilities: targets.map(({ atmIv }, i) => atmIv * Math.exp(logVolatilities[i]!)),
  };
}
