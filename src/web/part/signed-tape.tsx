import { useMemo } from 'preact/hooks';
import { type FlowGroup, flowKeyText } from '../chart/flow-shapes.ts';
import { type SignedPrints, useAnswer } from '../data/answers.ts';
import { amount, count, newYorkIsoDate, newYorkMoment, newYorkSecond, plain, price, strike } from '../format.ts';
import { asOf } from '../state/market.ts';
import { page, tickerCall } from '../state/page.ts';
import type { PanelTable } from '../state/panels.ts';
import { ChartPanel } from './chart-panel.tsx';
import { DataGrid, type GridColumn } from './data-grid.tsx';

/** Number of prints that the tape reads, and that it reads to filter them. */
const PRINTS = { shown: 1000, most: 5000 } as const;

/** A print of the tape. */
export interface TapePrint {
  readonly at: string;
  readonly contract: string;
  readonly expiry: string;
  readonly price: number;
  readonly quote: string;
  readonly size: number;
  readonly premium: number;
  readonly aggressor: string;
  readonly signed_by: string;
  readonly manner: string;
  readonly delta: number | null;
}

/** Returns the prints of an answer as rows, newest first. */
export function tapePrints(body: SignedPrints): TapePrint[] {
  return body.at.map((at, i) => ({
    at,
    contract: `${body.root[i]} ${flowKeyText(body.expiry[i]!, 'expiry', true)} ${strike(body.strike[i])} ${body.put_call[i]}`,
    expiry: body.expiry[i]!,
    price: body.price[i]!,
    quote: body.bid[i] == null && body.ask[i] == null ? '—' : `${price(body.bid[i])} / ${price(body.ask[i])}`,
    size: body.size[i]!,
    premium: body.premium[i]!,
    aggressor: body.aggressor[i]!,
    signed_by: body.signed_by[i]!,
    manner: body.manner[i]!,
    delta: body.delta[i] ?? null,
  }));
}

/** A row of the flow chart: the prints that the tape shows. */
export interface TapeFilter {
  readonly group: FlowGroup;
  readonly key: string;
  readonly text: string;
}

export function isOfFilter(print: TapePrint, { group, key }: TapeFilter): boolean {
  if (group === 'day') return newYorkIsoDate(print.at) === key;
  return (group === 'manner' ? print.manner : print.expiry) === key;
}

const SIDES: Readonly<Record<string, string>> = { buyer: '▲ bought', seller: '▼ sold' };

const COLUMNS: readonly GridColumn<TapePrint>[] = [
  {
    id: 'at',
    title: 'New York',
    width: 126,
    value: ({ at }) => Date.parse(at),
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
  { id: 'size', title: 'Size', isNumber: true, width: 68, value: ({ size }) => size, text: ({ size }) => count(size) },
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
  const moment = asOf.value;
  const limit = filter === null ? PRINTS.shown : PRINTS.most;
  const call = useMemo(
    () => (moment === undefined ? undefined : tickerCall('get_signed_prints', moment, { ...window, limit })),
    [moment, window, limit, page.value.ticker],
  );
  const { answer, problem, isSlow } = useAnswer<SignedPrints>(call);
  const all = useMemo(() => (answer ? tapePrints(answer.body) : []), [answer]);
  const { group, key } = filter ?? {};
  const rows = useMemo(() => (filter ? all.filter((print) => isOfFilter(print, filter)) : all), [all, group, key]);
  const table = useMemo((): PanelTable => {
    const names = [
      'at',
      'contract',
      'price',
      'quote',
      'size',
      'premium',
      'aggressor',
      'signed_by',
      'manner',
      'delta',
    ] as const;
    return { columns: names, rows: rows.map((row) => names.map((name) => row[name])) };
  }, [rows]);
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
          : `${filter ? `${filter.text} · ${count(rows.length)} of the` : 'the'} newest ${count(all.length)} of ${count(of)} prints`
      }
      call={call}
      answer={answer}
      problem={problem}
      isSlow={isSlow}
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
