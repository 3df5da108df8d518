import { memoizeByObject } from '../../cache.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';

/** GEX of dealers' positions, dollars per 1 % move. */
export interface GexBySeries {
  /** By series, in the chain's order. Calls are held long and puts short, or positions are signed by flow. */
  readonly net: Float64Array;
  /** Sums of absolute values. */
  readonly gross: Float64Array;
  /** Over the whole chain. */
  readonly netOfAll: number;
  readonly grossOfAll: number;
}

/** Cached by prepared chain, since most figures of gamma begin with these sums. */
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

/** The factor that converts gamma times contracts held times multiplier to GEX. */
export function gexScale({ spot }: PreparedChain['chain']): number {
  return spot * spot * 0.01;
}
