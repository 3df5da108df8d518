import { cleanLine } from '../../core/clean-text.ts';
import type { ClientError } from '../../core/errors.ts';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Delivery } from '../../market/feed.ts';
import { PrintBatch } from '../../market/print-batch.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { CONDITIONS } from '../print-execution.ts';
import { countRejected, unreadable } from '../rejections.ts';
import type { Stated } from '../vendors/stated.ts';
import { ROW_CHARS_MAX } from './cells.ts';
import { DecimalCommas } from './decimal-commas.ts';
import { FileHead, PREAMBLE_LINES_MAX } from './file-head.ts';
import { lineBytesOf } from './lines.ts';
import {
  type Columns,
  isPrintsHeader,
  NO_ZONE,
  printColumnsOf,
  type RowReader,
  rowReader,
  zoneOfTimes,
} from './print-row.ts';

/** The number of prints in a complete delivery. The write of a delivery takes a few transactions. */
export const BATCH_PRINTS = 4_096;

export type PrintsDelivery = Extract<Delivery, { kind: 'prints' }>;

/** Returns whether a text's first lines contain the header of a tape. */
export function claimsPrints(head: FileHead): boolean {
  return head.findHeader(isPrintsHeader, WORDS) !== undefined;
}

const WORDS = /executed_at/;

/** Time after which the reading of rows lets requests be answered, ms. The time is checked after each block of rows. */
const STEP_MS = 8;

/**
 * Reads a whole tape. `stated` and `header`, by default that of the text, say the zone of times without a zone. Throws a `ClientError` if the
 * text is not a tape, if it has such a time and the zone is not known, or if all prices have decimal commas.
 */
export function readPrints(
  pieces: AsyncIterable<Uint8Array>,
  nowMs: number,
  stated?: Stated,
  header?: readonly string[],
): AsyncGenerator<PrintsDelivery, void> {
  return new PrintsCsvReader(stated, header).read(pieces, nowMs);
}

/**
 * Reads option trades in the format of the common end-of-day tape, with the columns PRINT_COLUMNS in any order. Required are `executed_at`,
 * `price`, `size`, and `option_chain_id` or the columns of the contract. A day's tape has gigabytes, so it is read in pieces and delivered in
 * batches, at least one. A bad row is rejected and counted, also the last row if it may be incomplete: a tape grows only at its end, so its
 * earlier rows are valid, and its last row can be read again.
 */
export class PrintsCsvReader {
  #table:
    | { readonly width: number; readonly columns: Columns; readonly row: RowScanner; readonly read: RowReader }
    | undefined;
  #rows = 0;
  #prints = 0;
  readonly #commas = new DecimalCommas();

  constructor(
    private readonly stated?: Stated,
    private readonly header?: readonly string[],
  ) {}

  /** Reads the next section, which begins at the start of a row. Sections after the first are UTF-8. Throws a `ClientError` if it is no tape. */
  async *read(pieces: AsyncIterable<Uint8Array>, nowMs: number): AsyncGenerator<PrintsDelivery, void> {
    let preamble: Uint8Array = new Uint8Array();
    let prints = new PrintBatch(2 * BATCH_PRINTS);
    let refused: Record<string, number> = {};
    for await (const { bytes, isUnterminated } of lineBytesOf(pieces, this.#table !== undefined)) {
      announceStep('reading a tape');
      let text = bytes;
      let at = 0;
      if (!this.#table) {
        preamble = Buffer.concat([preamble, bytes]);
        const head = new FileHead(preamble);
        const found = head.findHeader(isPrintsHeader, WORDS);
        if (!found && head.lines >= PREAMBLE_LINES_MAX) break;
        if (!found) continue;
        const { cells, delimiter, end } = found;
        const columns = printColumnsOf(cells);
        const row = new RowScanner({ delimiter, linesMax: 1, charsMax: ROW_CHARS_MAX, isRaw: false });
        this.#table = {
          width: cells.length,
          columns,
          row,
          read: rowReader(columns, zoneOfTimes(this.header ?? cells, this.stated)),
        };
        text = preamble;
        at = end;
      }
      const { row } = this.#table;
      let pauseAt = performance.now() + STEP_MS;
      while (at < text.length) {
        // Of short rows, a piece has a hundred thousand. Requests are answered between them.
        if (performance.now() > pauseAt) {
          await new Promise(setImmediate);
          announceStep('reading a tape');
          pauseAt = performance.now() + STEP_MS;
        }
        at = row.scan(text, at);
        for (let i = 0; i < row.rows; i++) {
          row.select(i);
          this.#rows++;
          const rejected = this.#add(prints, isUnterminated, nowMs);
          if (rejected === NO_ZONE) throw this.#withoutZone();
          if (rejected === 'bad_price') this.#commas.add(row.text(this.#table.columns.price), this.#rows, 'price');
          if (rejected !== undefined) countRejected(refused, rejected);
        }
      }
      if (prints.length >= BATCH_PRINTS) {
        this.#prints += prints.length;
        yield { kind: 'prints', prints, refused };
        prints = new PrintBatch(2 * BATCH_PRINTS);
        refused = {};
      }
    }
    if (!this.#table) throw unreadable('no header row was found');
    if (this.#prints + prints.length === 0) this.#commas.assertFew(this.#rows);
    yield { kind: 'prints', prints, refused };
  }

  /** Returns the error for the selected row, whose time has no zone. No print of the tape is stored, unless a batch was read before. */
  #withoutZone(): ClientError {
    const { columns, row } = this.#table!;
    const stored = this.#prints > 0 ? ` The ${this.#prints} prints before it are read` : '';
    return unreadable(
      `column executed_at has times without a time zone, first "${cleanLine(row.text(columns.executed_at), TIME_CHARS_MAX)}" in row ${this.#rows}. ` +
        `State the zone: --zone America/New_York, or zone in a mapping.${stored}`,
    );
  }

  /** Adds the print of the selected row, or returns why it is rejected. The last line of a text without its line break is unterminated. */
  #add(prints: PrintBatch, isUnterminated: boolean, nowMs: number): string | undefined {
    const { width, columns, row, read } = this.#table!;
    const isReadable = !row.isLong && !row.isOpen && !row.isMalformed;
    if (isUnterminated && (!isReadable || mayBeCut(row, width, columns))) return 'cut_row';
    if (!isReadable || !row.isWhole(width)) return 'malformed_row';
    return read(row, prints, nowMs);
  }
}

/** Maximum number of characters of a time that an error shows. */
const TIME_CHARS_MAX = 40;

/** Returns whether a last row without a line break may be incomplete: `1` may be the start of `100`, but a known condition is complete. */
function mayBeCut(row: RowScanner, width: number, columns: Columns): boolean {
  if (row.count < width) return true;
  const last = width - 1;
  if (!Object.values(columns).includes(last)) return false;
  return last !== columns.upstream_condition_detail || !CONDITIONS.has(row.text(last).toLowerCase());
}
