import { memoizeByObject } from '../../core/cache.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';

/** GEX of the dealers' positions in a prepared chain, dollars per 1 % move. */
export interface GexBySeries {
  /** The sum of GEX over the contracts of each series, in the order of the chain's series. */
  readonly net: Float64Array;
  /** The sum of absolute GEX over the contracts of each series. */
  readonly gross: Float64Array;
  /** The sums of GEX and of absolute GEX over the whole chain. */
  readonly netOfAll: number;
  readonly grossOfAll: number;
}

/** Returns the GEX of each series. The result is cached by prepared chain. Most gamma figures are computed from the GEX of each series. */
export const gexBySeries = memoizeByObject(sumUp);

function sumUp({ chain, series, position, gamma, multiplier }: PreparedChain): GexBySeries {
  const scale = gexScale(chain);
  const net = new Float64Array(series.length);
  const gross = new Float64Array(series.length);
  let [netOfAll, grossOfAll] = [0, 0];
  for (let index = 0; index < series.length; index++) {
    const { start, end } = series[index]!;
    let [netOfSeries, grossOfSeries] = [0, 0];
    for (let i = start; i < end; i++) {
      const gex = position[i]! * gamma[i]! * multiplier[i]! * scale;
      netOfSeries += gex;
      grossOfSeries += Math.abs(gex);
      netOfAll += gex;
      grossOfAll += Math.abs(gex);
    }
    net[index] = netOfSeries;
    gross[index] = grossOfSeries;
  }
  return { net, gross, netOfAll, grossOfAll };
}

/** Returns the factor that converts gamma * contracts held * multiplier to GEX. */
export function gexScale({ spot }: PreparedChain['chain']): number {
  return spot * spot * 0.01;
}
