import { useMemo } from 'preact/hooks';
import type { SignedPrints } from '../data/page-answers.ts';
import { isOfFilter, type TapeFilter, type TapePrint, tapePrints } from '../data/tape-prints.ts';
import { amount, countText, newYorkMoment, newYorkSecond, plain, price } from '../page-format.ts';
import { useTickerAnswer } from '../state/ticker-answer.ts';
import { ChartPanel } from './chart-panel.tsx';
import { DataGrid, type GridColumn, gridTable } from './data-grid.tsx';

/** Number of prints that the tape reads, and that it reads to filter them. */
const PRINTS = { shown: 1000, most: 5000 } as const;

const SIDES: Readonly<Record<string, string>> = { buyer: '▲ bought', seller: '▼ sold' };

const COLUMNS: readonly GridColumn<TapePrint>[] = [
  {
    id: 'at',
    title: 'New York',
    width: 126,
    value: ({ at }) => at,
    text: ({ at }) => newYorkSecond(at).slice(4),
  },
  {
    id: 'contract',
    title: 'Contract',
    width: 184,
    value: ({ contract }) => contract,
    text: ({ contract }) => contract,
  },
  {
    id: 'price',
    title: 'Price',
    isNumber: true,
    width: 68,
    value: (row) => row.price,
    text: (row) => price(row.price),
  },
  { id: 'quote', title: 'Bid / ask', width: 112, value: ({ quote }) => quote, text: ({ quote }) => quote },
  {
    id: 'size',
    title: 'Size',
    isNumber: true,
    width: 68,
    value: ({ size }) => size,
    text: ({ size }) => countText(size),
  },
  {
    id: 'premium',
    title: 'Premium $',
    isNumber: true,
    width: 80,
    value: ({ premium }) => premium,
    text: ({ premium }) => amount(premium),
  },
  {
    id: 'aggressor',
    title: 'Customer',
    width: 84,
    value: ({ aggressor }) => aggressor,
    text: ({ aggressor }) => SIDES[aggressor] ?? '— unknown',
    tone: ({ aggressor }) => (aggressor === 'buyer' ? 'positive' : aggressor === 'seller' ? 'negative' : 'muted'),
  },
  { id: 'signed_by', title: 'Signed by', width: 78, value: (row) => row.signed_by, text: (row) => row.signed_by },
  {
    id: 'manner',
    title: 'Manner',
    width: 84,
    value: ({ manner }) => manner,
    text: ({ manner }) => manner.replace('_', '-'),
  },
  {
    id: 'delta',
    title: 'Delta',
    isNumber: true,
    width: 64,
    value: ({ delta }) => delta,
    text: ({ delta }) => plain(delta, 3),
  },
];

/** The prints, newest first, with who began each trade and how that is known. */
export function SignedTape({
  window,
  filter,
  onClear,
}: {
  window: { readonly days: number; readonly min_premium: number };
  filter: TapeFilter | null;
  onClear: () => void;
}) {
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
      class="tape-panel"
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
          <button type="button" onClick={onClear} data-act="all-prints">
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
