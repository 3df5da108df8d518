import { recordOf } from '../../core/record-of.ts';
import { hedges } from '../../math/exposure-kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type DayAhead, dayAheadOf, isOpenStrike, SERIES_INPUTS } from './day-ahead.ts';
import { expectedAbsoluteChange } from './expected-rehedge.ts';
import { largestRows } from './largest.ts';

/** A contract and the trades with which dealers hedge their position in it. Positive numbers are purchases, negative numbers are sales. */
export interface HedgingNode {
  /** The row of the contract in the prepared chain. */
  readonly contract: number;
  readonly strike: number;
  readonly callPut: number;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** OSI root. Two series with the same expiry have different roots. */
  readonly root: string;
  /** Settlement instant, ms since the epoch. */
  readonly settlesAt: number;
  /** Shares that dealers trade if spot rises by 1 %. */
  readonly dealerShares: number;
  /**
   * Shares that dealers trade over the coming calendar day, or until an earlier settlement, if the forward stays the same. Of an open strike,
   * this is a scenario: the price settles at the forward.
   */
  readonly deltaFlux: number;
  /** `deltaFlux`, or null for an open strike (see `isOpenStrike`) and without a volatility. */
  readonly driftShares: number | null;
  /** The inputs of `dealerShares` and `deltaFlux`. */
  readonly inputs: {
    /** Contracts that dealers hold: + for long, - for short. */
    readonly position: number;
    /** Shares per contract. */
    readonly multiplier: number;
    readonly tte: number;
    /** Volatility, decimal per year. `iv` and `deltaFlux` are 0 if the volatility is unknown. */
    readonly iv: number;
    /** Change of delta per 1.00 of spot. */
    readonly gamma: number;
    readonly delta: number;
    /** The delta one calendar day later, or at an earlier settlement, if the forward stays the same. */
    readonly deltaAfter: number;
    /** Forward of the series, dollars. */
    readonly forward: number;
    /** Discount rate, continuous, decimal per year. */
    readonly rate: number;
    readonly hedgeYield: number;
    readonly laterFactor: number;
  };
}

/**
 * Ranks contracts by the absolute number of shares that dealers trade if spot rises by 1 %. Returns at most `limit` contracts from the rank
 * `from` on. `deltaFlux` is a difference of deltas, because charm grows without bound near settlement. The sum of `driftShares` times spot
 * over all contracts is the chain's charm exposure with the opposite sign.
 */
export function hedgingNodes(prepared: PreparedChain, limit: number, from = 0): HedgingNode[] {
  const { gamma, position, multiplier } = prepared;
  const shares = (row: number) => sharesOf(prepared, row);
  const moved = new Float64Array(prepared.count);
  for (let row = 0; row < moved.length; row++) moved[row] = Math.abs(shares(row));
  const ranked = largestRows(moved, from, from + limit);
  const ahead = dayAheadOf(prepared);
  const { iv, delta, change } = hedgesOf(prepared, ahead, ranked);
  return ranked.map((row, rank) => {
    const index = prepared.seriesIndex[row]!;
    const { series, forward, rate } = prepared.series[index]!;
    const { carry, hedgeYield, laterFactor } = ahead[index]!;
    const moneyness = Math.log(prepared.chain.spot / prepared.strike[row]!) + carry;
    const deltaFlux = iv[rank]! > 0 ? -change[rank]! * position[row]! * multiplier[row]! : 0;
    return {
      contract: row,
      strike: prepared.strike[row]!,
      callPut: prepared.callPut[row]!,
      expiry: series.expiry,
      root: series.root,
      settlesAt: series.settlesAt,
      dealerShares: Math.round(shares(row)),
      deltaFlux,
      driftShares: iv[rank]! > 0 && !isOpenStrike(moneyness, iv[rank]!, prepared.series[index]!) ? deltaFlux : null,
      inputs: {
        position: position[row]!,
        multiplier: multiplier[row]!,
        tte: prepared.tte[row]!,
        iv: iv[rank]!,
        gamma: gamma[row]!,
        delta: delta[rank]!,
        deltaAfter: delta[rank]! + change[rank]!,
        forward,
        rate,
        hedgeYield,
        laterFactor,
      },
    };
  });
}

/**
 * Returns the number of shares that dealers are expected to trade over the coming day, or until an earlier settlement, in either direction,
 * or null without a volatility.
 */
export function expectedAbsShares({ callPut, strike, inputs }: HedgingNode): number | null {
  const { position, multiplier, forward, iv } = inputs;
  if (!(iv > 0)) return null;
  const moneyness = Math.log(forward / strike);
  return Math.abs(position * multiplier) * expectedAbsoluteChange({ ...inputs, callPut, moneyness });
}

/** Returns the shares that dealers trade to hedge a contract if spot rises by 1 %, or `undefined` if the chain lacks the contract. */
export function dealerSharesOf(
  prepared: PreparedChain,
  { root, expiry, callPut, strike }: Pick<HedgingNode, 'root' | 'expiry' | 'callPut' | 'strike'>,
): number | undefined {
  const found = prepared.series.find(({ series }) => series.root === root && series.expiry === expiry);
  for (let row = found?.start ?? 0; row < (found?.end ?? 0); row++) {
    if (prepared.strike[row] === strike && prepared.callPut[row] === callPut)
      return Math.round(sharesOf(prepared, row));
  }
  return undefined;
}

function sharesOf({ chain, gamma, position, multiplier }: PreparedChain, row: number): number {
  return -gamma[row]! * position[row]! * multiplier[row]! * 0.01 * chain.spot;
}

function hedgesOf(prepared: PreparedChain, ahead: readonly DayAhead[], rows: readonly number[]) {
  const column = (source: Float64Array) => Float64Array.from(rows, (row) => source[row]!);
  const iv = column(prepared.iv).map((each) => each || 0);
  const { delta, change } = hedges({
    count: rows.length,
    callPut: column(prepared.callPut),
    spot: prepared.chain.spot,
    strike: column(prepared.strike),
    iv,
    tte: column(prepared.tte),
    ...recordOf(SERIES_INPUTS, (name) => Float64Array.from(rows, (row) => ahead[prepared.seriesIndex[row]!]![name])),
  });
  return { iv, delta, change };
}
