import { basename } from 'node:path';
import { cleanLine } from '../../core/clean-text.ts';
import { newYorkDate } from '../../market/calendar.ts';
import { parseCallPut, parseOptionSymbol } from '../../market/option-symbol.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import type { FileHead, TableHeader } from '../files/file-head.ts';
import { timeOfFile } from '../files/file-time.ts';
import { mapBlocks } from '../files/row-blocks.ts';
import { cellNumber } from '../numbers.ts';
import { unreadable } from '../rejections.ts';
import { dateReader, dayOfTimeReader } from './date-forms.ts';
import { findColumns, placesOf } from './find-columns.ts';
import { type Mapping, SIDE_FIELDS } from './mapping.ts';
import type { InterestSum, JoinedValues, Stated } from './stated.ts';
import { vendorMappings } from './vendor-mappings.ts';

/** Maximum number of rows of a second file. */
const ROWS_MAX = 500_000;

/** Names a contract, and optionally a New York date, in the rows of two files. */
export function joinKey(root: string, expiry: string, callPut: 1 | -1, strike: number, date = ''): string {
  return `${root} ${expiry} ${callPut === 1 ? 'C' : 'P'}${Math.round(strike * 1_000)} ${date}`;
}

/** Returns whether a name fits the pattern of a second file, in which `*` stands for any characters. */
export function isJoinFile(name: string, { join }: Mapping): boolean {
  if (join === undefined) return false;
  // Each part is sought after the one before, so the time is linear whatever the pattern.
  const parts = join.file.toLowerCase().split('*');
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  const text = name.toLowerCase();
  if (parts.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/** Returns whether the name of a file is that of a second file, whose values belong to the contracts of another file. */
export function isSecondFile(name: string, stated?: Stated): boolean {
  return [...(stated?.mapping ? [stated.mapping] : []), ...vendorMappings()].some((mapping) =>
    isJoinFile(basename(name), mapping),
  );
}

/**
 * Reads the values of a second file. With `isExact`, only the columns that the mapping names count. Throws a `ClientError` if the file has no
 * contracts or none of the columns, or if rows of more than a tenth of its contracts contradict each other.
 */
export async function readJoinFile(
  pieces: () => AsyncIterable<Uint8Array>,
  file: string,
  mapping: Mapping,
  { zone, isExact = false }: { readonly zone?: string | undefined; readonly isExact?: boolean } = {},
): Promise<JoinedValues> {
  const headerIn = (head: FileHead) => {
    const header = head.findHeader((names) => columnsIn(names, mapping, isExact) !== undefined, /./);
    if (header === undefined) throw whyWithoutColumns(head, file, mapping);
    return header;
  };
  const texts = { expiry: new Set<string>(), as_of: new Set<string>() };
  let columns: NonNullable<ReturnType<typeof columnsIn>> | undefined;
  const readable = function* (row: RowScanner, { cells }: TableHeader) {
    columns ??= columnsIn(cells, mapping, isExact)!;
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      if (row.isWhole(cells.length)) yield columns.places;
    }
  };
  const cell = (row: RowScanner, place: number | undefined) => (place === undefined ? '' : row.text(place));
  const note = (row: RowScanner, header: TableHeader) => {
    for (const places of readable(row, header)) {
      texts.expiry.add(cell(row, places.expiry));
      texts.as_of.add(cell(row, places.as_of));
    }
  };
  for await (const _ of mapBlocks(pieces(), headerIn, note));
  const expiryOf = dateReader('expiry', texts.expiry, mapping.forms.order, zone ?? mapping.forms.zone);
  const dateOf = dayOfTimeReader('as_of', texts.as_of, mapping.forms.order);
  const named = timeOfFile({ origin: file, stated: undefined });
  const namedDay = named === undefined ? '' : newYorkDate(named);
  const values = new Map<string, readonly string[]>();
  const days = new Set<string>();
  const interests = new Map<string, InterestSum>();
  const contradicting = new Set<string>();
  const fields = columns?.fields ?? [];
  const add = (row: RowScanner, header: TableHeader) => {
    for (const places of readable(row, header)) {
      const symbol = parseOptionSymbol(cell(row, places.symbol).trim());
      const root = symbol?.root ?? (cell(row, places.root) || cell(row, places.underlying)).trim().toUpperCase();
      const expiry = symbol?.expiry ?? expiryOf(cell(row, places.expiry));
      const callPut = symbol?.callPut ?? parseCallPut(cell(row, places.put_call));
      const strike = symbol?.strike ?? cellNumber(cell(row, places.strike)) * (mapping.forms.strikeScale ?? 1);
      const date = places.as_of === undefined ? namedDay : dateOf(cell(row, places.as_of));
      if (expiry === undefined || callPut === undefined || date === undefined || !Number.isFinite(strike)) continue;
      const key = joinKey(root, expiry, callPut, strike, date);
      const found = fields.map((field) => cell(row, columns!.values[field]));
      days.add(date);
      const first = values.get(key);
      if (first !== undefined) {
        if (found.some((text, i) => !isSame(text, first[i]!))) contradicting.add(key);
        continue;
      }
      const sum = interests.getOrInsertComputed(`${root} ${expiry} ${date}`, () => ({ root, expiry, date, sum: 0 }));
      sum.sum += interestIn({ fields }, found);
      values.set(key, found);
    }
    if (values.size > ROWS_MAX) throw unreadable(`${file} has more than the maximum of ${ROWS_MAX} rows`);
  };
  for await (const _ of mapBlocks(pieces(), headerIn, add));
  if (contradicting.size > CONTRADICTING_SHARE_MAX * values.size) {
    const [first] = contradicting;
    throw unreadable(
      `${cleanLine(file)} has rows with different values of ${contradicting.size} of its ${values.size} contracts, first of ${first!.trim()}. Keep one row of each contract`,
    );
  }
  return {
    ...{ file: cleanLine(file), fields, values, days },
    ...{ interests: [...interests.values()], contradicting: contradicting.size },
  };
}

/** The largest share of contracts of which a second file may have rows with different values. */
const CONTRADICTING_SHARE_MAX = 0.1;

function isSame(a: string, b: string): boolean {
  return a === b || cellNumber(a) === cellNumber(b);
}

/** Returns the error for a second file without contracts or without the wanted columns. */
function whyWithoutColumns(head: FileHead, file: string, { join }: Mapping): Error {
  const { cells = [] } = head.findHeader((names) => names.length > 1, /./) ?? {};
  const wanted = Object.values(join!.columns).map((names) => names![0]!);
  const shown = cells.map((name) => cleanLine(name, 24)).slice(0, SHOWN_COLUMNS);
  return unreadable(
    `${cleanLine(file)} has no contracts with a column ${wanted.join(' or ')}. Its columns are ${shown.join(', ')}. Name the column below [join] in a mapping: docs/vendors.md`,
  );
}

const SHOWN_COLUMNS = 12;

/** Returns the open interest in the texts of a contract, or 0. */
export function interestIn({ fields }: Pick<JoinedValues, 'fields'>, texts: readonly string[]): number {
  const interest = cellNumber(texts[fields.indexOf('open_interest')] ?? '');
  return interest > 0 && Number.isFinite(interest) ? interest : 0;
}

const CONTRACT_FIELDS = ['symbol', 'root', 'underlying', 'expiry', 'put_call', 'strike', 'as_of'] as const;

/** Returns the places of the columns of a second file, or `undefined` if a table has no contract or none of the wanted fields. */
export function columnsIn(names: readonly string[], { join, columns }: Mapping, isExact = false) {
  const places = findColumns(CONTRACT_FIELDS, columns, placesOf(names));
  const wanted = SIDE_FIELDS.filter((field) => join!.columns[field] !== undefined);
  const values = findColumns(wanted, join!.columns, placesOf(names), isExact);
  const fields = wanted.filter((field) => values[field] !== undefined);
  const isContract = places.expiry !== undefined && places.strike !== undefined && places.put_call !== undefined;
  return fields.length > 0 && (isContract || places.symbol !== undefined) ? { places, values, fields } : undefined;
}
