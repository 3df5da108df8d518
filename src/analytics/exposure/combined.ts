import { runToCompletion, StepMeter, type Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type Exposures, exposuresInSteps } from './dollar-exposures.ts';
import { flipOfPositionsInSteps, type GammaFlip, profileHalfWidth } from './gamma-flip.ts';
import {
  type GammaProfile,
  type Held,
  levelsWithin,
  netGexInSteps,
  type Positions,
  positionsInSteps,
} from './gamma-profile.ts';
import { type StrikeGamma, strikeGammaInSteps, type Walls, walls } from './walls.ts';

/** Options on an index and on a fund that tracks it, combined. Prices are the index's. */
export interface Combined {
  /** Price of the index divided by the price of the fund. It converts the fund's prices to the index's. */
  readonly ratio: number;
  /** Dollars: of both together, then of each. */
  readonly exposures: Exposures;
  readonly index: Exposures;
  readonly fund: Exposures;
  readonly flip: GammaFlip;
  readonly walls: Walls;
  /** Net GEX over spots of the index: of both together, then of each. */
  readonly profile: GammaProfile;
  readonly indexGex: Float64Array;
  readonly fundGex: Float64Array;
}

/**
 * Adds up the options of an index and of its fund. Both are taken to move by the same percentages. So the fund's strikes are multiplied by
 * `ratio`, and its positions count in dollars, which need no conversion. For the walls, each strike of the fund counts at the nearest
 * strike of the index.
 */
export function combine(index: PreparedChain, fund: PreparedChain): Combined {
  return runToCompletion(combineInSteps(index, fund));
}

export function* combineInSteps(index: PreparedChain, fund: PreparedChain): Steps<Combined> {
  const { spot } = index.chain;
  const ratio = spot / fund.chain.spot;
  const own = yield* positionsInSteps(index);
  const other = yield* inPricesOf(yield* positionsInSteps(fund), ratio);
  const both = { wide: yield* joined(own.wide, other.wide), narrow: yield* joined(own.narrow, other.narrow) };
  const flip = yield* flipOfPositionsInSteps(both, spot);
  const level = levelsWithin(profileHalfWidth(flip, spot), spot);
  const indexGex = yield* netGexInSteps(own, level);
  const fundGex = yield* netGexInSteps(other, level);
  const [ofIndex, ofFund] = [yield* exposuresInSteps(index), yield* exposuresInSteps(fund)];
  const [indexGamma, fundGamma] = [yield* strikeGammaInSteps(index), yield* strikeGammaInSteps(fund)];
  return {
    ratio,
    exposures: {
      dex: ofIndex.dex + ofFund.dex,
      gex: ofIndex.gex + ofFund.gex,
      grossGex: ofIndex.grossGex + ofFund.grossGex,
      vex: ofIndex.vex + ofFund.vex,
      cex: ofIndex.cex + ofFund.cex,
    },
    index: ofIndex,
    fund: ofFund,
    flip,
    walls: walls(onStrikesOf(indexGamma, fundGamma, ratio), spot),
    profile: { level, gex: indexGex.map((each, at) => each + fundGex[at]!) },
    indexGex,
    fundGex,
  };
}

/** Rows of columns that one step makes. */
const STEP_ROWS = 131_072;
const MESSAGE = 'Adding up the positions of both';

/** With strikes k times as high, S^2 gamma is k times as large, so positions are divided by k. */
function* inPricesOf({ wide, narrow }: Positions, ratio: number): Steps<Positions> {
  const meter = new StepMeter(STEP_ROWS);
  const scaled = function* (held: Held): Steps<Held> {
    if (meter.isFull(held.count)) yield { message: MESSAGE };
    const [strike, weight] = [new Float64Array(held.count), new Float64Array(held.count)];
    for (let at = 0; at < held.count; at++) {
      strike[at] = held.strike[at]! * ratio;
      weight[at] = held.weight[at]! / ratio;
    }
    return { ...held, strike, weight };
  };
  return { wide: yield* scaled(wide), narrow: yield* scaled(narrow) };
}

function* joined(a: Held, b: Held): Steps<Held> {
  const meter = new StepMeter(STEP_ROWS);
  const column = function* (name: Exclude<keyof Held, 'count'>): Steps<Float64Array> {
    if (meter.isFull(a.count + b.count)) yield { message: MESSAGE };
    const both = new Float64Array(a.count + b.count);
    both.set(a[name]);
    both.set(b[name], a.count);
    return both;
  };
  return {
    count: a.count + b.count,
    strike: yield* column('strike'),
    tte: yield* column('tte'),
    iv: yield* column('iv'),
    rate: yield* column('rate'),
    dividend: yield* column('dividend'),
    weight: yield* column('weight'),
  };
}

/**
 * Adds the fund's gamma to the strikes of the index. Gamma is in shares per 1.00 of spot. Shares and spot of the fund are both worth
 * 1 / `ratio` of the index's, so gamma is divided by `ratio` twice.
 */
function onStrikesOf(index: StrikeGamma, fund: StrikeGamma, ratio: number): StrikeGamma {
  const { strike } = index;
  const [call, put] = [index.call.slice(), index.put.slice()];
  let at = 0;
  for (const [from, each] of fund.strike.entries()) {
    const price = each * ratio;
    while (at + 1 < strike.length && Math.abs(strike[at + 1]! - price) <= Math.abs(strike[at]! - price)) at++;
    call[at]! += fund.call[from]! / ratio ** 2;
    put[at]! += fund.put[from]! / ratio ** 2;
  }
  return { strike, call, put };
}
