import { basename, extname } from 'node:path';
import { cleanLine } from '../../core/clean-text.ts';
import { ClientError } from '../../core/errors.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { readTable } from '../files/cells.ts';
import { chainCsv } from '../files/chain-rows.ts';
import { closesCsv } from '../files/daily-rows.ts';
import { FileHead, type TableHeader } from '../files/file-head.ts';
import { type FileFacts, type Format, type MarketFile, READING } from '../files/format.ts';
import { unreadable } from '../rejections.ts';
import { type Mapping, plainName } from './mapping.ts';
import type { Stated } from './stated.ts';
import { TableTranslator } from './table-translator.ts';
import {
  absentColumns,
  hasUsualNames,
  isInterestAlone,
  isUsualChain,
  mappingFor,
  missingFor,
  USUAL_CHAIN,
} from './vendor-mappings.ts';
import { wideColumns } from './wide-columns.ts';

/** The format of the chain tables of vendors that are recognized by their columns. */
export const vendorChains = tableOf(
  (names, stated) => mappingFor(names, 'chain', stated),
  (stated) => (stated?.mapping ? undefined : DATA_WORDS),
);

/** The format of the tables of closes of vendors that are recognized by their columns. */
export const vendorCloses = tableOf((names, stated) => mappingFor(names, 'closes', stated));

/** The format of other tables of options whose columns have usual names. */
export const usualChains = tableOf((names) => (isUsualChain(names) ? USUAL_CHAIN : undefined));

/** Returns the format of the tables for whose columns `mappingOf` has a mapping. */
function tableOf(
  mappingOf: (names: readonly string[], stated?: Stated) => Mapping | undefined,
  lineWords: (stated?: Stated) => RegExp | undefined = () => undefined,
): Format {
  const wordsFor = (stated?: Stated) => (stated?.mapping ? /./ : DATA_WORDS);
  return {
    claims: (head, stated) =>
      head.findHeader((cells) => mappingOf(cells, stated) !== undefined, wordsFor(stated), lineWords(stated)) !==
      undefined,
    *read(file) {
      const { stated } = file;
      const isHeader = (cells: readonly string[]) => mappingOf(cells, stated) !== undefined;
      const rows = () => readTable(file, isHeader, wordsFor(stated));
      const { header } = yield* rows();
      const mapping = mappingOf(header, stated)!;
      const translator = new TableTranslator(mapping, header, file);
      for (const row of (yield* rows()).rows) {
        if (row === undefined) yield READING;
        else if (row.isWhole(header.length)) translator.observe(row);
      }
      translator.decide();
      const pieces = [Buffer.from(translator.header)];
      let lines: string[] = [];
      for (const row of (yield* rows()).rows) {
        if (row === undefined) yield READING;
        else lines.push(row.isWhole(header.length) ? translator.translate(row) : MALFORMED);
        if (lines.length < PIECE_LINES) continue;
        pieces.push(Buffer.from(lines.join('')));
        lines = [];
      }
      pieces.push(Buffer.from(lines.join('')));
      return yield* readTranslated(Buffer.concat(pieces), file, translator);
    },
  };
}

/**
 * The format of tables with names of market data that no other format reads. Reading one throws a `ClientError` that names its columns and
 * what it would need.
 */
export const unknownTable: Format = {
  claims(head) {
    return hasRows(head, head.findHeader(isUnknown, DATA_WORDS));
  },

  *read({ head, origin }) {
    const { cells } = head.findHeader(isUnknown, DATA_WORDS)!;
    if (isInterestAlone(cells)) {
      const stem = cleanLine(basename(origin, extname(origin)), 60);
      throw unreadable(
        `the table has open interest and no quotes, so it is a second file. Put it beside the quotes with open_interest in its name, such as ${stem}_open_interest.csv, or name it below [join] in a mapping: docs/vendors.md`,
      );
    }
    const shown = cells.slice(0, SHOWN_COLUMNS).map((name) => cleanLine(name, 24));
    const rest = cells.length > SHOWN_COLUMNS ? ` and ${cells.length - SHOWN_COLUMNS} more` : '';
    const missing = isWideTable(cells)
      ? 'A row has the call and the put of a strike, which `zomma map guess` drafts'
      : missingFor(cells);
    throw unreadable(
      `the columns ${shown.join(', ')}${rest} are no known table. ${missing}. Name the columns in a mapping: docs/vendors.md`,
    );
  },
};

function isUnknown(names: readonly string[]): boolean {
  return hasUsualNames(names) || isWideTable(names);
}

function isWideTable(names: readonly string[]): boolean {
  return names.some((name) => plainName(name).startsWith('strike')) && wideColumns(names) !== undefined;
}

/** Returns whether a text has a table of at least three columns with names, which are not numbers. */
export function isTable(head: FileHead): boolean {
  const isNames = (cells: readonly string[]) =>
    cells.length >= 3 && cells.every((cell) => Number.isNaN(Number(cell || 'x')));
  // Tables of notes begin with a bar.
  return !head.text.startsWith('|') && hasRows(head, head.findHeader(isNames, /./));
}

/** Returns whether the line after a header has as many cells. In prose, the next line has other commas. */
function hasRows(head: FileHead, found: TableHeader | undefined): boolean {
  const next = found && head.firstLines(found.row + 2, NEXT_CHARS_MAX)[found.row + 1];
  return next !== undefined && next.split(found!.delimiter).length >= found!.cells.length;
}

/** Words of which each header of market data has one. */
const DATA_WORDS = /strike|option|expir|exdate|contract|bid|ask|price|close/;
const SHOWN_COLUMNS = 12;
const NEXT_CHARS_MAX = 10_000;

/** Throws a `ClientError` that names the nearest columns if a table does not have the columns of the stated mapping. */
export function assertMapped(head: FileHead, stated: Stated | undefined): void {
  const mapping = stated?.mapping;
  if (mapping === undefined || mapping.rows.length > 0) return;
  const isHeader = (cells: readonly string[]) => mappingFor(cells, mapping.kind, stated) === mapping;
  if (head.findHeader(isHeader, /./) !== undefined) return;
  const { cells = [] } = head.findHeader((names) => names.length > 1, /./) ?? {};
  const absent = absentColumns(mapping, new Set(cells.map(plainName))).map((name) => {
    const near = nearestNames(name, cells).slice(0, 2);
    return `${name} (nearest: ${near.map((each) => cleanLine(each, 30)).join(', ')})`;
  });
  if (absent.length === 0) return;
  throw unreadable(`the table has no column ${absent.join(', ')}, which mapping ${mapping.vendor} names`);
}

/** Returns why the mapping of a folder does not fit a table, or `undefined` if it fits or if there is none. */
export function whyUnmapped(head: FileHead, stated: Stated | undefined): string | undefined {
  try {
    if (stated?.isOfFolder) assertMapped(head, stated);
    return undefined;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return error.message;
  }
}

/** Reads a translated table. Reasons name the first cell of the vendor's table that cannot be read. */
export function* readTranslated(bytes: Uint8Array, file: FileFacts, translator: TableTranslator): Steps<Delivery[]> {
  const badCell = () => translator.firstBad;
  const translated: MarketFile = { ...file, bytes, head: new FileHead(bytes), badCell };
  translator.assertPoints();
  const deliveries = yield* (translator.kind === 'closes' ? closesCsv : chainCsv).read(translated);
  return deliveries.map((each) => translator.checked(each));
}

/** A line that the reader counts as malformed. */
export const MALFORMED = '?\n';
/** Number of lines in a piece of text. */
const PIECE_LINES = 1_000;
