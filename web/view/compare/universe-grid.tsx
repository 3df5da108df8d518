import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Asked, DayChanges } from '../../data/page-answers.ts';
import { serverNow } from '../../data/server-connection.ts';
import { DataGrid, fieldColumns, figureColumn, type GridColumn, gridTable } from '../../grid/data-grid.tsx';
import type { Call } from '../../operations.ts';
import {
  cleanText,
  countText,
  duration,
  percent,
  price,
  signedAmount,
  strikeText,
  UNKNOWN,
} from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { WithoutData } from '../../panel/without-data.tsx';
import { navigate, page, setOwn } from '../../state/page.ts';
import { tickers, universe } from '../../state/page-market.ts';
import { areAllListed, type DayFigures } from '../../state/watched-tickers.ts';
import { FILTER_HELP, tickerFilter } from './ticker-filter.ts';

/** Returns the figures of a ticker at the moment of the page, or undefined if the ticker has no data. */
export type FiguresOf = (ticker: string) => DayFigures | undefined;

/** A ticker of the universe grid. A row never changes, because it contains no figures. */
interface UniverseRow {
  readonly ticker: string;
  readonly theme: string;
}

/** Ages are rounded down to multiples of this time in ms, so that the grid does not render every second. */
const AGE_STEP_MS = 10_000;
const steppedNow = computed(() => Math.floor(serverNow.value / AGE_STEP_MS) * AGE_STEP_MS);

/** Returns the age of quotes at the moment of the page, seconds. */
export function ageOf(figures: DayFigures | undefined): number | null {
  const { at } = page.value;
  const now = at === null ? steppedNow.value : Date.parse(at);
  return figures ? Math.max(0, (now - Date.parse(figures.asOf)) / 1000) : null;
}

/** Returns an age in its largest unit. */
export function ageText(seconds: number | null): string {
  return duration(seconds).replace(/ h .*/, ' h').replace(' days', ' d');
}

const column = fieldColumns<UniverseRow>();

function columnsOf(figuresOf: FiguresOf): readonly GridColumn<UniverseRow>[] {
  const number = (
    id: string,
    title: string,
    width: number,
    value: (figures: DayFigures) => number | null,
    print: (value: number | null) => string,
    isSigned?: boolean,
  ): GridColumn<UniverseRow> => {
    const known = ({ ticker }: UniverseRow) => {
      const figures = figuresOf(ticker);
      return figures ? value(figures) : null;
    };
    return { ...figureColumn(id, title, known, print, isSigned), width };
  };
  const rounded = (decimals: number) => (value: number | null) => percent(value, decimals, false);
  return [
    column('ticker', 'Ticker', 66),
    column('theme', 'Theme', 116),
    number('spot', 'Spot', 80, ({ spot }) => spot, price),
    number('change_pct', 'Change', 74, ({ change }) => change, percent, true),
    number('flip', 'Flip', 76, ({ flip }) => flip, price),
    number(
      'flip_pct',
      'Flip away',
      78,
      ({ flipAway }) => flipAway,
      (value) => percent(value, 1),
    ),
    number('call_wall', 'Call wall', 72, ({ callWall }) => callWall, strikeText),
    number('put_wall', 'Put wall', 72, ({ putWall }) => putWall, strikeText),
    number('net_gex', 'Net GEX', 74, ({ netGex }) => netGex, signedAmount),
    {
      id: 'regime',
      title: 'Gamma',
      width: 108,
      value: ({ ticker }) => figuresOf(ticker)?.regime ?? null,
      text: ({ ticker }) => figuresOf(ticker)?.regime || UNKNOWN,
    },
    number('sign_margin_pct', 'Margin', 64, ({ signMargin }) => signMargin, rounded(1)),
    number('iv_rank', 'IV rank', 66, ({ ivRank }) => ivRank, rounded(0)),
    number('age_s', 'Age', 68, ageOf, ageText),
  ];
}

interface UniverseGridProps {
  readonly asked: Asked<DayChanges>;
  readonly call: Call;
  readonly figuresOf: FiguresOf;
}

/** Renders a grid of all tickers. Words and conditions filter the rows, and a press on a row opens the ticker. */
export function UniverseGrid({ asked, call, figuresOf }: UniverseGridProps) {
  const themes = universe.asked.value.answer?.body.macro_themes;
  const names = tickers.value;
  const all = useMemo(() => universeRows(themes ?? {}, names), [themes, names]);
  const columns = useMemo(() => columnsOf(figuresOf), [figuresOf]);
  const text = page.value.own.filter ?? '';
  const filter = useMemo(() => tickerFilter(text), [text]);
  const shown = asked.answer
    ? all.filter((row) => {
        const figures = figuresOf(row.ticker);
        return (figures || areAllListed.value) && filter.matches({ ...row, figures });
      })
    : [];
  const key = shown.map(({ ticker }) => ticker).join(' ');
  // The rows change only with the tickers, so that new live figures do not sort the grid again.
  const rows = useMemo(() => shown, [key]);
  // The table object computes its rows only when a caller reads the rows, so new live figures do not change the object.
  const table = useMemo(
    () => ({
      columns: columns.map(({ id }) => id),
      get rows() {
        return gridTable(columns, rows).rows;
      },
    }),
    [columns, rows],
  );
  return (
    <ChartPanel
      id="universe"
      class="universe-panel"
      title="All tickers"
      unit={`GEX per 1 % move · change since the previous close${page.value.at === null ? ' · live' : ''}`}
      isSlow={asked.isSlow}
      {...(!asked.answer && { problem: asked.problem })}
      call={call}
      table={asked.answer && table}
    >
      <div class="row inset">
        <label class="grid-filter row muted">
          Filter
          <input
            type="search"
            size={28}
            value={text}
            placeholder="regime:neg flip<2% iv>50"
            aria-describedby="filter-meaning"
            onInput={(event) => setOwn('filter', event.currentTarget.value.slice(0, 200) || null, false)}
            data-filter
          />
        </label>
        <span id="filter-meaning" class="muted" role="status">
          {countText(rows.length)} of {countText(all.length)} rows{filter.meaning && `: ${filter.meaning}`}
          {filter.refused.length > 0 && (
            <span class="warning">
              {' '}
              · Not understood: {cleanText(filter.refused.join(' '), 80)}. Understood: {FILTER_HELP}.
            </span>
          )}
        </span>
        <span class="spring" />
        <WithoutData names={names} />
      </div>
      {asked.answer && (
        <DataGrid
          label="All tickers"
          columns={columns}
          rows={rows}
          opensOnPress
          onOpen={({ ticker }) => navigate({ ticker, view: 'ticker', own: {} })}
        />
      )}
    </ChartPanel>
  );
}

/** Returns one row for each ticker: those of the themes, in their order and with the names of all their themes, then the others. */
export function universeRows(
  themes: Readonly<Record<string, readonly string[]>>,
  others: readonly string[],
): UniverseRow[] {
  const byTicker = new Map<string, string[]>();
  for (const [theme, names] of [...Object.entries(themes), ['', others] as const]) {
    for (const name of names.map((each) => cleanText(each)).filter(Boolean)) {
      const known = byTicker.get(name) ?? [];
      byTicker.set(name, theme ? [...known, cleanText(theme).replaceAll('_', ' ')] : known);
    }
  }
  return [...byTicker].map(([ticker, names]) => ({ ticker, theme: names.join(', ') }));
}
