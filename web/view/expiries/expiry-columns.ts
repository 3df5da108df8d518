import { expiryDay } from '../../chart/chart-axis.ts';
import { daysText, refusalText } from '../../chart/term-structure.tsx';
import { changeOf, type JoinedRow, presenceOf } from '../../data/joined-rows.ts';
import type { Expiries } from '../../data/page-answers.ts';
import { figureColumn, type GridColumn } from '../../grid/data-grid.tsx';
import {
  amount,
  newYorkIsoDate,
  percent,
  price,
  signedAmount,
  strikeText,
  UNKNOWN,
  volatility,
  volatilityPoints,
} from '../../page-format.ts';

type NumberColumn = {
  [Name in keyof Expiries]: Expiries[Name] extends (number | null)[] ? Name : never;
}[keyof Expiries];

/**
 * Returns the columns of the grid. In a comparison, the columns with changes follow the first column. A series that exists only at the
 * earlier moment has expired or is gone.
 */
export function expiryColumns(
  expiries: Expiries,
  before: Expiries | undefined,
  moment: string | undefined,
): GridColumn<JoinedRow>[] {
  const text = (name: 'expiry' | 'root' | 'settlement', row: JoinedRow) =>
    row.now === undefined ? before![name][row.before!]! : expiries[name][row.now]!;
  const figure = (name: NumberColumn, title: string, print: (value: number | null) => string) =>
    figureColumn<JoinedRow>(name, title, ({ now }) => expiries[name][now ?? -1] ?? null, print);
  const difference = (name: NumberColumn, title: string, print: (value: number | null) => string) => {
    const value = (row: JoinedRow) => changeOf(row, expiries[name], before![name]);
    const column = figureColumn(`${name}_change`, title, value, print, true);
    return { ...column, text: (row: JoinedRow) => presence(row) ?? print(value(row)) };
  };
  const presence = (row: JoinedRow) =>
    presenceOf(row) === 'gone' && text('expiry', row) <= newYorkIsoDate(moment) ? 'expired' : presenceOf(row);
  const share = (value: number | null) => percent(value, 1, false);
  const series = (row: JoinedRow) => `${text('root', row)} ${text('settlement', row)}`;
  return [
    {
      id: 'expiry',
      title: 'Expiry',
      width: 124,
      value: (row) => text('expiry', row),
      text: (row) => expiryDay(text('expiry', row), moment),
    },
    { id: 'series', title: 'Series', value: series, text: series },
    ...(before
      ? [difference('net_gex', 'Δ net GEX', signedAmount), difference('atm_iv', 'Δ ATM IV', volatilityPoints)]
      : []),
    figure('tte', 'Time', (value) => (value === null ? UNKNOWN : daysText(value))),
    figure('net_gex', 'Net GEX', signedAmount),
    figure('gross_share_pct', 'Of gross', share),
    figure('expired_share_pct', 'Expired', share),
    figure('atm_iv', 'ATM IV', volatility),
    figure('atm_iv_bid', 'bid', volatility),
    figure('atm_iv_ask', 'ask', volatility),
    figure('atm_iv_trading', 'Trading IV', volatility),
    figure('expected_move', 'Move ±', price),
    figure('straddle_move', 'Straddle', price),
    figure('skew_25d', 'Skew', volatilityPoints),
    figure('max_pain', 'Max pain', strikeText),
    figure('forward', 'Forward', price),
    figure('rate', 'Rate', (value) => volatility(value, 2)),
    figure('open_interest', 'OI', amount),
    figure('volume', 'Volume', amount),
    figure('gross_gex', 'Gross GEX', amount),
    figure('sign_margin_pct', 'Sign margin', share),
    {
      id: 'smile_refused',
      title: 'No smile because',
      width: 124,
      value: ({ now }) => expiries.smile_refused[now ?? -1] ?? null,
      text: ({ now }) => {
        const reason = expiries.smile_refused[now ?? -1];
        return reason ? refusalText(reason) : '';
      },
    },
  ];
}
