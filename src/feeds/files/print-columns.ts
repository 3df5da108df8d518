import { recordOf } from '../../core/record-of.ts';
import { unreadable } from '../rejections.ts';

/** All columns of a tape that are read. */
export const PRINT_COLUMNS = [
  ...['executed_at', 'option_chain_id', 'underlying_symbol', 'expiry', 'option_type', 'strike', 'price', 'size'],
  ...['side', 'tags', 'nbbo_bid', 'nbbo_ask', 'delta', 'exchange', 'report_flags', 'canceled'],
  ...['upstream_condition_detail', 'id', 'trade_id', 'sequence'],
] as const;
const CONTRACT_COLUMNS = ['underlying_symbol', 'expiry', 'option_type', 'strike'] as const;

/** Index of each column. The index is -1 for a column that the tape does not have. */
export type Columns = Readonly<Record<(typeof PRINT_COLUMNS)[number], number>>;

/** Finds the columns of a tape. Throws a `ClientError` if a required column is missing, or if a column that is read appears twice. */
export function printColumnsOf(header: readonly string[]): Columns {
  const needed = ['price', 'size', ...(header.includes('option_chain_id') ? [] : CONTRACT_COLUMNS)];
  const missing = needed.filter((name) => !header.includes(name));
  if (missing.length > 0) throw unreadable(`the table has no column ${missing.join(', ')}`);
  const repeated = PRINT_COLUMNS.filter((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (repeated.length > 0) throw unreadable(`column ${repeated.join(', ')} is named twice`);
  return recordOf(PRINT_COLUMNS, (name) => header.indexOf(name));
}

/** Returns whether a line is the header of a tape. Such a line names the time of the trade, and the contract or the underlying. */
export function isPrintsHeader(cells: readonly string[]): boolean {
  const has = (name: string) => cells.includes(name);
  return has('executed_at') && (has('option_chain_id') || has('underlying_symbol'));
}
