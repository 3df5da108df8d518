import { memoizeByObject } from '../../core/cache.ts';
import { recordOf } from '../../core/record-of.ts';
import { greeks } from '../../math/black-scholes.ts';
import { isComputedIv } from '../chain/forward.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { mid } from '../chain/quotes.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { atmBand } from '../chain/volatility-band.ts';
import { extentOf } from './extent-of.ts';
import type { PriceBounds, QuoteBands } from './slice-model.ts';

/** The least number of usable strikes in a series of the surface. Each side of the forward needs at least `SIDE_STRIKES_MIN` strikes. */
const STRIKES_MIN = 5;
const SIDE_STRIKES_MIN = 2;
/** The least half-width of a band, dollars. Even a quote with equal bid and ask has an assumed uncertainty of a fifth of a cent. */
const HALF_WIDTH_MIN = 0.002;
/** If fewer out-of-the-money options have a two-sided quote, the chain is from after hours, and the feed's volatilities count. */
const QUOTED_SHARE_MIN = 0.1;
/** Half-width of the band around a volatility of the feed, as a share of this volatility. */
const FEED_BAND = 0.02;

/** The data to which the surface is fitted: two-sided quotes alone, or two-sided quotes and the feed's volatilities. */
export type BandSource = 'quotes' | 'feed_volatility';
/** The reason why the quotes of a series do not determine a smile. `one_sided`: too few usable strikes on one side of the forward. */
export type RefusalReason = 'no_volatility' | 'too_few_strikes' | 'one_sided';

/** Returns the data to which a chain's surface is fitted. All series have the same `BandSource`, because all quotes have the same time. */
export const bandSource = memoizeByObject(({ series, strike, callPut, chain, row }: PreparedChain): BandSource => {
  let [otm, quoted] = [0, 0];
  for (const { start, end, forward } of series) {
    for (let i = start; i < end; i++) {
      if (strike[i]! >= forward !== (callPut[i] === 1)) continue;
      otm++;
      if (!Number.isNaN(mid(chain, row[i]!))) quoted++;
    }
  }
  return quoted >= QUOTED_SHARE_MIN * otm ? 'quotes' : 'feed_volatility';
});

/**
 * Returns the price bands, from bid to ask, of a series' out-of-the-money options whose quotes do not contradict neighbouring quotes. With
 * `feed_volatility`, an option without a two-sided quote gets a band around the price of its volatility. If the options determine no smile,
 * returns the reason.
 */
export function quoteBands(
  prepared: PreparedChain,
  series: PreparedSeries,
  source: BandSource,
): QuoteBands | RefusalReason {
  const { chain, iv } = prepared;
  const { forward, rate, tte } = series;
  const rows = usableRows(prepared, series, source);
  if (typeof rows === 'string') return rows;
  const unit = forward * Math.exp(-rate * tte);
  const column = (value: (i: number, row: number) => number) => {
    const values = new Float64Array(rows.length);
    for (let at = 0; at < rows.length; at++) values[at] = value(rows[at]!, prepared.row[rows[at]!]!);
    return values;
  };
  const options = {
    callPut: column((i) => prepared.callPut[i]!),
    moneyness: column((i) => prepared.strike[i]! / forward),
    price: column((_, row) => mid(chain, row) / unit),
    halfWidth: column((_, row) => Math.max((chain.ask[row]! - chain.bid[row]!) / 2, HALF_WIDTH_MIN) / unit),
  };
  if (source === 'feed_volatility')
    fillFromVolatility(
      options,
      column((i) => iv[i]!),
      tte,
    );
  return options;
}

/** Returns the series without a smile, with reasons. Their at-the-money volatility and skew are unknown. */
export const smileRefusals = memoizeByObject((prepared: PreparedChain): ReadonlyMap<PreparedSeries, RefusalReason> => {
  const source = bandSource(prepared);
  const refused = new Map<PreparedSeries, RefusalReason>();
  for (const series of prepared.series) {
    const rows = usableRows(prepared, series, source);
    if (typeof rows === 'string') refused.set(series, rows);
  }
  return refused;
});

