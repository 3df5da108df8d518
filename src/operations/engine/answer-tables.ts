import type { TObject, TSchema } from '@sinclair/typebox';
import { memoizeByObject } from '../../core/cache.ts';
import { cleanLine } from '../../core/clean-text.ts';
import { invalidField } from '../../core/errors.ts';
import { isRecord } from '../../core/json-shape.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { type Provenance, pickFields } from './operation.ts';
import { COLUMN, CROSS, type Cross, TOTAL } from './wrapped-schemas.ts';

/**
 * The tables in an answer. The schema of the answer defines them: its columns (`columnOf`), its lists of objects, and its matrices (`crossOf`)
 * with one row per cell. An answer that has plain values alone is a table of one row.
 */

/** The values of a column: numbers, texts or flags. `mixed` values are numbers and texts. */
export type CellKind = 'number' | 'text' | 'flag' | 'mixed';
export type TableCell = number | string | boolean | null;

interface ColumnForm {
  readonly name: string;
  readonly kind: CellKind;
  readonly isNullable: boolean;
}

/** A table that an answer may have. */
export interface TableForm {
  readonly name: string;
  readonly columns: readonly ColumnForm[];
  /** The keys of the answer to the object that has the table. */
  readonly path: readonly string[];
  /** Returns the cells of each column. Returns undefined if the answer does not have the table. A column may be absent. */
  readonly cells: (
    holder: Record<string, unknown>,
  ) => Readonly<Record<string, readonly TableCell[] | undefined>> | undefined;
  /** The keys of the object from which the cells are read. */
  readonly keys: readonly string[];
}

/** A table of an answer, with the ticker and the moment of the data in its first columns. */
export interface AnswerTable {
  readonly columns: readonly (ColumnForm & { readonly cells: readonly TableCell[] | Float64Array })[];
  readonly count: number;
  /** What the answer has besides its tables, and its provenance without the age. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What the table itself does not show: rows that it lacks, and the notes of an answer without provenance. */
  readonly notes: readonly string[];
}

/** The name of the table whose columns are keys of the answer itself. */
const OWN_TABLE = 'rows';

/** Returns the tables that an answer with the schema may have. Returns an empty list if an answer has no rows. */
export const tableForms = memoizeByObject((schema: TObject): readonly TableForm[] => {
  // The tables of nested objects come last, because the first table of an answer is the default.
  const found = formsIn(schema, []).toSorted((a, b) => dotsIn(a.name) - dotsIn(b.name));
  return found.length > 0 || !isPlainRow(schema) ? found : [rowForm(schema)];
});

const dotsIn = (name: string) => name.split('.').length;

function formsIn(schema: TObject, path: readonly string[]): TableForm[] {
  const nested: TableForm[] = [];
  const crosses: TableForm[] = [];
  const groups = new Map<string, string[]>();
  const named = (name: string) => [...path, ...(name === '' ? [] : [name])].join('.') || OWN_TABLE;
  const entries = Object.entries(schema.properties).map(([key, each]) => [key, withoutNull(each)] as const);
  for (const [key, each] of entries) {
    const group = columnGroup(each);
    if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), key]);
    const cross = crossIn(each);
    if (cross) crosses.push(crossForm(schema, path, key, cross, named('')));
    else if (each.type === 'object' && each.properties) nested.push(...formsIn(each as TObject, [...path, key]));
  }
  for (const [key, { type, items }] of entries) {
    if (type !== 'array' || items.type !== 'object' || !isPlainRow(items)) continue;
    nested.push(listForm(schema, path, key, items, groups.get(key) ?? [], named(key)));
    groups.delete(key);
  }
  const own = [...groups].map(([group, keys]) => columnsForm(schema, path, keys, named(group)));
  return [...crosses, ...own, ...nested];
}

/** A table of columns that are keys of one object. */
function columnsForm(schema: TObject, path: readonly string[], keys: readonly string[], name: string): TableForm {
  return {
    ...{ name, path, keys },
    columns: keys.map((key) => ({
      ...columnForm(key, withoutNull(schema.properties[key]!).items),
      ...(!schema.required?.includes(key) && { isNullable: true }),
    })),
    cells: (holder) => {
      const columns = keys.map((key) => [key, holder[key] as readonly TableCell[] | undefined] as const);
      return columns.some(([, cells]) => cells) ? Object.fromEntries(columns) : undefined;
    },
  };
}

/** A table with a row for each object of a list. `beside` are columns with one value per object that are keys beside the list. */
function listForm(
  schema: TObject,
  path: readonly string[],
  key: string,
  row: TObject,
  beside: readonly string[],
  name: string,
): TableForm {
  const own = Object.entries(row.properties).map(([field, each]) => ({
    ...columnForm(field, each),
    ...(!row.required?.includes(field) && { isNullable: true }),
  }));
  const others = columnsForm(schema, path, beside, name);
  return {
    ...{ name, path, keys: [key, ...beside] },
    columns: [...own, ...others.columns],
    cells: (holder) => {
      const rows = holder[key] as readonly Record<string, TableCell>[] | undefined;
      if (!rows) return undefined;
      const present = own.filter(({ name }) => rows.length === 0 || rows.some((row) => name in row));
      const columns = present.map(({ name }) => [name, rows.map((row) => row[name] ?? null)] as const);
      return { ...Object.fromEntries(columns), ...others.cells(holder) };
    },
  };
}

