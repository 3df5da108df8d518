import { passage, passageProducts, type Walk } from '../../math/first-passage.ts';
import { type JumpDiffusion, jumpDiffusionLaw } from './jump-diffusion-law.ts';
import type { PriceLaw } from './price-law.ts';

/** A strike that the price may touch before the horizon, the spot, and the forward at the horizon, dollars. */
export type Barrier = Readonly<{ spot: number; strike: number; forward: number }>;

/**
 * Returns the probability that the price reaches a strike at any time up to the horizon: the odds of ending beyond it by `law`, on the side
 * away from spot, times the ratio of the odds of touching to those of ending beyond it by the jump diffusion `model`. It is at least the
 * probability of ending beyond the strike, at most `most`, the bound of `superHedge`, and 1 if the strike is at spot.
 */
export function* touchProbabilities(law: PriceLaw, model: JumpDiffusion, barrier: Barrier) {
  const { spot, strike, forward } = barrier;
  const side = strike >= spot ? 1 : -1;
  const end = endBeyond(law, side, strike / forward);
  const endInModel = endBeyond(jumpDiffusionLaw(model), side, strike / forward);
  const touchInModel = yield* passage(walkTo(barrier, model));
  const most = superHedge(law, side, strike / forward, spot / forward);
  if (touchInModel >= 1) return { probability: 1, most: 1 };
  // Far in a tail, both probabilities of the model may be zero in double precision.
  const ratio = endInModel > 0 ? Math.max(1, odds(touchInModel) / odds(endInModel)) : 1;
  const touch = 1 / (1 + 1 / (odds(end) * ratio));
  return { probability: Math.max(end, Math.min(touch, most)), most };
}

/** Returns the size of the work of `touchProbabilities` (see `passageProducts`). */
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
