import { useMemo } from 'preact/hooks';
import { chartLevels } from '../chart/chart-levels.ts';
import { nearestStrike } from '../chart/ladder.tsx';
import type { GexView, Strikes } from '../data/answers.ts';
import { changeOf, type JoinedRow, joinRows, presenceOf } from '../data/joined-rows.ts';
import { amount, change, percent, signTone, strike } from '../format.ts';
import { ChartPanel, Problem } from '../part/chart-panel.tsx';
import { DataGrid, type GridColumn, gridTable } from '../part/data-grid.tsx';
import { HedgingNodesPanel } from '../part/hedging-nodes.tsx';
import { ViewState } from '../part/view-state.tsx';
import { asOf, gexView, pinnedView } from '../state/market.ts';
import { navigate, page, tickerCall } from '../state/page.ts';

/** All rows: exposure, open interest and volume by strike, and the contracts that dealers hedge most. */
export function StrikesView() {
  const asked = gexView.asked.value;
  const pinned = page.value.isDiff ? pinnedView.asked.value : undefined;
  const view = asked.answer?.body;
  const before = pinned?.answer?.body.strikes;
  const rows = useMemo(() => (view ? joinRows(view.strikes.strike, before?.strike) : []), [view, before]);
  const columns = useMemo(() => (view ? strikeColumns(view, before) : []), [view, before]);
  const table = useMemo(() => gridTable(columns, rows), [columns, rows]);
  if (!view) return <ViewState asked={asked} />;
  const { strikes } = view;
  const spot = nearestStrike(strikes.strike, strikes.spot_price);
  return (
    <div class="strikes-view">
      <ChartPanel
        id="strikes"
        class="grid-panel"
        title="Strikes"
        unit={`exposures in dollars · ${strikes.sign_convention}`}
        call={tickerCall('get_gex_by_strike', asOf.value, page.value.options)}
        answer={asked.answer}
        isSlow={asked.isSlow}
        table={table}
      >
        {pinned?.problem && <Problem problem={pinned.problem} />}
        <DataGrid
          key={`${page.value.ticker} ${before !== undefined}`}
          label="Exposures by strike"
          columns={columns}
          rows={rows}
          initialSort={{ column: before ? 'net_gex_change' : 'strike', isDescending: true }}
          hasFilter
          {...(!before && { startAt: ({ now }: JoinedRow) => now === spot })}
          onOpen={({ now }) =>
            now !== undefined && navigate({ explain: `strike.${String(strikes.strike[now]).replace('.', '_')}` })
          }
        />
      </ChartPanel>
      <HedgingNodesPanel key={page.value.ticker} />
    </div>
  );
}

type Exposure = Exclude<keyof Strikes, 'ticker' | 'spot_price' | 'count' | 'strike' | 'sign_convention'>;

const EXPOSURES: readonly (readonly [name: Exposure, title: string, print: (value: number) => string])[] = [
  ['net_gex', 'Net GEX', change],
  ['call_gex', 'Call GEX', change],
  ['put_gex', 'Put GEX', change],
  ['net_dex', 'Delta', change],
  ['net_vex', 'Vanna', change],
  ['net_cex', 'Charm', change],
  ['call_open_interest', 'Call OI', amount],
  ['put_open_interest', 'Put OI', amount],
  ['call_volume', 'Call vol.', amount],
  ['put_volume', 'Put vol.', amount],
  ['sign_margin_pct', 'Sign margin', (value) => percent(value, 1, false)],
];

/**
 * The columns of the grid. While two moments are compared, the change of net GEX and its earlier value come after the strike. Rows are
 * ranked by the size of the change. A strike of one moment only is marked as new or gone, and ranked by its net GEX at that moment.
 */
export function strikeColumns({ strikes, levels }: GexView, before: Strikes | undefined): GridColumn<JoinedRow>[] {
  const at = ({ now, before: then }: JoinedRow) => strikes.strike[now ?? -1] ?? before!.strike[then!]!;
  const levelNames = new Map<number, string[]>();
  for (const { name, price } of chartLevels(levels)) {
    const nearest = strikes.strike[nearestStrike(strikes.strike, price)]!;
    levelNames.set(nearest, [...(levelNames.get(nearest) ?? []), name]);
  }
  const levelsAt = (row: JoinedRow) => levelNames.get(at(row))?.join(', ') ?? '';
  const number = (
    id: string,
    title: string,
    value: (row: JoinedRow) => number | null,
    print: (value: number | null) => string,
    isSigned = print === change,
  ): GridColumn<JoinedRow> => ({
    id,
    title,
    isNumber: true,
    value,
    text: (row) => print(value(row)),
    ...(isSigned && { tone: (row) => signTone(value(row) ?? 0) }),
  });
  const compared = (then: Strikes): GridColumn<JoinedRow>[] => {
    const difference = (row: JoinedRow) => changeOf(row, strikes.net_gex, then.net_gex);
    return [
      {
        ...number('net_gex_change', 'Δ GEX', difference, change),
        text: (row) => presenceOf(row) ?? change(difference(row)),
        rank: (row) =>
          Math.abs(difference(row) ?? strikes.net_gex[row.now ?? -1] ?? then.net_gex[row.before ?? -1] ?? 0),
      },
      number('net_gex_before', 'GEX at A', (row) => then.net_gex[row.before ?? -1] ?? null, change),
    ];
  };
  return [
    { ...number('strike', 'Strike', at, strike) },
    number(
      'distance_pct',
      'Distance',
      (row) => 100 * (at(row) / strikes.spot_price - 1),
      (value) => percent(value, 1),
    ),
    { id: 'level', title: 'Level', value: levelsAt, text: levelsAt },
    ...(before ? compared(before) : []),
    ...EXPOSURES.map(([name, title, print]) =>
      number(name, title, ({ now }) => strikes[name][now ?? -1] ?? null, print as (value: number | null) => string),
    ),
  ];
}
