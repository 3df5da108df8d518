import { memoizeByObject } from '../../core/cache.ts';
import { newYorkDate } from '../../market/calendar.ts';
import { normalCdf } from '../../math/normal.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexScale } from './gex-by-series.ts';

/**
 * A prior of the dealers' shares. A cell has the contracts of one series and side in one bucket of moneyness. Its share is the part of its
 * contracts that dealers hold as the sign convention says, less the part that they hold the other way round. It is uniform on `range`.
 */
export interface SharePrior {
  readonly range: readonly [low: number, high: number];
  /** The correlation of the shares of two cells of the same side. Shares of calls and of puts are independent. */
  readonly correlation: number;
  /** The width of a bucket, as a difference of ln(K/F). */
  readonly bucket: number;
}

/** The prior of all answers, which is a choice: no public data shows the dealers' shares (docs/methods/levels.md). */
export const SHARE_PRIOR: SharePrior = { range: [-0.4, 1], correlation: 0.1, bucket: 0.02 };
/**
 * The range of shares on which the snapshot's data do not bear: of series that settle on the day of the snapshot, whose open interest is that
 * of the day before.
 */
const UNKNOWN: SharePrior['range'] = [-1, 1];
/**
 * The sum of squares of the cells' shares of gross gamma that stands in for a chain whose cells are not known. It is the median of the recorded
 * chains, whose range is 0.005 to 0.035.
 */
const USUAL_CONCENTRATION = 0.01;

/** Returns the probability that the dealers' net gamma has the sign of the chain's net GEX, under `SHARE_PRIOR`, 0 to 1. 0.5 without gamma. */
export const signProbability = memoizeByObject((prepared: PreparedChain) => signProbabilityOf([prepared]));

/**
 * Returns the probability for the sum of the net gammas of chains, in dollars. The dealers' net gamma is the sum of many shares times the cells'
 * gamma, so it is taken as normal: its mean and its variance follow from those of the shares. Shares of one side are correlated across chains too.
 */
export function signProbabilityOf(chains: readonly PreparedChain[], prior = SHARE_PRIOR): number {
  const all = { net: 0, mean: 0, calls: 0, puts: 0, cells: 0 };
  for (const prepared of chains) {
    const scale = gexScale(prepared.chain);
    const { net, mean, calls, puts, cells } = signMoments(prepared, prior);
    all.net += net * scale;
    all.mean += mean * scale;
    all.calls += calls * scale;
    all.puts += puts * scale;
    all.cells += cells * scale * scale;
  }
  return probabilityOf(Math.sign(all.net) * all.mean, all, prior.correlation);
}

/**
 * Returns net gamma by the sign convention, mean net gamma by the prior, the sums of the cells' standard deviations by side, and the sum of the
 * cells' variances. By the sign `flow`, the positions by prints are certain, and the rest of the open interest has shares of mean 0.
 */
function signMoments(prepared: PreparedChain, { range, bucket }: SharePrior) {
  const { chain, series, strike, callPut, position, gamma, multiplier, row, options } = prepared;
  const today = newYorkDate(chain.asOf);
  const byFlow = prepared.sign === 'flow';
  const width = Math.exp(bucket);
  let [net, mean, cells] = [0, 0, 0];
  const sums = [0, 0];
  const cell = [0, 0];
  for (const { start, end, forward, series: each } of series) {
    const isUnknown = each.expiry === today && options.weight === 'open_interest';
    const of = momentsOf(isUnknown ? UNKNOWN : range);
    let above = 0;
    const closeCell = () => {
      for (const side of [0, 1]) {
        cells += cell[side]! ** 2;
        sums[side]! += cell[side]!;
        cell[side] = 0;
      }
    };
    for (let i = start; i < end; i++) {
      // Strikes ascend within a series.
      if (strike[i]! >= above) {
        closeCell();
        above = forward * width ** Math.ceil(Math.log(strike[i]! / forward) / bucket + 1e-9);
      }
      const scale = gamma[i]! * multiplier[i]!;
      const held = position[i]! * scale;
      net += held;
      mean += byFlow ? held : of.mean * held;
      const open = byFlow ? (chain.openInterest[row[i]!]! || 0) * scale - Math.abs(held) : Math.abs(held);
      cell[callPut[i]! > 0 ? 0 : 1]! += Math.max(0, open) * of.deviation;
    }
    closeCell();
  }
  return { net, mean, calls: sums[0]!, puts: sums[1]!, cells };
}

/**
 * Returns the probability for net and gross GEX of calls and puts whose cells are not known, for dealers long calls and short puts: those of
 * levels that an earlier version of the program stored.
 */
export function usualSignProbability(netGex: number, grossGex: number): number {
  const { mean, deviation } = momentsOf(SHARE_PRIOR.range);
  const [calls, puts] = [(grossGex + netGex) / 2, (grossGex - netGex) / 2].map((each) => each * deviation);
  const cells = USUAL_CONCENTRATION * (grossGex * deviation) ** 2;
  return probabilityOf(mean * Math.abs(netGex), { calls: calls!, puts: puts!, cells }, SHARE_PRIOR.correlation);
}

/** Returns the probability that a normal number is above 0. */
function probabilityOf(
  mean: number,
  { calls, puts, cells }: Readonly<Record<'calls' | 'puts' | 'cells', number>>,
  correlation: number,
): number {
  const variance = correlation * (calls * calls + puts * puts) + (1 - correlation) * cells;
  if (variance > 0) return normalCdf(mean / Math.sqrt(variance));
  return mean === 0 ? 0.5 : Number(mean > 0);
}

/** Returns mean and standard deviation of a uniform share. */
function momentsOf([low, high]: SharePrior['range']) {
  return { mean: (low + high) / 2, deviation: (high - low) / Math.sqrt(12) };
}
