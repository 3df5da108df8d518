import { runToCompletion, type Steps } from '../../core/steps.ts';
import { merton } from '../../math/jump-diffusion.ts';
import { leastSquares } from '../../math/least-squares.ts';
import { fitSlice } from './fit-slice.ts';
import type { FittedSurface, HorizonLaw, SurfaceSlice } from './fitted-surface.ts';
import { NODE_Z } from './log-density-basis.ts';
import { lognormalLaw, PriceLaw } from './price-law.ts';
import { rungOf } from './rungs.ts';
import type { QuoteBands } from './slice-model.ts';

/** Merton's (1976) jump diffusion over a horizon. Variances refer to the log-price over the whole horizon. */
export interface JumpDiffusion {
  /** Variance from diffusion alone. */
  readonly variance: number;
  /** Expected number of jumps, which is -ln P(no jump). */
  readonly jumps: number;
  /** Mean and standard deviation of the log-price change in one jump. */
  readonly mean: number;
  readonly width: number;
}

/** The mixture leaves out a number of jumps if it is above the expected number and its Poisson probability is at most this value. */
const POISSON_MIN = 1e-14;

/** Returns the price distribution at the horizon: a mixture of lognormals, one for each number of jumps. Its mean is the forward. */
export function jumpDiffusionLaw({ variance, jumps, mean, width }: JumpDiffusion): PriceLaw {
  const factor = mean + (width * width) / 2;
  const compensator = jumps * Math.expm1(factor);
  const components: { node: number; mass: number; width: number }[] = [];
  let mass = Math.exp(-jumps);
  let nodeOfTotal = 0;
  for (let n = 0; n <= jumps || mass > POISSON_MIN; n++) {
    const node = Math.exp(n * factor - compensator);
    components.push({ node, mass, width: Math.sqrt(variance + n * width * width) });
    nodeOfTotal += mass * node;
    mass *= jumps / (n + 1);
  }
  const total = components.reduce((sum, each) => sum + each.mass, 0);
  const column = (value: (each: (typeof components)[number]) => number) => Float64Array.from(components, value);
  return new PriceLaw(
    column(({ node }) => (node * total) / nodeOfTotal),
    column(({ mass: each }) => each / total),
    column(({ width }) => width),
  );
}

/** The approximate number of quotes in the fit. */
const FITTED_QUOTES = 24;
/** A relative volatility error of this size gives a residual of about 1. */
const ERROR_UNIT = 0.02;
/** This value is added to vega before a price error is divided by vega, because residuals far from the money would be too large. */
const VEGA_MIN = 0.02;
/** The largest share of the variance that jumps may cause. At larger shares, paths without a jump would give the density a narrow peak. */
const JUMP_SHARE_MAX = 0.75;
/** The parameters of `modelOf` that the fit prefers: jumps cause half of the permitted variance (`JUMP_SHARE_MAX`) and tend to go down. */
const PRIOR = { share: 0, direction: -0.5 } as const;
/** The residual for a parameter that is 1.00 away from `PRIOR`. */
const PRIOR_WEIGHT = 0.5;
const ITERATIONS = 15;

/**
 * Returns the jump diffusion with the smallest sum of squared relative volatility errors, for an expected number of jumps above 0. A weak
 * penalty (`PRIOR`) favours falling jumps that cause three eighths of the variance, and decides if there are few quotes. `atmVariance` is
 * the total variance at the money.
 */
export function fitJumpDiffusion(quotes: QuoteBands, atmVariance: number, jumps: number): JumpDiffusion {
  const { callPut, moneyness, price, halfWidth } = quotes;
  const every = Math.max(1, Math.floor(price.length / FITTED_QUOTES));
  const deviation = Math.sqrt(atmVariance);
  const rows = [...price.keys()].filter((i) => i % every === 0);
  const strike = Float64Array.from(rows, (i) => moneyness[i]!);
  const scale = rows.map((i) => {
    const d1 = -Math.log(moneyness[i]!) / deviation + deviation / 2;
    const vega = Math.exp(-(d1 * d1) / 2) / Math.sqrt(2 * Math.PI);
    return ERROR_UNIT * deviation * (vega + VEGA_MIN) + halfWidth[i]!;
  });
  const residuals = (parameters: readonly number[]) => {
    const { variance, mean, width } = modelOf(parameters, atmVariance, jumps);
    const { call, put } = merton({
      count: rows.length,
      spot: 1,
      strike,
      tte: 1,
      iv: Math.sqrt(variance),
      rate: 0,
      dividend: 0,
      jumpIntensity: jumps,
      jumpMean: mean,
      jumpVol: width,
    });
    const errors = rows.map((i, j) => ((callPut[i]! > 0 ? call : put)[j]! - price[i]!) / scale[j]!);
    return Float64Array.of(
      ...errors,
      PRIOR_WEIGHT * (parameters[1]! - PRIOR.share),
      PRIOR_WEIGHT * (parameters[2]! - PRIOR.direction),
    );
  };
  const { parameters } = runToCompletion(
    leastSquares(residuals, [0, PRIOR.share, PRIOR.direction], {
      iterationsMax: ITERATIONS,
      evaluations: Number.POSITIVE_INFINITY,
    }),
  );
  return modelOf(parameters, atmVariance, jumps);
}

/**
 * Returns the jump diffusion for any parameters of a fit: `ln(total variance / atmVariance)`, the log-odds of the jumps' share of the
 * variance over `JUMP_SHARE_MAX`, and `artanh(mean of a jump / root mean square of a jump)`.
 */
