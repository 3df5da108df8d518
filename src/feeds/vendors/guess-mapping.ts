import { cleanLine } from '../../core/clean-text.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { canonicalTicker, isTicker, parseCallPut, parseOptionSymbol } from '../../market/option-symbol.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { ROW_CHARS_MAX } from '../files/cells.ts';
import { isDecimalComma } from '../files/decimal-commas.ts';
import { parseMarketJson } from '../files/delayed-quotes.ts';
import type { FileHead } from '../files/file-head.ts';
import { cellNumber } from '../numbers.ts';
import { dateReader } from './date-forms.ts';
import { type PointedValue, valuesBeside } from './json-pointers.ts';
import { jsonCells, jsonTable } from './json-rows.ts';
import { CHAIN_FIELDS, type MappedField, PRINT_FIELDS, plainName, SIDE_FIELDS, USUAL_NAMES } from './mapping.ts';
import { LIKELY_NAMES, vendorMappings } from './vendor-mappings.ts';
import { wideColumns } from './wide-columns.ts';

/** Number of rows whose cells show what a column is. */
const SAMPLED_ROWS = 300;

/** A table has at least this number of columns. */
const COLUMNS_MIN = 3;

/** A draft of a mapping. */
export interface GuessedMapping {
  /** TOML with the columns that were recognized, and comments on the others. */
  readonly toml: string;
  /** The vendor whose table it is, if it is known. Such a table needs no mapping. */
  readonly vendor?: string;
}

interface Sample {
  /** Values beside the rows of a JSON document. */
  readonly beside?: ReadonlyMap<MappedField, PointedValue>;
  readonly names: readonly string[];
  /** The cells of each column. */
  readonly columns: readonly (readonly string[])[];
  /** The path to the rows of a JSON document. */
  readonly rows?: string;
}

/**
 * Returns a draft of a mapping for a file whose start is `head`, or `undefined` if the file has no table and no JSON with rows. `zone` is the zone of
 * its times, if a person has stated it.
 */
