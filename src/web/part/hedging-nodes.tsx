import { useMemo, useState } from 'preact/hooks';
import { expiryDay } from '../chart/chart-axis.ts';
import { daysText } from '../chart/term-structure.tsx';
import { type HedgingNodes, useAnswer } from '../data/page-answers.ts';
import type { CallValue } from '../operations.ts';
import { amount, percent, plain, signedAmount, strikeText, UNKNOWN, volatility } from '../page-format.ts';
import { page, tickerCall } from '../state/page.ts';
import { asOf } from '../state/page-market.ts';
import { ChartPanel } from './chart-panel.tsx';
import { DataGrid, type GridColumn, gridTable } from './data-grid.tsx';

/** Nodes on a page. */
const LIMIT = 50;

/** A later page of the list. The cursor belongs to the snapshot of the first page. */
interface LaterPage {
  readonly cursor: string;
  readonly at: string;
}

/** The contracts for which dealers must trade most shares on a move, page by page. Later pages stay with the snapshot of the first one. */
export function HedgingNodesPanel() {
  const [later, setLater] = useState<readonly LaterPage[]>([]);
  const moment = asOf.value;
  const last = later.at(-1);
  const args: Record<string, CallValue> = { limit: LIMIT, ...(last && { cursor: last.cursor }) };
  const call = tickerCall('detect_lethal_nodes', last?.at ?? moment, args);
  const { answer, problem, isSlow } = useAnswer<HedgingNodes>(moment === undefined ? undefined : call);
  const nodes = answer?.body;
  const next = nodes?.next_cursor;
  const rows = useMemo(() => nodes?.top_nodes.map((_, i) => i) ?? [], [nodes]);
  const columns = useMemo(() => (nodes ? nodeColumns(nodes, later.length * LIMIT, moment) : []), [nodes]);
  const table = useMemo(() => gridTable(columns, rows), [columns, rows]);
  const isCustom = Object.keys(page.value.options).length > 0;
  return (
    <ChartPanel
      id="nodes"
      class="grid-panel nodes-panel"
      title="Hedging nodes"
      unit={`shares that dealers must trade${isCustom ? ' · with the default options, all expiries' : ''}`}
      call={call}
      answer={answer}
      problem={problem}
      isSlow={isSlow}
      table={table}
      readout={nodes && nodesReadout(nodes, later.length * LIMIT, moment)}
      controls={
        <>
          <button type="button" disabled={!last} onClick={() => setLater(later.slice(0, -1))}>
            Previous {LIMIT}
          </button>
          <button
            type="button"
            disabled={!next}
            onClick={() => setLater([...later, { cursor: next!, at: answer!.asOf ?? moment! }])}
          >
            Next {LIMIT}
          </button>
        </>
      }
    >
      {nodes && <DataGrid label="Hedging nodes" columns={columns} rows={rows} hasFilter />}
    </ChartPanel>
  );
}

/** How much of all gamma the nodes on the page have, and the dividends that are counted. */
function nodesReadout(
  { top_nodes, gross_share_pct, dividends }: HedgingNodes,
  first: number,
  moment: string | undefined,
) {
  return [
    `Nodes ${first + 1} to ${first + top_nodes.length} have ${percent(gross_share_pct, 1, false)} of all gross gamma`,
    ...dividends.map((each) => `dividend ${each.amount} on ${expiryDay(each.ex_date, moment)}`),
  ].join(' · ');
}

/** The sign of a number of shares in words. */
export function tradeText(shares: number): string {
  return shares === 0 ? '0' : `${shares > 0 ? 'buy' : 'sell'} ${amount(Math.abs(shares))}`;
}

type Node = HedgingNodes['top_nodes'][number];
type Component = HedgingNodes['components'][number];

/** The columns of the grid, whose rows are indices of nodes. `first` is the number of nodes on earlier pages. */
export function nodeColumns({ top_nodes, components }: HedgingNodes, first: number, moment: string | undefined) {
  const column = (
    id: string,
    title: string,
    value: (node: Node, component: Component, i: number) => string | number | null,
    text: (value: never) => string = String,
    width?: number,
  ): GridColumn<number> => ({
    id,
    title,
    ...(width !== undefined && { width }),
    isNumber: typeof (top_nodes[0] && value(top_nodes[0], components[0]!, 0)) !== 'string',
    value: (i) => value(top_nodes[i]!, components[i]!, i),
    text: (i) => {
      const known = value(top_nodes[i]!, components[i]!, i);
      return known === null ? UNKNOWN : text(known as never);
    },
  });
  return [
    column('strike', 'Strike', ({ strike: at }) => at, strikeText),
    column(
      'put_call',
      'Side',
      ({ put_call }) => put_call,
      (side: string) => (side === 'C' ? 'call' : 'put'),
      60,
    ),
    column(
      'expiry_date',
      'Expiry',
      ({ expiry_date }) => expiry_date,
      (date: string) => expiryDay(date, moment),
      124,
    ),
    column('Dealer_Share_Exposure', 'On +1 %', (node) => node.Dealer_Share_Exposure, tradeText),
    column('Delta_Flux_j', 'In a day', (node) => node.Delta_Flux_j, tradeText),
    column('strike_shares', 'At strike', (_, { strike_shares }) => strike_shares, tradeText),
    column('rank', 'Rank', (_node, _component, i) => first + i + 1),
    column('dealer_contracts', 'Position', (_, { dealer_contracts }) => dealer_contracts, signedAmount),
    column('gex', 'GEX', (_, { gex }) => gex, signedAmount),
    column('iv', 'Volatility', (_, { iv }) => iv || null, volatility),
    column(
      'iv_band',
      '± band',
      (_, { iv_band }) => iv_band,
      (band: number) => volatility(band, 2),
    ),
    column('delta', 'Delta', (_, { delta }) => delta, plain),
    column('delta_after_a_day', 'Δ in a day', (_, each) => each.delta_after_a_day, plain),
    column('gamma', 'Gamma', (_, { gamma }) => gamma, plain),
    column('tte', 'Time', (_, { tte }) => tte, daysText),
    column(
      'ends_in_the_money',
      'P(in money)',
      (_, each) => each.ends_in_the_money,
      (p: number) => percent(100 * p, 1, false),
    ),
    column('root', 'Root', (_, { root }) => root),
  ];
}
