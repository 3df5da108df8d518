import { describe, expect, test } from 'bun:test';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { runToCompletion, type Steps } from '../../src/core/steps.ts';
import { writeArrow, writeParquet } from '../../src/http/table-files.ts';
import { writeColumnsJson, writeCsv } from '../../src/http/table-text.ts';
import type { AnswerTable, CellKind, TableCell } from '../../src/operations/engine/answer-tables.ts';

/** Tables as text and as files, with every kind of column. */
const column = (name: string, kind: CellKind, cells: readonly TableCell[] | Float64Array, isNullable = true) => ({
  ...{ name, kind, cells, isNullable },
});
const tableOf = (...columns: AnswerTable['columns']): AnswerTable => ({
  columns,
  count: columns[0]!.cells.length,
  metadata: { spot_price: 1.5, notes: ['a "b"'], provenance: { as_of: 'now' } },
  notes: [],
});

const KINDS = tableOf(
  column('number', 'number', [0.1, -0, 1e21, null]),
  column('float64', 'number', Float64Array.of(1, 2.5, 5e-324, Number.MAX_VALUE), false),
  column('text', 'text', ['plain', 'a,b "c"\r\nd', '', null]),
  column('formula', 'text', ['=1+1', '+1', '-1', '@x'], false),
  column('flag', 'flag', [true, false, null, true]),
  column('mixed', 'mixed', ['2026-12-18', 2.5, null, -1]),
);

test('CSV quotes by RFC 4180, writes numbers as JSON does, and changes no text', () => {
  expect(runToCompletion(writeCsv(KINDS))).toBe(
    [
      'number,float64,text,formula,flag,mixed',
      '0.1,1,plain,=1+1,true,2026-12-18',
      '0,2.5,"a,b ""c""\r\nd",+1,false,2.5',
      '1e+21,5e-324,"",-1,,',
      ',1.7976931348623157e+308,,@x,true,-1',
      '',
    ].join('\r\n'),
  );
});

test('JSON has the columns in an object of their own', () => {
  const answer = JSON.parse(runToCompletion(writeColumnsJson(KINDS)));
  expect(Object.keys(answer)).toEqual(['spot_price', 'notes', 'provenance', 'count', 'columns']);
  expect(answer.columns.number).toEqual([0.1, 0, 1e21, null]);
  expect(answer.columns.mixed).toEqual(['2026-12-18', 2.5, null, -1]);
});

const inFile = ({ kind, cells }: AnswerTable['columns'][number]) =>
  Array.from(cells, (cell) => {
    if (kind === 'mixed') return cell === null ? null : String(cell);
    return typeof cell === 'number' ? cell + 0 : cell;
  });

/** The columns of a file by another reader, and its metadata. */
const READERS: Record<
  string,
  (table: AnswerTable) => Promise<{ columns: Record<string, unknown[]>; metadata: unknown }>
> = {
  async parquet(table) {
    const { buffer, byteOffset, byteLength } = runToCompletion(writeParquet(table));
    const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    const rows = await parquetReadObjects({ file });
    const { key_value_metadata = [], schema } = parquetMetadata(file);
    const names = schema.slice(1).map(({ name }) => name);
    return {
      columns: Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])),
      metadata: Object.fromEntries(key_value_metadata.map(({ key, value }) => [key, JSON.parse(value!)])),
    };
  },
  async arrow(table) {
    const read = tableFromIPC(runToCompletion(writeArrow(table)));
    return {
      columns: Object.fromEntries(read.names.map((name) => [name, [...read.getChild(name)]])),
      metadata: Object.fromEntries([...read.schema.metadata!].map(([key, value]) => [key, JSON.parse(value)])),
    };
  },
};

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each([
    ['every kind of column', KINDS],
    ['no rows', tableOf(...KINDS.columns.map((each) => ({ ...each, cells: [] })))],
    ['nulls alone', tableOf(...KINDS.columns.map((each) => ({ ...each, isNullable: true, cells: [null, null] })))],
    [
      'several batches',
      tableOf(
        column(
          'x',
          'number',
          Float64Array.from({ length: 100_000 }, (_, i) => i / 7),
          false,
        ),
        column(
          'y',
          'text',
          Array.from({ length: 100_000 }, (_, i) => (i % 3 === 0 ? null : `row ${i % 10}`)),
        ),
      ),
    ],
  ])('has %s and the rest of the answer', async (_, table) => {
    const { columns, metadata } = await read(table);
    expect(columns).toEqual(Object.fromEntries(table.columns.map((each) => [each.name, inFile(each)])));
    expect(metadata).toEqual(table.metadata);
  });
});

test('a large table is written in many steps, so that other requests can run between them', () => {
  const wide = tableOf(
    ...Array.from({ length: 16 }, (_, i) =>
      column(
        `number${i}`,
        'number',
        Float64Array.from({ length: 25_000 }, (_, row) => Math.sin(row + i)),
        false,
      ),
    ),
  );
  for (const write of [writeCsv, writeParquet, writeArrow]) {
    const steps: Steps<unknown> = write(wide);
    let count = 1;
    while (!steps.next().done) count++;
    expect([write.name, count >= 20]).toEqual([write.name, true]);
  }
});

test('a row of one absent cell is no empty line, which readers skip', () => {
  const table = tableOf(column('number', 'number', [1, null, 2]));
  expect(runToCompletion(writeCsv(table))).toBe('number\r\n1\r\n""\r\n2\r\n');
});

test('a number of a column with texts has as many digits as in other columns', () => {
  const table = tableOf(
    column('mixed', 'mixed', ['2026-12-18', 1 / 3, 310.38682419903796]),
    column('text', 'text', ['a', 'b', 'c']),
  );
  expect(runToCompletion(writeCsv(table, 10))).toBe(
    'mixed,text\r\n2026-12-18,a\r\n0.3333333333,b\r\n310.3868242,c\r\n',
  );
  expect(runToCompletion(writeColumnsJson(table, 10))).toContain('"mixed":["2026-12-18",0.3333333333,310.3868242]');
});
