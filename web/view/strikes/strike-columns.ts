import { bisectCenter } from 'd3-array';
import { chartLevels } from '../../chart/chart-levels.ts';
import { changeOf, type JoinedRow, presenceOf } from '../../data/joined-rows.ts';
import type { GexView, Strikes } from '../../data/page-answers.ts';
import { figureColumn, type GridColumn } from '../../grid/data-grid.tsx';
import { amount, percent, signedAmount, strikeText } from '../../page-format.ts';

type Exposure = Exclude<keyof Strikes, 'ticker' | 'spot_price' | 'count' | 'strike' | 'sign_convention'>;

const EXPOSURES: readonly (readonly [name: Exposure, title: string, print: (value: number | null) => string])[] = [
  ['net_gex', 'Net GEX', signedAmount],
  ['call_gex', 'Call GEX', signedAmount],
  ['put_gex', 'Put GEX', signedAmount],
  ['net_dex', 'Delta', signedAmount],
  ['net_vex', 'Vanna', signedAmount],
  ['net_cex', 'Charm', signedAmount],
  ['call_open_interest', 'Call OI', amount],
  ['put_open_interest', 'Put OI', amount],
  ['call_volume', 'Call vol.', amount],
  ['put_volume', 'Put vol.', amount],
  ['sign_margin_pct', 'Sign margin', (value) => percent(value, 1, false)],
];

/**
 * Returns the columns of the grid. A comparison has columns for the change and the earlier value of net GEX. The column of changes is
 * sorted by the size of the change. If a strike exists at only one moment, this column shows `new` or `gone`, and the strike is sorted by
 * the size of its net GEX.
 */
export function strikeColumns({ strikes, levels }: GexView, before: Strikes | undefined): GridColumn<JoinedRow>[] {
  const at = ({ now, before: then }: JoinedRow) => strikes.strike[now ?? -1] ?? before!.strike[then!]!;
  const levelNames = new Map<number, string[]>();
  for (const { name, price } of chartLevels(levels)) {
    const nearest = strikes.strike[bisectCenter(strikes.strike, price)]!;
    levelNames.set(nearest, [...(levelNames.get(nearest) ?? []), name]);
  }
  const levelsAt = (row: JoinedRow) => levelNames.get(at(row))?.join(', ') ?? '';
  const compared = (then: Strikes): GridColumn<JoinedRow>[] => {
    const difference = (row: JoinedRow) => changeOf(row, strikes.net_gex, then.net_gex);
    return [
      {
        ...figureColumn('net_gex_change', 'Δ GEX', difference, signedAmount),
        text: (row) => presenceOf(row) ?? signedAmount(difference(row)),
        rank: (row) =>
          Math.abs(difference(row) ?? strikes.net_gex[row.now ?? -1] ?? then.net_gex[row.before ?? -1] ?? 0),
      },
      figureColumn('net_gex_before', 'GEX at A', (row) => then.net_gex[row.before ?? -1] ?? null, signedAmount),
    ];
  };
  return [
    figureColumn('strike', 'Strike', at, strikeText),
    figureColumn(
      'distance_pct',
      'Distance',
      (row) => 100 * (at(row) / strikes.spot_price - 1),
      (value) => percent(value, 1),
    ),
    { id: 'level', title: 'Level', width: 110, value: levelsAt, text: levelsAt },
    ...(before ? compared(before) : []),
    ...EXPOSURES.map(([name, title, print]) =>
      figureColumn<JoinedRow>(name, title, ({ now }) => strikes[name][now ?? -1] ?? null, print),
    ),
  ];
}