/** A table with a row for each value of a matrix. */
function crossForm(
  schema: TObject,
  path: readonly string[],
  key: string,
  { outer, inner, value }: Cross,
  name: string,
): TableForm {
  const itemsOf = (each: string) => withoutNull(schema.properties[each]!).items;
  return {
    ...{ name, path, keys: [key, ...outer, ...inner] },
    columns: [
      ...[...outer, ...inner].map((each) => columnForm(each, itemsOf(each))),
      columnForm(value, itemsOf(key).items),
    ],
    cells: (holder) => {
      const lists = holder[key] as readonly (readonly TableCell[])[] | undefined;
      if (!lists) return undefined;
      const cellsOf = (each: string) => holder[each] as readonly TableCell[];
      return {
        ...Object.fromEntries(
          outer.map((each) => [each, lists.flatMap((list, i) => list.map(() => cellsOf(each)[i]!))] as const),
        ),
        ...Object.fromEntries(inner.map((each) => [each, lists.flatMap(() => cellsOf(each))] as const)),
        [value]: lists.flat(),
      };
    },
  };
}

/** A table of one row, whose columns are the plain values of an answer. */
function rowForm(schema: TObject): TableForm {
  const keys = Object.keys(schema.properties);
  return {
    ...{ name: OWN_TABLE, path: [], keys },
    columns: keys.map((key) => columnForm(key, schema.properties[key]!)),
    cells: (holder) => Object.fromEntries(keys.map((key) => [key, [(holder[key] ?? null) as TableCell]])),
  };
}

function columnForm(name: string, schema: TSchema): ColumnForm {
  const variants = variantsOf(schema);
  const kinds = new Set(variants.filter(({ type }) => type !== 'null').map(kindOf));
  const [kind = 'text'] = kinds;
  return { name, kind: kinds.size > 1 ? 'mixed' : kind, isNullable: variants.some(({ type }) => type === 'null') };
}

function kindOf({ type, const: constant }: TSchema): CellKind {
  const of = type ?? typeof constant;
  return of === 'number' || of === 'integer' ? 'number' : of === 'boolean' ? 'flag' : 'text';
}

function variantsOf(schema: TSchema): readonly TSchema[] {
  return schema.anyOf ?? [schema];
}

/** Returns the only variant of a schema besides null. Returns other schemas unchanged. */
function withoutNull(schema: TSchema): TSchema {
  const others = variantsOf(schema).filter(({ type }) => type !== 'null');
  return others.length === 1 ? others[0]! : schema;
}

function columnGroup(schema: TSchema): string | undefined {
  return (schema as { [COLUMN]?: string })[COLUMN];
}

function crossIn(schema: TSchema): Cross | undefined {
  return (schema as { [CROSS]?: Cross })[CROSS];
}

function isPlainRow(schema: TObject): boolean {
  const isPlain = ({ type }: TSchema) => type !== 'object' && type !== 'array';
  return Object.values(schema.properties).every((each) => variantsOf(each).every(isPlain));
}

/** The arguments that select from an answer. */
export interface Selection {
  /** The name of the table. By default, the first table that the answer has. */
  readonly table?: string | undefined;
  /** Names of columns or of keys of the answer. By default, all. */
  readonly fields?: readonly string[] | undefined;
}

/**
 * Returns a table of an answer. Throws `ClientError` (400) if the answer does not have the table, or if the table does not have a column of
 * `fields`.
 */
export function tableOf(
  schema: TObject,
  body: Record<string, unknown>,
  provenance: Provenance | undefined,
  { table, fields }: Selection = {},
): AnswerTable {
  const forms = tableForms(schema);
  for (const form of forms) {
    if (table !== undefined && form.name !== table) continue;
    const holder = form.path.reduce<unknown>((each, key) => (isRecord(each) ? each[key] : undefined), body);
    const cells = isRecord(holder) ? form.cells(holder) : undefined;
    if (!isRecord(holder) || !cells) continue;
    const count = Object.values(cells).find((each) => each)?.length ?? 0;
    const all = columnsOf(form, cells, count, { ticker: tickerOf(body), as_of: provenance?.as_of });
    // A column that the answer does not have, such as one that only an argument adds, is in the table only if `fields` names it.
    const hasColumn = ({ name }: ColumnForm) =>
      count === 0 ||
      fields?.includes(name) ||
      !form.columns.some((each) => each.name === name) ||
      cells[name] !== undefined;
    return {
      columns: selected(all.filter(hasColumn), fields),
      count,
      metadata: metadataOf(forms, body, provenance),
      notes: [...rowNotes(schema, body, count), ...(provenance ? [] : ((body.notes ?? []) as readonly string[]))],
    };
  }
  const others = forms.map(({ name }) => name).filter((name) => name !== table);
  throw invalidField('invalid_parameter', '/table', 'is not in the answer to these arguments', tablesHint(others));
}

