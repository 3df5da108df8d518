import { memoize } from '../../core/cache.ts';
import {
  addDays,
  daysBetween,
  isTradingDay,
  nextTradingDay,
  nthWeekday,
  previousTradingDay,
  settlementInstant,
  weekdayOf,
} from '../../market/calendar.ts';
import { settlementOf } from '../../market/option-symbol.ts';
import type { Cadence, Instrument } from './instruments.ts';

/** An expiry that is listed on a day, with the values that all its contracts share. */
export interface Term {
  readonly root: string;
  readonly expiry: string;
  /** Settlement instant, ms since the epoch. */
  readonly settlesAt: number;
  /** Calendar days from the listing day to the expiry. */
  readonly days: number;
  /** Standard deviation of the log-price change until the expiry, estimated from the base volatility. */
  readonly width: number;
  /** True for a third Friday, or the trading day before a holiday on it. Such expiries have more open interest. */
  readonly isMonthly: boolean;
}

/** Returns the expiries that are listed on a day, the earliest first. */
export function termsOn(instrument: Instrument, date: string): Term[] {
  return expiriesOn(date, instrument.cadence).map((expiry) => {
    const days = daysBetween(date, expiry);
    const isMonthly = thirdFriday(monthNumber(expiry)) === expiry;
    const root = isMonthly ? instrument.root : instrument.otherRoot;
    const settlesAt = settlementInstant(expiry, settlementOf(root));
    return { root, expiry, settlesAt, days, width: instrument.baseIv * Math.sqrt((days + 1) / 365), isMonthly };
  });
}

/**
 * Returns the strikes of an expiry around the previous close, within a few standard deviations. Their distances grow away from the price
 * and with the time to expiry.
 */
export function listedStrikesOf(instrument: Instrument, { width, days }: Term, price: number): number[] {
  const reach = Math.min(REACH_MAX, Math.max(REACH_MIN, REACH_DEVIATIONS * width));
  const most = instrument.cadence === 'daily' && instrument.isFund ? STRIKES_MAX_BUSY : STRIKES_MAX;
  for (let rung = firstRung(instrument, price) + (days > 75 ? 1 : 0) + (days > 300 ? 1 : 0); ; rung++) {
    const fine = LADDER[rung] ?? LADDER.at(-1)!;
    const coarse = LADDER[rung + 1] ?? fine;
    // Each side of the price has a few strikes, even for a low price and a short time to expiry.
    const core = STRIKES_A_SIDE_MIN * fine;
    const low = Math.min(price * Math.exp(-reach), price - core);
    const high = Math.max(price * Math.exp(reach), price + core);
    const strikes: number[] = [];
    for (let i = Math.max(1, Math.ceil(low / fine)); i * fine <= high; i++) {
      const strike = i * fine;
      const near = Math.abs(strike - price) <= core || Math.abs(Math.log(strike / price)) < reach * NEAR;
      if (near || Number.isInteger(strike / coarse)) strikes.push(strike);
    }
    if (strikes.length <= most || rung >= LADDER.length) return strikes;
  }
}

/**
 * Returns the expiries that are listed on a day, as on real exchanges. For each cadence, LISTINGS has the number of expiries of each type:
 * trading days, Fridays, and third Fridays of months, quarters and Januaries. An expiry on a holiday moves to the previous trading day.
 */
export function expiriesOn(date: string, cadence: Cadence): readonly string[] {
  return expiriesOf(`${cadence} ${date}`);
}

/** Maximum number of cached listings. A listing belongs to one cadence and day. The prints of a month need the listings of all its days. */
const LISTED_MAX = 500;

const expiriesOf = memoize(LISTED_MAX, (key: string): readonly string[] => {
  const [cadence, date] = key.split(' ') as [Cadence, string];
  const { days, weeks, months, quarters, leaps } = LISTINGS[cadence];
  const listed = new Set([
    ...nextDays(date, days),
    ...nextFridays(date, weeks),
    ...thirdFridays(date, months, () => true),
    ...thirdFridays(date, quarters, (month) => month % 3 === 2),
    ...thirdFridays(date, leaps, (month) => month % 12 === 0),
  ]);
  return [...listed].filter((expiry) => expiry >= date).sort();
});

/** The numbers of listed expiries by cadence: one number for each type of expiry. `leaps` are third Fridays of January. */
const LISTINGS: Readonly<
  Record<Cadence, Readonly<Record<'days' | 'weeks' | 'months' | 'quarters' | 'leaps', number>>>
> = {
  daily: { days: 10, weeks: 6, months: 7, quarters: 7, leaps: 3 },
  weekly: { days: 0, weeks: 6, months: 4, quarters: 4, leaps: 2 },
  monthly: { days: 0, weeks: 0, months: 3, quarters: 3, leaps: 1 },
};

const FRIDAY = 5;
/** Distance between the price and the outermost strike, in standard deviations. */
const REACH_DEVIATIONS = 3.5;
/** Minimum and maximum distance between the price and the outermost strike, as a difference of log prices. */
const REACH_MIN = 0.12;
const REACH_MAX = 1.6;
/** Strikes are close together within this share of the distance from the price to the outermost strike. */
const NEAR = 0.5;
/** Minimum number of strikes on each side of the price. */
const STRIKES_A_SIDE_MIN = 3;
/** Maximum number of strikes of an expiry. */
const STRIKES_MAX = 80;
/** Maximum number of strikes of an expiry, for the busiest funds. */
const STRIKES_MAX_BUSY = 120;
/** Distances between neighbouring strikes that exchanges use, dollars. */
const LADDER = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000] as const;

/** Returns the LADDER index of the first distance to try. At equal prices, strikes of funds are closer together than strikes of shares. */
function firstRung({ cadence, isFund }: Instrument, price: number): number {
  if (cadence === 'daily') return 1;
  const rung = [40, 120, 250, 600].filter((bound) => price >= bound).length;
  return isFund ? Math.min(1, rung) : rung;
}

function nextDays(date: string, count: number): string[] {
  const days: string[] = [];
  for (let day = date; days.length < count; day = nextTradingDay(day)) if (isTradingDay(day)) days.push(day);
  return days;
}

function nextFridays(date: string, count: number): string[] {
  const friday = addDays(date, (FRIDAY - weekdayOf(date) + 7) % 7);
  return Array.from({ length: count }, (_, week) => tradedOnOrBefore(addDays(friday, 7 * week)));
}

/** Returns the first `count` third Fridays at or after `date`. Uses only the months that `isListed` accepts. */
function thirdFridays(date: string, count: number, isListed: (month: number) => boolean): string[] {
  const fridays: string[] = [];
  for (let month = monthNumber(date); fridays.length < count; month++) {
    if (isListed(month) && thirdFriday(month) >= date) fridays.push(thirdFriday(month));
  }
  return fridays;
}

/** Returns the number of months from January of the year 0 to a date. For a date in January, the number is a multiple of 12. */
function monthNumber(date: string): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;
}

function thirdFriday(month: number): string {
  return tradedOnOrBefore(nthWeekday(Math.floor(month / 12), (month % 12) + 1, FRIDAY, 3));
}

function tradedOnOrBefore(date: string): string {
  return isTradingDay(date) ? date : previousTradingDay(date);
}
