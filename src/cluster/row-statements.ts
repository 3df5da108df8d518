import { type MirroredTable, mirroredSchema, quoted, rowKeyOf, type StoredCell } from '../store/mirrored-tables.ts';
import type { Transaction } from './postgres-session.ts';

/** A table of Postgres with the rows of a mirrored table. Each row also has the place at which it was written last. */
export interface ClusterTable {
  readonly table: MirroredTable;
  readonly createSql: readonly string[];
  /** Writes rows at a place, in place of rows with the same key. */
  put(sql: Transaction, rows: readonly (readonly StoredCell[])[], place: number): Promise<void>;
  /** Removes rows by their keys. */
  remove(sql: Transaction, keys: readonly (readonly StoredCell[])[]): Promise<void>;
  /** Returns the rows that were written after one place and up to another. */
  between(sql: Transaction, after: number, upTo: number): Promise<StoredCell[][]>;
  /** Returns the rows with these keys. */
  at(sql: Transaction, keys: readonly (readonly StoredCell[])[]): Promise<StoredCell[][]>;
  /** Returns the next rows after a key in the order of the keys, or the first ones. By default, as many as fit into a message. */
  page(sql: Transaction, after: readonly StoredCell[] | undefined, limit?: number): Promise<StoredCell[][]>;
}

const TYPES = { INTEGER: 'bigint', REAL: 'double precision', TEXT: 'text collate "C"', BLOB: 'bytea' } as const;

/** Maximum number of rows in a statement. Each session of Postgres keeps every statement of another length, some kilobytes a row. */
const ROWS_MAX = 256;
/** Numbers of rows of a page: of a table with columns of many kilobytes, and of any other. */
const PAGE_LARGE = 64;
const PAGE_SMALL = 4_000;

let known: readonly ClusterTable[] | undefined;

/** Returns the tables that hold the mirrored rows, in the order of the mirrored schema. */
export function clusterTables(): readonly ClusterTable[] {
  known ??= mirroredSchema().tables.map(clusterTable);
  return known;
}

function clusterTable(table: MirroredTable): ClusterTable {
  const { columns, key } = table;
  const name = `zomma.${quoted(table.name)}`;
  const names = columns.map((column) => quoted(column.name));
  const keys = key.map(quoted);
  const typeOf = (column: string) =>
    TYPES[columns.find((each) => each.name === column)!.type].replace(/ collate.*/, '');
  const set = names.filter((each) => !keys.includes(each)).map((each) => `${each} = excluded.${each}`);
  // int8 comes as a BigInt. All integers of Zomma are exact as doubles, too.
  const selected = columns.map(({ name: column, type }) =>
    type === 'INTEGER' ? `${quoted(column)}::float8` : quoted(column),
  );
  const select = `select ${selected.join(', ')} from ${name}`;
  const hasBlob = columns.some(({ type }) => type === 'BLOB');
  const tuples = (rows: number, types: readonly string[]) =>
    Array.from(
      { length: rows },
      (_, row) => `(${types.map((type, i) => `$${row * types.length + i + 1}${type}`).join(', ')})`,
    ).join(', ');
  const keyTypes = key.map((column) => `::${typeOf(column)}`);
  return {
    table,
    createSql: [
      `create table ${name} (${columns.map((column) => `${quoted(column.name)} ${TYPES[column.type]}`).join(', ')},
        log_place bigint not null, primary key (${keys.join(', ')}))`,
      `create index on ${name} (log_place)`,
      // Blobs are compressed already.
      ...columns
        .filter(({ type }) => type === 'BLOB')
        .map((column) => `alter table ${name} alter column ${quoted(column.name)} set storage external`),
    ],
    async put(sql, rows, place) {
      for (const part of parts(rows, ROWS_MAX)) {
        const text = `insert into ${name} (${names.join(', ')}, log_place) values ${tuples(
          part.length,
          [...names, ''].map(() => ''),
        )}
          on conflict (${keys.join(', ')}) do update set ${[...set, 'log_place = excluded.log_place'].join(', ')}`;
        await sql.unsafe(
          text,
          part.flatMap((row) => [...row, place]),
        );
      }
    },
    async remove(sql, given) {
      for (const part of parts(given, ROWS_MAX)) {
        await sql.unsafe(
          `delete from ${name} where (${keys.join(', ')}) in (${tuples(part.length, keyTypes)})`,
          part.flat(),
        );
      }
    },
    between: (sql, after, upTo) =>
      sql.unsafe(`${select} where log_place > $1 and log_place <= $2`, [after, upTo]).values() as Promise<
        StoredCell[][]
      >,
    async at(sql, given) {
      const found: StoredCell[][] = [];
      for (const part of parts(given, hasBlob ? PAGE_LARGE : ROWS_MAX)) {
        const text = `${select} where (${keys.join(', ')}) in (${tuples(part.length, keyTypes)})`;
        found.push(...((await sql.unsafe(text, part.flat()).values()) as StoredCell[][]));
      }
      return found;
    },
    page: (sql, after, limit = hasBlob ? PAGE_LARGE : PAGE_SMALL) => {
      const where = after === undefined ? '' : `where (${keys.join(', ')}) > ${tuples(1, keyTypes)}`;
      // Without the name of the table, the order would be that of the selected doubles, which no index has.
      const order = keys.map((each) => `${name}.${each}`).join(', ');
      const text = `${select} ${where} order by ${order} limit ${limit}`;
      return sql.unsafe(text, [...(after ?? [])]).values() as Promise<StoredCell[][]>;
    },
  };
}

/** Yields parts of the rows whose lengths are powers of two, so that there are few different statements to prepare. */
function* parts<Row>(rows: readonly Row[], most: number): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; ) {
    const length = 2 ** Math.floor(Math.log2(Math.min(most, rows.length - from)));
    yield rows.slice(from, from + length);
    from += length;
  }
}

/** Returns the key of the last row of a page. */
export function lastKeyOf({ table }: ClusterTable, rows: readonly (readonly StoredCell[])[]): StoredCell[] {
  return rowKeyOf(table, rows.at(-1)!);
}
