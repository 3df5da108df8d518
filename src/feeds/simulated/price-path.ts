import {
  closeOf,
  daysBetween,
  lastClose,
  lastQuoted,
  newYorkDate,
  openOf,
  previousTradingDay,
  tradesFrom,
} from '../../market/calendar.ts';
import { HALF_HOUR_MS, type SimClock } from '../../market/simulated-past.ts';
import type { Instrument } from './instruments.ts';
import { hash, normal } from './random.ts';

/**
 * Returns the simulated price at an instant. While the exchange is closed, the price is the last close with the clock `real`, and moves to
 * the next open with the clock `always`. Log prices are a Brownian bridge: blocks of two years, which begin and end at the base price, are
 * halved down to half minutes, so a price needs the random numbers of some twenty midpoints. A price that sways is on this path at each full
 * and half hour.
 */
export function spotAt(instrument: Instrument, atMs: number): number {
  const price = priceAt(instrument, pathTime(atMs, instrument.clock));
  if (!instrument.sways) return price;
  const centre = swayCentre(instrument, newYorkDate(lastQuoted(atMs)));
  const away = Math.log(price / centre) * Math.cos((Math.PI * (atMs % HALF_HOUR_MS)) / HALF_HOUR_MS) ** 2;
  // After one minute of a period of three, the price is above the centre, and after two minutes as far below it, wherever the path is.
  const angle = (2 * Math.PI * (atMs % SWAY_MS)) / SWAY_MS;
  const sway = SWAY * instrument.baseIv * Math.sin(angle);
  return rounded(centre * Math.exp((away * (1 + 2 * Math.cos(angle))) / 3 + sway));
}

/**
 * Returns the price about which a price sways from the open of a trading day to the next open, between its closes before and on the day. The
 * open interest of the day is such that the gamma flip is near this price.
 */
export function swayCentre(instrument: Instrument, date: string): number {
  return Math.sqrt(closeOn(instrument, previousTradingDay(date)) * closeOn(instrument, date));
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
    pathTime(atMs, instrument.clock),
    (key) => 0.6 * normal(instrument.pathKey, 2, key) - 0.8 * normal(instrument.marketKey, key),
  );
  return instrument.baseIv * Math.exp(IV_WANDER * level);
}

/** Returns the last `count` trading days with a close at or before `asOf`, the oldest day first. */
export function closedDays(asOf: number, count: number): string[] {
  const days: string[] = [];
  for (let day = newYorkDate(lastClose(asOf)); days.length < count; day = previousTradingDay(day)) days.push(day);
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
/** Number of parts into which a unit is divided while the exchange is closed. A night has some thousand minutes, and 205 units. */
const NIGHT_PARTS = 16;
/** Share of a day's variance that accrues before the open. */
const OVERNIGHT = 0.2;
/** Period of a price that sways, ms. Half hours are multiples of this period. */
const SWAY_MS = 180_000;
/** The extent of the sway as a log price, in units of the implied volatility. The price of SPY sways by some 0.4 %. */
const SWAY = 0.03;

/** Returns the price at a position on the path, dollars. */
function priceAt(instrument: Instrument, position: number): number {
  const level = bridgeAt(position, (key) => shock(instrument, key));
  const price = instrument.basePrice * Math.exp(REALISED_OVER_IMPLIED * instrument.baseIv * level);
  return rounded(price);
}

/** Rounds a price to cents. */
function rounded(price: number): number {
  return Math.max(0.01, Math.round(price * 100) / 100);
}

/** Returns the random number for a return: the weighted sum of the random numbers of the market, the sector and the instrument. */
function shock(instrument: Instrument, key: number): number {
  const { marketLoading, sectorLoading } = instrument;
  const ownLoading = Math.sqrt(1 - marketLoading ** 2 - sectorLoading ** 2);
  return (
    marketLoading * normal(instrument.marketKey, key) +
    sectorLoading * normal(instrument.sectorKey, key) +
    ownLoading * normal(instrument.pathKey, 1, key)
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
    const middleLevel = (lowLevel + highLevel) / 2 + draw(drawKey(middle)) * Math.sqrt(width / 2 / DAY_UNITS / 252);
    if (position >= middle) [low, lowLevel] = [middle, middleLevel];
    else highLevel = middleLevel;
  }
  return lowLevel;
}

/** Returns the key of a midpoint for its random numbers. Keys are whole numbers. */
function drawKey(middle: number): number {
  return Number.isInteger(middle) ? middle : hash(NIGHT_PARTS * middle, 4);
}

/** Returns the position of an instant on the path, in units. The days of the path are weekdays, and a day ends at its close. */
function pathTime(atMs: number, clock: SimClock): number {
  const quotedAt = lastQuoted(atMs);
  const date = newYorkDate(quotedAt);
  const [open, close] = [openOf(date), closeOf(date)];
  const toClose = 1 - (quotedAt - open) / (close - open);
  const position = Math.round((weekdayNumber(date) - (1 - OVERNIGHT) * toClose) * DAY_UNITS);
  if (clock === 'real' || quotedAt === atMs) return position;
  const opensAt = tradesFrom(atMs);
  const units = (pathTime(opensAt, clock) - position) * ((atMs - quotedAt) / (opensAt - quotedAt));
  return position + Math.round(NIGHT_PARTS * units) / NIGHT_PARTS;
}

/** Returns the number of weekdays from Monday, 2 January 1989, to a date. All data is later than this Monday. */
function weekdayNumber(date: string): number {
  const days = daysBetween('1989-01-02', date);
  return Math.floor(days / 7) * 5 + (((days % 7) + 7) % 7);
}
