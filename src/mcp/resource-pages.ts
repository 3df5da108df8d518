import { invalidArgument } from '../core/errors.ts';
import { sixDigits } from './six-digits.ts';

type Body = Readonly<Record<string, unknown>>;

/** Maximum length of a resource's text, characters: 2,000 tokens of four characters. */
export const PAGE_CHARS_MAX = 8_000;

/** Columns of an answer, of which a page has some rows. */
export interface PagedTable {
  /** The key of the object with the columns. Absent if the columns are fields of the answer itself. */
  readonly at?: string;
  /** The columns that name a row. Every page has them. The first of them orders the rows. */
  readonly keys: readonly [string, ...string[]];
  /** Which rows come first: those nearest to spot, the first ones, or the last ones. The rows of one page are in the order of the answer. */
  readonly order: 'near' | 'first' | 'last';
  /** Arrays of the answer that are no columns of the table. */
  readonly aside?: readonly string[];
}

/** The part of an answer that a client asks for. */
export interface PageRequest {
  /** Names of the wanted columns, besides the keys. Default: all columns. */
  readonly columns?: readonly string[] | undefined;
  /** Number of the nearest rows to which the tables are limited. */
  readonly near?: number | undefined;
  /** Maximum number of rows on the page. */
  readonly limit?: number | undefined;
  /** The first row of the page, counted from 0 over all tables. */
  readonly from: number;
}

/** What `page.order` says. The rows of a page are in the order of the answer, whichever rows the page has. */
const ORDERS = {
  near: 'the first page has the rows nearest spot; ascending within a page',
  first: undefined,
  last: 'the first page has the newest rows; oldest first within a page',
} as const;

/**
 * Returns one page of an answer: all fields outside the tables, the rows that fit into PAGE_CHARS_MAX, and `page` with the numbers of rows
 * and the next address, from `addressOf(row)`. Throws `ClientError` for an unknown column.
 */
export function pageOf(
  answer: Body,
  tables: readonly PagedTable[],
  { columns: wanted, near = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY, from }: PageRequest,
  addressOf: (row: number) => string,
): Body {
  const parts = tables.map((table) => ({ table, columns: columnsOf(answer, table) }));
  const known = parts.flatMap(({ columns }) => Object.keys(columns));
  const unknown = wanted?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const hint = `Columns: ${[...new Set(known)].join(', ')}.`;
    throw invalidArgument('/columns', 'must be names of columns, separated by commas', hint);
  }
  const rows = parts.flatMap(({ table, columns }) =>
    rowsInOrder(columns[table.keys[0]]!, table.order, answer.spot_price as number)
      .slice(0, near)
      .map((row) => ({ table, row })),
  );
  const of = parts.reduce((sum, { table, columns }) => sum + columns[table.keys[0]]!.length, 0);
  const ofTables = new Set(parts.flatMap(({ table: { at }, columns }) => at ?? ['count', ...Object.keys(columns)]));
  const head = Object.fromEntries(Object.entries(answer).filter(([name]) => !ofTables.has(name)));
  const order = parts.length === 1 && ORDERS[parts[0]!.table.order];
  const build = (count: number): Body => {
    const onPage = rows.slice(from, from + count);
    const next = from + onPage.length;
    const page = {
      rows: onPage.length,
      of,
      ...(order && { order }),
      ...(next < rows.length && { next: addressOf(next) }),
    };
    const content = parts.map(({ table, columns }) => {
      const chosen = onPage.flatMap((each) => (each.table === table ? each.row : [])).sort((a, b) => a - b);
      const isEmpty = chosen.length === 0;
      // A table without rows is shown as empty on the first page. A table whose rows are on other pages is left out.
      if (isEmpty && (from > 0 || rows.some((each) => each.table === table))) return {};
      const shown = Object.entries(columns).filter(
        ([name]) => !isEmpty && (!wanted || wanted.includes(name) || table.keys.includes(name)),
      );
      const picked = shown.map(([name, column]) => [name, chosen.map((row) => column[row])]);
      const filled = { count: chosen.length, ...Object.fromEntries(picked) };
      return table.at ? { [table.at]: filled } : filled;
    });
    return Object.assign({}, head, { page }, ...content);
  };
  return build(fittingCount(Math.min(limit, rows.length - from), build));
}

/** Returns the largest number of rows with which a text fits into PAGE_CHARS_MAX, at most `most` and at least 1. */
export function fittingCount(most: number, build: (count: number) => Body): number {
  const isFitting = (count: number) => JSON.stringify(sixDigits(build(count))).length <= PAGE_CHARS_MAX;
  let fits = Math.min(1, most);
  // Doubles the number of rows until they are too many, because most pages have few rows of a long table.
  let tooMany = 32;
  while (tooMany <= most && isFitting(tooMany)) {
    fits = tooMany;
    tooMany *= 2;
  }
  tooMany = Math.min(tooMany, most + 1);
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (isFitting(middle)) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

/** Returns the columns of a table by their names. */
function columnsOf(answer: Body, { at, aside = [] }: PagedTable): Readonly<Record<string, readonly unknown[]>> {
  const fields = Object.entries((at === undefined ? answer : answer[at]) as Body);
  return Object.fromEntries(
    fields.filter((field): field is [string, unknown[]] => Array.isArray(field[1]) && !aside.includes(field[0])),
  );
}

/** Returns the rows of a table, the first row of the first page first. */
function rowsInOrder(key: readonly unknown[], order: PagedTable['order'], spot: number): number[] {
  const rows = [...key.keys()];
  if (order === 'first') return rows;
  if (order === 'last') return rows.reverse();
  return rows.sort((a, b) => Math.abs((key[a] as number) - spot) - Math.abs((key[b] as number) - spot) || a - b);
}

/** Returns a matrix with the strikes nearest to spot. The sums still include the other strikes. */
export function nearStrikes(matrix: Body, near: number): Body {
  const { strike, by_strike, values, spot_price } = matrix as {
    strike: number[];
    by_strike: number[];
    values: unknown[][];
    spot_price: number;
  };
  const nearest = rowsInOrder(strike, 'near', spot_price).slice(0, near);
  const rows = nearest.sort((a, b) => a - b);
  const pick = <Value>(column: readonly Value[]) => rows.map((row) => column[row]!);
  const farther = strike.length - rows.length;
  return {
    ...matrix,
    strike: pick(strike),
    by_strike: pick(by_strike),
    values: values.map(pick),
    ...(farther > 0 && { farther_strikes_left_out: farther }),
  };
}

/** Returns a list of rows as columns. A row without a value in a column has null there. */
export function asColumns(rows: readonly Body[]): Record<string, unknown[]> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? null)]));
}