function modelOf([level, share, direction]: readonly number[], atmVariance: number, jumps: number): JumpDiffusion {
  const total = atmVariance * Math.exp(level!);
  const ofJumps = (JUMP_SHARE_MAX * total) / (1 + Math.exp(-share!));
  const size = Math.sqrt(ofJumps / jumps);
  const cosine = Math.tanh(direction!);
  return { variance: total - ofJumps, jumps, mean: size * cosine, width: size * Math.sqrt(1 - cosine * cosine) };
}

/** Returns the log-density of ln(S/F) at each node, up to a constant. `deviation` is the standard deviation that scales the nodes. */
export function logDensityAtNodes(law: PriceLaw, deviation: number): Float64Array {
  const centers = law.nodes.map((node, i) => Math.log(node) - law.widths[i]! ** 2 / 2);
  return NODE_Z.map((z) => {
    const terms = centers.map((center, i) => {
      const width = law.widths[i]!;
      return Math.log(law.masses[i]! / width) - ((deviation * z - center) / width) ** 2 / 2;
    });
    const top = Math.max(...terms);
    return top + Math.log(terms.reduce((sum, term) => sum + Math.exp(term - top), 0));
  });
}

/** The distribution of the price at a horizon, for a given probability of no jump. */
export interface JumpLaw {
  /** ms since the epoch. */
  readonly endsAt: number;
  readonly horizon: HorizonLaw;
  /** The distribution for all answers: the jump diffusion, adjusted as smoothly as possible to the bid-ask bands. */
  readonly law: PriceLaw;
  /** The jump diffusion without the fit to the bid-ask bands. */
  readonly jumpDiffusion: JumpDiffusion;
  /** The quotes of the nearest settlement, converted to the horizon. Empty if no settlement of the chain determines a smile. */
  readonly quotes: QuoteBands;
  /** The settlement of `quotes`. Undefined if `quotes` is empty. */
  readonly slice: SurfaceSlice | undefined;
}

const NO_QUOTES: QuoteBands = {
  callPut: new Float64Array(0),
  moneyness: new Float64Array(0),
  price: new Float64Array(0),
  halfWidth: new Float64Array(0),
};

/**
 * Returns the price distribution at `endsAt` (ms since the epoch), for the probability `noJump` of no jump until then. It is lognormal for
 * 1. Otherwise, Merton's jump diffusion with -ln(noJump) expected jumps is fitted to the quotes, and `fitSlice` adjusts its density to the
 * bands. With dense quotes, `noJump` hardly matters.
 */
export function* jumpLawAt(surface: FittedSurface, endsAt: number, noJump: number): Steps<JumpLaw> {
  const horizon = surface.lawAt(endsAt);
  const { atmVariance } = horizon;
  const deviation = Math.sqrt(atmVariance);
  const slice = nearestSlice(surface, horizon);
  const quotes = slice ? carriedQuotes(slice, horizon) : NO_QUOTES;
  const common = { endsAt, horizon, quotes, slice };
  if (noJump === 1) {
    const jumpDiffusion = { variance: atmVariance, jumps: 0, mean: 0, width: 0 };
    return { ...common, law: lognormalLaw(atmVariance), jumpDiffusion };
  }
  const jumps = -Math.log(noJump);
  const fitted = slice ? quotes : atTheMoney(atmVariance);
  const jumpDiffusion = fitJumpDiffusion(fitted, atmVariance, jumps);
  const law = jumpDiffusionLaw(jumpDiffusion);
  if (!slice) return { ...common, law, jumpDiffusion };
  yield { message: 'Moving the law to the quotes' };
  const density = fitSlice(quotes, deviation, undefined, undefined, logDensityAtNodes(law, deviation));
  return { ...common, law: rungOf(density, deviation, horizon.years).law, jumpDiffusion };
}

/** Returns the settlement whose at-the-money variance is nearest to the variance of the horizon, by the ratio of the two variances. */
function nearestSlice({ slices }: FittedSurface, { atmVariance }: HorizonLaw): SurfaceSlice | undefined {
  const distance = (slice: SurfaceSlice) => Math.abs(Math.log(slice.atmVariance / atmVariance));
  return slices.toSorted((a, b) => distance(a) - distance(b))[0];
}

/**
 * Converts the quotes of a settlement to a horizon. Strikes stay as many deviations from the forward, and the bands' half-widths and their
 * distances from the surface are scaled with the deviation. At the settlement itself, nothing changes.
 */
function carriedQuotes({ quotes, law, atmVariance }: SurfaceSlice, horizon: HorizonLaw): QuoteBands {
  if (law === horizon.law) return quotes;
  const { callPut, moneyness, price, halfWidth } = quotes;
  const scale = Math.sqrt(horizon.atmVariance / atmVariance);
  const carried = moneyness.map((each) => each ** scale);
  return {
    callPut,
    moneyness: carried,
    price: price.map((each, i) => {
      const error = each - law.price(callPut[i]!, moneyness[i]!);
      return horizon.law.price(callPut[i]!, carried[i]!) + scale * error;
    }),
    halfWidth: halfWidth.map((each) => each * scale),
  };
}

/** Returns the quote of one at-the-money call. */
function atTheMoney(atmVariance: number): QuoteBands {
  const price = lognormalLaw(atmVariance).price(1, 1);
  const one = (value: number) => Float64Array.of(value);
  return { callPut: one(1), moneyness: one(1), price: one(price), halfWidth: one(price * 1e-3) };
}