export function guessMapping(head: FileHead, file: string, zone?: string): GuessedMapping | undefined {
  const name = cleanLine(file);
  const sample = /^\s*(?:\{|\[\s*[[{])/.test(head.text) ? jsonSample(head.bytes) : tableSample(head);
  if (sample === undefined) return undefined;
  const plain = new Set(sample.names.map(plainName));
  const known = vendorMappings().find(
    ({ signature, rows }) =>
      rows.length > 0 === (sample.rows !== undefined) &&
      signature.length > 1 &&
      signature.every((each) => plain.has(each)),
  );
  const wide = wideColumns(sample.names);
  const has = (field: MappedField) => USUAL_NAMES[field]!.some((each) => plain.has(each));
  const kind = wide === undefined && has('price') && has('size') && !has('open_interest') ? 'prints' : 'chain';
  const sided: readonly MappedField[] = wide ? [...SIDE_FIELDS, 'put_call'] : [];
  const fields: readonly MappedField[] = (kind === 'chain' ? CHAIN_FIELDS : PRINT_FIELDS).filter(
    (field) => !sided.includes(field),
  );
  const columns = columnsFor(fields, sample, wide?.all);
  const used = new Set([columns, wide?.call, wide?.put].flatMap((each) => [...(each?.values() ?? [])]));
  const beside = new Map([...(sample.beside ?? [])].filter(([field]) => fields.includes(field) && !columns.has(field)));
  const missing = missingIn(kind, columns, sided).filter((field) => !beside.has(field));
  const constants = missing.flatMap((field) => CONSTANTS[field] ?? []);
  const lines = [
    `# A draft for ${name}. Check each line, and delete the comments. docs/vendors.md says what a mapping has.`,
    '# vendor = "my vendor"           # how messages call it besides the name of this file',
    ...(kind === 'prints' ? ['kind = "prints"'] : []),
    ...(sample.rows === undefined ? [] : [`rows = [${JSON.stringify(sample.rows)}]`]),
    ...(missing.includes('as_of') ? [PATH] : []),
    '',
    '[columns]',
    ...linesOf(columns, sample),
    ...missing.map((field) => `# ${field} = "?"     # ${cleanLine(candidates(field, sample, used))}`),
    ...(beside.size > 0 ? ['', '[pointers]'] : []),
    ...[...beside].map(([field, { pointer }]) => `${field} = ${JSON.stringify(pointer)}`),
    ...(wide ? ['', '[call]', ...linesOf(wide.call, sample), '', '[put]', ...linesOf(wide.put, sample)] : []),
    ...(constants.length > 0 ? ['', '# [constants]', ...constants] : []),
    '',
    '[forms]',
    '# date = "MDY"                  # the order of dates such as 04/05/2019, if no date decides it',
    zoneLine(
      sample.columns[columns.get('as_of') ?? columns.get('executed_at') ?? -1] ?? [beside.get('as_of')?.text ?? ''],
      zone ?? known?.forms.zone,
    ),
    '# close = "15:45"               # the time of dates without a time',
    `${/1000/.test(sample.names[columns.get('strike') ?? -1] ?? '') ? '' : '# '}strike = 0.001                # strikes in thousandths`,
    '# iv = 0.01                     # volatilities in percent',
    ...(hasCommas(sample, used) ? ['decimal = ","                  # numbers such as 12,5'] : []),
    '',
    `# Columns without a use: ${unused(sample, used)}`,
  ];
  return { toml: `${lines.join('\n')}\n`, ...(known && { vendor: known.vendor }) };
}

/** Returns the line of the zone. No zone is guessed: a wrong one moves all times by hours. */
function zoneLine(cells: readonly string[], zone: string | undefined): string {
  if (zone !== undefined) return `zone = ${JSON.stringify(zone)}`;
  const naive = cells.find((cell) => /\d[T ](?!0?0:00)\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?$/.test(cell));
  if (naive === undefined) return '# zone = "America/New_York"     # the zone of times that state none';
  return `# zone = "?"                    # needed: times such as ${cleanLine(naive, 40)} state no zone, and the vendor is not known`;
}

/** Returns the names that may be the column of a missing field: those without a use, or else the nearest. */
function candidates(field: MappedField, { names }: Sample, used: ReadonlySet<number>): string {
  const free = names.filter((name, i) => name !== '' && !used.has(i));
  if (free.length === 0) return `nearest: ${nearestNames(field, names).join(', ')}`;
  return `without a use: ${(free.length > 5 ? nearestNames(field, free) : free).join(', ')}`;
}

/** Returns whether a column has numbers with decimal commas. */
function hasCommas({ columns }: Sample, used: ReadonlySet<number>): boolean {
  return used.values().some((place) => columns[place]!.some(isDecimalComma));
}

/** For fields that a whole file often shares, a line that states the value. */
const CONSTANTS: { readonly [field in MappedField]?: string } = {
  underlying: '# underlying = "SPX"            # what all rows share',
  expiry: '# expiry = "2026-09-18"',
};

const PATH = "# path = '(?<underlying>[A-Za-z]+)/(?<as_of>\\d{8})'   # what the path of the file states";

function linesOf(columns: ReadonlyMap<MappedField, number>, { names }: Sample): string[] {
  return [...columns].map(([field, column]) => `${field} = ${JSON.stringify(names[column])}`);
}

/** Returns the fields that a table needs and lacks, without those of `sided`, which each side of a row has. */
function missingIn(
  kind: 'chain' | 'prints',
  columns: ReadonlyMap<MappedField, number>,
  sided: readonly MappedField[],
): MappedField[] {
  const contract = columns.has('symbol') ? [] : (['underlying', 'expiry', 'put_call', 'strike'] as const);
  const others =
    kind === 'chain'
      ? (['as_of', 'spot', 'bid', 'ask', 'open_interest'] as const)
      : (['executed_at', 'price', 'size'] as const);
  return [...contract, ...others].filter((field) => !columns.has(field) && !sided.includes(field));
}

function unused({ names }: Sample, used: ReadonlySet<number>): string {
  return cleanLine(names.filter((_, i) => !used.has(i)).join(', '), 2_000) || 'none';
}

/** Returns the column of each field, by its name, or else by what its cells are. Columns of `taken` have no field. */
function columnsFor(
  fields: readonly MappedField[],
  { names, columns }: Sample,
  taken: ReadonlySet<number> = new Set(),
): Map<MappedField, number> {
  const plain = names.map((name, i) => (taken.has(i) ? '' : plainName(name)));
  // Of a nested JSON value, the last key is the name.
  const last = names.map((name, i) => (taken.has(i) ? '' : plainName(name.split('.').at(-1)!)));
  const found = new Map<MappedField, number>();
  for (const field of fields) {
    const places = USUAL_NAMES[field]?.flatMap((name) => [plain.indexOf(name), last.indexOf(name)]) ?? [];
    // Names such as `symbol` and `contract` may be those of the underlying or of the option.
    const isOption = (each: number) => areSymbols(columns[each]!);
    const isRight = (each: number) => (field === 'symbol' ? isOption(each) : field !== 'underlying' || !isOption(each));
    const place = places.find((each) => each >= 0 && isRight(each));
    if (place !== undefined) found.set(field, place);
  }
  const isFree = (i: number) => columns[i]!.length > 0 && !taken.has(i) && ![...found.values()].includes(i);
  const free = () => names.map((_, i) => i).filter(isFree);
  const add = (field: MappedField, place: number | undefined) => {
    if (place !== undefined && fields.includes(field) && !found.has(field)) found.set(field, place);
  };
  for (const [field, pattern] of LIKELY_NAMES) {
    add(
      field,
      free().find((i) => pattern.test(last[i]!)),
    );
  }
  add(
    'symbol',
    free().find((i) => areSymbols(columns[i]!)),
  );
  add(
    'put_call',
    free().find((i) => columns[i]!.every((cell) => parseCallPut(cell) !== undefined)),
  );
  // Options settle after their quotes, so the column with the latest dates has the expiries.
  const dated = free()
    .map((i) => ({ i, last: lastDate(columns[i]!) }))
    .filter(({ last }) => last !== undefined)
    .sort((a, b) => (a.last! < b.last! ? 1 : -1));
  if (!found.has('symbol')) add('expiry', dated.find(({ i }) => free().includes(i))?.i);
  add('as_of', dated.findLast(({ i }) => free().includes(i))?.i);
  add(
    'underlying',
    free().find((i) => columns[i]!.every((cell) => isTicker(canonicalTicker(cell)) && !/^(?:true|false)$/i.test(cell))),
  );
  return found;
}

function areSymbols(cells: readonly string[]): boolean {
  return cells.length > 0 && cells.every((cell) => parseOptionSymbol(cell.trim()) !== undefined);
}

/** Returns the latest date of a column of dates, or `undefined` if the column has others. */
function lastDate(cells: readonly string[]): string | undefined {
  try {
    const dateOf = dateReader('', cells, undefined);
    const dates = cells.map((cell) => (Number.isFinite(cellNumber(cell)) ? undefined : dateOf(cell)));
    return dates.includes(undefined) ? undefined : dates.toSorted().at(-1);
  } catch {
    return undefined;
  }
}

/** Reads the rows below the first line that has at least COLUMNS_MIN cells and no number. */
function tableSample(head: FileHead): Sample | undefined {
  const isNames = (cells: readonly string[]) => cells.every((cell) => cell === '' || Number.isNaN(Number(cell)));
  const found = head.findHeader((cells) => cells.length >= COLUMNS_MIN && isNames(cells), /./);
  if (found === undefined) return undefined;
  const scanner = new RowScanner({ delimiter: found.delimiter, linesMax: 1, charsMax: ROW_CHARS_MAX, isRaw: false });
  scanner.scan(head.bytes, found.end, head.bytes.length);
  const columns: string[][] = found.cells.map(() => []);
  for (let row = 0; row < Math.min(scanner.rows, SAMPLED_ROWS); row++) {
    scanner.select(row);
    if (!scanner.isWhole(found.cells.length)) continue;
    for (const [i, column] of columns.entries()) if (scanner.text(i) !== '') column.push(scanner.text(i));
  }
  return { names: found.cells, columns };
}

/** Reads the first list or map of objects in a JSON document. */
function jsonSample(bytes: Uint8Array): Sample | undefined {
  const document = parseMarketJson(new TextDecoder().decode(bytes));
  for (const rows of pathsIn(document, '', 4)) {
    const table = jsonTable(document, [rows]);
    if (table === undefined || table.names.length < 4) continue;
    const cells = jsonCells(table);
    const columns = table.names.map((_, i) =>
      table.rows.slice(0, SAMPLED_ROWS).flatMap((row) => {
        cells.select(row);
        return cells.text(i) || [];
      }),
    );
    return { names: table.names, columns, rows, beside: valuesBeside(document) };
  }
  return undefined;
}

/** Yields the paths to lists and maps, the shortest first. */
function* pathsIn(value: unknown, path: string, depth: number): Generator<string> {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  if (Array.isArray(value)) yield `${path}/*`;
  const children = Array.isArray(value) ? value.slice(0, 1).map((each) => ['*', each] as const) : Object.entries(value);
  for (const [key, child] of children) yield* pathsIn(child, `${path}/${key}`, depth - 1);
}
