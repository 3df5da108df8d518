import { describe, expect, test } from 'bun:test';
import { type JoinedRow, joinRows } from '../../../../web/data/joined-rows.ts';
import type { GexView, Levels, Strikes } from '../../../../web/data/page-answers.ts';
import { gridTable } from '../../../../web/grid/data-grid.tsx';
import { strikeColumns } from '../../../../web/view/strikes/strike-columns.ts';

const strikesAt = (rows: Readonly<Record<number, number>>): Strikes => {
  const strike = Object.keys(rows).map(Number);
  const net = Object.values(rows);
  const zeros = strike.map(() => 0);
  return {
    ...{ ticker: 'SPY', spot_price: 100, count: strike.length, strike, call_gex: net, net_gex: net },
    ...{ put_gex: zeros, sign_margin_pct: zeros, net_dex: zeros, net_vex: zeros, net_cex: zeros },
    ...{ call_open_interest: zeros, put_open_interest: zeros, call_volume: zeros, put_volume: zeros },
    sign_convention: '',
  };
};
const levels = { spot_price: 100, call_wall: 110, put_wall: 90, max_pain: 100, flip_resolved: false } as Levels;
const now = strikesAt({ 90: -2e6, 100: 1e6, 110: 8e6 });
const before = strikesAt({ 80: -9e6, 90: -2e6, 100: 5e6 });
const view = { strikes: now, levels } as GexView;

describe('the columns of the strikes', () => {
  const columns = strikeColumns(view, undefined);
  const rows = joinRows(now.strike, undefined);
  const texts = (id: string) => rows.map((row) => columns.find((each) => each.id === id)!.text(row));

  test('figures, distance from spot and the levels at a strike', () => {
    expect(texts('strike')).toEqual(['90', '100', '110']);
    expect(texts('distance_pct')).toEqual(['−10.0 %', '0.0 %', '+10.0 %']);
    expect(texts('net_gex')).toEqual(['−2.00M', '+1.00M', '+8.00M']);
    expect(texts('level')).toEqual(['put wall', 'max pain, spot', 'call wall']);
  });

  test('the CSV has the values of the answer', () => {
    const table = gridTable(columns, rows);
    expect(table.rows.map((row) => row[table.columns.indexOf('net_gex')]!)).toEqual(now.net_gex);
    expect(columns.some(({ id }) => id === 'net_gex_change')).toBe(false);
  });
});

describe('the columns of a comparison', () => {
  const columns = strikeColumns(view, before);
  const rows = joinRows(now.strike, before.strike);
  const change = columns.find(({ id }) => id === 'net_gex_change')!;

  test('a strike of one moment only is new or gone, not 0', () => {
    expect(rows.map((row) => change.text(row))).toEqual(['0', '−4.00M', 'new', 'gone']);
    expect(rows.map((row) => change.value(row))).toEqual([0, -4e6, null, null]);
    const gone = rows.at(-1)!;
    expect(columns.find(({ id }) => id === 'net_gex')!.text(gone)).toBe('—');
    expect(columns.find(({ id }) => id === 'strike')!.text(gone)).toBe('80');
  });

  test('rows are ranked by the size of the change, or of what is new or gone', () => {
    const ranked = rows.toSorted((a, b) => Number(change.rank!(b)) - Number(change.rank!(a)));
    const strikeOf = ({ now: i, before: j }: JoinedRow) => now.strike[i ?? -1] ?? before.strike[j!]!;
    expect(ranked.map(strikeOf)).toEqual([80, 110, 100, 90]);
  });
});
