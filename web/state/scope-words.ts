import type { Expiries } from '../data/page-answers.ts';
import { newYorkDay, newYorkIsoDate, percent } from '../page-format.ts';
import { DAY_LENGTH_MS, exchangeHours, isExchangeDay, shiftedDate } from '../time/exchange-days.ts';
import { HOUR, newYorkMidnight } from '../time/new-york-clock.ts';
import { type ChosenOptions, FIRST_EXPIRIES, type OptionName } from './address.ts';

/** The scope of the page is the options of the analysis: which expiries count, and how each contract counts. */
export type ScopeName = OptionName | 'expiries';

export interface ScopeWords {
  readonly label: string;
  /** The words for each value of the option. */
  readonly values: Readonly<Record<string, string>>;
  /** What the option means, if its words do not say it. */
  readonly help?: string;
}

/** The words of the options, in the order in which the page shows them. */
export const SCOPE_WORDS = {
  weight: { label: 'Weight', values: { open_interest: 'open interest', volume: "the day's volume" } },
  sign: {
    label: 'Dealers',
    values: { calls_long_puts_short: 'calls long, puts short', short_both: 'short both', flow: 'by signed flow' },
    help: 'What dealers are assumed to hold: long calls and short puts, short both, or the opposite of what customers traded by signed prints.',
  },
  iv: { label: 'Volatility', values: { otm: 'out of the money', feed: "the feed's", own: 'own of each contract' } },
  gamma: { label: 'Gamma', values: { recomputed: 'recomputed', feed: "the feed's" } },
  forward: { label: 'Forwards', values: { parity: 'put-call parity', flat: 'flat' } },
  smile_dynamics: {
    label: 'If spot moves',
    values: {
      sticky_strike: 'sticky strike',
      sticky_moneyness: 'sticky moneyness',
      ssr: 'usual SSR',
      'ssr=1.5': 'SSR 1.5',
      'ssr=2': 'SSR 2',
    },
    help:
      'What volatilities do if spot moves, in flip, profile and hedging. Each strike keeps its own, or each ratio of strike to forward does. SSR: the ' +
      'one at the money moves by the ratio times the slope of the smile. 0 is sticky moneyness, 1 sticky strike; usual is 1.5 for an index, else 1.',
  },
} as const satisfies Readonly<Record<OptionName, ScopeWords>>;

/** The names of the options, without the expiries. */
export const SCOPE_NAMES = Object.keys(SCOPE_WORDS) as OptionName[];

/** A choice of expiries, with its number of expiries. */
export interface ExpiryChoice {
  readonly value: string;
  readonly text: string;
  readonly count: number;
}

/** Returns the New York date of the Friday of this week. After the close of a Friday, it is the Friday of the next week. */
function weekEnd(ms: number): string {
  const date = newYorkIsoDate(ms);
  const closesAt = newYorkMidnight(date) + 16 * HOUR;
  const ahead = (5 - new Date(`${date}T12:00:00Z`).getUTCDay() + 7) % 7;
  return shiftedDate(date, ahead === 0 && ms >= closesAt ? 7 : ahead);
}

/** Returns whether a date is the monthly expiry: the third Friday, or the day before if the third Friday has no expiry. */
function isMonthly(date: string, dates: ReadonlySet<string>): boolean {
  const noon = new Date(`${date}T12:00:00Z`);
  const [day, weekday] = [noon.getUTCDate(), noon.getUTCDay()];
  if (weekday === 5) return day >= 15 && day <= 21;
  return weekday === 4 && day >= 14 && day <= 20 && !dates.has(shiftedDate(date, 1));
}

/** Returns the date of the session that is open at an instant, or else of the next one. */
function sessionDate(ms: number): string {
  let date = newYorkIsoDate(ms);
  while (!isExchangeDay(date) || ms >= exchangeHours(date).closes) date = shiftedDate(date, 1);
  return date;
}

/**
 * Returns the sets of expiries between which the page switches, the shortest first: those up to the end of the session, or if there are none
 * the next one alone; those of 35 days; and all. `expiry` are the expiries of the snapshot, and `ms` is the time of its quotes.
 */
