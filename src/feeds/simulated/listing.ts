import { memoize } from '../../cache.ts';
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

/** An expiry listed on a day, with the values that all its contracts share. */
export interface Term {
  readonly expiry: string;
  readonly settlesAt: number;
  /** Calendar days from the day of the listing. */
  readonly days: number;
  /** Standard deviation of the log price until the expiry, estimated from the base volatility. */
  readonly width: number;
  /** A third Friday, or the day before if that is a holiday. Open interest gathers there. */
  readonly monthly: boolean;
}

/** Expiries listed on a day, in order. */
export function termsOn(instrument: Instrument, date: string): Term[] {
  return expiriesOn(date, instrument.cadence).map((expiry) => {
    const days = daysBetween(date, expiry);
    return {
      expiry,
      settlesAt: settlementInstant(expiry, settlementOf(instrument.root)),
      days,
      width: instrument.baseIv * Math.sqrt((days + 1) / 365),
      monthly: thirdFriday(monthNumber(expiry)) === expiry,
    };
  });
}

/**
 * Strikes of an expiry around a price, the close of the evening before. The steps are fine near the price, and coarser in the wings and for
 * distant expiries. The strikes reach as far as a few standard deviations.
 */
export function listedStrikesOf(instrument: Instrument, { width, days }: Term, price: number): number[] {
  const reach = Math.min(REACH_MAX, Math.max(REACH_MIN, REACH_DEVIATIONS * width));
  const most = instrument.cadence === 'daily' ? STRIKES_MAX_BUSY : STRIKES_MAX;
  for (let rung = firstRung(instrument, price) + (days > 75 ? 1 : 0) + (days > 300 ? 1 : 0); ; rung++) {
    const fine = LADDER[rung] ?? LADDER.at(-1)!;
    const coarse = LADDER[rung + 1] ?? fine;
    // However cheap the share and short the time, there are a few strikes on both sides.
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
 * Expiries listed on a day, as exchanges list them: for the busiest funds every day of two weeks, Fridays of six weeks, third Fridays of
 * coming months and quarters, and Januaries two years ahead. An expiry on a holiday moves to the day before.
 */
export function expiriesOn(date: string, cadence: Cadence): readonly string[] {
  return expiriesOf(`${cadence} ${date}`);
}

/** A month of prints asks for as many days. */
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

const LISTINGS: Readonly<
  Record<Cadence, Readonly<Record<'days' | 'weeks' | 'months' | 'quarters' | 'leaps', number>>>
> = {
  daily: { days: 10, weeks: 6, months: 7, quarters: 7, leaps: 3 },
  weekly: { days: 0, weeks: 6, months: 4, quarters: 4, leaps: 2 },
  monthly: { days: 0, weeks: 0, months: 3, quarters: 3, leaps: 1 },
};

const FRIDAY = 5;
/**
 * The distance from the price to the last strike: in standard deviations, with a minimum and a maximum in log points. NEAR is the share of
 * this distance with fine steps.
 */
const REACH_DEVIATIONS = 3.5;
const REACH_MIN = 0.12;
const REACH_MAX = 1.6;
const NEAR = 0.5;
const STRIKES_A_SIDE_MIN = 3;
const STRIKES_MAX = 80;
const STRIKES_MAX_BUSY = 120;
/** Steps between strikes that exchanges use, dollars. */
const LADDER = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000] as const;

/** Funds have finer steps than shares of the same price. */
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

/** The next `count` third Fridays, from `date` on, of the months that `counts` accepts. */
function thirdFridays(date: string, count: number, counts: (month: number) => boolean): string[] {
  const fridays: string[] = [];
  for (let month = monthNumber(date); fridays.length < count; month++) {
    if (counts(month) && thirdFriday(month) >= date) fridays.push(thirdFriday(month));
  }
  return fridays;
}

/** Months since year 0. January is a multiple of 12. */
function monthNumber(date: string): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;
}

function thirdFriday(month: number): string {
  return tradedOnOrBefore(nthWeekday(Math.floor(month / 12), (month % 12) + 1, FRIDAY, 3));
}

function tradedOnOrBefore(date: string): string {
  return isTradingDay(date) ? date : previousTradingDay(date);
}
