import { bisectCenter } from 'd3-array';
import { useMemo } from 'preact/hooks';
import { type JoinedRow, joinRows } from '../../data/joined-rows.ts';
import { DataGrid, gridTable } from '../../grid/data-grid.tsx';
import { ChartPanel, Problem, ViewState } from '../../panel/chart-panel.tsx';
import { navigate, page, pageOptions, tickerCall } from '../../state/page.ts';
import { asOf, comparedView, gexView, pinnedView } from '../../state/page-market.ts';
import { HedgingNodesPanel } from './nodes-panel.tsx';
import { strikeColumns } from './strike-columns.ts';

/** Renders the Strikes view: a grid of all strikes, and the contracts that dealers hedge with the most shares. */
export function StrikesView() {
  const asked = gexView.asked.value;
  const pinned = page.value.isDiff ? pinnedView.asked.value : undefined;
  const view = asked.answer?.body;
  const before = comparedView.value?.body.strikes;
  const rows = useMemo(() => (view ? joinRows(view.strikes.strike, before?.strike) : []), [view, before]);
  const columns = useMemo(() => (view ? strikeColumns(view, before) : []), [view, before]);
  const table = useMemo(() => gridTable(columns, rows), [columns, rows]);
  if (!view) return <ViewState asked={asked} />;
  const { strikes } = view;
  const spot = bisectCenter(strikes.strike, strikes.spot_price);
  return (
    <div class="strikes-view fills">
      <ChartPanel
        id="strikes"
        class="grid-panel"
        title="Strikes"
        unit={`exposures in dollars · ${strikes.sign_convention}`}
        call={tickerCall('get_gex_by_strike', asOf.value, pageOptions.value)}
        {...asked}
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
