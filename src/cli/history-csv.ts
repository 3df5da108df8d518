import type { GexHistory } from '../operations/history/gex-history.ts';
import { numberCell } from './text-format.ts';

/** Columns whose values come from the input. The values of these columns are printed unchanged. */
const GIVEN = new Set(['spot', 'call_wall', 'put_wall', 'max_pain']);

/** Formats a history as CSV. A value that is not known becomes an empty cell. */
export function historyCsv(history: GexHistory): string {
  const columns = HISTORY_COLUMNS.map((name) => history[name].map((value) => cell(name, value)));
  const rows = history.as_of.map((_, row) => columns.map((column) => column[row]!).join(','));
  return [HISTORY_COLUMNS.join(','), ...rows].map((text) => `${text}\n`).join('');
}

const HISTORY_COLUMNS = [
  ...(['as_of', 'day', 'spot', 'net_gex', 'gross_gex', 'sign_margin_pct', 'gex_flip', 'flip_resolved'] as const),
  ...(['call_wall', 'put_wall', 'max_pain', 'expiry', 'net_dex', 'net_vex', 'net_cex', 'atm_iv_30d'] as const),
];

function cell(name: string, value: string | number | boolean | null): string {
  if (value === null) return '';
  return typeof value === 'number' && !GIVEN.has(name) ? numberCell(value) : String(value);
}
