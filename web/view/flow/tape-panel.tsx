import { useMemo } from 'preact/hooks';
import type { SignedPrints } from '../../data/page-answers.ts';
import { DataGrid, fieldColumns, type GridColumn, gridTable } from '../../grid/data-grid.tsx';
import { amount, countText, newYorkMoment, newYorkSecond, plain, price, UNKNOWN } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { useTickerAnswer } from '../../state/page-market.ts';
import { isOfFilter, type TapeFilter, type TapePrint, tapePrints } from './tape-prints.ts';

/** The panel requests `shown` prints if it has no filter, and `most` prints if it has a filter. */
const PRINTS = { shown: 1000, most: 5000 } as const;

const SIDES: Readonly<Record<string, string>> = { buyer: '▲ bought', seller: '▼ sold' };

const column = fieldColumns<TapePrint>();

const COLUMNS: readonly GridColumn<TapePrint>[] = [
  column('at', 'New York', 126, (at) => newYorkSecond(at).slice(4)),
  column('contract', 'Contract', 172),
  {
    ...column('aggressor', 'Customer', 96, (side) => SIDES[side] ?? '— unknown'),
    tone: ({ aggressor }) => (aggressor === 'buyer' ? 'positive' : aggressor === 'seller' ? 'negative' : 'muted'),
  },
  column('price', 'Price', 68, price, true),
  column('quote', 'Bid / ask', 112),
  column('size', 'Size', 74, countText, true),
  column('premium', 'Premium $', 88, amount, true),
  column('signed_by', 'Signed by', 78, (by) => (by === 'unknown' ? UNKNOWN : by)),
  column('manner', 'Manner', 84, (manner) => manner.replace('_', '-')),
  column('delta', 'Delta', 64, (delta) => plain(delta, 3), true),
];

interface SignedTapeProps {
  readonly window: { readonly days: number; readonly min_premium: number };
  readonly filter: TapeFilter | null;
  readonly onClear: () => void;
}

/** Renders the list of prints, newest first. Each row has the side that started the trade, and the method that determined this side. */
export function SignedTape({ window, filter, onClear }: SignedTapeProps) {
  const limit = filter === null ? PRINTS.shown : PRINTS.most;
  const asked = useTickerAnswer<SignedPrints>('get_signed_prints', { ...window, limit });
  const { answer } = asked;
  const all = useMemo(() => (answer ? tapePrints(answer.body) : []), [answer]);
  const { group, key } = filter ?? {};
  const rows = useMemo(() => (filter ? all.filter((print) => isOfFilter(print, filter)) : all), [all, group, key]);
  const table = useMemo(() => gridTable(COLUMNS, rows), [rows]);
  const of = answer?.body.of ?? 0;
  const isCut = of > all.length;
  return (
    <ChartPanel
      id="tape"
      class="tape-panel fills"
      title="Signed tape"
      unit={
        !answer
          ? ''
          : `${filter ? `${filter.text} · ${countText(rows.length)} of the` : 'the'} newest ${countText(all.length)} of ${countText(of)} prints`
      }
      {...asked}
      table={answer && table}
      controls={
        filter && (
          <button type="button" onClick={onClear} data-action="all-prints">
            Show all
          </button>
        )
      }
    >
      {filter && isCut && (
        <p class="empty">
          The tape reaches back to {newYorkMoment(all.at(-1)?.at)}. Earlier prints of {filter.text} are summed in the
          chart, but not listed: choose fewer days or a minimum premium.
        </p>
      )}
      {answer && <DataGrid label="Signed tape" columns={COLUMNS} rows={rows} hasFilter />}
    </ChartPanel>
  );
}
