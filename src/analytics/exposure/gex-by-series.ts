import { memoizeByObject } from '../../core/cache.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';

/**
 * Returns the GEX (`net`) and the absolute GEX (`gross`) of each series and of the whole chain, dollars per 1 % move. Most gamma figures
 * are computed from them. The result is cached by prepared chain.
 */
export const gexBySeries = memoizeByObject(sumUp);

function sumUp({ chain, series, position, gamma, multiplier }: PreparedChain) {
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
