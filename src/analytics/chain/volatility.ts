import type { Chain } from '../../market/chain.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { oneGreek } from '../../math/black-scholes.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import type { Steps } from '../../steps.ts';
import { byContract } from './by-contract.ts';
import { FEED_IV_MAX, isOpinion } from './forward.ts';
import { pick } from './pick.ts';
import type { Pairs, PreparationCounts, Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import { varianceAt } from './smile.ts';
import { staleQuotes } from './stale-quotes.ts';
import { smilesOf } from './strike-smiles.ts';
import { type SeriesInput, type Strikes, strikesOf } from './strikes.ts';

export interface Volatilities {
  /** By contract, series after series; `NaN` where no route gives one. */
  readonly iv: Float64Array;
  readonly pairs: Pairs;
  /** By series. */
  readonly smiles: Smile[];
  readonly counts: PreparationCounts['iv'];
  /** Strikes whose quote contradicts its neighbours': left out of the smile. */
  readonly staleQuotes: number;
}

/** A quote's price may be off by its tick. */
const TICK_INDEX = 0.05;
const TICK = 0.01;
/** A solved volatility below this is a quote at its intrinsic value, not an opinion. */
const SOLVED_IV_MIN = 1e-3;

/**
 * One volatility per strike, that of the out-of-the-money side, serving call and put (in-the-money American quotes carry the
 * early-exercise premium): the feed's where its price fits the quote, else solved from the mid, else interpolated in total
 * variance over log-moneyness, flat beyond the outermost. Stale quotes are no part of the smile. `isLarge` chains take several steps.
 */
export function* strikeVolatilities(
  chain: Chain,
  inputs: readonly SeriesInput[],
  isLarge: boolean,
): Steps<Volatilities> {
  const strikes = strikesOf(chain, inputs);
  const ticks = inputs.map(({ series }) => (isIndexRoot(series.root) ? TICK_INDEX : TICK));
  const iv = new Float64Array(strikes.count).fill(Number.NaN);
  const taken = takeFromFeed(chain, strikes, ticks, iv);
  const solved = solveFromMid(chain, strikes, iv);
  if (isLarge) yield { message: 'Fitting smiles' };
  const stale = staleRows(chain, strikes, ticks);
  const smiles = smilesOf(chain, inputs, strikes, iv, stale);
  const filled = interpolate(inputs, strikes, smiles, iv);
  const { count, contracts, strike, tte, rate, dividend } = strikes;
  return {
    iv: byContract(strikes, iv),
    pairs: { count, contracts, strike, tte, iv, rate, dividend },
    smiles,
    counts: { taken, solved, ...filled },
    staleQuotes: stale.size,
  };
}

/** Gives strikes the feed's volatility, where it is an opinion that no two-sided quote denies; counts their contracts. */
function takeFromFeed(chain: Chain, strikes: Strikes, ticks: readonly number[], iv: Float64Array): number {
  const { count, seriesStart, contracts, otmRow, callPut, strike, tte, rate, dividend } = strikes;
  // 0 where there is none, whose price nobody asks for.
  const offered = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const row = otmRow[at]!;
    if (row >= 0 && isOpinion(chain.iv[row]!)) offered[at] = chain.iv[row]!;
  }
  const price = oneGreek('price', { count, callPut, spot: chain.spot, strike, tte, iv: offered, rate, dividend });
  let taken = 0;
  for (const [series, tick] of ticks.entries()) {
    for (let at = seriesStart[series]!; at < seriesStart[series + 1]!; at++) {
      if (offered[at] === 0) continue;
      const row = otmRow[at]!;
      const fits = price[at]! >= chain.bid[row]! - tick && price[at]! <= chain.ask[row]! + tick;
      if (!fits && !Number.isNaN(mid(chain, row))) continue;
      iv[at] = offered[at]!;
      taken += contracts[at + 1]! - contracts[at]!;
    }
  }
  return taken;
}

/** Solves from the middle of its quote what is still open; counts the contracts. */
function solveFromMid(chain: Chain, strikes: Strikes, iv: Float64Array): number {
  const open = new Uint32Array(strikes.count);
  const mids = new Float64Array(strikes.count);
  let count = 0;
  for (let at = 0; at < strikes.count; at++) {
    const row = strikes.otmRow[at]!;
    if (!Number.isNaN(iv[at]!) || row < 0) continue;
    const price = mid(chain, row);
    if (Number.isNaN(price)) continue;
    open[count] = at;
    mids[count++] = price;
  }
  const rows = open.subarray(0, count);
  const solved = impliedVolatility({
    count,
    callPut: pick(strikes.callPut, rows),
    price: mids.subarray(0, count),
    spot: chain.spot,
    strike: pick(strikes.strike, rows),
    tte: pick(strikes.tte, rows),
    rate: pick(strikes.rate, rows),
    dividend: pick(strikes.dividend, rows),
  });
  let contracts = 0;
  for (let each = 0; each < count; each++) {
    if (!(solved[each]! >= SOLVED_IV_MIN && solved[each]! <= FEED_IV_MAX)) continue;
    const at = rows[each]!;
    iv[at] = solved[each]!;
    contracts += strikes.contracts[at + 1]! - strikes.contracts[at]!;
  }
  return contracts;
}

/**
 * Rows of the chain whose out-of-the-money quote is stale. They say nothing of the smile; their contracts keep what the quote
 * implies, a volatility that leaves them next to no gamma, since most have been dead since a split and none is known to be
 * alive.
 */
function staleRows(chain: Chain, { seriesStart, callPut, otmRow }: Strikes, ticks: readonly number[]): Set<number> {
  const stale = new Set<number>();
  for (const [series, tick] of ticks.entries()) {
    const [start, end] = [seriesStart[series]!, seriesStart[series + 1]!];
    let firstCall = start;
    while (firstCall < end && callPut[firstCall] === -1) firstCall++;
    // Away from the money: puts by falling strike, calls by rising.
    for (const wing of [otmRow.slice(start, firstCall).reverse(), otmRow.subarray(firstCall, end)]) {
      for (const row of staleQuotes(chain, wing, tick)) stale.add(row);
    }
  }
  return stale;
}

/** Gives what is still open the smile's volatility; counts the contracts between its strikes and beyond them. */
function interpolate(
  inputs: readonly SeriesInput[],
  { seriesStart, contracts, strike }: Strikes,
  smiles: readonly Smile[],
  iv: Float64Array,
): { interpolated: number; extended: number } {
  const counts = { interpolated: 0, extended: 0 };
  for (const [series, { forward, tte }] of inputs.entries()) {
    const smile = smiles[series]!;
    const { logMoneyness: x } = smile;
    if (x.length === 0) continue;
    for (let at = seriesStart[series]!; at < seriesStart[series + 1]!; at++) {
      if (!Number.isNaN(iv[at]!)) continue;
      const moneyness = Math.log(strike[at]! / forward);
      iv[at] = Math.sqrt(varianceAt(smile, moneyness) / tte);
      const isBeyond = moneyness < x[0]! || moneyness > x[x.length - 1]!;
      counts[isBeyond ? 'extended' : 'interpolated'] += contracts[at + 1]! - contracts[at]!;
    }
  }
  return counts;
}
