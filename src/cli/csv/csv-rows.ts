import { OperatorError } from '../../core/errors.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { CELLS_MAX } from '../../math/text-area.ts';

/** Called with a block of rows and the number of the block's first line, counted from 1. */
type OnBlock = (rows: RowScanner, line: number) => void;

/** Maximum length of a row that continues in the next piece, bytes. A longer text is not CSV, or its closing quote is missing. */
const ROW_BYTES_MAX = 1024 * 1024;

/** Finds the rows of a CSV that arrives in pieces. A line break is LF or CRLF. A quoted line break belongs to the cell (RFC 4180). */
export class CsvRows {
  /** The start of the last row, and space for the next piece. */
  #bytes = new Uint8Array(2 * ROW_BYTES_MAX);
  #length = 0;
  #line = 1;
  readonly #rows = new RowScanner({
    ...{ delimiter: ',', isRaw: true },
    ...{ linesMax: Number.POSITIVE_INFINITY, charsMax: Number.POSITIVE_INFINITY },
  });

  /** Calls `onBlock` for the rows that end in this piece. Throws `OperatorError` if the rest exceeds `ROW_BYTES_MAX`. */
  push(piece: Uint8Array, onBlock: OnBlock): void {
    for (let from = 0; from < piece.length; from += ROW_BYTES_MAX) {
      const part = piece.subarray(from, from + ROW_BYTES_MAX);
      this.#bytes.set(part, this.#length);
      this.#length += part.length;
      this.#read(false, onBlock);
    }
  }

  /** Works like `push` for the row after the last line break, if any. Throws `OperatorError` if the row ends within quotes. */
  end(onBlock: OnBlock): void {
    this.#read(true, onBlock);
  }

  #read(isLast: boolean, onBlock: OnBlock): void {
    const rows = this.#rows;
    let at = 0;
    while (at < this.#length) {
      const next = rows.scan(this.#bytes, at, this.#length, isLast);
      if (rows.isCrowded)
        throw new OperatorError(
          `the row that begins on line ${this.#line} has more than ${CELLS_MAX} cells`,
          'Check that the text is CSV.',
        );
      if (next === at) break;
      // Only the last row can be open, and it is then the whole rest.
      if (rows.rows > 0 && rows.isOpen) throw this.#endless();
      if (rows.rows > 0) onBlock(rows, this.#line);
      this.#line += rows.lines;
      at = next;
    }
    this.#bytes.copyWithin(0, at, this.#length);
    this.#length -= at;
    if (this.#length > ROW_BYTES_MAX) throw this.#endless();
  }

  #endless(): OperatorError {
    return new OperatorError(
      `the row that begins on line ${this.#line} has no end`,
      'Check the row for a quote that is never closed.',
    );
  }
}
