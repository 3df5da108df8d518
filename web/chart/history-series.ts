import type { History } from '../data/page-answers.ts';
import { exchangeDaysBetween } from '../time/exchange-days.ts';
import { type TradingAxis, tradingAxis } from '../time/trading-axis.ts';

type Column = readonly (number | null)[];

/** The rows of the history as columns. A null interrupts a line. Unresolved flips and rows added for gaps are null. */
export interface HistorySeries {
  readonly axis: TradingAxis;
  /** The position of each row on the axis, ascending. */
  readonly x: readonly number[];
  /** The axis positions of the answer's rows, without the rows that were added for gaps. */
  readonly at: readonly number[];
  /** The index of each row in the answer. Null if the row was added for a gap. */
  readonly row: readonly (number | null)[];
  readonly spot: Column;
  readonly flip: Column;
  readonly callWall: Column;
  readonly putWall: Column;
  /** Net gamma exposure: the positive values in one column, and the negative values in another column. */
  readonly positive: Column;
  readonly negative: Column;
  readonly volatility: Column;
  /** The number of gaps. A gap is a place where whole trading days or snapshots of a day are missing. */
  readonly gaps: number;
}

/** There is a gap between two snapshots of a day if the time between them exceeds this multiple of the usual time. */
const USUAL_MOST = 3;

/**
 * Returns a history as columns for the charts. If the charts must not connect two rows, the function adds a row of nulls between them. The
 * argument `ends` has the first and the last date of the axis.
 */
export function historySeries(history: History, ends: { from?: string; to?: string } = {}): HistorySeries {
  const { as_of, day, net_gex, count } = history;
  const isDaily = history.per === 'day';
  const at = as_of.map((moment) => Date.parse(moment));
  const axis = tradingAxis(at, isDaily ? () => 1 : ({ from, to }) => to - from, ends);
  const perDay = new Map<string, number>();
  for (const each of day) perDay.set(each, (perDay.get(each) ?? 0) + 1);
  const usual = usualStep(at, day);
  const [x, row]: [number[], (number | null)[]] = [[], []];
  let gaps = 0;
  for (let i = 0; i < count; i++) {
    const join = i === 0 ? 'line' : joinOf(i);
    if (join === 'gap') gaps++;
    if (join !== 'line') {
      x.push((axis.at(at[i - 1]!) + axis.at(at[i]!)) / 2);
      row.push(null);
    }
    x.push(axis.at(at[i]!));
    row.push(i);
  }
  /** Returns how the chart connects a row to the row before. A line ends at the session's close, because overnight prices are unknown. */
  function joinOf(i: number): 'line' | 'night' | 'gap' {
    const [before, now] = [day[i - 1]!, day[i]!];
    if (before === now) return at[i]! - at[i - 1]! > USUAL_MOST * usual ? 'gap' : 'line';
    if (exchangeDaysBetween(before, now).length > 0) return 'gap';
    return isDaily || (perDay.get(before) === 1 && perDay.get(now) === 1) ? 'line' : 'night';
  }
  const column = (value: (i: number) => number | null): Column => row.map((i) => (i === null ? null : value(i)));
  return {
    axis,
    x,
    at: at.map(axis.at),
    row,
    gaps,
    spot: column((i) => history.spot[i]!),
    flip: column((i) => (history.flip_resolved[i] ? history.gex_flip[i]! : null)),
    callWall: column((i) => history.call_wall[i]!),
    putWall: column((i) => history.put_wall[i]!),
    positive: column((i) => (net_gex[i]! >= 0 ? net_gex[i]! : null)),
    negative: column((i) => (net_gex[i]! < 0 ? net_gex[i]! : null)),
    volatility: column((i) => history.atm_iv_30d[i]!),
  };
}

/** Returns the median distance between two consecutive snapshots of the same day, in ms. */
function usualStep(at: readonly number[], day: readonly string[]): number {
  const steps = at.slice(1).flatMap((each, i) => (day[i] === day[i + 1] ? [each - at[i]!] : []));
  return steps.toSorted((a, b) => a - b)[steps.length >> 1] ?? 0;
}

/** To show flips and walls, the price axis extends beyond the range of spot by at most this share. */
const REACH = 0.2;

/**
 * Returns the range of the price axis: spot and the levels near spot. On a longer axis, spot would look like a flat line. `called` has the
 * ids of levels whose newest value the range must have.
 */
export function historyRange(
  { spot, flip, callWall, putWall }: HistorySeries,
  called: readonly string[] = [],
): [low: number, high: number] {
  const spots = spot.filter((each) => each !== null);
  if (spots.length === 0) return [0, 1];
  const [least, most] = [Math.min(...spots), Math.max(...spots)];
  const columns = { spot_price: spot, gex_flip: flip, call_wall: callWall, put_wall: putWall };
  const near = Object.values(columns)
    .flat()
    .filter((each) => each !== null && each >= least * (1 - REACH) && each <= most * (1 + REACH)) as number[];
  const wanted = Object.entries(columns).flatMap(([id, column]) => (called.includes(id) ? (column.at(-1) ?? []) : []));
  const [low, high] = [Math.min(...near, ...wanted), Math.max(...near, ...wanted)];
  const room = (high - low || high * 0.01) * 0.05;
  return [low - room, high + room];
}
