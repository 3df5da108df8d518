import { closeOf, daysBetween, newYorkDate, openOf, previousTradingDay } from '../../market/calendar.ts';
import type { Instrument } from './instruments.ts';
import { normal } from './random.ts';

/**
 * The simulated price at an instant: to the minute while the market is open, else the last close. Log prices are a Brownian bridge, halved
 * repeatedly from blocks of two years to half-minutes. Any instant takes twenty random draws, and a day's close is on the same path as
 * its minutes. The price returns to the base price at the ends of a block, so it always stays plausible.
 */
export function spotAt(instrument: Instrument, atMs: number): number {
  return priceAt(instrument, pathTime(atMs));
}

/** Official close of a trading day. */
export function closeOn(instrument: Instrument, date: string): number {
  return priceAt(instrument, weekdayNumber(date) * DAY_STEPS);
}

/** Shares traded on a trading day. The number grows with the open interest of the options. */
export function sharesOn(instrument: Instrument, date: string): number {
  return Math.round(
    SHARES_PER_DEPTH * instrument.depth * Math.exp(0.25 * normal(instrument.key, 3, weekdayNumber(date))),
  );
}

/** At-the-money volatility of the shortest expiries. It varies around the base volatility and rises when the market falls. */
export function shortIvAt(instrument: Instrument, atMs: number): number {
  const level = bridgeAt(
    pathTime(atMs),
    (key) => 0.6 * normal(instrument.key, 2, key) - 0.8 * normal(instrument.marketKey, key),
  );
  return instrument.baseIv * Math.exp(IV_WANDER * level);
}

/** The last `count` trading days that have closed by `asOf`, oldest first. */
export function closedDays(asOf: number, count: number): string[] {
  const days: string[] = [];
  let day = newYorkDate(asOf);
  if (asOf < closeOf(day)) day = previousTradingDay(day);
  for (; days.length < count; day = previousTradingDay(day)) days.push(day);
  return days.reverse();
}

/** Shares a day for each contract of open interest of a busy strike. */
const SHARES_PER_DEPTH = 4_000;
/** Realised volatility is somewhat below implied volatility. */
const REALISED_OVER_IMPLIED = 0.9;
/** Log points of volatility per unit of its path: about 20 % up or down. */
const IV_WANDER = 0.3;
/** Weekdays in a block, and the steps of a day: halving a day ten times gives 1024 steps of half a minute. */
const BLOCK_DAYS = 512;
const DAY_STEPS = 1_024;
/** Share of a day's variance that falls before the open. */
const OVERNIGHT = 0.2;

function priceAt(instrument: Instrument, step: number): number {
  const level = bridgeAt(step, (key) => shock(instrument, key));
  const price = instrument.basePrice * Math.exp(REALISED_OVER_IMPLIED * instrument.baseIv * level);
  return Math.max(0.01, Math.round(price * 100) / 100);
}

/** The random part of a return: shared with the market and the sector, the rest the instrument's own. */
function shock(instrument: Instrument, key: number): number {
  const { marketLoading, sectorLoading } = instrument;
  const ownLoading = Math.sqrt(1 - marketLoading ** 2 - sectorLoading ** 2);
  return (
    marketLoading * normal(instrument.marketKey, key) +
    sectorLoading * normal(instrument.sectorKey, key) +
    ownLoading * normal(instrument.key, 1, key)
  );
}

/** Brownian bridge with a variance of 1 per year of 252 days, at a time in steps. `draw` gives the random value of each midpoint. */
function bridgeAt(step: number, draw: (midpoint: number) => number): number {
  const length = BLOCK_DAYS * DAY_STEPS;
  let low = Math.floor(step / length) * length;
  let [lowLevel, highLevel] = [0, 0];
  for (let width = length; step !== low; ) {
    width /= 2;
    const middle = low + width;
    const middleLevel = (lowLevel + highLevel) / 2 + draw(middle) * Math.sqrt(width / 2 / DAY_STEPS / 252);
    if (step >= middle) [low, lowLevel] = [middle, middleLevel];
    else highLevel = middleLevel;
  }
  return lowLevel;
}

/** Position on the path, in whole steps. Days count weekdays, and a day ends at its close. */
function pathTime(atMs: number): number {
  const date = newYorkDate(atMs);
  const [open, close] = [openOf(date), closeOf(date)];
  if (atMs < open) return weekdayNumber(previousTradingDay(date)) * DAY_STEPS;
  const toClose = 1 - Math.min(1, (atMs - open) / (close - open));
  return Math.round((weekdayNumber(newYorkDate(close)) - (1 - OVERNIGHT) * toClose) * DAY_STEPS);
}

/** Weekdays since a Monday before all data. */
function weekdayNumber(date: string): number {
  const days = daysBetween('1989-01-02', date);
  return Math.floor(days / 7) * 5 + (((days % 7) + 7) % 7);
}
