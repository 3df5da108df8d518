import { amount, cleanText, counted, countText, newYorkDay, percent, signedAmount, UNKNOWN } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';

/** The possible groupings of the flow, as names of the answer's columns. */
export const FLOW_GROUPS = ['day', 'manner', 'expiry'] as const;
export type FlowGroup = (typeof FLOW_GROUPS)[number];

const COLUMNS = [
  'prints',
  'contracts',
  'premium',
  'call_bought',
  'call_sold',
  'put_bought',
  'put_sold',
  'unsigned',
  'net_delta',
] as const;
type FlowColumn = (typeof COLUMNS)[number];

/** The flow of one day, one execution type or one expiry, in dollars. */
export type FlowRow = { readonly key: string } & Readonly<Record<FlowColumn, number>>;

/** Returns the rows of one grouping of a `get_flow_by_aggressor` answer. The row with the sum of all execution types is left out. */
export function flowRows(part: Readonly<Record<string, unknown>>, group: FlowGroup): FlowRow[] {
  const keys = part[group] as readonly string[];
  const values = part as Readonly<Record<FlowColumn, readonly number[]>>;
  return keys
    .map(
      (key, i) =>
        ({ key: cleanText(key), ...Object.fromEntries(COLUMNS.map((name) => [name, values[name][i]!])) }) as FlowRow,
    )
    .filter(({ key }) => group !== 'manner' || key !== 'all');
}

export const boughtOf = ({ call_bought, put_bought }: FlowRow) => call_bought + put_bought;
export const soldOf = ({ call_sold, put_sold }: FlowRow) => call_sold + put_sold;

/** `share` is the ratio of the bar's width to the width of its row. `most` is the maximum width of a bar, in pixels. */
const BAR = { share: 0.78, most: 72 } as const;
/** Width of the bar of unsigned premium, as a share of the width of all bars of a row. */
const UNSIGNED = 0.26;

/** Returns the ends of the flow chart's vertical axis, in dollars. Purchases by customers are above zero, and sales are below zero. */
export function flowRange(rows: readonly FlowRow[]): [low: number, high: number] {
  const least = rows.map((row) => -Math.max(soldOf(row), row.unsigned / 2));
  const most = rows.map((row) => Math.max(boughtOf(row), row.unsigned / 2));
  return [Math.min(0, ...least), Math.max(0, ...most)];
}

/**
 * Returns the bars of the flow chart, in pixels. `x` returns the center of the row with an index, and `y` returns the position of an amount. The
 * bar of unsigned premium is beside the other bars, half above and half below zero, because unsigned premium has no sign.
 */
export function flowBars(rows: readonly FlowRow[], x: (index: number) => number, y: (dollars: number) => number) {
  const all = Math.min(BAR.most, (x(1) - x(0)) * BAR.share);
  const lane = rows.some(({ unsigned }) => unsigned > 0) ? all * UNSIGNED : 0;
  return rows.flatMap((row, i) => {
    const left = x(i) - all / 2;
    const signed = { x: left, width: Math.max(1, all - lane) };
    const beside = { x: left + all - lane + 1, width: Math.max(1, lane - 1) };
    const bars = [
      { kind: 'calls', tone: 'positive', from: 0, to: row.call_bought, ...signed },
      { kind: 'puts', tone: 'positive', from: row.call_bought, to: boughtOf(row), ...signed },
      { kind: 'calls', tone: 'negative', from: 0, to: -row.call_sold, ...signed },
      { kind: 'puts', tone: 'negative', from: -row.call_sold, to: -soldOf(row), ...signed },
      { kind: 'unsigned', tone: '', from: -row.unsigned / 2, to: row.unsigned / 2, ...beside },
    ];
    return bars
      .map(({ from, to, ...bar }) => ({ ...bar, y: Math.min(y(from), y(to)), height: Math.abs(y(to) - y(from)) }))
      .filter(({ height }) => height > 0);
  });
}

