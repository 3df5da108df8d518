import { bool, Column, columnFromValues, float64, Table, tableToIPC, utf8 } from '@uwdata/flechette';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Steps } from '../core/steps.ts';
import type { AnswerTable, CellKind, TableCell } from '../operations/engine/answer-tables.ts';

// Only requests for files load this module, because its libraries would delay the start.

/** Number of cells that are written in one step of some 5 ms: those of a row group of Parquet, or of a record batch of Arrow. */
const STEP_CELLS = 20_000;

/** Writes a table as a Parquet file. Its key-value metadata has the rest of the answer, each value as JSON. */
export function* writeParquet({ columns, count, metadata }: AnswerTable): Steps<Uint8Array> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, kind, isNullable }) => ({
        name,
        ...PARQUET[kind],
        repetition_type: isNullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ],
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value: JSON.stringify(value) })),
    createdBy: 'zomma',
  });
  const rows = stepRows(columns.length);
  for (let from = 0; from < count; from += rows) {
    if (from > 0) yield { message: 'Writing the table' };
    file.write({
      columnData: columns.map(({ name, kind, cells }) => ({
        name,
        data: cellsOf(kind, cells.slice(from, from + rows)),
      })),
      rowGroupSize: rows,
    });
  }
  file.finish();
  return writer.getBytes();
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const PARQUET = {
  number: { type: 'DOUBLE' },
  flag: { type: 'BOOLEAN' },
  text: TEXT,
  mixed: TEXT,
} as const;

/** Writes a table as an Arrow IPC stream. The metadata of its schema has the rest of the answer, each value as JSON. */
export function* writeArrow({ columns, count, metadata }: AnswerTable): Steps<Uint8Array> {
  const fields = columns.map(({ name, kind, isNullable }) => ({
    ...{ name, type: ARROW[kind](), nullable: isNullable, metadata: null },
  }));
  const batches: Batches = fields.map(() => []);
  const rows = stepRows(columns.length);
  // A table without rows has one batch, because the stream of a table without batches would have no columns.
  for (let from = 0; from < Math.max(1, count); from += rows) {
    if (from > 0) yield { message: 'Writing the table' };
    for (const [i, { kind, cells }] of columns.entries()) {
      const part = cellsOf(kind, cells.slice(from, from + rows));
      batches[i]!.push(...columnFromValues(part, fields[i]!.type).data);
    }
  }
  const schema = {
    ...{ fields, endianness: 0 as const, dictionaryTypes: null },
    metadata: new Map(Object.entries(metadata).map(([key, value]) => [key, JSON.stringify(value)])),
  };
  const table = new Table(
    schema as never,
    batches.map((data, i) => new Column(data, fields[i]!.type)),
  );
  return tableToIPC(table, { format: 'stream' })!;
}

type Batches = Column<unknown>['data'][number][][];

const ARROW = { number: float64, flag: bool, text: utf8, mixed: utf8 } as const;

function stepRows(columns: number): number {
  return Math.max(1, Math.floor(STEP_CELLS / columns));
}

/** Returns the cells in the type of the column. Adding 0 makes -0 to 0, and NaN becomes null, as in JSON. */
function cellsOf(kind: CellKind, cells: readonly TableCell[] | Float64Array): TableCell[] {
  if (kind === 'number') return Array.from(cells, (cell) => (Number.isFinite(cell) ? (cell as number) + 0 : null));
  return kind === 'mixed' ? Array.from(cells, (cell) => (cell === null ? null : String(cell))) : Array.from(cells);
}
