import { recordOf } from '../../core/record-of.ts';
import type { Steps } from '../../core/steps.ts';
import type { Chain, Series } from '../../market/chain.ts';
import type { Pairs, PreparedSeries, Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import { bySeries } from './rows.ts';

/** A series with the inputs for computing its volatilities. */
export type SeriesInput = Omit<PreparedSeries, 'forwardMethod' | 'smile'>;

/** The strikes of several series as columns of `count` rows, one series after the other. Each strike has an out-of-the-money side. */
export interface StrikePairs extends Omit<Pairs, 'iv'> {
  /** The strikes of series s are the rows [seriesStart[s], seriesStart[s + 1]). */
  readonly seriesStart: Uint32Array;
  /** The out-of-the-money side: +1 (call) for strikes at or above the forward, -1 (put) for strikes below the forward. */
  readonly callPut: Float64Array;
  /** The chain's row of the out-of-the-money contract, or -1 if the chain does not have this contract. */
  readonly otmRow: Int32Array;
}

/** Columns that, together with the volatility, determine the price of an out-of-the-money option. */
export const SIDE_COLUMNS = ['callPut', 'strike', 'tte', 'rate', 'dividend'] as const;

/** Finds the strikes of several series. `message` is the progress message of the steps. */
export function* pairStrikes(chain: Chain, inputs: readonly SeriesInput[], message: string): Steps<StrikePairs> {
  const count = inputs.reduce((sum, { series }) => sum + strikesIn(chain, series), 0);
  const seriesStart = new Uint32Array(inputs.length + 1);
  const contracts = new Uint32Array(count + 1);
  const otmRow = new Int32Array(count).fill(-1);
  const sides = recordOf(SIDE_COLUMNS, () => new Float64Array(count));
  const { strike, callPut, tte, rate, dividend } = sides;
  let end = 0;
  let contract = 0;
  yield* bySeries(inputs, message, (input, index) => {
    const start = end;
    for (let row = input.series.start; row < input.series.end; row++, contract++) {
      if (beginsStrike(chain, input.series, row)) {
        contracts[end] = contract;
        strike[end] = chain.strike[row]!;
        callPut[end++] = chain.strike[row]! >= input.forward ? 1 : -1;
      }
      if (chain.callPut[row] === callPut[end - 1]) otmRow[end - 1] = row;
    }
    tte.fill(input.tte, start, end);
    rate.fill(input.rate, start, end);
    dividend.fill(input.dividend, start, end);
    seriesStart[index + 1] = end;
  });
  contracts[count] = contract;
  return { count, seriesStart, contracts, otmRow, ...sides };
}

function strikesIn(chain: Chain, series: Series): number {
  let count = 0;
  for (let row = series.start; row < series.end; row++) if (beginsStrike(chain, series, row)) count++;
  return count;
}

function beginsStrike(chain: Chain, { start }: Series, row: number): boolean {
  return row === start || chain.strike[row] !== chain.strike[row - 1];
}

/** If at least this number of strikes have a two-sided quote, the smile leaves out one-sided strikes. */
const BID_STRIKES_MIN = 5;

/**
 * Returns the smile of a series. The smile uses strikes that have a volatility and no stale quote. If enough strikes have a two-sided
 * quote, the smile leaves out all strikes without a two-sided quote. The volatility of an option without a bid may be wrong.
 */
export function smileOf(
  chain: Chain,
  { forward, tte }: SeriesInput,
  series: number,
  { seriesStart, strike, otmRow }: StrikePairs,
  iv: Float64Array,
  stale: ReadonlySet<number>,
): Smile {
  const [start, end] = [seriesStart[series]!, seriesStart[series + 1]!];
  const withVolatility = new Uint32Array(end - start);
  const withBid = new Uint32Array(end - start);
  let [knownCount, bidCount] = [0, 0];
  for (let i = start; i < end; i++) {
    const row = otmRow[i]!;
    if (Number.isNaN(iv[i]!) || stale.has(row)) continue;
    withVolatility[knownCount++] = i;
    if (!Number.isNaN(mid(chain, row))) withBid[bidCount++] = i;
  }
  const chosen = bidCount >= BID_STRIKES_MIN ? withBid.subarray(0, bidCount) : withVolatility.subarray(0, knownCount);
  const logMoneyness = new Float64Array(chosen.length);
  const totalVariance = new Float64Array(chosen.length);
  for (let i = 0; i < chosen.length; i++) {
    const row = chosen[i]!;
    logMoneyness[i] = Math.log(strike[row]! / forward);
    totalVariance[i] = iv[row]! * iv[row]! * tte;
  }
  return { logMoneyness, totalVariance };
}
