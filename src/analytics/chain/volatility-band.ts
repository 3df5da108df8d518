import { memoizeByObject } from '../../core/cache.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import type { PreparedChain, PreparedSeries } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import { optionColumns } from './rows.ts';

/** The volatilities that bids and asks imply, as columns of equal length, decimal per year. `NaN` if there is no two-sided quote. */
export interface VolatilityBands {
  readonly bid: Float64Array;
  readonly ask: Float64Array;
}

/** Returns the volatility bands of several contracts. The call and the put of a strike share the band of the out-of-the-money contract. */
export function volatilityBands(prepared: PreparedChain, contracts: ArrayLike<number>): VolatilityBands {
  const { chain, callPut, row } = prepared;
  const rows = new Uint32Array(contracts.length);
  const bid = new Float64Array(rows.length).fill(Number.NaN);
  const ask = bid.slice();
  for (let i = 0; i < rows.length; i++) {
    const contract = otmContract(prepared, contracts[i]!);
    rows[i] = contract;
    const chainRow = row[contract]!;
    if (callPut[contract] !== otmSide(prepared, contracts[i]!) || Number.isNaN(mid(chain, chainRow))) continue;
    bid[i] = chain.bid[chainRow]!;
    ask[i] = chain.ask[chainRow]!;
  }
  return { bid: solveVolatilities(prepared, rows, bid), ask: solveVolatilities(prepared, rows, ask) };
}

/** The columns `bid`, `mid` and `ask` have the volatilities that the bid, the middle and the ask of each contract imply. */
export interface QuoteVolatilities extends VolatilityBands {
  readonly mid: Float64Array;
}

/** Returns the volatilities that each contract's own quote implies. A volatility is 0 if the price is at or below the intrinsic value. */
export function quoteVolatilities(prepared: PreparedChain, contracts: ArrayLike<number>): QuoteVolatilities {
  const { chain, row } = prepared;
  const rows = Uint32Array.from(contracts);
  const mids = Float64Array.from(rows, (contract) => mid(chain, row[contract]!));
  const ofTwoSided = (quote: Float64Array) =>
    mids.map((each, i) => (Number.isNaN(each) ? Number.NaN : quote[row[rows[i]!]!]!));
  return {
    bid: solveVolatilities(prepared, rows, ofTwoSided(chain.bid)),
    mid: solveVolatilities(prepared, rows, mids),
    ask: solveVolatilities(prepared, rows, ofTwoSided(chain.ask)),
  };
}

/** Returns the volatilities at which the contracts have the given prices. */
function solveVolatilities(prepared: PreparedChain, contracts: Uint32Array, price: Float64Array): Float64Array {
  return impliedVolatility({ ...optionColumns(prepared, contracts), price });
}

/**
 * Returns a series' volatility band at the forward. Both ends of the band are interpolated linearly in log-moneyness between the two smile
 * strikes next to the forward. Both ends are `NaN` if one of the two smile strikes has no two-sided quote.
 */
export function atmBand(prepared: PreparedChain, series: PreparedSeries): { bid: number; ask: number } {
  return atmBands(prepared).get(series) ?? { bid: Number.NaN, ask: Number.NaN };
}

/** Returns the bands of all series with a smile. The kernel solves them in one call. */
const atmBands = memoizeByObject((prepared: PreparedChain) => {
  const known = prepared.series.filter(({ smile }) => smile.logMoneyness.length > 0);
  const contracts = new Uint32Array(2 * known.length);
  const shares = known.map((series, i) => {
    const { logMoneyness: x } = series.smile;
    let above = 0;
    while (above < x.length - 1 && x[above]! < 0) above++;
    const below = x[above]! < 0 ? above : Math.max(0, above - 1);
    contracts[2 * i] = contractAt(prepared, series, x[below]!);
    contracts[2 * i + 1] = contractAt(prepared, series, x[above]!);
    return above > below ? Math.min(1, Math.max(0, -x[below]! / (x[above]! - x[below]!))) : 0;
  });
  const { bid, ask } = volatilityBands(prepared, contracts);
  const between = (ends: Float64Array, i: number) => ends[2 * i]! + shares[i]! * (ends[2 * i + 1]! - ends[2 * i]!);
  return new Map(known.map((series, i) => [series, { bid: between(bid, i), ask: between(ask, i) }]));
});

/** Returns a contract of a series whose strike has the given log-moneyness. The strike must be in the smile. */
function contractAt({ strike }: PreparedChain, { start, end, forward }: PreparedSeries, logMoneyness: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const half = (low + high) >> 1;
    if (Math.log(strike[half]! / forward) < logMoneyness) low = half + 1;
    else high = half;
  }
  if (low < end && Math.log(strike[low]! / forward) === logMoneyness) return low;
  throw new Error('the smile has a strike that is not in the series');
}

function otmSide({ strike, series, seriesIndex }: PreparedChain, contract: number): number {
  return strike[contract]! >= series[seriesIndex[contract]!]!.forward ? 1 : -1;
}

/** Returns the out-of-the-money contract at a contract's strike, or the contract itself if the chain has no such contract. */
function otmContract(prepared: PreparedChain, contract: number): number {
  const { callPut, strike, seriesIndex } = prepared;
  if (callPut[contract] === otmSide(prepared, contract)) return contract;
  for (const other of [contract - 1, contract + 1]) {
    if (strike[other] === strike[contract] && seriesIndex[other] === seriesIndex[contract]) return other;
  }
  return contract;
}
