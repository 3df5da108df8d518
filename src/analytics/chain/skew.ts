import type { PreparedSeries } from './prepared-chain.ts';
import { varianceAt } from './smile-variance.ts';

/** The d1 of the put with a forward delta of -0.25, which is `N^-1(0.75)`. The call with a forward delta of 0.25 has the opposite d1. */
export const D1_OF_25_DELTA = 0.6744897501960817;
/** The search range for a strike on each side of the forward, in standard deviations. */
const REACH = 12;
/** The number of bisections after which the interval around the strike is negligibly narrow. */
const BISECTIONS = 60;

/**
 * Returns the 25-delta risk reversal, decimal per year: the volatility of the 25-delta put minus the volatility of the 25-delta call. The
 * result is positive if the put has the higher volatility. Returns `NaN` if no strike has a volatility.
 */
export function skew25({ smile, tte }: PreparedSeries): number {
  if (smile.logMoneyness.length === 0) return Number.NaN;
  let most = 0;
  for (let i = 0; i < smile.totalVariance.length; i++) most = Math.max(most, smile.totalVariance[i]!);
  const reach = REACH * Math.sqrt(most);
  const volatility = (d1: number) => Math.sqrt(varianceAt(smile, moneynessAt(d1)) / tte);
  return volatility(D1_OF_25_DELTA) - volatility(-D1_OF_25_DELTA);

  /** Solves `-x / s(x) + s(x) / 2 = d1` for log-moneyness x, where `s(x)^2` is the total variance at x. The left side falls as x rises. */
  function moneynessAt(d1: number): number {
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
