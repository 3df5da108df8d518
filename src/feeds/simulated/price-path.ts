import { closeOf, daysBetween, newYorkDate, openOf, previousTradingDay } from '../../market/calendar.ts';
import type { Instrument } from './instruments.ts';
import { normal } from './random.ts';

/**
 * Returns the simulated price at an instant, or the last close if the market is closed. Log prices are a Brownian bridge: blocks of two
 * years, which begin and end at the base price, are halved down to half minutes, so a price needs the random numbers of some twenty
 * midpoints.
 */
export function spotAt(instrument: Instrument, atMs: number): number {
  return priceAt(instrument, pathTime(atMs));
}

/** Returns the official close of a trading day. */
export function closeOn(instrument: Instrument, date: string): number {
  return priceAt(instrument, weekdayNumber(date) * DAY_UNITS);
}

/** Returns the share volume of a trading day. The volume is larger if the options have more open interest. */
export function sharesOn(instrument: Instrument, date: string): number {
  return Math.round(
    SHARES_PER_DEPTH * instrument.depth * Math.exp(0.25 * normal(instrument.key, 3, weekdayNumber(date))),
  );
}

/** Returns the at-the-money volatility of the shortest expiries, which varies, and rises when the market falls. */
export function shortIvAt(instrument: Instrument, atMs: number): number {
  const level = bridgeAt(
    pathTime(atMs),
    (key) => 0.6 * normal(instrument.key, 2, key) - 0.8 * normal(instrument.marketKey, key),
  );
  return instrument.baseIv * Math.exp(IV_WANDER * level);
}

/** Returns the last `count` trading days with a close at or before `asOf`, the oldest day first. */
export function closedDays(asOf: number, count: number): string[] {
  const days: string[] = [];
  let day = newYorkDate(asOf);
  if (asOf < closeOf(day)) day = previousTradingDay(day);
  for (; days.length < count; day = previousTradingDay(day)) days.push(day);
  return days.reverse();
}

/** Daily volume in shares per contract of `depth`. `depth` is the open interest at a strike with much trading. */
const SHARES_PER_DEPTH = 4_000;
/** Ratio of realised to implied volatility. The ratio is below 1, as usual in real markets. */
const REALISED_OVER_IMPLIED = 0.9;
/** Change of the implied volatility's logarithm for a change of 1 in its Brownian bridge. The volatility moves about 20 % up or down. */
const IV_WANDER = 0.3;
/** Weekdays in a block. */
const BLOCK_DAYS = 512;
/** Number of units into which a day of the path is divided. A day is halved ten times, which gives 1,024 units of about half a minute. */
const DAY_UNITS = 1_024;
/** Share of a day's variance that accrues before the open. */
const OVERNIGHT = 0.2;

/** Returns the price at a position on the path, dollars. */
function priceAt(instrument: Instrument, position: number): number {
  const level = bridgeAt(position, (key) => shock(instrument, key));
  const price = instrument.basePrice * Math.exp(REALISED_OVER_IMPLIED * instrument.baseIv * level);
  return Math.max(0.01, Math.round(price * 100) / 100);
}

/** Returns the random number for a return: the weighted sum of the random numbers of the market, the sector and the instrument. */
function shock(instrument: Instrument, key: number): number {
  const { marketLoading, sectorLoading } = instrument;
  const ownLoading = Math.sqrt(1 - marketLoading ** 2 - sectorLoading ** 2);
  return (
    marketLoading * normal(instrument.marketKey, key) +
    sectorLoading * normal(instrument.sectorKey, key) +
    ownLoading * normal(instrument.key, 1, key)
  );
}

/** Returns a Brownian bridge's value at a position. The variance is 1 per year of 252 days. `draw` returns a midpoint's random number. */
function bridgeAt(position: number, draw: (midpoint: number) => number): number {
  const length = BLOCK_DAYS * DAY_UNITS;
  let low = Math.floor(position / length) * length;
  let [lowLevel, highLevel] = [0, 0];
  for (let width = length; position !== low; ) {
    width /= 2;
    const middle = low + width;
    const middleLevel = (lowLevel + highLevel) / 2 + draw(middle) * Math.sqrt(width / 2 / DAY_UNITS / 252);
    if (position >= middle) [low, lowLevel] = [middle, middleLevel];
    else highLevel = middleLevel;
  }
  return lowLevel;
}

/** Returns the position of an instant on the path, in whole units. The days of the path are weekdays, and a day ends at its close. */
function pathTime(atMs: number): number {
  const date = newYorkDate(atMs);
  const [open, close] = [openOf(date), closeOf(date)];
  if (atMs < open) return weekdayNumber(previousTradingDay(date)) * DAY_UNITS;
  const toClose = 1 - Math.min(1, (atMs - open) / (close - open));
  return Math.round((weekdayNumber(newYorkDate(close)) - (1 - OVERNIGHT) * toClose) * DAY_UNITS);
}

/** Returns the number of weekdays from Monday, 2 January 1989, to a date. All data is later than this Monday. */
function weekdayNumber(date: string): number {
  const days = daysBetween('1989-01-02', date);
  return Math.floor(days / 7) * 5 + (((days % 7) + 7) % 7);
}
