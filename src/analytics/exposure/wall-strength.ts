import { byRange, cachedBy, type Steps } from '../../core/steps.ts';
import { normalCdf } from '../../math/normal.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { strikeIndex } from './strike-index.ts';
import { type StrikeGamma, strikeGamma, type Walls, walls } from './walls.ts';

/** How firmly a wall stands at its strike. */
export interface WallStrength {
  /** The gamma by which the wall exceeds the second strike of its side, percent of the wall's gamma. Null without a strike on its side. */
  readonly leadPct: number | null;
  /** The probability that the wall is at the same strike when the day's turnover is in open interest. Null if turnover is unknown. */
  readonly stability: number | null;
}

/** The side of a wall: its gamma by strike, and the strikes [from, to) on its side of spot. */
interface Side {
  readonly gamma: Float64Array;
  readonly from: number;
  readonly to: number;
  readonly wall: number;
}

/**
 * The change of a contract's open interest by the next morning, as a share of its volume of the day: a normal law, bounded below so that no
 * open interest becomes negative. A traded contract adds 1 if both sides open positions, -1 if both close, else 0. Mean and deviation are
 * those of 2,111 nights of SPY options in 2021 (docs/methods/levels.md).
 */
export const TURNOVER = { mean: 0.24, deviation: 0.33 };

/** Computes the strengths of the walls of a prepared chain. The result is cached by the chain. */
export const wallStrengths = cachedBy('Comparing the walls', strengthsOf);

function* strengthsOf(prepared: PreparedChain): Steps<Record<'call' | 'put', WallStrength>> {
  const gamma = yield* strikeGamma(prepared);
  const its = walls(gamma, prepared.chain.spot);
  const morning = yield* morningGamma(prepared, gamma);
  const of = (which: 'call' | 'put'): WallStrength => {
    const side = sideOf(gamma, which, its, prepared.chain.spot);
    if (!side) return { leadPct: null, stability: null };
    const most = side.gamma[side.wall]!;
    return {
      leadPct: most > 0 ? 100 * (1 - secondOf(side) / most) : null,
      stability: morning && most > 0 ? stays(side, morning[which]) : null,
    };
  };
  return { call: of('call'), put: of('put') };
}

function sideOf(gamma: StrikeGamma, which: 'call' | 'put', its: Walls, spot: number): Side | undefined {
  const { strike } = gamma;
  if (!its[which].sided) return undefined;
  const wall = strike.indexOf(its[which].strike);
  if (which === 'call')
    return { gamma: gamma.call, from: strike.findIndex((each) => each >= spot), to: strike.length, wall };
  return { gamma: gamma.put, from: 0, to: strike.findLastIndex((each) => each <= spot) + 1, wall };
}

function secondOf({ gamma, from, to, wall }: Side): number {
  let second = 0;
  for (let i = from; i < to; i++) if (i !== wall) second = Math.max(second, gamma[i]!);
  return second;
}

/** Mean and variance of the gamma at each strike of a side, when the day's turnover is in open interest. */
interface MorningGamma {
  readonly mean: Float64Array;
  readonly variance: Float64Array;
}

/**
 * Returns the gamma of each strike on the next morning, or `undefined` if turnover is unknown: contracts are not weighted by open interest, or
 * none has a volume. Contracts are independent of each other.
 */
function* morningGamma(
  prepared: PreparedChain,
  { strike }: StrikeGamma,
): Steps<Record<'call' | 'put', MorningGamma> | undefined> {
  const { chain, options, sign, pairs, row, callPut, weight, gamma, multiplier } = prepared;
  if (options.weight !== 'open_interest' || sign === 'flow') return undefined;
  const { index } = yield* strikeIndex(pairs);
  const empty = () => ({ mean: new Float64Array(strike.length), variance: new Float64Array(strike.length) });
  const sides = { call: empty(), put: empty() };
  let hasVolume = false;
  yield* byRange(pairs.count, STEP_PAIRS, 'Summing up turnover', (from, to) => {
    for (let pair = from; pair < to; pair++) {
      for (let i = pairs.contracts[pair]!; i < pairs.contracts[pair + 1]!; i++) {
        const { mean, variance } = callPut[i] === 1 ? sides.call : sides.put;
        const unit = gamma[i]! * multiplier[i]!;
        const volume = chain.volume[row[i]!]!;
        const at = index[pair]!;
        mean[at]! += unit * weight[i]!;
        if (!(volume > 0)) continue;
        hasVolume = true;
        const change = boundedChange(weight[i]! / volume);
        mean[at]! += unit * volume * change.mean;
        variance[at]! += (unit * volume) ** 2 * change.variance;
      }
    }
  });
  return hasVolume ? sides : undefined;
}

/** The number of pairs whose turnover one step sums. */
const STEP_PAIRS = 32_768;

/** Returns mean and variance of the larger of the share of `TURNOVER` and `-most`, where `most` is open interest over volume. */
export function boundedChange(most: number): { mean: number; variance: number } {
  const { mean: m, deviation: s } = TURNOVER;
  const a = (-most - m) / s;
  const below = normalCdf(a);
  const density = Math.exp((-a * a) / 2) / Math.sqrt(2 * Math.PI);
  const mean = m + s * (a * below + density);
  const square = (-most) ** 2 * below + (m * m + s * s) * (1 - below) + s * (2 * m + s * a) * density;
  return { mean, variance: Math.max(0, square - mean * mean) };
}

/** The wall's gamma is integrated over so many deviations on each side of its mean, in steps of this size. */
const REACH = 6;
const STEP = 1 / 32;

/**
 * Returns the probability that the wall keeps the most gamma of its side: the mean, over the wall's own gamma, of the product of the
 * probabilities that each other strike has less. The gamma of a strike is taken as normal, with the given mean and variance.
 */
function stays({ from, to, wall }: Side, { mean, variance }: MorningGamma): number {
  const deviation = Math.sqrt(variance[wall]!);
  // Strikes whose gamma is out of reach do not matter.
  const rivals: number[] = [];
  for (let i = from; i < to; i++) {
    const both = Math.sqrt(variance[wall]! + variance[i]!);
    if (i !== wall && mean[wall]! - mean[i]! <= 8 * both) rivals.push(i);
  }
  const least = (gamma: number) =>
    rivals.reduce((all, i) => {
      const gap = gamma - mean[i]!;
      return all * (variance[i]! > 0 ? normalCdf(gap / Math.sqrt(variance[i]!)) : gap > 0 ? 1 : gap < 0 ? 0 : 0.5);
    }, 1);
  if (rivals.length === 0) return 1;
  if (deviation === 0) return least(mean[wall]!);
  let [sum, total] = [0, 0];
  for (let z = -REACH; z <= REACH; z += STEP) {
    const density = Math.exp((-z * z) / 2);
    sum += density * least(mean[wall]! + deviation * z);
    total += density;
  }
  return sum / total;
}
