import { cleanLine } from '../../core/clean-text.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { readTable } from '../files/cells.ts';
import { chainCsv } from '../files/chain-rows.ts';
import { closesCsv } from '../files/daily-rows.ts';
import { FileHead } from '../files/file-head.ts';
import { type FileFacts, type Format, type MarketFile, READING } from '../files/format.ts';
import { unreadable } from '../rejections.ts';
import { type Mapping, plainName } from './mapping.ts';
import type { Stated } from './stated.ts';
import { TableTranslator } from './table-translator.ts';
import { absentColumns, hasUsualNames, isUsualChain, mappingFor, missingFor, USUAL_CHAIN } from './vendor-mappings.ts';

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
    const found = head.findHeader(hasUsualNames, DATA_WORDS);
    // In prose, the next line has other commas.
    const next = found && head.firstLines(found.row + 2, NEXT_CHARS_MAX)[found.row + 1];
    return next !== undefined && next.split(found!.delimiter).length >= found!.cells.length;
  },

  *read({ head }) {
    const { cells } = head.findHeader(hasUsualNames, DATA_WORDS)!;
    const shown = cells.slice(0, SHOWN_COLUMNS).map((name) => cleanLine(name, 24));
    const rest = cells.length > SHOWN_COLUMNS ? ` and ${cells.length - SHOWN_COLUMNS} more` : '';
    throw unreadable(
      `the columns ${shown.join(', ')}${rest} are no known table. ${missingFor(cells)}. Name the columns in a mapping: docs/vendors.md`,
    );
  },
};

/** Words of which each header of market data has one. */
const DATA_WORDS = /strike|option|expir|exdate|contract|bid|ask|price|close/;
const SHOWN_COLUMNS = 12;
const NEXT_CHARS_MAX = 10_000;

/** Throws a `ClientError` that names the nearest columns if a table does not have the columns of a mapping that was stated for it alone. */
export function assertMapped(head: FileHead, stated: Stated | undefined): void {
  const { mapping, isOfFolder } = stated ?? {};
  if (mapping === undefined || isOfFolder || mapping.rows.length > 0) return;
  const isHeader = (cells: readonly string[]) => mappingFor(cells, mapping.kind, stated) === mapping;
  if (head.findHeader(isHeader, /./) !== undefined) return;
  const { cells = [] } = head.findHeader((names) => names.length > 1, /./) ?? {};
  const absent = absentColumns(mapping, new Set(cells.map(plainName))).map(
    (name) =>
      `${name} (nearest: ${nearestNames(name, cells)
        .slice(0, 2)
        .map((each) => cleanLine(each, 30))
        .join(', ')})`,
  );
  throw unreadable(`the table has no column ${absent.join(', ')}, which mapping ${mapping.vendor} names`);
}

/** Reads a translated table. Reasons name the first cell of the vendor's table that cannot be read. */
export function* readTranslated(bytes: Uint8Array, file: FileFacts, translator: TableTranslator): Steps<Delivery[]> {
  const badCell = () => translator.firstBad;
  const translated: MarketFile = { ...file, bytes, head: new FileHead(bytes), badCell };
  translator.assertJoined();
  return yield* (translator.kind === 'closes' ? closesCsv : chainCsv).read(translated);
}

/** A line that the reader counts as malformed. */
export const MALFORMED = '?\n';
/** Number of lines in a piece of text. */
const PIECE_LINES = 1_000;
