import { type CellRow, RowScanner } from '../../core/delimited-rows.ts';
import { OperatorError } from '../../core/errors.ts';

/** Called with a row and the number of the row's first line, counted from 1. */
type OnRow = (row: CellRow, line: number) => void;

/**
 * Maximum length of a row that continues in the next piece, bytes. A longer text is not CSV, or its closing quote is missing. The maximum
 * limits the use of memory.
 */
const ROW_BYTES_MAX = 1024 * 1024;

/** Finds the rows of a CSV that arrives in pieces. A line break is LF or CRLF. A quoted line break belongs to the cell (RFC 4180). */
export class CsvRows {
  #rest: Uint8Array = new Uint8Array();
  #line = 1;
  readonly #row = new RowScanner({
    ...{ delimiter: ',', isRaw: true },
    ...{ linesMax: Number.POSITIVE_INFINITY, charsMax: Number.POSITIVE_INFINITY },
  });

  /**
   * Calls `onRow` for each row that ends in this piece, without blank lines. Returns the bytes in which these rows are. Throws
   * `OperatorError` if the rest exceeds `ROW_BYTES_MAX`.
   */
  push(piece: Uint8Array, onRow: OnRow): Uint8Array {
    return this.#read(Buffer.concat([this.#rest, piece]), false, onRow);
  }

  /** Works like `push` for the row after the last line break, if any. Throws `OperatorError` if the row ends within quotes. */
  end(onRow: OnRow): Uint8Array {
    return this.#read(this.#rest, true, onRow);
  }

  #read(text: Uint8Array, isLast: boolean, onRow: OnRow): Uint8Array {
    const row = this.#row;
    let at = 0;
    while (at < text.length) {
      const next = row.scan(text, at, text.length);
      if (!row.isTerminated && !isLast) break;
      if (row.isOpen) throw this.#endless();
      if (row.count > 1 || row.start(0) < row.end(0)) onRow(row, this.#line);
      this.#line += row.lines;
      at = next;
    }
    this.#rest = text.subarray(at);
    if (this.#rest.length > ROW_BYTES_MAX) throw this.#endless();
    return text;
  }

  #endless(): OperatorError {
    return new OperatorError(
      `the row that begins on line ${this.#line} has no end`,
      'Check the row for a quote that is never closed.',
    );
  }
}
