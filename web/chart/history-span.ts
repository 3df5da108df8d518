import type { History } from '../data/page-answers.ts';
import { newYorkIsoDate } from '../page-format.ts';
import { DAY_LENGTH_MS, shiftedDate } from '../time/exchange-days.ts';
import { newYorkMidnight } from '../time/new-york-clock.ts';
import type { TradingAxis } from '../time/trading-axis.ts';

/** The time range that the History view shows. */
export interface HistorySpan {
  /**
   * The start and the end of the range, both inclusive: New York dates or instants. If the start `from` is undefined, the range starts a
   * year ago. If the end `to` is undefined, the range ends with the newest data.
   */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly per: 'day' | 'snapshot';
}

const EDGE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;
/** Maximum number of days in a range that shows every snapshot by default. A longer range shows one row per day. */
const SNAPSHOT_DAYS = 10;

/** Returns the time range that the view's settings select. `moment` is the page's newest moment. Invalid values are ignored. */
export function historySpan(own: Readonly<Record<string, string>>, moment: string): HistorySpan {
  const edge = (text: string | undefined) =>
    text !== undefined && EDGE.test(text) && Number.isFinite(Date.parse(text)) ? text : undefined;
  const [from, to] = [edge(own.from), edge(own.to)];
  const isShort =
    from !== undefined && instantOf(to ?? moment, true) - instantOf(from, false) <= SNAPSHOT_DAYS * DAY_LENGTH_MS;
  const per = own.per === 'day' || own.per === 'snapshot' ? own.per : isShort ? 'snapshot' : 'day';
  return { from, to, per };
}

/** Returns the instant at which a range starts or ends, in ms. A day starts and ends at midnight in New York. */
function instantOf(edge: string, isEnd: boolean): number {
  if (edge.includes('T')) return Date.parse(edge);
  return newYorkMidnight(isEnd ? shiftedDate(edge, 1) : edge);
}

/** Returns the date (`YYYY-MM-DD`) that is `days` days before a moment. */
export function daysBefore(moment: string, days: number): string {
  return shiftedDate(newYorkIsoDate(moment), -days);
}

/** Returns the time range from one row of a history to another. */
export function spanOfRows({ per, day, as_of }: History, from: number, to: number): { from: string; to: string } {
  const edge = (i: number) => (per === 'day' ? day[i]! : as_of[i]!.replace('.000Z', 'Z'));
  return { from: edge(from), to: edge(to) };
}

/** Maximum number of days without data at each end of the axis. */
const EMPTY_DAYS_MOST = 400;

/** Returns the first and last date of the axis, if the range has a start and an end. Each end has at most EMPTY_DAYS_MOST empty days. */
export function spanEnds({ from, to }: HistorySpan, { day }: History): { from?: string; to?: string } {
  const date = (edge: string) => (edge.includes('T') ? newYorkIsoDate(edge) : edge);
  const [first, last] = [day[0], day.at(-1)];
  if (first === undefined || last === undefined) return {};
  const least = (a: string, b: string) => (a < b ? a : b);
  const most = (a: string, b: string) => (a > b ? a : b);
  return {
    ...(from && { from: least(first, most(date(from), shiftedDate(first, -EMPTY_DAYS_MOST))) }),
    ...(to && { to: most(last, least(date(to), shiftedDate(last, EMPTY_DAYS_MOST))) }),
  };
}

/** Returns the part of the axis that a time range covers. */
export function spanDomain({ from, to, per }: HistorySpan, axis: TradingAxis): [low: number, high: number] {
  if (per === 'day') return [0, axis.length];
  const low = from === undefined ? 0 : axis.at(instantOf(from, false));
  const high = to === undefined ? axis.length : axis.at(instantOf(to, true));
  const room = 0.01 * (high - low);
  return [low - room, high + room];
}
