import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';

/** Returns the max pain of a series: its strike with the smallest payout of open contracts at settlement, the lowest on a tie. */
export function maxPain(prepared: PreparedChain, { start, end }: PreparedSeries): number {
  const strikes: number[] = [];
  const calls: number[] = [];
  const puts: number[] = [];
  for (let i = start; i < end; i++) {
    const strike = prepared.strike[i]!;
    if (strikes.at(-1) !== strike) {
      strikes.push(strike);
      calls.push(0);
      puts.push(0);
    }
    const side = prepared.callPut[i] === 1 ? calls : puts;
    side[side.length - 1]! += prepared.weight[i]! * prepared.multiplier[i]!;
  }
  const pain = new Float64Array(strikes.length);
  for (let i = 1, open = 0, paid = 0; i < strikes.length; i++) {
    open += calls[i - 1]!;
    paid += open * (strikes[i]! - strikes[i - 1]!);
    pain[i]! += paid;
  }
  for (let i = strikes.length - 2, open = 0, paid = 0; i >= 0; i--) {
    open += puts[i + 1]!;
    paid += open * (strikes[i + 1]! - strikes[i]!);
    pain[i]! += paid;
  }
  let least = 0;
  // Almost equal values count as a tie, because the order of additions changes the last digits of a sum.
  for (let i = 1; i < pain.length; i++) if (pain[i]! < pain[least]! * (1 - 1e-12)) least = i;
  return strikes[least]!;
}
