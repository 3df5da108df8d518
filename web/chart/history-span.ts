import type { History } from '../data/page-answers.ts';
import { newYorkIsoDate } from '../page-format.ts';
import { newYorkMidnight } from '../time/new-york-clock.ts';
import type { TradingAxis } from '../time/trading-axis.ts';

/** The part of the history that the member looks at. */
export interface HistorySpan {
  /** The ends, both included: dates of New York or instants. Undefined: a year back, and the newest. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly per: 'day' | 'snapshot';
}

export const DAY_LENGTH_MS = 86_400_000;
const EDGE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;
/** Of spans up to this length, every snapshot is shown. */
const SNAPSHOT_DAYS = 10;

/** Reads the span from the settings of the view. `moment` is the newest moment of the page. What cannot be read counts as not set. */
export function historySpan(own: Readonly<Record<string, string>>, moment: string): HistorySpan {
  const edge = (text: string | undefined) =>
    text !== undefined && EDGE.test(text) && Number.isFinite(Date.parse(text)) ? text : undefined;
  const [from, to] = [edge(own.from), edge(own.to)];
  const isShort =
    from !== undefined && instantOf(to ?? moment, true) - instantOf(from, false) <= SNAPSHOT_DAYS * DAY_LENGTH_MS;
  const per = own.per === 'day' || own.per === 'snapshot' ? own.per : isShort ? 'snapshot' : 'day';
  return { from, to, per };
}

/** Returns the instant of an end of a span. A date begins and ends at the midnights of New York. */
function instantOf(edge: string, isEnd: boolean): number {
  if (edge.includes('T')) return Date.parse(edge);
  if (!isEnd) return newYorkMidnight(edge);
  return newYorkMidnight(new Date(Date.parse(edge) + DAY_LENGTH_MS).toISOString().slice(0, 10));
}

/** Returns the date, `YYYY-MM-DD`, some days before a moment. */
export function daysBefore(moment: string, days: number): string {
  return new Date(Date.parse(newYorkIsoDate(moment)) - days * DAY_LENGTH_MS).toISOString().slice(0, 10);
}

/** Returns the span from one row of a history to another. */
export function spanOfRows({ per, day, as_of }: History, from: number, to: number): { from: string; to: string } {
  const edge = (i: number) => (per === 'day' ? day[i]! : as_of[i]!.replace('.000Z', 'Z'));
  return { from: edge(from), to: edge(to) };
}

/** The axis has no more empty days than this before and after the rows. */
const EMPTY_DAYS_MOST = 400;

/** Returns the first and the last date of the axis of a span, as far as the span has ends and they are not far from the rows. */
export function spanEnds({ from, to }: HistorySpan, { day }: History): { from?: string; to?: string } {
  const date = (edge: string) => (edge.includes('T') ? newYorkIsoDate(edge) : edge);
  const shifted = (day: string, by: number) =>
    new Date(Date.parse(day) + by * DAY_LENGTH_MS).toISOString().slice(0, 10);
  const [first, last] = [day[0], day.at(-1)];
  if (first === undefined || last === undefined) return {};
  const least = (a: string, b: string) => (a < b ? a : b);
  const most = (a: string, b: string) => (a > b ? a : b);
  return {
    ...(from && { from: least(first, most(date(from), shifted(first, -EMPTY_DAYS_MOST))) }),
    ...(to && { to: most(last, least(date(to), shifted(last, EMPTY_DAYS_MOST))) }),
  };
}

/** Returns the part of the axis that a span shows. */
export function spanDomain({ from, to, per }: HistorySpan, axis: TradingAxis): [low: number, high: number] {
  if (per === 'day') return [0, axis.length];
  const low = from === undefined ? 0 : axis.at(instantOf(from, false));
  const high = to === undefined ? axis.length : axis.at(instantOf(to, true));
  const room = 0.01 * (high - low);
  return [low - room, high + room];
}
