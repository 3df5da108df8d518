import { UNKNOWN } from '../format.ts';
import type { PanelTable } from '../state/panels.ts';
import { DataGrid } from './data-grid.tsx';

/** The figures of a chart as a table, for whoever reads figures rather than pictures. */
export function PlainTable({ table, title }: { table: PanelTable; title: string }) {
  const columns = table.columns.map((name, i) => ({
    id: name,
    title: name.replaceAll('_', ' '),
    value: (row: (typeof table.rows)[number]) => row[i] ?? null,
    text: (row: (typeof table.rows)[number]) => textOf(row[i] ?? null),
    isNumber: typeof table.rows[0]?.[i] === 'number',
  }));
  return (
    <DataGrid
      label={`${title}, table`}
      columns={columns}
      rows={table.rows}
      {...(table.onOpen && { onOpen: table.onOpen })}
    />
  );
}

function textOf(value: string | number | null): string {
  if (value === null) return UNKNOWN;
  return typeof value === 'number' ? String(Number(value.toPrecision(8))) : value;
}
