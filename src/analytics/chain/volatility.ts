import { recordOf } from '../../core/record-of.ts';
import { byRange, type Steps } from '../../core/steps.ts';
import type { Chain } from '../../market/chain.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { oneGreek } from '../../math/black-scholes.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import { FEED_IV_MAX, isComputedIv, isPlausibleIv } from './forward.ts';
import type { Pairs, PreparationCounts, Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import { bySeries, rowsOfColumn } from './rows.ts';
import { varianceAt } from './smile-variance.ts';
import { staleQuotes } from './stale-quotes.ts';
import { pairStrikes, type SeriesInput, SIDE_COLUMNS, type StrikePairs, smileOf } from './strikes.ts';

/** The volatilities of all contracts in several series, and the methods that gave them. */
export interface Volatilities {
  /** The volatility of each contract, one series after the other. `NaN` if no method gives a volatility. */
  readonly iv: Float64Array;
  readonly pairs: Pairs;
  /** The smile of each series. */
  readonly smiles: Smile[];
  readonly counts: PreparationCounts['iv'];
  /**
   * The number of strikes whose quote contradicts the quotes of neighbouring strikes. The smile leaves out strikes with contradicting
   * quotes.
   */
  readonly staleQuotes: number;
}

/** Tick sizes of index options and of other options, dollars. A model price may lie outside the quote by one tick. */
const TICK_INDEX = 0.05;
const TICK = 0.01;
/** The lowest implied volatility that is used. A lower volatility comes from a quote at the intrinsic value. */
const SOLVED_IV_MIN = 1e-3;

/** The number of strikes in one step. A step takes 5 ms if it computes the implied volatility of every strike. */
const STEP_STRIKES = 16_384;

/**
 * Finds one volatility for each strike, from the strike's out-of-the-money contract. The put and the call get the same volatility, because
 * the quote of an American in-the-money option contains an early-exercise premium. The first method in this list that succeeds gives the
 * volatility:
 * 1. The volatility that the middle of a two-sided quote implies.
 * 2. Without a two-sided quote, the volatility of the feed, unless it is a placeholder.
 * 3. The smile: total variance is linear in log-moneyness between strikes, and constant beyond the outermost strikes.
 *
 * If `prefers` is `feed`, the feed's volatility comes before method 1. The exception is a feed volatility whose model price is more than
 * one tick outside a two-sided quote. The smile does not include stale quotes.
 */
export function* strikeVolatilities(
  chain: Chain,
  inputs: readonly SeriesInput[],
  prefers: 'mid' | 'feed',
): Steps<Volatilities> {
  const strikes = yield* pairStrikes(chain, inputs, 'Solving volatilities');
  const ticks = inputs.map(({ series }) => (isIndexRoot(series.root) ? TICK_INDEX : TICK));
  const strikeIv = new Float64Array(strikes.count).fill(Number.NaN);
  const counts = { taken: 0, solved: 0, interpolated: 0, extended: 0 };
  yield* byRange(strikes.count, STEP_STRIKES, 'Solving volatilities', (from, to) => {
    counts.taken +=
      prefers === 'feed'
        ? takeWithinQuote(chain, strikes, ticks, strikeIv, from, to)
        : takeWithoutQuote(chain, strikes, strikeIv, from, to);
    counts.solved += solveFromMid(chain, strikes, strikeIv, from, to);
  });
  const stale = new Set<number>();
  const smiles: Smile[] = [];
  const iv = new Float64Array(inputs.at(-1)!.end);
  yield* bySeries(inputs, 'Building smiles', (input, series) => {
    findStale(chain, strikes, series, ticks[series]!, stale);
    const smile = smileOf(chain, input, series, strikes, strikeIv, stale);
    smiles.push(smile);
    interpolate(input, series, strikes, smile, strikeIv, counts);
    toContracts(series, strikes, strikeIv, iv);
  });
  const { count, contracts, strike, tte, rate, dividend } = strikes;
  return {
    iv,
    pairs: { count, contracts, strike, tte, iv: strikeIv, rate, dividend },
    smiles,
    counts,
    staleQuotes: stale.size,
  };
}

/** Sets the feed's volatility at strikes without a two-sided quote. Returns the number of contracts that get the feed's volatility. */
function takeWithoutQuote(
  chain: Chain,
  { contracts, otmRow }: StrikePairs,
  iv: Float64Array,
  from: number,
  to: number,
): number {
  let taken = 0;
  for (let i = from; i < to; i++) {
    const row = otmRow[i]!;
    if (row < 0 || !isComputedIv(chain.iv[row]!) || !Number.isNaN(mid(chain, row))) continue;
    iv[i] = chain.iv[row]!;
    taken += contracts[i + 1]! - contracts[i]!;
  }
  return taken;
}

/** Sets feed volatilities that are plausible and contradict no two-sided quote. Returns the number of contracts that get a volatility. */
function takeWithinQuote(
  chain: Chain,
  strikes: StrikePairs,
  ticks: readonly number[],
  iv: Float64Array,
  from: number,
  to: number,
): number {
  const { seriesStart, contracts, otmRow } = strikes;
  // 0 if the feed gives no volatility. If the feed gives no volatility for a strike, the strike needs no model price.
  const feedIv = new Float64Array(to - from);
  for (let i = from; i < to; i++) {
    const row = otmRow[i]!;
    if (row >= 0 && isPlausibleIv(chain.iv[row]!)) feedIv[i - from] = chain.iv[row]!;
  }
  const price = oneGreek('price', {
    count: to - from,
    spot: chain.spot,
    iv: feedIv,
    ...recordOf(SIDE_COLUMNS, (name) => strikes[name].subarray(from, to)),
  });
  let taken = 0;
  let series = 0;
  for (let i = from; i < to; i++) {
    while (i >= seriesStart[series + 1]!) series++;
    const volatility = feedIv[i - from]!;
    if (volatility === 0) continue;
    const tick = ticks[series]!;
    const row = otmRow[i]!;
    const modelPrice = price[i - from]!;
    const fits = modelPrice >= chain.bid[row]! - tick && modelPrice <= chain.ask[row]! + tick;
    if (!fits && !Number.isNaN(mid(chain, row))) continue;
    iv[i] = volatility;
    taken += contracts[i + 1]! - contracts[i]!;
  }
  return taken;
}

/** Solves the volatility of each remaining strike from the quote's middle. Returns the number of contracts that get a volatility. */
function solveFromMid(chain: Chain, strikes: StrikePairs, iv: Float64Array, from: number, to: number): number {
  const unsolved = new Uint32Array(to - from);
  const mids = new Float64Array(to - from);
  let count = 0;
  for (let i = from; i < to; i++) {
    const row = strikes.otmRow[i]!;
    if (!Number.isNaN(iv[i]!) || row < 0) continue;
    const price = mid(chain, row);
    if (Number.isNaN(price)) continue;
    unsolved[count] = i;
    mids[count++] = price;
  }
  if (count === 0) return 0;
  const rows = unsolved.subarray(0, count);
  const solved = impliedVolatility({
    count,
    price: mids.subarray(0, count),
    spot: chain.spot,
    ...recordOf(SIDE_COLUMNS, (name) => rowsOfColumn(strikes[name], rows)),
  });
  let contracts = 0;
  for (let i = 0; i < count; i++) {
    if (!(solved[i]! >= SOLVED_IV_MIN && solved[i]! <= FEED_IV_MAX)) continue;
    const row = rows[i]!;
    iv[row] = solved[i]!;
    contracts += strikes.contracts[row + 1]! - strikes.contracts[row]!;
  }
  return contracts;
}

/**
 * For one series, adds the rows with a stale out-of-the-money quote to `stale`. The smile does not use strikes with a stale quote. A
 * contract with a stale quote keeps the volatility that the quote implies, and therefore has almost no gamma. Most contracts with a stale
 * quote have not traded since a split.
 */
function findStale(
  chain: Chain,
  { seriesStart, callPut, otmRow }: StrikePairs,
  series: number,
  tick: number,
  stale: Set<number>,
): void {
  const [start, end] = [seriesStart[series]!, seriesStart[series + 1]!];
  let firstCall = start;
  while (firstCall < end && callPut[firstCall] === -1) firstCall++;
  // Puts are sorted by falling strike and calls by rising strike, so each wing starts at the money.
  for (const wing of [otmRow.slice(start, firstCall).reverse(), otmRow.subarray(firstCall, end)]) {
    for (const row of staleQuotes(chain, wing, tick)) stale.add(row);
  }
}

/**
 * Sets the volatility of each remaining strike of a series to the smile's volatility. `interpolated` counts the contracts within the
 * smile's range of strikes, and `extended` counts the contracts outside this range.
 */
function interpolate(
  { forward, tte }: SeriesInput,
  series: number,
  { seriesStart, contracts, strike }: StrikePairs,
  smile: Smile,
  iv: Float64Array,
  counts: { interpolated: number; extended: number },
): void {
  const { logMoneyness: x } = smile;
  if (x.length === 0) return;
  for (let i = seriesStart[series]!; i < seriesStart[series + 1]!; i++) {
    if (!Number.isNaN(iv[i]!)) continue;
    const moneyness = Math.log(strike[i]! / forward);
    iv[i] = Math.sqrt(varianceAt(smile, moneyness) / tte);
    const isBeyond = moneyness < x[0]! || moneyness > x[x.length - 1]!;
    counts[isBeyond ? 'extended' : 'interpolated'] += contracts[i + 1]! - contracts[i]!;
  }
}

/** Copies the volatility of each strike of one series to the strike's contracts. */
function toContracts(
  series: number,
  { seriesStart, contracts }: StrikePairs,
  strikeIv: Float64Array,
  iv: Float64Array,
): void {
  for (let i = seriesStart[series]!; i < seriesStart[series + 1]!; i++) {
    for (let contract = contracts[i]!; contract < contracts[i + 1]!; contract++) iv[contract] = strikeIv[i]!;
  }
}
