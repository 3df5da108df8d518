import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type Exposures, exposures } from './exposures.ts';
import { flipOfPositions, type GammaFlip, profileHalfWidth } from './gamma-flip.ts';
import { type GammaProfile, type Held, levelsWithin, netGex, type Positions, positionsOf } from './gamma-profile.ts';
import { type StrikeGamma, strikeGamma, type Walls, walls } from './walls.ts';

/** Options on an index and on a fund that tracks it, as one: prices are the index's. */
export interface Combined {
  /** Price of the index over that of the fund: how the fund's prices are read as the index's. */
  readonly ratio: number;
  /** Dollars of both together, and of each. */
  readonly exposures: Exposures;
  readonly index: Exposures;
  readonly fund: Exposures;
  readonly flip: GammaFlip;
  readonly walls: Walls;
  /** Net GEX of both over spots of the index, and of each. */
  readonly profile: GammaProfile;
  readonly indexGex: Float64Array;
  readonly fundGex: Float64Array;
}

/**
 * Adds an index's options and its fund's up. Both are taken to move by the same percentages: the fund's strikes count at `ratio`
 * times themselves, and what is held of them in dollars, which needs no conversion. For the walls, each strike of the fund counts
 * at the nearest that the index has.
 */
export function combine(index: PreparedChain, fund: PreparedChain): Combined {
  const { spot } = index.chain;
  const ratio = spot / fund.chain.spot;
  const own = positionsOf(index);
  const other = inPricesOf(positionsOf(fund), ratio);
  const both = { wide: joined(own.wide, other.wide), narrow: joined(own.narrow, other.narrow) };
  const flip = flipOfPositions(both, spot);
  const level = levelsWithin(profileHalfWidth(flip, spot), spot);
  const [indexGex, fundGex] = [netGex(own, level), netGex(other, level)];
  const [ofIndex, ofFund] = [exposures(index), exposures(fund)];
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
    walls: walls(onStrikesOf(strikeGamma(index), strikeGamma(fund), ratio), spot),
    profile: { level, gex: indexGex.map((each, at) => each + fundGex[at]!) },
    indexGex,
    fundGex,
  };
}

/** With strikes k times as high, S^2 gamma is k times as much: so much less is held. */
function inPricesOf({ wide, narrow }: Positions, ratio: number): Positions {
  const scaled = (held: Held): Held => ({
    ...held,
    strike: held.strike.map((each) => each * ratio),
    weight: held.weight.map((each) => each / ratio),
  });
  return { wide: scaled(wide), narrow: scaled(narrow) };
}

function joined(a: Held, b: Held): Held {
  const column = (name: Exclude<keyof Held, 'count'>) => {
    const both = new Float64Array(a.count + b.count);
    both.set(a[name]);
    both.set(b[name], a.count);
    return both;
  };
  return {
    count: a.count + b.count,
    strike: column('strike'),
    tte: column('tte'),
    iv: column('iv'),
    rate: column('rate'),
    dividend: column('dividend'),
    weight: column('weight'),
  };
}

/** Gamma is per 1.00 of spot, of shares that are each worth a part of the index: both divide by the ratio. */
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
