import { UNKNOWN } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';
import { DataGrid } from './data-grid.tsx';

/** Maximum width of a column, in pixels. */
const WIDTH_MAX = 320;
/** Maximum width of the first column in pixels. The first column stays visible while the other columns scroll. */
const FIRST_MAX = 180;
/** The table computes the column widths from this number of rows, starting with the first row. */
const SAMPLE = 30;

/** Renders the figures of a chart as a table, for members who prefer figures to charts. */
export function PlainTable({ table, title }: { table: PanelTable; title: string }) {
  const columns = table.columns.map((name, i) => {
    const known = table.rows
      .slice(0, SAMPLE)
      .map((row) => row[i] ?? null)
      .filter((value) => value !== null);
    return {
      id: name,
      title: name.replaceAll('_', ' '),
      value: (row: (typeof table.rows)[number]) => row[i] ?? null,
      text: (row: (typeof table.rows)[number]) => textOf(row[i] ?? null),
      isNumber: typeof known[0] === 'number',
      width: Math.min(
        i === 0 ? FIRST_MAX : WIDTH_MAX,
        24 + 8 * Math.max(name.length, ...known.map((value) => textOf(value).length)),
      ),
    };
  });
  return (
    <DataGrid
      label={`${title}, table`}
      columns={columns}
      rows={table.rows}
      {...(table.onOpen && { onOpen: table.onOpen })}
      {...(table.startAt !== undefined && {
        startAt: (row: PanelTable['rows'][number]) => row === table.rows[table.startAt!],
      })}
    />
  );
}

function textOf(value: string | number | null): string {
  if (value === null) return UNKNOWN;
  return typeof value === 'number' ? String(Number(value.toPrecision(8))) : value;
}
