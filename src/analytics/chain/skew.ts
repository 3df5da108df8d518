import type { PreparedSeries } from './prepared-chain.ts';
import { varianceAt } from './smile.ts';

/** N^-1(0.75): d1 of a put whose forward delta is -0.25, and minus that of the call with 0.25. */
const QUARTER = 0.6744897501960817;
/** Deviations from the forward within which either lies, and steps that leave nothing of them. */
const REACH = 12;
const HALVINGS = 60;

/**
 * 25-delta risk reversal of a series, put over call: volatility of the put less that of the call whose forward deltas are a
 * quarter, decimal per year, positive where downside is dearer. `NaN` where no strike has a volatility.
 */
export function skew25({ smile, tte }: PreparedSeries): number {
  if (smile.logMoneyness.length === 0) return Number.NaN;
  const volatility = (d1: number) => Math.sqrt(varianceAt(smile, moneynessAt(d1)) / tte);
  return volatility(QUARTER) - volatility(-QUARTER);

  /** Where -x / s(x) + s(x) / 2 = d1, which falls with x. */
  function moneynessAt(d1: number): number {
    const reach = REACH * Math.sqrt(Math.max(...smile.totalVariance));
    let [low, high] = [-reach, reach];
    for (let halved = 0; halved < HALVINGS; halved++) {
      const x = (low + high) / 2;
      const s = Math.sqrt(varianceAt(smile, x));
      if (-x / s + s / 2 > d1) low = x;
      else high = x;
    }
    return (low + high) / 2;
  }
}