/** Returns the name of a row: `Fri 20 Nov`, an expiry with its year, or an execution type in words. `isShort` leaves out the weekday. */
export function flowKeyText(key: string, group: FlowGroup, isShort = false): string {
  const day = newYorkDay(key, true);
  if (group === 'manner' || day === UNKNOWN) return cleanText(key).replace('_', '-');
  if (!isShort) return group === 'expiry' ? day : day.slice(0, -5);
  return group === 'expiry' ? `${day.slice(4, -4)}’${day.slice(-2)}` : day.slice(4, -5);
}

/** Returns the figures of a flow row as text. */
export function flowReadout(row: FlowRow, group: FlowGroup): string {
  return [
    flowKeyText(row.key, group),
    `bought ${amount(boughtOf(row))} (C ${amount(row.call_bought)}, P ${amount(row.put_bought)})`,
    `sold ${amount(soldOf(row))} (C ${amount(row.call_sold)}, P ${amount(row.put_sold)})`,
    `unsigned ${amount(row.unsigned)}`,
    `net delta ${signedAmount(row.net_delta)}`,
    `${counted(row.prints, 'print')}, ${counted(row.contracts, 'contract')}`,
  ].join(' · ');
}

/** Returns one sentence with the main figures of the flow chart, for screen readers. */
export function describeFlow(rows: readonly FlowRow[], group: FlowGroup): string {
  if (rows.length === 0) return 'No print in this window.';
  const sum = (value: (row: FlowRow) => number) => rows.reduce((all, row) => all + value(row), 0);
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const largest = rows.reduce((best, row) => (row.premium > best.premium ? row : best));
  const span = group === 'manner' ? '' : ` from ${flowKeyText(first.key, group)} to ${flowKeyText(last.key, group)}`;
  return (
    `Premium by ${group}${span}: customers bought ${amount(sum(boughtOf))} and sold ${amount(sum(soldOf))} dollars, ` +
    `${amount(sum(({ unsigned }) => unsigned))} unsigned. Most at ${flowKeyText(largest.key, group)}, ${amount(largest.premium)}. ` +
    `Net delta ${signedAmount(sum(({ net_delta }) => net_delta))} dollars.`
  );
}

export function flowTable(rows: readonly FlowRow[], group: FlowGroup): PanelTable {
  return { columns: [group, ...COLUMNS], rows: rows.map((row) => [row.key, ...COLUMNS.map((name) => row[name])]) };
}

export type SignedPrintShare = ReturnType<typeof signedPrintShare>;

/**
 * Returns the share of signed prints, and the number of prints that each method signed. `percent` is null if no print is signed, or if there are
 * no prints.
 */
export function signedPrintShare(by: Readonly<Record<'feed' | 'quote' | 'tick' | 'unknown', number>>) {
  const signed = by.feed + by.quote + by.tick;
  const all = signed + by.unknown;
  if (signed === 0) {
    const reason = all === 0 ? 'there is none in this window' : `the side of all ${countText(all)} is unknown`;
    return { percent: null, signed, all, sentence: `No print signs this chain: ${reason}.` };
  }
  const parts = [
    by.feed > 0 && `${countText(by.feed)} by the feed`,
    by.quote > 0 && `${countText(by.quote)} by the quote`,
    by.tick > 0 && `${countText(by.tick)} by the contract's last move`,
  ].filter(Boolean);
  const unknown = by.unknown === 0 ? '' : ` The side of ${countText(by.unknown)} is unknown.`;
  return {
    percent: (100 * signed) / all,
    signed,
    all,
    sentence: `${countText(signed)} of ${countText(all)} prints are signed: ${parts.join(', ')}.${unknown}`,
  };
}

/** Returns the share of signed prints as text. A share below 100 % is never rounded up to 100 %. */
export function shareText({ percent: share }: SignedPrintShare): string {
  return share === null ? percent(null) : percent(share === 100 ? 100 : Math.min(share, 99.9), 1, false);
}
