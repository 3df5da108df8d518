import { useEffect, useMemo } from 'preact/hooks';
import { type DayChanges, useAnswer } from '../../data/page-answers.ts';
import { DataGrid, type GridColumn, gridTable } from '../../grid/data-grid.tsx';
import type { Call } from '../../operations.ts';
import { cleanText } from '../../page-format.ts';
import { ChartPanel, type ChartPanelProps } from '../../panel/chart-panel.tsx';
import { WithoutData } from '../../panel/without-data.tsx';
import { navigate, page, setOwn } from '../../state/page.ts';
import { dayChanges, tickers, universe } from '../../state/page-market.ts';
import {
  areAllListed,
  COMPARED_MAX,
  compared,
  compareTickers,
  dayFigures,
  figuresByTicker,
  toggleCompared,
} from '../../state/watched-tickers.ts';
import { type TickerRow, tickerColumns, tickerRows } from './ticker-columns.tsx';
import { FILTER_HELP, tickerFilter } from './ticker-filter.ts';
import { ladderRange } from './ticker-shapes.tsx';

/** Interval of the requests while the page is live, ms. The event stream has no volatility. */
const EVERY_MS = 60_000;

/** Renders the Compare view: the picked tickers side by side, and all tickers with a filter. */
export function CompareView() {
  const { at, own } = page.value;
  const call: Call = { operation: 'get_day_changes', args: at === null ? {} : { at } };
  const past = useAnswer<DayChanges>(at === null ? undefined : call);
  const { answer, ...state } = at === null ? dayChanges.asked.value : past;
  const asked = answer ? { isSlow: state.isSlow } : state;
  const body = past.answer?.body;
  const rows = useMemo(() => body && figuresByTicker(body), [body]);
  const figuresOf = useMemo(() => (at === null ? dayFigures : (name: string) => rows?.get(name)), [at === null, rows]);
  useEffect(() => {
    const timer = at === null ? setInterval(dayChanges.refresh, EVERY_MS) : undefined;
    return () => clearInterval(timer);
  }, [at === null]);

  const picked = compared.value ?? [];
  const range = ladderRange(picked.flatMap((name) => figuresOf(name) ?? []));
  const themes = universe.asked.value.answer?.body.macro_themes;
  const all = useMemo(() => tickerRows(themes ?? {}, tickers.value), [themes, tickers.value]);
  const filter = useMemo(() => tickerFilter(own.filter ?? ''), [own.filter]);
  const shown = all.filter((row) => {
    const figures = figuresOf(row.ticker);
    return (figures || areAllListed.value) && filter.matches({ ...row, figures });
  });
  // The rows change only with the tickers, so that new live figures do not sort a grid again.
  const shownRows = useMemo(() => shown, [shown.map(({ ticker }) => ticker).join()]);
  const pickedRows = useMemo(() => picked.map((ticker) => ({ ticker, theme: '' })), [picked.join()]);
  const wide = useMemo(() => tickerColumns(figuresOf, range), [figuresOf, range]);
  const columns = useMemo(() => tickerColumns(figuresOf), [figuresOf]);
  return (
    <>
      <TickerGrid
        id="compare"
        title="Side by side"
        unit="change since the previous close · levels of all expiries · GEX per 1 % move · ± day: one standard deviation · │ put wall ● spot │ call wall ┆ flip"
        call={picked.length > 0 ? { ...call, args: { tickers: picked.join(), ...call.args } } : call}
        columns={wide}
        rows={pickedRows}
      >
        <label class="grid-filter row inset">
          Compare
          <input
            type="search"
            size={36}
            value={picked.join(' ')}
            placeholder="SPY QQQ IWM"
            onChange={(event) => compareTickers(event.currentTarget.value)}
          />
          <span class="muted">Up to {COMPARED_MAX} tickers: type them, or check them in the watchlist.</span>
        </label>
        {picked.length > 0 && (
          <p class="row inset">
            {picked.map((ticker) => (
              <button
                type="button"
                key={ticker}
                aria-label={`Remove ${ticker} from the comparison`}
                onClick={() => toggleCompared(ticker)}
              >
                {ticker} ×
              </button>
            ))}
          </p>
        )}
      </TickerGrid>
      <TickerGrid
        {...asked}
        id="universe"
        title="All tickers"
        unit={`change since the previous close · levels of all expiries · GEX per 1 % move${at === null ? ' · live' : ''}`}
        call={call}
        columns={columns}
        rows={shownRows}
      >
        <div class="row inset">
          <label class="grid-filter row muted">
            Filter
            <input
              type="search"
              size={28}
              value={own.filter ?? ''}
              placeholder="regime:neg flip<2% iv>50"
              aria-describedby="filter-meaning"
              onInput={(event) => setOwn('filter', event.currentTarget.value.slice(0, 200) || null, false)}
              data-filter
            />
          </label>
          <span id="filter-meaning" class="muted" role="status">
            {shown.length} of {all.length} rows{filter.meaning && `: ${filter.meaning}`}
            {filter.refused.length > 0 &&
              ` · Not understood: ${cleanText(filter.refused.join(' '), 80)}. Understood: ${FILTER_HELP}.`}
          </span>
          <span class="spring" />
          <WithoutData names={tickers.value} />
        </div>
      </TickerGrid>
    </>
  );
}

interface TickerGridProps extends ChartPanelProps {
  readonly columns: readonly GridColumn<TickerRow>[];
  readonly rows: readonly TickerRow[];
}

/** Renders a grid of tickers below its children. A press on a row opens the ticker. */
function TickerGrid({ columns, rows, children, ...panel }: TickerGridProps) {
  // The table object computes its rows only when a caller reads the rows, so new live figures do not change the object.
  const table = useMemo(() => {
    const saved = columns.filter(({ render }) => !render);
    return {
      columns: saved.map(({ id }) => id),
      get rows() {
        return gridTable(saved, rows).rows;
      },
    };
  }, [columns, rows]);
  return (
    <ChartPanel {...panel} class={`${panel.id}-panel`} table={table}>
      {children}
      {(rows.length > 0 || panel.id !== 'compare') && (
        <div class="ticker-rows" style={{ '--rows': rows.length }}>
          <DataGrid
            label={panel.title}
            columns={columns}
            rows={rows}
            opensOnPress
            onOpen={({ ticker }) => navigate({ ticker, view: 'ticker', own: {} })}
          />
        </div>
      )}
    </ChartPanel>
  );
}