export function horizonChoices(expiry: readonly string[], ms: number): ExpiryChoice[] {
  const dates = [...new Set(expiry)].toSorted();
  const today = newYorkIsoDate(ms);
  const end = sessionDate(ms);
  const within = dates.filter((date) => date >= today && date <= end).length;
  const next = dates.find((date) => date > today);
  const settlesIn = (date: string) => newYorkMidnight(date) + 16 * HOUR - ms;
  return [
    ...(within > 0
      ? [{ value: 'session', text: 'Session', count: within }]
      : next === undefined
        ? []
        : [{ value: next, text: dayWithin(next, ms), count: 1 }]),
    {
      value: FIRST_EXPIRIES,
      text: '35 days',
      count: dates.filter((date) => settlesIn(date) <= 35 * DAY_LENGTH_MS).length,
    },
    { value: 'all', text: 'All', count: dates.length },
  ];
}

/** Returns the other choices of expiries that people ask for: 0DTE, this week and the next monthly expiry. */
export function expiryChoices(expiry: readonly string[], ms: number): ExpiryChoice[] {
  const dates = [...new Set(expiry)].toSorted();
  const known = new Set(dates);
  const today = newYorkIsoDate(ms);
  const friday = weekEnd(ms);
  const monthly = dates.find((date) => date > today && isMonthly(date, known));
  const days = Math.ceil((newYorkMidnight(friday) + 16 * HOUR - ms) / DAY_LENGTH_MS);
  return [
    ...(known.has(today) ? [{ value: '0dte', text: '0DTE', count: 1 }] : []),
    { value: `next:${days}`, text: 'This week', count: dates.filter((date) => date <= friday).length },
    ...(monthly ? [{ value: monthly, text: `Monthly, ${dayWithin(monthly, ms)}`, count: 1 }] : []),
  ];
}

/** Returns a date as text. The text has the year if the quotes, or the present day, are of another year. */
export function dayWithin(date: string, ms: number): string {
  return newYorkDay(date, date.slice(0, 4) !== newYorkIsoDate(ms).slice(0, 4) || undefined);
}

const ALL = 'all expiries';

/** Returns the chosen expiries as text: `all expiries`, `0DTE`, `next 7 days` or `Fri 18 Sep only`. */
export function expiriesText(value: string, ms: number): string {
  if (value === 'all') return ALL;
  if (value === '0dte') return '0DTE';
  if (value === 'session') return 'the session';
  const days = /^next:(\d+)$/.exec(value)?.[1];
  return days === undefined ? `${dayWithin(value, ms)} only` : `next ${days} ${days === '1' ? 'day' : 'days'}`;
}

/** The name that stored levels have for each set of expiries between which the page switches. */
const HORIZONS: Readonly<Record<string, 'session' | '35d' | 'all'>> = {
  session: 'session',
  [FIRST_EXPIRIES]: '35d',
  all: 'all',
};

/** Returns the horizon of stored levels for the chosen expiries. Other expiries than those of the switch have no stored levels. */
export function horizonOf(expiries: string | undefined) {
  return HORIZONS[expiries ?? FIRST_EXPIRIES];
}

/** Returns the expiries of a horizon of stored levels as text. */
export function horizonText(horizon: string): string {
  return expiriesText(Object.keys(HORIZONS).find((value) => HORIZONS[value] === horizon) ?? horizon, Date.now());
}

/** An option in words. */
export interface ScopePart {
  readonly name: ScopeName;
  readonly label: string;
  readonly text: string;
}

/** Returns options in words. `ms` is the time of the quotes. */
export function scopeParts(options: ChosenOptions, ms: number): ScopePart[] {
  const { expiries } = options;
  const first: ScopePart[] =
    expiries === undefined ? [] : [{ name: 'expiries', label: 'Expiries', text: expiriesText(expiries, ms) }];
  const rest = SCOPE_NAMES.flatMap((name): ScopePart[] => {
    const value = options[name];
    const { label, values }: ScopeWords = SCOPE_WORDS[name];
    return value === undefined ? [] : [{ name, label, text: values[value] ?? value }];
  });
  return [...first, ...rest];
}

/** Returns options as one text: `Expiries 0DTE, Weight the day's volume`. */
export function scopeText(options: ChosenOptions, ms: number): string {
  return scopeParts(options, ms)
    .map(({ label, text }) => (text === ALL ? text : `${label} ${text}`))
    .join(', ');
}

/** Returns the text of one expiry with its share of gross gamma: `Fri 18 Sep · 12.3 %`. */
export function expiryShareText(expiries: Expiries, date: string, ms: number): string {
  const share = expiries.expiry.reduce((sum, each, i) => (each === date ? sum + expiries.gross_share_pct[i]! : sum), 0);
  return `${dayWithin(date, ms)} · ${percent(share, 1, false)}`;
}
