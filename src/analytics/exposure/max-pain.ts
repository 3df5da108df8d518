import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';

/** Returns the max pain of a series: its strike with the smallest payout of open contracts at settlement, the lowest on a tie. */
export function maxPain(prepared: PreparedChain, { start, end }: PreparedSeries): number {
  const { strike, callPut, weight, multiplier } = prepared;
  const strikes = new Float64Array(end - start);
  const calls = new Float64Array(end - start);
  const puts = new Float64Array(end - start);
  let last = -1;
  for (let i = start; i < end; i++) {
    if (i === start || strike[i] !== strikes[last]) strikes[++last] = strike[i]!;
    const side = callPut[i] === 1 ? calls : puts;
    side[last]! += weight[i]! * multiplier[i]!;
  }
  const pain = new Float64Array(last + 1);
  for (let i = 1, open = 0, paid = 0; i <= last; i++) {
    open += calls[i - 1]!;
    paid += open * (strikes[i]! - strikes[i - 1]!);
    pain[i]! += paid;
  }
  for (let i = last - 1, open = 0, paid = 0; i >= 0; i--) {
    open += puts[i + 1]!;
    paid += open * (strikes[i + 1]! - strikes[i]!);
    pain[i]! += paid;
  }
  let least = 0;
  // Almost equal values count as a tie, because the order of additions changes the last digits of a sum.
  for (let i = 1; i < pain.length; i++) if (pain[i]! < pain[least]! * (1 - 1e-12)) least = i;
  return strikes[least]!;
}