/** Returns notes on rows that an answer leaves out. In a file of the table, nothing else tells of them. */
function rowNotes({ properties }: TObject, body: Record<string, unknown>, rows: number): string[] {
  const [total] = Object.keys(properties).filter((key) => TOTAL in properties[key]! && typeof body[key] === 'number');
  const isPart = total !== undefined && (body[total] as number) > rows;
  return [
    ...(isPart ? [`The table has ${rows} of ${body[total]} rows.`] : []),
    ...(typeof body.next_cursor === 'string' ? [`More rows follow, with cursor=${body.next_cursor}.`] : []),
  ];
}

function tablesHint(others: readonly string[]): string {
  return others.length > 0
    ? `Other tables: ${others.join(', ')}. Some need an argument, as the reference states.`
    : 'Request the answer as JSON.';
}

function columnsOf(
  form: TableForm,
  cells: Readonly<Record<string, readonly TableCell[] | undefined>>,
  count: number,
  context: Readonly<Record<string, string | undefined>>,
): AnswerTable['columns'] {
  const own = form.columns.map((column) => ({ ...column, cells: cells[column.name] ?? filled(count, null) }));
  const first = Object.entries(context).flatMap(([name, value]) => {
    const among = own.find((column) => column.name === name);
    if (among) return [among];
    return value === undefined ? [] : [{ name, kind: 'text' as const, isNullable: false, cells: filled(count, value) }];
  });
  return [...first, ...own.filter(({ name }) => !(name in context))];
}

const filled = (count: number, value: TableCell): TableCell[] => new Array<TableCell>(count).fill(value);

function tickerOf({ ticker, levels }: Record<string, unknown>): string | undefined {
  const found = ticker ?? (isRecord(levels) ? levels.ticker : undefined);
  return typeof found === 'string' ? found : undefined;
}

function selected(columns: AnswerTable['columns'], fields: readonly string[] | undefined): AnswerTable['columns'] {
  if (!fields) return columns;
  assertFields(
    fields,
    columns.map(({ name }) => name),
    'a column of the table',
  );
  return [...new Set(fields)].map((field) => columns.find(({ name }) => name === field)!);
}

/** Returns the requested fields of an answer. Throws `ClientError` (400) if the schema does not have a field, or if a table is requested. */
export function selectFields(body: Record<string, unknown>, schema: TObject, { fields, table }: Selection = {}) {
  if (table !== undefined) {
    throw invalidField(
      'invalid_parameter',
      '/table',
      'needs a table format',
      'Add format=csv, or another table format.',
    );
  }
  if (!fields) return body;
  assertFields(fields, Object.keys(schema.properties), 'a field of the answer');
  return pickFields(body, fields);
}

/** Throws `ClientError` (400) with the nearest names if a name of `fields` is not one of `known`. `meant` says what they name. */
function assertFields(fields: readonly string[], known: readonly string[], meant: string): void {
  const index = fields.findIndex((field) => !known.includes(field));
  if (index < 0) return;
  const given = fields[index]!;
  throw invalidField(
    'invalid_parameter',
    '/fields',
    `must name ${meant}, which "${cleanLine(given, FIELD_MAX)}" is not`,
    `Nearest: ${nearestNames(given, known).join(', ')}. All: ${known.join(', ')}.`,
  );
}

/** Maximum length of an unknown field's name in an error, characters. */
const FIELD_MAX = 40;

/** Returns what the answer has besides its tables, and the provenance without the age. */
function metadataOf(
  forms: readonly TableForm[],
  body: Record<string, unknown>,
  provenance: Provenance | undefined,
): Record<string, unknown> {
  const { age_s: _age, stale: _stale, ...origin } = provenance ?? {};
  return { ...withoutTables(forms, body), ...(provenance && { provenance: origin }) };
}

/** Returns an object without the keys of its tables, and without objects that have tables alone. `path` has the keys to the object. */
function withoutTables(
  forms: readonly TableForm[],
  holder: Record<string, unknown>,
  path: readonly string[] = [],
): Record<string, unknown> {
  const at = path.join('.');
  const ofTables = new Set(forms.filter((form) => form.path.join('.') === at).flatMap(({ keys }) => keys));
  const others: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(holder)) {
    if (ofTables.has(key)) continue;
    const inner = [...path, key];
    const hasTables =
      isRecord(each) && forms.some((form) => form.path.slice(0, inner.length).join('.') === inner.join('.'));
    const kept = hasTables ? withoutTables(forms, each, inner) : each;
    if (!hasTables || Object.keys(kept as object).length > 0) others[key] = kept;
  }
  return others;
}