/** Returns the rows of the options that determine the smile of a series, or the reason why they do not. */
function usableRows(prepared: PreparedChain, series: PreparedSeries, source: BandSource): number[] | RefusalReason {
  const { chain, strike, row } = prepared;
  const { start, end, forward, smile } = series;
  const { logMoneyness } = smile;
  if (logMoneyness.length === 0) return 'no_volatility';
  const rows: number[] = [];
  // Strikes ascend within a series, and the smile is in order of log-moneyness.
  let next = 0;
  for (let i = start; i < end; i++) {
    if (!isOtm(prepared, i, forward)) continue;
    const isQuoted = !Number.isNaN(mid(chain, row[i]!));
    if (isQuoted) {
      const distance = Math.log(strike[i]! / forward);
      while (logMoneyness[next]! < distance) next++;
      if (logMoneyness[next] === distance) rows.push(i);
    } else if (source === 'feed_volatility' && isComputedIv(chain.iv[row[i]!]!)) {
      rows.push(i);
    }
  }
  if (rows.length < STRIKES_MIN) return 'too_few_strikes';
  return isEnough(rows.map((i) => prepared.callPut[i]!)) ? rows : 'one_sided';
}

function isOtm(prepared: PreparedChain, i: number, forward: number): boolean {
  return prepared.strike[i]! >= forward === (prepared.callPut[i] === 1);
}

/** For options without a two-sided quote, sets the price and the band from the volatility. */
function fillFromVolatility({ callPut, moneyness, price, halfWidth }: QuoteBands, iv: Float64Array, tte: number): void {
  const count = iv.length;
  const model = greeks({ count, callPut, spot: 1, strike: moneyness, tte, iv, rate: 0, dividend: 0 });
  for (let i = 0; i < count; i++) {
    if (!Number.isNaN(price[i]!)) continue;
    price[i] = model.price[i]!;
    halfWidth[i] = FEED_BAND * iv[i]! * model.vega[i]!;
  }
}

/**
 * Returns upper bounds of prices beyond the outermost `quotes` of a series: the asks of options without a bid. Outwards, only an ask below
 * all asks nearer the forward counts, because the other bounds follow from it. The tolerance is half of the ask.
 */
export function askBounds(prepared: PreparedChain, series: PreparedSeries, { moneyness }: QuoteBands): PriceBounds {
  const { chain, strike, row, callPut } = prepared;
  const { start, end, forward, rate, tte } = series;
  const unit = forward * Math.exp(-rate * tte);
  const [low, high] = extentOf(moneyness);
  const bounds: number[] = [];
  const addOutwards = (side: number, from: number) => {
    let least = Number.POSITIVE_INFINITY;
    for (let i = from; i >= start && i < end; i += side) {
      const ask = chain.ask[row[i]!]!;
      if (callPut[i] !== side || chain.bid[row[i]!] !== 0 || !(ask > 0 && ask < least)) continue;
      least = ask;
      bounds.push(i);
    }
  };
  // Strikes ascend within a series.
  let i = start;
  while (i < end && strike[i]! < low * forward) i++;
  addOutwards(-1, i - 1);
  for (i = end; i > start && strike[i - 1]! > high * forward; ) i--;
  addOutwards(1, i);
  const column = (value: (i: number) => number) => Float64Array.from(bounds, value);
  const price = column((i) => chain.ask[row[i]!]! / unit);
  return {
    ...{ callPut: column((i) => callPut[i]!), moneyness: column((i) => strike[i]! / forward), price },
    ...{ tolerance: price.map((ask) => ask / 2), side: price.map(() => 1) },
  };
}

/** A quote is compared with this number of later settlements, and left out if at least `WITNESSES` of them contradict it. */
const LATER_COMPARED = 3;
const WITNESSES = 2;
/** Quotes further from the forward are left out, standard deviations: below, then above. The nodes of a law reach 2.5 and 1.5 further. */
const REACH = [20, 9] as const;

/**
 * Leaves out quotes too far from the forward for a law, and quotes that later settlements contradict: a bid above the ask of a later option
 * with a strike at most as far from the forward, for two of the next three settlements. Strikes are compared as multiples of the forward.
 * `bands` are in order of settlement, with their standard deviations at the money. The quotes of a settlement all stay if too few would be left.
 */
