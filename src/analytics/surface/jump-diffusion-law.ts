import { runToCompletion } from '../../core/steps.ts';
import { merton } from '../../math/jump-diffusion.ts';
import { leastSquares } from '../../math/least-squares.ts';
import { NODE_Z } from './log-density-basis.ts';
import { PriceLaw } from './price-law.ts';
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
/** Added to vega before a price error is divided by it. Without it, residuals far from the money would be too large. */
const VEGA_MIN = 0.02;
/** The largest share of the variance that jumps may cause. At larger shares, paths without a jump would give the density a narrow peak. */
const JUMP_SHARE_MAX = 0.75;
/** The parameters of `modelOf` that the fit prefers: jumps cause half of the permitted variance (`JUMP_SHARE_MAX`) and tend to go down. */
const PRIOR = { share: 0, direction: -0.5 } as const;
/** The residual for a parameter that is 1.00 away from `PRIOR`. */
const PRIOR_WEIGHT = 0.5;
const ITERATIONS = 15;

/**
 * Returns the jump diffusion that fits the quotes best. `jumps` is the expected number of jumps, above 0. The fit minimises the sum of the
 * squared relative volatility errors. A weak penalty (`PRIOR`) favours jumps with a negative mean that cause three eighths of the variance.
 * If there are few quotes, the penalty determines the result. `atmVariance` is the total variance at the money.
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
 * Returns the jump diffusion for the parameters of a fit. Each parameter may be any number. `level` is `ln(total variance / atmVariance)`.
 * `share` is the log-odds of a ratio: the jumps' share of the variance divided by `JUMP_SHARE_MAX`. `direction` is
 * `artanh(mean of a jump / root mean square of a jump)`.
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
