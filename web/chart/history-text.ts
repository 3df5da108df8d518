import type { History } from '../data/page-answers.ts';
import {
  newYorkDay,
  newYorkMoment,
  percent,
  price,
  signedAmount,
  strikeText,
  UNKNOWN,
  volatility,
} from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';

/** Returns the moment of a row as text. In the daily history the text is a day, otherwise a day and a time. */
export function rowMoment({ per, as_of }: History, i: number): string {
  return per === 'day' ? newYorkDay(as_of[i], true) : newYorkMoment(as_of[i]);
}

/** Returns the figures of a history row as text, for the panel and for screen readers. */
export function historyReadout(history: History, i: number): string {
  const spot = history.spot[i]!;
  const flip = history.flip_resolved[i]
    ? `${price(history.gex_flip[i])} (${percent(100 * (history.gex_flip[i]! / spot - 1), 1)})`
    : `${UNKNOWN} not resolved`;
  return [
    rowMoment(history, i),
    `spot ${price(spot)}`,
    `flip ${flip}`,
    `walls ${strikeText(history.put_wall[i])}, ${strikeText(history.call_wall[i])}`,
    `net ${signedAmount(history.net_gex[i])}`,
    `ATM vol ${volatility(history.atm_iv_30d[i])}`,
  ].join(' · ');
}

/** Returns a text with the changes between two history rows. */
export function selectionText(history: History, from: number, to: number): string {
  const move = (column: readonly number[]) => {
    const difference = column[to]! - column[from]!;
    return difference === 0 ? 'unchanged' : `${difference > 0 ? '+' : ''}${price(difference)}`;
  };
  const isFlipKnown = history.flip_resolved[from] && history.flip_resolved[to];
  return [
    `${rowMoment(history, from)} to ${rowMoment(history, to)}`,
    `spot ${move(history.spot)} (${percent(100 * (history.spot[to]! / history.spot[from]! - 1), 1)})`,
    `flip ${isFlipKnown ? move(history.gex_flip) : `${UNKNOWN} not resolved at both ends`}`,
    `put wall ${move(history.put_wall)}`,
    `call wall ${move(history.call_wall)}`,
    'Space shows this span alone',
  ].join(' · ');
}

/** Returns one sentence with the main figures of the history charts, for screen readers. */
export function describeHistory(history: History, gaps: number): string {
  const { count, spot, net_gex, flip_resolved } = history;
  if (count === 0) return 'No levels are stored in this span.';
  const last = count - 1;
  const rows = `${count} ${history.per === 'day' ? 'days' : 'snapshots'}`;
  const below = net_gex.filter((each) => each < 0).length;
  const unresolved = flip_resolved.filter((each) => !each).length;
  const parts = [
    `${rows} from ${rowMoment(history, 0)} to ${rowMoment(history, last)}`,
    `spot ${price(spot[0])} to ${price(spot[last])}, between ${price(Math.min(...spot))} and ${price(Math.max(...spot))}`,
    flip_resolved[last] ? `flip ${price(history.gex_flip[last])} at the end` : 'flip not resolved at the end',
    ...(unresolved > 0 ? [`not resolved on ${unresolved} of ${rows}`] : []),
    `walls ${strikeText(history.put_wall[last])} and ${strikeText(history.call_wall[last])}`,
    `net gamma negative on ${below} of ${rows}`,
    ...(gaps > 0 ? [`${gaps} ${gaps === 1 ? 'gap' : 'gaps'} without data`] : []),
  ];
  return `${parts.join('; ')}.`;
}

/** Returns the newest volatility with its rank and its percentile, as text. */
export function volatilitySentence(history: History): string {
  const { atm_iv_30d, iv_rank, iv_percentile, iv_days, iv_low, iv_high } = history;
  const now = `ATM volatility at 30 days ${volatility(atm_iv_30d.at(-1))}`;
  const days = `${iv_days} ${iv_days === 1 ? 'day' : 'days'}`;
  if (iv_percentile === null) return `${now} · a rank needs 20 days of volatilities, and ${days} are known`;
  const rank =
    iv_rank === null
      ? 'every day the same'
      : `rank ${percent(iv_rank, 0, false)} of the way from ${volatility(iv_low)} to ${volatility(iv_high)}`;
  return `${now} · ${rank} · above ${percent(iv_percentile, 0, false)} of ${days}`;
}

const COLUMNS = [
  'spot',
  'gex_flip',
  'call_wall',
  'put_wall',
  'max_pain',
  'net_gex',
  'gross_gex',
  'net_dex',
  'net_vex',
  'net_cex',
  'atm_iv_30d',
] as const;

/** Returns the rows of the history as a table, newest first. The cell of an unresolved flip is null. */
export function historyTable(history: History, onOpen: (at: string) => void): PanelTable {
  const cell = (name: (typeof COLUMNS)[number], i: number) =>
    name === 'gex_flip' && !history.flip_resolved[i] ? null : history[name][i]!;
  return {
    columns: ['at', ...COLUMNS],
    rows: history.as_of.map((at, i) => [at.replace('.000Z', 'Z'), ...COLUMNS.map((name) => cell(name, i))]).reverse(),
    onOpen: (row) => onOpen(String(row[0])),
  };
}
