import { passageInSteps } from '../../math/first-passage.ts';
import type { Steps } from '../../steps.ts';
import { type JumpDiffusion, jumpDiffusionLaw } from './jump-diffusion-law.ts';
import type { PriceLaw } from './price-law.ts';

/** A strike that the price may touch on its way from spot to the horizon, whose forward is the mean of the law. */
export interface Barrier {
  readonly spot: number;
  readonly strike: number;
  readonly forward: number;
}

export interface TouchProbability {
  readonly probability: number;
  /** The upper bound without arbitrage. */
  readonly most: number;
}

/**
 * Returns the probability that the price is at or beyond a strike at some moment up to the horizon. Beyond is the side of the strike that spot
 * is not on. The odds of ending beyond come from `law`, and are multiplied by the ratio of the odds of touching to those of ending beyond in
 * the jump diffusion. The result is at least the probability of ending beyond, and at most what a vanilla option that pays as much on a touch
 * costs (`superHedge`). For a strike at spot it is 1.
 */
export function* touchInSteps(
  law: PriceLaw,
  model: JumpDiffusion,
  { spot, strike, forward }: Barrier,
): Steps<TouchProbability> {
  const side = strike >= spot ? 1 : -1;
  const end = endBeyond(law, side, strike / forward);
  const endInModel = endBeyond(jumpDiffusionLaw(model), side, strike / forward);
  const compensator = model.jumps * Math.expm1(model.mean + model.width ** 2 / 2);
  const drift = Math.log(forward / spot) - compensator - model.variance / 2;
  const touchInModel = yield* passageInSteps({
    start: side * Math.log(strike / spot),
    drift: -side * drift,
    variance: model.variance,
    jumps: model.jumps,
    jumpMean: -side * model.mean,
    jumpWidth: model.width,
  });
  const most = superHedge(law, side, strike / forward, spot / forward);
  if (touchInModel >= 1) return { probability: 1, most: 1 };
  // Far in a tail, the model's probabilities may both be zero in double precision.
  const ratio = endInModel > 0 ? Math.max(1, odds(touchInModel) / odds(endInModel)) : 1;
  const touch = 1 / (1 + 1 / (odds(end) * ratio));
  return { probability: Math.max(end, Math.min(touch, most)), most };
}

export function endBeyond(law: PriceLaw, side: number, moneyness: number): number {
  return side > 0 ? law.above(moneyness) : law.below(moneyness);
}

function odds(probability: number): number {
  return probability / (1 - probability);
}

const ITERATIONS = 40;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** The struck options reach this many deviations at the money beyond the forward. */
const REACH = 12;

/**
 * Returns an upper bound of the probability of touching a strike B: the least price of a position in one option that is worth at least one when
 * the price is at B, at any moment. For B above spot these are calls with strikes K < B, 1 / (B - K) of each, and for B below spot puts
 * (Brown, Hobson and Rogers 2001). While the price is at B, the forward to the horizon is between B and B F/S, and the position must be worth
 * enough at both. The ratio of price to distance has one minimum, because prices are convex in the strike.
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
