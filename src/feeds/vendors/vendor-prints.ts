import { announceStep } from '../../core/event-loop-watchdog.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { ROW_CHARS_MAX } from '../files/cells.ts';
import { FileHead, type TableHeader } from '../files/file-head.ts';
import type { FileFacts, Stated } from '../files/format.ts';
import { lineBytesOf } from '../files/lines.ts';
import { type PrintsDelivery, readPrints } from '../files/prints-csv.ts';
import { unreadable } from '../rejections.ts';
import { TableTranslator } from './table-translator.ts';
import { mappingFor } from './vendor-mappings.ts';

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
  let translator: TableTranslator | undefined;
  let observed = 0;
  for await (const { row, table } of rowsOf(pieces(), file.stated)) {
    translator ??= new TableTranslator(mappingFor(table.cells, 'prints', file.stated)!, table.cells, file);
    if (row.isWhole(table.cells.length)) translator.observe(row);
    if (++observed === OBSERVED_ROWS) break;
  }
  if (!translator) return;
  translator.decide();
  yield* readPrints(translated(pieces(), translator, file.stated), nowMs);
}

async function* translated(
  pieces: AsyncIterable<Uint8Array>,
  translator: TableTranslator,
  stated: Stated | undefined,
): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(translator.header);
  let lines: string[] = [];
  for await (const { row, table, isLastOfBlock } of rowsOf(pieces, stated)) {
    const isReadable = !row.isLong && !row.isOpen && !row.isMalformed && row.isWhole(table.cells.length);
    lines.push(isReadable ? translator.translate(row) : '?\n');
    if (!isLastOfBlock) continue;
    yield Buffer.from(lines.join(''));
    announceStep('reading a tape');
    lines = [];
  }
}

/** Yields the rows of a tape, once, as the same object. Throws a `ClientError` if the tape has no header. */
async function* rowsOf(
  pieces: AsyncIterable<Uint8Array>,
  stated: Stated | undefined,
): AsyncGenerator<{ readonly row: RowScanner; readonly table: TableHeader; readonly isLastOfBlock: boolean }, void> {
  let table: TableHeader | undefined;
  let row: RowScanner | undefined;
  for await (const { bytes } of lineBytesOf(pieces)) {
    let at = 0;
    if (!table) {
      table = headerIn(new FileHead(bytes), stated);
      if (!table) throw unreadable('no header row was found');
      row = new RowScanner({ delimiter: table.delimiter, linesMax: 1, charsMax: ROW_CHARS_MAX, isRaw: false });
      at = table.end;
    }
    while (at < bytes.length) {
      at = row!.scan(bytes, at);
      for (let i = 0; i < row!.rows; i++) {
        row!.select(i);
        yield { row: row!, table, isLastOfBlock: i === row!.rows - 1 };
      }
    }
  }
}
