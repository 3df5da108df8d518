import type { Expiries } from '../data/page-answers.ts';
import { newYorkDay, newYorkIsoDate, percent } from '../page-format.ts';
import { DAY_LENGTH_MS, shiftedDate } from '../time/exchange-days.ts';
import { newYorkMidnight } from '../time/new-york-clock.ts';
import type { ChosenOptions, OptionName } from './address.ts';

/** The scope of the page is the options of the analysis: which expiries count, and how each contract counts. */
export type ScopeName = OptionName | 'expiries';

interface ScopeWords {
  readonly label: string;
  /** The words for each value of the option. */
  readonly values: Readonly<Record<string, string>>;
}

/** The words of the options, in the order in which the page shows them. */
export const SCOPE_WORDS = {
  weight: { label: 'Weight', values: { open_interest: 'open interest', volume: "the day's volume" } },
  sign: { label: 'Dealers', values: { calls_long_puts_short: 'calls long, puts short', flow: 'by signed flow' } },
  iv: { label: 'Volatility', values: { otm: 'out of the money', feed: "the feed's", own: 'own of each contract' } },
  gamma: { label: 'Gamma', values: { recomputed: 'recomputed', feed: "the feed's" } },
  forward: { label: 'Forwards', values: { parity: 'put-call parity', flat: 'flat' } },
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
  const closesAt = newYorkMidnight(date) + 16 * 3_600_000;
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

/** Returns the first expiry: 0DTE, or the next date if no option of the snapshot expires today. Undefined without an expiry. */
export function firstExpiry(expiry: readonly string[], ms: number): ExpiryChoice | undefined {
  const today = newYorkIsoDate(ms);
  if (expiry.includes(today)) return { value: '0dte', text: '0DTE', count: 1 };
  const next = expiry.filter((date) => date > today).toSorted()[0];
  return next === undefined ? undefined : { value: next, text: `Next, ${dayWithin(next, ms)}`, count: 1 };
}

/**
 * Returns the choices of expiries that people ask for first: all, 0DTE or the next one, this week and the next monthly expiry. `expiry` are
 * the expiries of the snapshot, and `ms` is the time of its quotes.
 */
export function expiryChoices(expiry: readonly string[], ms: number): ExpiryChoice[] {
  const dates = [...new Set(expiry)].toSorted();
  const known = new Set(dates);
  const today = newYorkIsoDate(ms);
  const friday = weekEnd(ms);
  const monthly = dates.find((date) => date > today && isMonthly(date, known));
  const days = Math.ceil((newYorkMidnight(friday) + 16 * 3_600_000 - ms) / DAY_LENGTH_MS);
  const first = firstExpiry(dates, ms);
  return [
    { value: 'all', text: 'All', count: dates.length },
    { value: 'next:35', text: '35 days', count: dates.filter((date) => date <= shiftedDate(today, 35)).length },
    ...(first ? [first] : []),
    { value: `next:${days}`, text: 'This week', count: dates.filter((date) => date <= friday).length },
    ...(monthly && monthly !== first?.value
      ? [{ value: monthly, text: `Monthly, ${dayWithin(monthly, ms)}`, count: 1 }]
      : []),
  ];
}

/** Returns a date as text. The text has the year if the quotes, or the present day, are of another year. */
export function dayWithin(date: string, ms: number): string {
  return newYorkDay(date, date.slice(0, 4) !== newYorkIsoDate(ms).slice(0, 4) || undefined);
}

/** Returns the chosen expiries as text: `0DTE`, `next 7 days` or `Fri 18 Sep`. */
export function expiriesText(value: string, ms: number): string {
  if (value === '0dte') return '0DTE';
  if (value === 'session') return 'session';
  const days = /^next:(\d+)$/.exec(value)?.[1];
  return days === undefined ? `${dayWithin(value, ms)} only` : `next ${days} ${days === '1' ? 'day' : 'days'}`;
}

/** An option that differs from the server's default, in words. */
export interface ScopePart {
  readonly name: ScopeName;
  readonly label: string;
  readonly text: string;
}

/** Returns the options that differ from the defaults, in words. `ms` is the time of the quotes. */
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

/** Returns the options that differ from the defaults as one text: `Expiries 0DTE, Weight the day's volume`. */
export function scopeText(options: ChosenOptions, ms: number): string {
  return scopeParts(options, ms)
    .map(({ label, text }) => `${label} ${text}`)
    .join(', ');
}

/** Returns the text of one expiry with its share of gross gamma: `Fri 18 Sep · 12.3 %`. */
export function expiryShareText(expiries: Expiries, date: string, ms: number): string {
  const share = expiries.expiry.reduce((sum, each, i) => (each === date ? sum + expiries.gross_share_pct[i]! : sum), 0);
  return `${dayWithin(date, ms)} · ${percent(share, 1, false)}`;
}
