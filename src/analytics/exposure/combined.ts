import { recordOf } from '../../core/record-of.ts';
import { StepMeter, type Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { exposuresOf } from './dollar-exposures.ts';
import { flipOfPositions, profileHalfWidth, quotedStrikes } from './gamma-flip.ts';
import {
  levelsWithin,
  netGexAtLevels,
  type PositionColumns,
  type Positions,
  positionColumns,
  positionsOf,
} from './gamma-profile.ts';
import { signProbabilityOf } from './sign-probability.ts';
import { type StrikeGamma, strikeGamma, walls } from './walls.ts';

/**
 * Adds up the options of an index and of its fund, and of each alone (`index`, `fund`). Both are assumed to move by the same percentage:
 * the fund's strikes are multiplied by `ratio`, and its gamma counts at the nearest strike of the index. Prices are those of the index, and
 * exposures are in dollars.
 */
export function* combine(index: PreparedChain, fund: PreparedChain) {
  const { spot } = index.chain;
  const ratio = spot / fund.chain.spot;
  const indexPositions = yield* positionsOf(index);
  const fundPositions = yield* rescale(yield* positionsOf(fund), ratio);
  const both = {
    wide: yield* concatenatePositions(indexPositions.wide, fundPositions.wide),
    narrow: yield* concatenatePositions(indexPositions.narrow, fundPositions.narrow),
  };
  const [low, high] = quotedStrikes(index);
  const [fundLow, fundHigh] = quotedStrikes(fund).map((each) => each * ratio) as [number, number];
  const flip = yield* flipOfPositions(both, spot, [Math.min(low, fundLow), Math.max(high, fundHigh)]);
  const level = levelsWithin(profileHalfWidth(flip, spot), spot);
  const indexGex = yield* netGexAtLevels(indexPositions, level);
  const fundGex = yield* netGexAtLevels(fundPositions, level);
  const [ofIndex, ofFund] = [yield* exposuresOf(index), yield* exposuresOf(fund)];
  const [indexGamma, fundGamma] = [yield* strikeGamma(index), yield* strikeGamma(fund)];
  return {
    ratio,
    exposures: {
      ...recordOf(['dex', 'gex', 'grossGex', 'vex', 'cex'] as const, (name) => ofIndex[name] + ofFund[name]),
      signProbability: signProbabilityOf([index, fund]),
    },
    index: ofIndex,
    fund: ofFund,
    flip,
    walls: walls(addOnIndexStrikes(indexGamma, fundGamma, ratio), spot),
    profile: { level, gex: indexGex.map((each, i) => each + fundGex[i]!) },
    indexGex,
    fundGex,
  };
}

/** The number of column rows that one step writes. */
const STEP_ROWS = 131_072;
const MESSAGE = 'Adding up the positions of both';

/** Multiplies strikes by `ratio`. The new strike multiplies `spot^2 * gamma` by `ratio`, so positions are divided by `ratio`. */
function* rescale({ wide, narrow }: Positions, ratio: number): Steps<Positions> {
  const meter = new StepMeter(STEP_ROWS);
  const rescaleColumns = function* (columns: PositionColumns): Steps<PositionColumns> {
    if (meter.beginsNextStep(columns.count)) yield { message: MESSAGE };
    const [strike, weight] = [new Float64Array(columns.count), new Float64Array(columns.count)];
    for (let i = 0; i < columns.count; i++) {
      strike[i] = columns.strike[i]! * ratio;
      weight[i] = columns.weight[i]! / ratio;
    }
    return { ...columns, strike, weight };
  };
  return { wide: yield* rescaleColumns(wide), narrow: yield* rescaleColumns(narrow) };
}

function concatenatePositions(a: PositionColumns, b: PositionColumns): Steps<PositionColumns> {
  const count = a.count + b.count;
  return positionColumns(count, new StepMeter(STEP_ROWS), MESSAGE, (name) => {
    const both = new Float64Array(count);
    both.set(a[name]);
    both.set(b[name], a.count);
    return both;
  });
}

/** Adds the fund's gamma to the index's strikes, divided by `ratio` for the shares and again for the size of a move. */
function addOnIndexStrikes(index: StrikeGamma, fund: StrikeGamma, ratio: number): StrikeGamma {
  const { strike } = index;
  const [call, put] = [index.call.slice(), index.put.slice()];
  let i = 0;
  for (const [from, each] of fund.strike.entries()) {
    const price = each * ratio;
    while (i + 1 < strike.length && Math.abs(strike[i + 1]! - price) <= Math.abs(strike[i]! - price)) i++;
    call[i]! += fund.call[from]! / ratio ** 2;
    put[i]! += fund.put[from]! / ratio ** 2;
  }
  return { strike, call, put };
}
