import { computed } from '@preact/signals';
import { serverNow } from '../../data/server-connection.ts';
import { fieldColumns, figureColumn, type GridColumn } from '../../grid/data-grid.tsx';
import { cleanText, duration, percent, price, signedAmount, strikeText, UNKNOWN } from '../../page-format.ts';
import { page } from '../../state/page.ts';
import { type DayFigures, flipAway } from '../../state/watched-tickers.ts';
import { ladderSentence, MiniLadder, Spark } from './ticker-shapes.tsx';

/** Returns the figures of a ticker at the moment of the page, or undefined if the ticker has no data. */
export type FiguresOf = (ticker: string) => DayFigures | undefined;

/** A row of a grid. A row never changes, because it contains no figures. */
export interface TickerRow {
  readonly ticker: string;
  readonly theme: string;
}

/** Ages are rounded down to multiples of this time in ms, so that a grid does not render every second. */
const AGE_STEP_MS = 10_000;
const steppedNow = computed(() => Math.floor(serverNow.value / AGE_STEP_MS) * AGE_STEP_MS);

/** The columns of the compared tickers and of all tickers. */
const COMPARED =
  'ticker spot change_pct regime net_gex flip_pct put_wall ladder call_wall iv_rank move_pct spark age_s';
const ALL =
  'ticker theme spot change_pct flip flip_pct call_wall put_wall net_gex regime sign_margin_pct iv_rank age_s';

/** Returns the columns of a grid. With `range`, they compare tickers, and the ladders reach from `-range` to `range` percent of spot. */
export function tickerColumns(figuresOf: FiguresOf, range?: number): GridColumn<TickerRow>[] {
  const field = fieldColumns<TickerRow>();
  const of =
    <Value,>(value: (figures: DayFigures) => Value) =>
    ({ ticker }: TickerRow) => {
      const figures = figuresOf(ticker);
      return figures ? value(figures) : null;
    };
  const number = (
    id: string,
    title: string,
    width: number,
    value: (figures: DayFigures) => number | null,
    print: (value: number | null) => string,
    isSigned?: boolean,
  ) => ({ ...figureColumn(id, title, of(value), print, isSigned), width });
  const shape = (id: string, title: string, width: number, render: (figures: DayFigures) => preact.JSX.Element) => ({
    ...{ id, title, width, value: () => null, render: of(render) },
    text: (row: TickerRow) => of(ladderSentence)(row) ?? '',
  });
  const rounded = (decimals: number) => (value: number | null) => percent(value, decimals, false);
  const regime = ({ regime }: DayFigures) => cleanText(regime).replace('_gamma', '');
  const columns = [
    field('ticker', 'Ticker', 66),
    field('theme', 'Theme', 112),
    number('spot', 'Spot', 84, ({ spot }) => spot, price),
    number('change_pct', 'Change', 76, ({ change_pct }) => change_pct, percent, true),
    number('flip', 'Flip', 84, ({ gex_flip }) => gex_flip, price),
    number('flip_pct', 'Flip away', 76, flipAway, (value) => percent(value, 1)),
    number('call_wall', 'Call wall', 70, ({ call_wall }) => call_wall, strikeText),
    number('put_wall', 'Put wall', 70, ({ put_wall }) => put_wall, strikeText),
    number('net_gex', 'Net GEX', 72, ({ net_gex }) => net_gex, signedAmount),
    {
      id: 'regime',
      title: 'Gamma',
      width: 108,
      value: of(regime),
      text: (row: TickerRow) => of(regime)(row) ?? UNKNOWN,
    },
    number('sign_margin_pct', 'Margin', 62, ({ sign_margin_pct }) => sign_margin_pct, rounded(1)),
    number('iv_rank', 'IV rank', 62, ({ iv_rank }) => iv_rank, rounded(0)),
    number('move_pct', '± day', 56, ({ daily_move, spot }) => daily_move && (100 * daily_move) / spot, rounded(1)),
    shape('ladder', `± ${range} %`, 96, (figures) => <MiniLadder figures={figures} range={range!} />),
    shape('spark', '60 days', 112, (figures) => <Spark figures={figures} />),
    number('age_s', 'Age', 70, ageOf, (age) => duration(age).replace(/ h .*/, ' h').replace(' days', ' d')),
  ];
  return (range === undefined ? ALL : COMPARED).split(' ').map((id) => columns.find((each) => each.id === id)!);
}

/** Returns the age of quotes at the moment of the page, seconds. */
function ageOf({ as_of }: DayFigures): number {
  const { at } = page.value;
  return Math.max(0, ((at === null ? steppedNow.value : Date.parse(at)) - Date.parse(as_of)) / 1000);
}

/** Returns one row for each ticker: those of the themes, in their order and with the names of all their themes, then the others. */
export function tickerRows(
  themes: Readonly<Record<string, readonly string[]>>,
  others: readonly string[],
): TickerRow[] {
  const byTicker = new Map<string, string[]>();
  for (const [theme, names] of [...Object.entries(themes), ['', others] as const]) {
    for (const name of names.map((each) => cleanText(each)).filter(Boolean)) {
      const known = byTicker.get(name) ?? [];
      byTicker.set(name, theme ? [...known, cleanText(theme).replaceAll('_', ' ')] : known);
    }
  }
  return [...byTicker].map(([ticker, names]) => ({ ticker, theme: names.join(', ') }));
}
