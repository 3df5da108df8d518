import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type LiveLevels, liveLevels } from '../../data/live-levels.ts';
import { serverNow } from '../../data/server-connection.ts';
import { DataGrid, fieldColumns, figureColumn, type GridColumn, gridTable } from '../../grid/data-grid.tsx';
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
import { navigate, page } from '../../state/page.ts';
import { universe } from '../../state/page-market.ts';

/** A ticker of the universe grid. A row never changes, because it contains no figures. The grid reads the figures from the event stream. */
interface UniverseRow {
  readonly ticker: string;
  readonly theme: string;
}

const flipOf = (levels: LiveLevels | undefined) =>
  levels === undefined || levels.flip_resolved === false ? null : levels.gex_flip;

/** Ages are rounded down to multiples of this time in ms, so that the grid does not render every second. */
const AGE_STEP_MS = 10_000;
const steppedNow = computed(() => Math.floor(serverNow.value / AGE_STEP_MS) * AGE_STEP_MS);

function ageOf(levels: LiveLevels | undefined): number | null {
  return levels ? Math.max(0, (steppedNow.value - Date.parse(levels.provenance.as_of)) / 1000) : null;
}

const column = fieldColumns<UniverseRow>();

const number = (
  id: string,
  title: string,
  width: number,
  value: (levels: LiveLevels | undefined) => number | null,
  print: (value: number | null) => string,
): GridColumn<UniverseRow> => ({
  ...figureColumn(id, title, ({ ticker }) => value(liveLevels(ticker).value), print),
  width,
});

function regimeOf(ticker: string): string | null {
  const levels = liveLevels(ticker).value;
  return levels ? cleanText(levels.regime).replace('_gamma', '') : null;
}

const COLUMNS: readonly GridColumn<UniverseRow>[] = [
  column('ticker', 'Ticker', 70),
  column('theme', 'Theme', 124),
  number('spot', 'Spot', 76, (levels) => levels?.spot_price ?? null, price),
  number('flip', 'Flip', 76, flipOf, price),
  number('flip_pct', 'Flip from spot', 106, (levels) => distanceOf(flipOf(levels), levels?.spot_price), percent),
  number('call_wall', 'Call wall', 76, (levels) => levels?.call_wall ?? null, strikeText),
  number('put_wall', 'Put wall', 76, (levels) => levels?.put_wall ?? null, strikeText),
  number('net_gex', 'Net GEX $', 86, (levels) => (levels ? levels.net_gex_mil * 1e6 : null), signedAmount),
  {
    id: 'regime',
    title: 'Gamma',
    width: 108,
    value: ({ ticker }) => regimeOf(ticker),
    text: ({ ticker }) => regimeOf(ticker) ?? UNKNOWN,
  },
  number(
    'sign_margin_pct',
    'Sign margin',
    100,
    (levels) => levels?.sign_margin_pct ?? null,
    (value) => percent(value, 1, false),
  ),
  number('age_s', 'Age', 90, ageOf, duration),
];

/** Renders a live grid of all tickers in the universe. A click on a row opens the ticker. */
export function UniverseGrid() {
  const { answer } = universe.asked.value;
  const rows = useMemo(() => (answer ? universeRows(answer.body.macro_themes) : []), [answer]);
  // The table object computes its rows only when a caller reads the rows, so new live figures do not change the object.
  const table = useMemo(
    () => ({
      columns: COLUMNS.map(({ id }) => id),
      get rows() {
        return gridTable(COLUMNS, rows).rows;
      },
    }),
    [rows],
  );
  return (
    <ChartPanel
      id="universe"
      class="universe-panel fills-wide"
      title="Universe"
      unit={`${countText(rows.length)} tickers · GEX per 1 % move · live${page.value.at === null ? '' : ', not of the replay'}`}
      {...universe.asked.value}
      call={{ operation: 'get_target_universe', args: {} }}
      table={answer && table}
    >
      {answer && (
        <DataGrid
          label="Universe"
          columns={COLUMNS}
          rows={rows}
          hasFilter
          opensOnPress
          onOpen={({ ticker }) => navigate({ ticker, view: 'ticker', own: {} })}
        />
      )}
    </ChartPanel>
  );
}

/** Returns one row for each ticker, in the order of the themes. If a ticker has several themes, the row has the names of all themes. */
export function universeRows(themes: Readonly<Record<string, readonly string[]>>): UniverseRow[] {
  const byTicker = new Map<string, string[]>();
  for (const [theme, names] of Object.entries(themes)) {
    for (const name of names.map((each) => cleanText(each)).filter(Boolean))
      byTicker.set(name, [...(byTicker.get(name) ?? []), cleanText(theme).replaceAll('_', ' ')]);
  }
  return [...byTicker].map(([ticker, names]) => ({ ticker, theme: names.join(', ') }));
}

/** Returns the distance of a level from spot, in percent. Returns null if the level or spot is unknown. */
export function distanceOf(level: number | null | undefined, spot: number | null | undefined): number | null {
  return level == null || spot == null ? null : 100 * (level / spot - 1);
}
