import type { RowScanner } from '../../math/delimited-rows.ts';
import type { FileHead, TableHeader } from '../files/file-head.ts';
import type { FileFacts } from '../files/format.ts';
import { type PrintsDelivery, readPrints } from '../files/prints-csv.ts';
import { mapBlocks } from '../files/row-blocks.ts';
import type { Stated } from './stated.ts';
import { TableTranslator } from './table-translator.ts';
import { mappingFor } from './vendor-mappings.ts';
import { MALFORMED } from './vendor-tables.ts';

/** Words of which the header of each vendor's tape has one. */
const WORDS = /price/;

/** Returns whether a text's first lines have the header of a vendor's tape. */
export function claimsVendorPrints(head: FileHead, stated?: Stated): boolean {
  return headerIn(head, stated) !== undefined;
}

function headerIn(head: FileHead, stated: Stated | undefined): TableHeader | undefined {
  const words = stated?.mapping ? /./ : WORDS;
  return head.findHeader((cells) => mappingFor(cells, 'prints', stated) !== undefined, words);
}

/** Number of rows from which the forms of times and expiries are decided. A tape is too long to be read twice. */
const OBSERVED_ROWS = 10_000;

/**
 * Reads a vendor's tape as the prints of Zomma's own tape. `pieces` begins the tape anew with each call. Throws a `ClientError` if a form of
 * the tape's times stays open.
 */
export async function* readVendorPrints(
  pieces: () => AsyncIterable<Uint8Array>,
  file: FileFacts,
  nowMs: number,
): AsyncGenerator<PrintsDelivery, void> {
  const find = (head: FileHead) => headerIn(head, file.stated);
  let translator: TableTranslator | undefined;
  let observed = 0;
  const observe = (row: RowScanner, { cells }: TableHeader) => {
    translator ??= new TableTranslator(mappingFor(cells, 'prints', file.stated)!, cells, file);
    for (let i = 0; i < row.rows; i++, observed++) {
      row.select(i);
      if (isReadable(row, cells.length)) translator.observe(row);
    }
  };
  for await (const _ of mapBlocks(pieces(), find, observe)) if (observed >= OBSERVED_ROWS) break;
  if (!translator) return;
  translator.decide();
  yield* readPrints(translated(pieces(), find, translator), nowMs);
}

async function* translated(
  pieces: AsyncIterable<Uint8Array>,
  find: (head: FileHead) => TableHeader | undefined,
  translator: TableTranslator,
): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(translator.header);
  yield* mapBlocks(pieces, find, (row, { cells }) => {
    let lines = '';
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      lines += isReadable(row, cells.length) ? translator.translate(row) : MALFORMED;
    }
    return Buffer.from(lines);
  });
}

function isReadable(row: RowScanner, width: number): boolean {
  return !row.isLong && !row.isOpen && !row.isMalformed && row.isWhole(width);
}
