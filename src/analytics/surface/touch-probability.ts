import type { Steps } from '../../core/steps.ts';
import { passage, passageProducts, type Walk } from '../../math/first-passage.ts';
import type { FittedSurface, HorizonLaw } from './fitted-surface.ts';
import { type JumpDiffusion, jumpDiffusionLaw } from './jump-diffusion-law.ts';
import { clampProbability, type PriceLaw } from './price-law.ts';
import { type Path, touchGridOf } from './touch-grid.ts';

/** A strike that the price may touch before the horizon, the spot, and the forward at the horizon, dollars. */
export type Barrier = Readonly<{ spot: number; strike: number; forward: number }>;

/**
 * The share of the random volatility in the probability of touching. Local volatility errs upwards where volatility is random. With this share, the
 * largest errors are nearest each other: 0.016 where the path has local volatility, and 0.035 in 16 of Heston's markets up to 60 days.
 */
const RANDOM_SHARE = 1 / 8;

/**
 * Returns the probabilities of touching a strike by the two continuous paths (see `TouchGrid`), and `blend`, their mean by `RANDOM_SHARE`. A surface without settlements has a
 * lognormal law, and its path is a diffusion of constant volatility. `tokens` is the cost of the surface's grid if it is not cached.
 */
export function* pathTouches(
  surface: FittedSurface,
  horizon: HorizonLaw,
  barrier: Barrier,
  tokens = 0,
): Steps<Record<Path | 'blend', number>> {
  if (surface.slices.length > 0) {
    const grid = yield* touchGridOf(surface, tokens);
    const strike = (barrier.strike * surface.spot) / barrier.spot;
    const [local, random] = (['local', 'random'] as const).map((path) => grid.probability(strike, horizon, path)) as [
      number,
      number,
    ];
    return { local, random, blend: local + RANDOM_SHARE * (random - local) };
  }
  const touch = yield* passage(walkTo(barrier, { variance: horizon.atmVariance, jumps: 0, mean: 0, width: 0 }));
  return { local: touch, random: touch, blend: touch };
}

/**
 * Returns the probability of touching a strike in the scenario of a jump law: the odds of ending beyond the strike by its law, on the side
 * away from spot, times the ratio of the odds of touching to those of ending beyond it by the jump diffusion alone.
 */
export function* jumpTouch(law: PriceLaw, model: JumpDiffusion, barrier: Barrier): Steps<number> {
  const { spot, strike, forward } = barrier;
  const side = strike >= spot ? 1 : -1;
  const end = endBeyond(law, side, strike / forward);
  const endInModel = endBeyond(jumpDiffusionLaw(model), side, strike / forward);
  const touchInModel = yield* passage(walkTo(barrier, model));
  if (touchInModel >= 1) return 1;
  // Far in a tail, both probabilities of the model may be zero in double precision.
  const ratio = endInModel > 0 ? Math.max(1, odds(touchInModel) / odds(endInModel)) : 1;
  return 1 / (1 + 1 / (odds(end) * ratio));
}

/**
 * The error of a probability p of touching is about `NUMERICAL_ERROR + MODEL_ERROR * p * (1 - p)`. The first part comes from the numerical
 * method and from quotes that are rounded to ticks. The second part is fitted to Heston markets, whose price and volatility are correlated.
 */
const NUMERICAL_ERROR = 0.003;
const MODEL_ERROR = 0.05;

/** The probabilities of touching a strike by some models, their range, and the bounds of arbitrage. */
export interface TouchRange {
  /** One for each model, within the bounds. */
  readonly probabilities: readonly number[];
  readonly low: number;
  readonly high: number;
  /** The probability of ending beyond the strike, and the price of the cheapest super-hedge (`superHedge`). */
  readonly end: number;
  readonly superHedge: number;
}

/**
 * Limits the probabilities of models to the bounds of arbitrage by `law`. The range is from the least to the largest of them, wider at both
 * ends by the error of a model. If the strike is at spot, the probabilities are 1.
 */
export function touchRange(models: readonly number[], law: PriceLaw, { spot, strike, forward }: Barrier): TouchRange {
  const side = strike >= spot ? 1 : -1;
  const end = clampProbability(endBeyond(law, side, strike / forward));
  const most = Math.max(end, superHedge(law, side, strike / forward, spot / forward));
  if (strike === spot) return { probabilities: models.map(() => 1), low: 1, high: 1, end, superHedge: 1 };
  const [low, high] = [Math.min(...models), Math.max(...models)];
  const errorOf = (p: number) => NUMERICAL_ERROR + MODEL_ERROR * p * (1 - p);
  const within = (probability: number) => Math.max(end, Math.min(probability, most));
  return {
    probabilities: models.map(within),
    low: within(low - errorOf(low)),
    high: within(high + errorOf(high)),
    end,
    superHedge: most,
  };
}

/** Returns the size of the work of `jumpTouch` (see `passageProducts`). */
export function touchProducts(model: JumpDiffusion, barrier: Barrier): number {
  return passageProducts(walkTo(barrier, model));
}

/** Returns the log-price of a jump diffusion as a walk to a strike. */
function walkTo({ spot, strike, forward }: Barrier, model: JumpDiffusion): Walk {
  const side = strike >= spot ? 1 : -1;
  const compensator = model.jumps * Math.expm1(model.mean + model.width ** 2 / 2);
  const drift = Math.log(forward / spot) - compensator - model.variance / 2;
  return {
    start: side * Math.log(strike / spot),
    drift: -side * drift,
    variance: model.variance,
    jumps: model.jumps,
    jumpMean: -side * model.mean,
    jumpWidth: model.width,
  };
}

/** Returns the probability that the price ends at or above the moneyness K/F (`side` 1), or at or below the moneyness (`side` -1). */
export function endBeyond(law: PriceLaw, side: number, moneyness: number): number {
  return side > 0 ? law.above(moneyness) : law.below(moneyness);
}

function odds(probability: number): number {
  return probability / (1 - probability);
}

const ITERATIONS = 40;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** The search range of `superHedge` beyond the forward, in standard deviations at the money. */
const REACH = 12;

/**
 * Returns an upper bound of the probability that the price touches a strike B: the price of the cheapest position worth at least 1 whenever
 * the price equals B. It has `1 / (B - K)` calls with K below B if B is above spot, else `1 / (K - B)` puts with K above B (Brown, Hobson
 * and Rogers 2001). The forward at the horizon is then between `B` and `B * F / S`, so the less favourable end replaces B. Prices are
 * convex in the strike, so there is one minimum over K.
 */
export function superHedge(law: PriceLaw, side: number, moneyness: number, spotOverForward: number): number {
  const carried = moneyness / spotOverForward;
  const barrier = side > 0 ? Math.min(moneyness, carried) : Math.max(moneyness, carried);
  const reach = REACH * Math.sqrt(law.totalVariance(0));
  const cost = (distance: number) => {
    const strike = barrier * Math.exp(-side * distance);
    return law.price(side, strike) / Math.abs(barrier - strike);
  };
  let [low, high] = [0, reach + Math.abs(Math.log(barrier))];
  for (let i = 0; i < ITERATIONS; i++) {
    const [first, second] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    if (cost(first) < cost(second)) high = second;
    else low = first;
  }
  return Math.min(1, cost((low + high) / 2));
}
