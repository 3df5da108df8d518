import { isRecord } from '../../core/json-shape.ts';
import { COLUMNS_MAX, FILE_ROWS_MAX } from '../files/cells.ts';
import { unreadable } from '../rejections.ts';
import { type MappedField, type Mapping, plainName } from './mapping.ts';
import type { Cells } from './table-translator.ts';

/** The rows of a JSON document as a table. */
export interface JsonTable {
  /** The dotted paths to the values of a row, and `$1`, `$2` ... for the keys at the wildcards of the path to the rows. */
  readonly names: readonly string[];
  readonly rows: readonly JsonRow[];
}

/** A row: an object, and the keys at the wildcards of the path to it. */
interface JsonRow {
  readonly object: unknown;
  readonly keys: readonly string[];
}

/** Number of rows in which the paths of values are sought. Providers leave out values that a contract does not have. */
const NAMED_ROWS = 500;
/** Number of levels below a row in which values are sought. */
const DEPTH_MAX = 4;

/** Returns the table of the objects at the paths, or `undefined` without an object. In a path such as `/a/*`, `*` stands for every key. */
export function jsonTable(document: unknown, paths: readonly string[]): JsonTable | undefined {
  const rows = paths
    .flatMap((path) => rowsAt(document, path.split('/').slice(1), []))
    .filter(({ object }) => isRecord(object));
  if (rows.length === 0) return undefined;
  if (rows.length > FILE_ROWS_MAX) throw unreadable(`the JSON has more than the maximum of ${FILE_ROWS_MAX} rows`);
  const names = new Set<string>(rows[0]!.keys.map((_, i) => `$${i + 1}`));
  for (const { object } of rows.slice(0, NAMED_ROWS)) addNames(names, object, '', DEPTH_MAX);
  return { names: [...names].slice(0, COLUMNS_MAX), rows };
}

/** Returns the cells of rows. `select` chooses the row. */
export function jsonCells({ names }: JsonTable): Cells & { select(row: JsonRow): void } {
  const paths = names.map((name) => (name.startsWith('$') ? Number(name.slice(1)) - 1 : name.split('.')));
  let selected: JsonRow = { object: undefined, keys: [] };
  return {
    select: (row) => {
      selected = row;
    },
    text(cell) {
      const path = paths[cell]!;
      if (typeof path === 'number') return selected.keys[path] ?? '';
      return textOf(path.reduce(childOf, selected.object));
    },
  };
}

/** Returns the values at the pointers of a mapping. */
export function pointedValues(document: unknown, { pointers }: Mapping): Partial<Record<MappedField, string>> {
  const found = Object.entries(pointers).map(([field, places]) => {
    const texts = places.map((pointer) => textOf(pointer.split('/').slice(1).reduce(childOf, document)));
    return [field, texts.find((text) => text !== '')] as const;
  });
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

/** Returns whether a table has all columns of a mapping's signature. */
export function fitsSignature({ names }: JsonTable, { signature }: Mapping): boolean {
  const plain = new Set(names.map(plainName));
  return signature.every((name) => plain.has(name));
}

function rowsAt(value: unknown, path: readonly string[], keys: readonly string[]): JsonRow[] {
  const [step, ...rest] = path;
  if (step === undefined) return [{ object: value, keys }];
  if (step !== '*') return rowsAt(childOf(value, step), rest, keys);
  const entries = Array.isArray(value) ? value.entries() : isRecord(value) ? Object.entries(value) : [];
  return [...entries].flatMap(([key, child]) => rowsAt(child, rest, [...keys, String(key)]));
}

function addNames(names: Set<string>, value: unknown, prefix: string, depth: number): void {
  if (!isRecord(value) || depth === 0) return;
  for (const [key, child] of Object.entries(value)) {
    if (isContainer(child)) addNames(names, child, `${prefix}${key}.`, depth - 1);
    else if (child !== null) names.add(prefix + key);
  }
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
