import type { Chain } from '../../market/chain.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { oneGreek } from '../../math/black-scholes.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import { byRange, type Steps } from '../../steps.ts';
import { bySeries } from './by-series.ts';
import { FEED_IV_MAX, isOpinion } from './forward.ts';
import { rowsOfColumn } from './pick.ts';
import type { Pairs, PreparationCounts, Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import { varianceAt } from './smile-fit.ts';
import { staleQuotes } from './stale-quotes.ts';
import { smileOf } from './strike-smiles.ts';
import { type SeriesInput, type StrikePairs, strikesInSteps } from './strikes.ts';

export interface Volatilities {
  /** By contract, one series after the other. `NaN` if no method gives a volatility. */
  readonly iv: Float64Array;
  readonly pairs: Pairs;
  /** By series. */
  readonly smiles: Smile[];
  readonly counts: PreparationCounts['iv'];
  /** Strikes whose quote contradicts its neighbours. The smile leaves them out. */
  readonly staleQuotes: number;
}

/** A price may differ from the quote by one tick. */
const TICK_INDEX = 0.05;
const TICK = 0.01;
/** A solved volatility below this comes from a quote at its intrinsic value, which is not an opinion. */
const SOLVED_IV_MIN = 1e-3;

/** Strikes whose volatilities are taken or solved in a step: 5 ms if all are solved. */
const STEP_STRIKES = 16_384;

/**
 * One volatility for each strike, that of the out-of-the-money side. It serves call and put, since American in-the-money quotes carry the
 * early-exercise premium. It is the feed's volatility if its price fits the quote, else solved from the mid, else interpolated: linear in
 * total variance over log-moneyness, constant beyond the outermost strikes. The smile leaves stale quotes out.
 */
export function* strikeVolatilities(chain: Chain, inputs: readonly SeriesInput[]): Steps<Volatilities> {
  const strikes = yield* strikesInSteps(chain, inputs, 'Solving volatilities');
  const ticks = inputs.map(({ series }) => (isIndexRoot(series.root) ? TICK_INDEX : TICK));
  const ofStrikes = new Float64Array(strikes.count).fill(Number.NaN);
  const counts = { taken: 0, solved: 0, interpolated: 0, extended: 0 };
  yield* byRange(strikes.count, STEP_STRIKES, 'Solving volatilities', (from, to) => {
    counts.taken += takeFromFeed(chain, strikes, ticks, ofStrikes, from, to);
    counts.solved += solveFromMid(chain, strikes, ofStrikes, from, to);
  });
  const stale = new Set<number>();
  const smiles: Smile[] = [];
  const iv = new Float64Array(inputs.at(-1)!.end);
  yield* bySeries(inputs, 'Fitting smiles', (input, series) => {
    findStale(chain, strikes, series, ticks[series]!, stale);
    const smile = smileOf(chain, input, series, strikes, ofStrikes, stale);
    smiles.push(smile);
    interpolate(input, series, strikes, smile, ofStrikes, counts);
    toContracts(series, strikes, ofStrikes, iv);
  });
  const { count, contracts, strike, tte, rate, dividend } = strikes;
  return {
    iv,
    pairs: { count, contracts, strike, tte, iv: ofStrikes, rate, dividend },
    smiles,
    counts,
    staleQuotes: stale.size,
  };
}

/** Gives strikes the feed's volatility if it is an opinion and no two-sided quote contradicts it. Returns the number of their contracts. */
function takeFromFeed(
  chain: Chain,
  strikes: StrikePairs,
  ticks: readonly number[],
  iv: Float64Array,
  from: number,
  to: number,
): number {
  const { seriesStart, contracts, otmRow } = strikes;
  // 0 if the feed gives no volatility. The price of such a strike is not used.
  const offered = new Float64Array(to - from);
  for (let at = from; at < to; at++) {
    const row = otmRow[at]!;
    if (row >= 0 && isOpinion(chain.iv[row]!)) offered[at - from] = chain.iv[row]!;
  }
  const part = (column: Float64Array) => column.subarray(from, to);
  const price = oneGreek('price', {
    count: to - from,
    callPut: part(strikes.callPut),
    spot: chain.spot,
    strike: part(strikes.strike),
    tte: part(strikes.tte),
    iv: offered,
    rate: part(strikes.rate),
    dividend: part(strikes.dividend),
  });
  let taken = 0;
  let series = 0;
  for (let at = from; at < to; at++) {
    while (at >= seriesStart[series + 1]!) series++;
    const volatility = offered[at - from]!;
    if (volatility === 0) continue;
    const tick = ticks[series]!;
    const row = otmRow[at]!;
    const its = price[at - from]!;
    const fits = its >= chain.bid[row]! - tick && its <= chain.ask[row]! + tick;
    if (!fits && !Number.isNaN(mid(chain, row))) continue;
    iv[at] = volatility;
    taken += contracts[at + 1]! - contracts[at]!;
  }
  return taken;
}

/** Solves the remaining strikes from the middle of their quotes. Returns the number of their contracts. */
function solveFromMid(chain: Chain, strikes: StrikePairs, iv: Float64Array, from: number, to: number): number {
  const open = new Uint32Array(to - from);
  const mids = new Float64Array(to - from);
  let count = 0;
  for (let at = from; at < to; at++) {
    const row = strikes.otmRow[at]!;
    if (!Number.isNaN(iv[at]!) || row < 0) continue;
    const price = mid(chain, row);
    if (Number.isNaN(price)) continue;
    open[count] = at;
    mids[count++] = price;
  }
  if (count === 0) return 0;
  const rows = open.subarray(0, count);
  const solved = impliedVolatility({
    count,
    callPut: rowsOfColumn(strikes.callPut, rows),
    price: mids.subarray(0, count),
    spot: chain.spot,
    strike: rowsOfColumn(strikes.strike, rows),
    tte: rowsOfColumn(strikes.tte, rows),
    rate: rowsOfColumn(strikes.rate, rows),
    dividend: rowsOfColumn(strikes.dividend, rows),
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
 * Finds the rows of a series whose out-of-the-money quote is stale. The smile does not use these rows. Their contracts get the volatility
 * that the quote implies, which leaves them almost no gamma: most have been dead since a split, and none is known to be alive.
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
  // Away from the money: puts by falling strike, calls by rising strike.
  for (const wing of [otmRow.slice(start, firstCall).reverse(), otmRow.subarray(firstCall, end)]) {
    for (const row of staleQuotes(chain, wing, tick)) stale.add(row);
  }
}

/** Gives the remaining strikes of a series the smile's volatility. Counts their contracts, between the smile's strikes and beyond them. */
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
  for (let at = seriesStart[series]!; at < seriesStart[series + 1]!; at++) {
    if (!Number.isNaN(iv[at]!)) continue;
    const moneyness = Math.log(strike[at]! / forward);
    iv[at] = Math.sqrt(varianceAt(smile, moneyness) / tte);
    const isBeyond = moneyness < x[0]! || moneyness > x[x.length - 1]!;
    counts[isBeyond ? 'extended' : 'interpolated'] += contracts[at + 1]! - contracts[at]!;
  }
}

/** Copies the volatility of each strike of a series to its contracts. */
function toContracts(
  series: number,
  { seriesStart, contracts }: StrikePairs,
  ofStrikes: Float64Array,
  iv: Float64Array,
): void {
  for (let at = seriesStart[series]!; at < seriesStart[series + 1]!; at++) {
    for (let contract = contracts[at]!; contract < contracts[at + 1]!; contract++) iv[contract] = ofStrikes[at]!;
  }
}
