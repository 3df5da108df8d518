import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';

/**
 * The listed strike at which the options of one series pay out least, by `weight`. On a tie, the lowest strike. One ascending and one
 * descending pass give the payout of calls below and of puts above each strike.
 */
export function maxPain(prepared: PreparedChain, { start, end }: PreparedSeries): number {
  const strikes: number[] = [];
  const calls: number[] = [];
  const puts: number[] = [];
  for (let at = start; at < end; at++) {
    const strike = prepared.strike[at]!;
    if (strikes.at(-1) !== strike) {
      strikes.push(strike);
      calls.push(0);
      puts.push(0);
    }
    const side = prepared.callPut[at] === 1 ? calls : puts;
    side[side.length - 1]! += prepared.weight[at]! * prepared.multiplier[at]!;
  }
  const pain = new Float64Array(strikes.length);
  for (let at = 1, open = 0, paid = 0; at < strikes.length; at++) {
    open += calls[at - 1]!;
    paid += open * (strikes[at]! - strikes[at - 1]!);
    pain[at]! += paid;
  }
  for (let at = strikes.length - 2, open = 0, paid = 0; at >= 0; at--) {
    open += puts[at + 1]!;
    paid += open * (strikes[at + 1]! - strikes[at]!);
    pain[at]! += paid;
  }
  let least = 0;
  // Sums in another order differ in their last digits, so values that close are a tie.
  for (let at = 1; at < pain.length; at++) if (pain[at]! < pain[least]! * (1 - 1e-12)) least = at;
  return strikes[least]!;
}
