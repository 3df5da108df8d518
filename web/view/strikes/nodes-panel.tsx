import { useMemo, useState } from 'preact/hooks';
import { expiryDay } from '../../chart/chart-axis.ts';
import { daysText } from '../../chart/term-structure.tsx';
import { type HedgingNodes, useAnswer } from '../../data/page-answers.ts';
import { DataGrid, type GridColumn, gridTable } from '../../grid/data-grid.tsx';
import type { CallValue } from '../../operations.ts';
import { amount, percent, plain, signedAmount, strikeText, UNKNOWN, volatility } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { tickerCall } from '../../state/page.ts';
import { asOf } from '../../state/page-market.ts';

/** Number of nodes per page of the list. */
const LIMIT = 50;

/** The second or a later page of the list. The cursor is valid only for the snapshot of the first page. */
interface LaterPage {
  readonly cursor: string;
  readonly at: string;
}

/** Renders the contracts that dealers hedge with the most shares, in pages. All pages show the same snapshot. */
export function HedgingNodesPanel() {
  const [later, setLater] = useState<readonly LaterPage[]>([]);
  const moment = asOf.value;
  const last = later.at(-1);
  const args: Record<string, CallValue> = { limit: LIMIT, ...(last && { cursor: last.cursor }) };
  const call = tickerCall('detect_lethal_nodes', last?.at ?? moment, args);
  const asked = useAnswer<HedgingNodes>(moment === undefined ? undefined : call);
  const nodes = asked.answer?.body;
  const next = nodes?.next_cursor;
  const rows = useMemo(() => nodes?.top_nodes.map((_, i) => i) ?? [], [nodes]);
  const columns = useMemo(() => (nodes ? nodeColumns(nodes, later.length * LIMIT, moment) : []), [nodes]);
  const table = useMemo(() => gridTable(columns, rows), [columns, rows]);
  return (
    <ChartPanel
      id="nodes"
      class="grid-panel nodes-panel"
      title="Hedging nodes"
      unit="shares that dealers must trade · all expiries"
      call={call}
      {...asked}
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
            onClick={() => setLater([...later, { cursor: next!, at: asked.answer!.asOf ?? moment! }])}
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

/** Returns a text with the nodes' share of gross gamma, and the dividends that the analysis includes. */
function nodesReadout(nodes: HedgingNodes, first: number, moment: string | undefined): string {
  const { top_nodes, gross_share_pct, dividends } = nodes;
  return [
    `Nodes ${first + 1} to ${first + top_nodes.length} have ${percent(gross_share_pct, 1, false)} of all gross gamma`,
    ...dividends.map((each) => `dividend ${each.amount} on ${expiryDay(each.ex_date, moment)}`),
  ].join(' · ');
}

/** Returns a number of shares as text. `buy` or `sell` replaces the sign. */
export function tradeText(shares: number): string {
  return shares === 0 ? '0' : `${shares > 0 ? 'buy' : 'sell'} ${amount(Math.abs(shares))}`;
}

type NodeRow = HedgingNodes['top_nodes'][number] & HedgingNodes['components'][number] & { readonly rank: number };

const share = (probability: number) => percent(100 * probability, 1, false);

/** Each column of the grid: id, title, function for the text, and width. If a column has no width, the grid uses its default width. */
const COLUMNS: readonly (readonly [
  id: keyof NodeRow,
  title: string,
  text?: (value: never, moment: string | undefined) => string,
  width?: number,
])[] = [
  ['strike', 'Strike', strikeText],
  ['put_call', 'Side', (side: string) => (side === 'C' ? 'call' : 'put'), 60],
  ['expiry_date', 'Expiry', expiryDay, 124],
  ['Dealer_Share_Exposure', 'On +1 %', tradeText],
  ['Delta_Flux_j', 'In a day', tradeText],
  ['drift_shares', 'Drift', tradeText],
  ['expected_abs_shares', 'Either way', amount],
  ['strike_shares', 'At strike', tradeText],
  ['rank', 'Rank'],
  ['dealer_contracts', 'Position', signedAmount],
  ['gex', 'GEX', signedAmount],
  ['iv', 'Volatility', (iv: number) => volatility(iv)],
  ['iv_band', '± band', (band: number) => volatility(band, 2)],
  ['delta', 'Delta', (delta: number) => plain(delta)],
  ['delta_after_a_day', 'Δ in a day', (delta: number) => plain(delta)],
  ['gamma', 'Gamma', (gamma: number) => plain(gamma)],
  ['tte', 'Time', daysText],
  ['ends_in_the_money', 'P(in money)', share],
  ['root', 'Root'],
];

/** Returns the columns of the grid. A row of the grid is the index of a node. `first` is the number of nodes on earlier pages. */
export function nodeColumns(nodes: HedgingNodes, first: number, moment: string | undefined): GridColumn<number>[] {
  const { top_nodes, components } = nodes;
  const rows = top_nodes.map((node, i): NodeRow => ({ ...node, ...components[i]!, rank: first + i + 1 }));
  return COLUMNS.map(([id, title, text = String, width]) => {
    // A volatility of 0 means that the volatility is unknown.
    const value = (i: number) => (id === 'iv' ? rows[i]!.iv || null : rows[i]![id]);
    return {
      id,
      title,
      ...(width && { width }),
      isNumber: typeof rows[0]?.[id] !== 'string',
      value,
      text: (i) => (value(i) === null ? UNKNOWN : text(value(i) as never, moment)),
    };
  });
}
