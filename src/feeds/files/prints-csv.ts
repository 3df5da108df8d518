import Papa from 'papaparse';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Print } from '../../market/prints.ts';
import { CONDITIONS } from '../print-execution.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { findHeader, hasHeader, isWholeRow, PREAMBLE_LINES_MAX, ROW_CHARS_MAX } from './cells.ts';
import { linesOf } from './lines.ts';
import { type Columns, isPrintsHeader, printColumnsOf, type RowReader, rowReader } from './print-row.ts';

/** The number of prints in a complete delivery. The write of a delivery takes a few transactions. */
export const BATCH_PRINTS = 2_000;

export type PrintsDelivery = Extract<Delivery, { kind: 'prints' }>;

/** Returns whether a text's first lines contain the header of a tape. */
export function claimsPrints(head: string): boolean {
  return hasHeader(head, isPrintsHeader);
}

/** Time after which the reading of rows lets requests be answered, ms. The time is checked after each `CHECKED_ROWS` rows. */
const STEP_MS = 8;
const CHECKED_ROWS = 256;

/** Reads a whole tape. Throws a `ClientError` if the text is not a tape. */
export function readPrints(pieces: AsyncIterable<Uint8Array>, nowMs: number): AsyncGenerator<PrintsDelivery, void> {
  return new PrintsCsvReader().read(pieces, nowMs);
}

/**
 * Reads option trades in the format of the common end-of-day tape. The columns of the tape are
 * `executed_at,underlying_symbol,option_chain_id,side,strike,option_type,expiry,nbbo_bid,nbbo_ask` and
 * `price,size,delta,exchange,report_flags,canceled,upstream_condition_detail`, in any order. The columns `tags`, `id`, `trade_id` and
 * `sequence` are read too. Other columns are ignored. The required columns are `executed_at`, `price`, `size`, and either `option_chain_id`
 * or the columns of the contract.
 *
 * A day's tape has gigabytes, so it is read in pieces and delivered in batches. Reading a tape yields at least one batch. A bad row is
 * rejected and counted. The last row is also rejected if it may be incomplete. Other tables are rejected if their last row is incomplete. A
 * tape with an incomplete last row is not rejected, because a tape grows only at its end. So all earlier rows of the tape are valid, and
 * its last row can be read again when the tape has grown.
 */
export class PrintsCsvReader {
  #header: { readonly cells: readonly string[]; readonly delimiter: string; readonly columns: Columns } | undefined;
  #row: RowReader | undefined;

  /**
   * Reads the next section of the tape. A section begins at the start of a row. `nowMs` is the wall clock. All sections after the first
   * must be UTF-8. Throws a `ClientError` if the text is not a tape.
   */
  async *read(pieces: AsyncIterable<Uint8Array>, nowMs: number): AsyncGenerator<PrintsDelivery, void> {
    const preamble: string[] = [];
    let prints: Print[] = [];
    let refused: Record<string, number> = {};
    for await (const { lines, isUnterminated } of linesOf(pieces, this.#row && continuationDecoder())) {
      announceStep('reading a tape');
      let rows = lines;
      if (!this.#row) {
        preamble.push(...lines);
        const found = findHeader(preamble.slice(0, PREAMBLE_LINES_MAX), isPrintsHeader);
        if (!found && preamble.length >= PREAMBLE_LINES_MAX) break;
        if (!found) continue;
        const columns = printColumnsOf(found.header);
        this.#header = { cells: found.header, delimiter: found.delimiter, columns };
        this.#row = rowReader(columns);
        rows = preamble.slice(found.row + 1);
      }
      let pauseAt = performance.now() + STEP_MS;
      for (const [i, row] of rows.entries()) {
        // Of short rows, a piece has a hundred thousand. Requests are answered between them.
        if (i % CHECKED_ROWS === 0 && performance.now() > pauseAt) {
          await new Promise(setImmediate);
          announceStep('reading a tape');
          pauseAt = performance.now() + STEP_MS;
        }
        if (row === '') continue;
        const print = this.#print(row, isUnterminated, nowMs);
        if (typeof print === 'string') countRejected(refused, print);
        else prints.push(print);
      }
      if (prints.length >= BATCH_PRINTS) {
        yield { kind: 'prints', prints, refused };
        prints = [];
        refused = {};
      }
    }
    if (!this.#row) throw unreadable('no header row was found');
    yield { kind: 'prints', prints, refused };
  }

  /**
   * Reads a row. Returns the print, or the reason why the row is rejected.
   *
   * @param isUnterminated true if the line is the last line of the text and has no line break.
   */
  #print(line: string, isUnterminated: boolean, nowMs: number): Print | string {
    const { cells: header, delimiter, columns } = this.#header!;
    const cells = line.length <= ROW_CHARS_MAX ? cellsOf(line, delimiter) : undefined;
    if (isUnterminated && mayBeCut(cells, header, columns)) return 'cut_row';
    const isRow = cells !== undefined && (cells.length === header.length || isWholeRow(cells, header.length));
    return isRow ? this.#row!(cells, nowMs) : 'malformed_row';
  }
}

/** Returns the decoder for a later section of a text. In a later section, a byte-order mark is an ordinary character. */
function continuationDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}

/** Returns the cells of a row, or `undefined` if a quotation mark is never closed. Cells of a tape have no line breaks. */
function cellsOf(line: string, delimiter: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(delimiter);
  const { data, errors } = Papa.parse<string[]>(line, { delimiter, newline: '\n' });
  return errors.length > 0 ? undefined : data[0];
}

/**
 * Returns whether a last row without a line break may be incomplete. If the row ends with the cell `1`, the cell may be the start of `100`.
 * A row that ends with a known trade condition is complete.
 */
function mayBeCut(cells: readonly string[] | undefined, header: readonly string[], columns: Columns): boolean {
  if (cells === undefined || cells.length < header.length) return true;
  const last = header.length - 1;
  if (!Object.values(columns).includes(last)) return false;
  return last !== columns.upstream_condition_detail || !CONDITIONS.has(cells[last]!.trim().toLowerCase());
}
