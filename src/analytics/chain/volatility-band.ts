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
  const { chain } = prepared;
  const rows = Uint32Array.from(contracts, (contract) => otmContract(prepared, contract));
  const pricesOf = (quote: Float64Array) =>
    Float64Array.from(rows, (row, i) => {
      const isOtm = prepared.callPut[row] === otmSide(prepared, contracts[i]!);
      const chainRow = prepared.row[row]!;
      return isOtm && !Number.isNaN(mid(chain, chainRow)) ? quote[chainRow]! : Number.NaN;
    });
  return {
    bid: solveVolatilities(prepared, rows, pricesOf(chain.bid)),
    ask: solveVolatilities(prepared, rows, pricesOf(chain.ask)),
  };
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
  const { logMoneyness: x } = series.smile;
  if (x.length === 0) return { bid: Number.NaN, ask: Number.NaN };
  const next = x.findIndex((each) => each >= 0);
  const above = next === -1 ? x.length - 1 : next;
  const below = next === -1 ? above : Math.max(0, above - 1);
  const { bid, ask } = volatilityBands(
    prepared,
    [below, above].map((i) => contractAt(prepared, series, x[i]!)),
  );
  const share = above > below ? Math.min(1, Math.max(0, -x[below]! / (x[above]! - x[below]!))) : 0;
  const between = (ends: Float64Array) => ends[0]! + share * (ends[1]! - ends[0]!);
  return { bid: between(bid), ask: between(ask) };
}

/** Returns a contract of a series whose strike has the given log-moneyness. The strike must be in the smile. */
function contractAt({ strike }: PreparedChain, { start, end, forward }: PreparedSeries, logMoneyness: number): number {
  for (let i = start; i < end; i++) if (Math.log(strike[i]! / forward) === logMoneyness) return i;
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