export function usableBands(bands: readonly QuoteBands[], deviations: readonly number[]): QuoteBands[] {
  const wings = bands.map((quotes) => [wingOf(quotes, -1), wingOf(quotes, 1)]);
  return bands.map((quotes, at) => {
    const { callPut, moneyness } = quotes;
    const witnesses = new Uint8Array(moneyness.length);
    for (const later of wings.slice(at + 1, at + 1 + LATER_COMPARED)) {
      for (const [side, own] of wings[at]!.entries()) addContradicted(witnesses, own, later[side]!);
    }
    const [least, most] = [Math.exp(-REACH[0] * deviations[at]!), Math.exp(REACH[1] * deviations[at]!)];
    const isKept = (i: number) => witnesses[i]! < WITNESSES && moneyness[i]! >= least && moneyness[i]! <= most;
    const kept = [...witnesses.keys()].filter(isKept);
    if (kept.length === witnesses.length || !isEnough(kept.map((i) => callPut[i]!))) return quotes;
    return recordOf(['callPut', 'moneyness', 'price', 'halfWidth'], (name) =>
      Float64Array.from(kept, (i) => quotes[name][i]!),
    );
  });
}

/** The puts or the calls of a settlement in order of their distance from the forward, with the lowest ask up to each. */
type Wing = Readonly<{
  rows: readonly number[];
  distance: readonly number[];
  bid: readonly number[];
  lowestAsk: readonly number[];
}>;

function wingOf({ callPut, moneyness, price, halfWidth }: QuoteBands, side: 1 | -1): Wing {
  const rows: number[] = [];
  for (let i = 0; i < callPut.length; i++) if (callPut[i] === side) rows.push(i);
  rows.sort((a, b) => side * (moneyness[a]! - moneyness[b]!));
  let least = Number.POSITIVE_INFINITY;
  const lowestAsk = rows.map((i) => {
    least = Math.min(least, price[i]! + halfWidth[i]!);
    return least;
  });
  return {
    rows,
    distance: rows.map((i) => side * moneyness[i]!),
    bid: rows.map((i) => price[i]! - halfWidth[i]!),
    lowestAsk,
  };
}

/** Adds 1 to the quotes of a wing with a bid above the ask of an option of a later wing that is at most as far from the forward. */
function addContradicted(witnesses: Uint8Array, { rows, distance, bid }: Wing, later: Wing): void {
  let next = 0;
  for (let i = 0; i < rows.length; i++) {
    while (next < later.distance.length && later.distance[next]! <= distance[i]!) next++;
    if (next > 0 && later.lowestAsk[next - 1]! < bid[i]!) witnesses[rows[i]!]!++;
  }
}

/** Returns whether options of these sides are enough to determine a smile. */
function isEnough(sides: readonly number[]): boolean {
  const calls = sides.filter((side) => side > 0).length;
  return sides.length >= STRIKES_MIN && Math.min(calls, sides.length - calls) >= SIDE_STRIKES_MIN;
}

/** Concatenates the columns of several objects, in their order. The objects must have the same columns. One object stays itself. */
export function joinColumns<Columns extends Record<keyof Columns, Float64Array>>(all: readonly Columns[]): Columns {
  if (all.length === 1) return all[0]!;
  const names = Object.keys(all[0]!) as (keyof Columns & string)[];
  return recordOf(names, (name) => {
    const joined = new Float64Array(all.reduce((sum, each) => sum + each[name].length, 0));
    let at = 0;
    for (const each of all) {
      joined.set(each[name], at);
      at += each[name].length;
    }
    return joined;
  }) as unknown as Columns;
}

/** The volatility at the money of a series, and those that bids and asks imply, decimal per calendar year. */
export type QuotedAtm = Readonly<{ iv: number; bid: number; ask: number }>;

/**
 * Returns the volatility at the money of a series without a smile, with its band, decimal per calendar year. Returns null unless the listed
 * strikes next to the forward, one on each side, have usable two-sided quotes and lie within one standard deviation of the forward.
 */
export function quotedAtm(prepared: PreparedChain, series: PreparedSeries): QuotedAtm | null {
  const { start, end, forward, smile } = series;
  const { logMoneyness } = smile;
  const strikes = prepared.strike.subarray(start, end);
  const above = strikes.findIndex((each) => each >= forward);
  const below = strikes.findLastIndex((each) => each <= forward);
  if (above < 0 || below < 0) return null;
  const iv = atmVolatility(series);
  const reach = iv * Math.sqrt(series.tte);
  for (const strike of [strikes[below]!, strikes[above]!]) {
    const distance = Math.log(strike / forward);
    if (!logMoneyness.includes(distance) || Math.abs(distance) > reach) return null;
  }
  const { bid, ask } = atmBand(prepared, series);
  return Number.isNaN(bid) || Number.isNaN(ask) ? null : { iv, bid, ask };
}
