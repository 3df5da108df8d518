import { recordOf } from '../../core/record-of.ts';
import { StepMeter, type Steps } from '../../core/steps.ts';
import { MARKET_UNITS } from '../../math/black-scholes.ts';
import { PAIRS_MAX, pairExposures, partialSums } from '../../math/exposure-kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { dayAheadOf, loadPairs, PAIR_ARENA } from './day-ahead.ts';
import { gexScale } from './gex-by-series.ts';
import { strikeIndex } from './strike-index.ts';

/**
 * Sums of dealers' exposures, dollars, with one row per group of contracts. A contract without a volatility counts only in open interest
 * and volume, and in gamma if the feed gives a gamma.
 */
export interface ExposureSums {
  /** GEX of calls and of puts, per 1 % move. By the default convention, dealers are short puts, so the GEX of puts is negative. */
  readonly callGex: Float64Array;
  readonly putGex: Float64Array;
  /** GEX of calls and puts together, per 1 % move. */
  readonly netGex: Float64Array;
  /** The sum of the absolute GEX of the contracts, per 1 % move. */
  readonly grossGex: Float64Array;
  /** Net delta-notional, the change of delta-notional per vol point, and its drift over the coming day. */
  readonly dex: Float64Array;
  readonly vex: Float64Array;
  readonly cex: Float64Array;
  /** Number of contracts. 0 if the feed does not give the number. */
  readonly callOpenInterest: Float64Array;
  readonly putOpenInterest: Float64Array;
  readonly callVolume: Float64Array;
  readonly putVolume: Float64Array;
}

/** The number of pairs priced in a step of some 3 ms. */
const STEP_PAIRS = 16_384;
const MESSAGE = 'Summing up exposures by strike';

/** Returns the dealers' exposures at each strike, ascending, over all prepared series. */
export function* exposuresByStrike(prepared: PreparedChain) {
  const { strike, index } = yield* strikeIndex(prepared.pairs);
  return { strike, ...(yield* sumExposures(prepared, index, strike.length)) };
}

/** Returns the exposure sums of each group of pairs. `group` has the group of each pair, from 0 to `groups` - 1. */
export function* sumExposures(prepared: PreparedChain, group: Uint32Array, groups: number): Steps<ExposureSums> {
  const { chain, row, callPut, position, multiplier, gamma, pairs } = prepared;
  const { openInterest, volume, spot } = chain;
  const { contracts } = pairs;
  const ahead = dayAheadOf(prepared);
  const sums = recordOf(SUMS, () => new Float64Array(groups));
  const { callGex, putGex, netGex, grossGex, dex, vex, cex } = sums;
  const { callOpenInterest, putOpenInterest, callVolume, putVolume } = sums;
  const { callPut: sideOfPair, iv, factor, laterFactor, delta, vanna, change } = PAIR_ARENA;
  const scale = gexScale(chain);
  const partial = partialSums();
  const meter = new StepMeter(STEP_PAIRS);
  if (pairs.count > STEP_PAIRS) yield { message: MESSAGE };
  for (let from = 0; from < pairs.count; from += PAIRS_MAX) {
    const end = Math.min(from + PAIRS_MAX, pairs.count);
    if (meter.beginsNextStep(end - from)) yield { message: MESSAGE };
    loadPairs({}, prepared, ahead, from, end, spot);
    pairExposures(end - from, spot, partial);
    for (let pair = 0, i = contracts[from]!; pair < end - from; pair++) {
      const to = group[from + pair]!;
      const otherDelta = factor[pair]!;
      const otherChange = laterFactor[pair]! - otherDelta;
      for (const next = contracts[from + pair + 1]!; i < next; i++) {
        const side = callPut[i]!;
        const listed = row[i]!;
        const held = position[i]!;
        const gex = held * gamma[i]! * multiplier[i]! * scale;
        netGex[to]! += gex;
        grossGex[to]! += Math.abs(gex);
        if (side === 1) {
          callGex[to]! += gex;
          callOpenInterest[to]! += openInterest[listed]! || 0;
          callVolume[to]! += volume[listed]! || 0;
        } else {
          putGex[to]! += gex;
          putOpenInterest[to]! += openInterest[listed]! || 0;
          putVolume[to]! += volume[listed]! || 0;
        }
        if (iv[pair] === 0) continue;
        const dollars = held * multiplier[i]! * spot;
        // Only the out-of-the-money side of a pair is priced, and the other follows by put-call parity.
        const other = side === sideOfPair[pair] ? 0 : side;
        dex[to]! += dollars * (delta[pair]! + other * otherDelta);
        vex[to]! += dollars * vanna[pair]! * MARKET_UNITS.vanna;
        cex[to]! += dollars * (change[pair]! + other * otherChange);
      }
    }
  }
  return sums;
}

const SUMS = [
  ...(['callGex', 'putGex', 'netGex', 'grossGex', 'dex', 'vex', 'cex'] as const),
  ...(['callOpenInterest', 'putOpenInterest', 'callVolume', 'putVolume'] as const),
];

/** Returns the net GEX of all contracts at each of the given strikes, dollars per 1 % move. */
export function netGexAt(prepared: PreparedChain, strikes: readonly number[]): number[] {
  const { chain, strike, position, gamma, multiplier } = prepared;
  const scale = gexScale(chain);
  const wanted = new Map([...new Set(strikes)].map((each, i) => [each, i]));
  const net = new Float64Array(wanted.size);
  for (let i = 0; i < strike.length; i++) {
    const to = wanted.get(strike[i]!);
    if (to !== undefined) net[to]! += position[i]! * gamma[i]! * multiplier[i]! * scale;
  }
  return strikes.map((each) => net[wanted.get(each)!]!);
}

/**
 * Returns the dealers' exposures (`sums`) of each series at each of its strikes. A cell is one series at one strike with a live contract,
 * sorted by series and strike. `strike` has the distinct strikes, ascending. `seriesOfCell` and `strikeOfCell` are positions.
 */
export function* exposureMatrix(prepared: PreparedChain) {
  const { pairs, seriesIndex } = prepared;
  const { strike, index } = yield* strikeIndex(pairs);
  const cell = new Uint32Array(pairs.count);
  const seriesOfCell = new Uint16Array(pairs.count);
  const strikeOfCell = new Uint32Array(pairs.count);
  let cells = 0;
  for (let pair = 0; pair < pairs.count; pair++) {
    const series = seriesIndex[pairs.contracts[pair]!]!;
    // Strikes ascend within a series. A call and a put with different volatilities are two pairs in the same cell.
    const isNew = cells === 0 || series !== seriesOfCell[cells - 1] || index[pair] !== strikeOfCell[cells - 1];
    if (isNew) {
      seriesOfCell[cells] = series;
      strikeOfCell[cells++] = index[pair]!;
    }
    cell[pair] = cells - 1;
  }
  return {
    strike,
    seriesOfCell: seriesOfCell.subarray(0, cells),
    strikeOfCell: strikeOfCell.subarray(0, cells),
    sums: yield* sumExposures(prepared, cell, cells),
  };
}
