import type { PreparedSeries } from './prepared-chain.ts';
import { varianceAt } from './smile-fit.ts';

/** N^-1(0.75): d1 of the put with a forward delta of -0.25. The call with 0.25 has minus this value. */
const D1_OF_25_DELTA = 0.6744897501960817;
/** Range that contains both strikes, in standard deviations from the forward, and bisections that make it negligibly small. */
const REACH = 12;
const BISECTIONS = 60;

/**
 * 25-delta risk reversal of a series, put minus call: the volatility of the put minus that of the call whose forward deltas are a quarter,
 * decimal per year. Positive if downside is dearer. `NaN` if no strike has a volatility.
 */
export function skew25({ smile, tte }: PreparedSeries): number {
  if (smile.logMoneyness.length === 0) return Number.NaN;
  const volatility = (d1: number) => Math.sqrt(varianceAt(smile, moneynessAt(d1)) / tte);
  return volatility(D1_OF_25_DELTA) - volatility(-D1_OF_25_DELTA);

  /** The log-moneyness x at which -x / s(x) + s(x) / 2 = d1. The left side falls with x. */
  function moneynessAt(d1: number): number {
    const reach = REACH * Math.sqrt(Math.max(...smile.totalVariance));
    let [low, high] = [-reach, reach];
    for (let i = 0; i < BISECTIONS; i++) {
      const x = (low + high) / 2;
      const s = Math.sqrt(varianceAt(smile, x));
      if (-x / s + s / 2 > d1) low = x;
      else high = x;
    }
    return (low + high) / 2;
  }
}
