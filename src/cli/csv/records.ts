import { OperatorError } from '../../core/errors.ts';

/** A record of a CSV: the text without the line break, and the number of the record's first line, counted from 1. */
export interface CsvRecord {
  readonly text: string;
  readonly line: number;
}

/**
 * Maximum length of a record that continues in the next chunk, characters. A longer text is not CSV, or its closing quote is missing. The
 * maximum limits the use of memory.
 */
const RECORD_LENGTH_MAX = 1024 * 1024;

const QUOTE = '"';

/** Splits a CSV that arrives in chunks into records. A line break is LF or CRLF. A quoted line break belongs to the cell (RFC 4180). */
export class RecordSplitter {
  #rest = '';
  #line = 1;

  /** Returns the records that end in this chunk, without blank lines. Throws `OperatorError` if the rest exceeds `RECORD_LENGTH_MAX`. */
  push(piece: string): CsvRecord[] {
    const text = this.#rest + piece;
    const records: CsvRecord[] = [];
    let start = 0;
    let scanned = 0;
    let lines = 1;
    let open = false;
    let quote = text.indexOf(QUOTE);
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', scanned)) {
      if (quote >= 0 && quote < scanned) quote = text.indexOf(QUOTE, scanned);
      if (open || (quote >= 0 && quote < end)) open = isOpenAt(text, scanned, end, open);
      scanned = end + 1;
      if (open) {
        lines++;
        continue;
      }
      this.#add(records, text.slice(start, end));
      this.#line += lines;
      lines = 1;
      start = scanned;
    }
    this.#rest = text.slice(start);
    if (this.#rest.length > RECORD_LENGTH_MAX) throw this.#endless();
    return records;
  }

  /** Returns the record after the last line break, if any. Throws `OperatorError` if the record ends within quotes. */
  end(): CsvRecord[] {
    const text = this.#rest;
    if (text.includes(QUOTE) && isOpenAt(text, 0, text.length, false)) throw this.#endless();
    const records: CsvRecord[] = [];
    this.#add(records, text);
    this.#rest = '';
    return records;
  }

  #add(records: CsvRecord[], text: string): void {
    const record = text.endsWith('\r') ? text.slice(0, -1) : text;
    if (record !== '') records.push({ text: record, line: this.#line });
  }

  #endless(): OperatorError {
    return new OperatorError(
      `the row that begins on line ${this.#line} has no end`,
      'Check the row for a quote that is never closed.',
    );
  }
}

/** Returns the cells of a record unchanged, with their quotes. */
export function cellsOf(record: string): string[] {
  if (!record.includes(QUOTE)) return record.split(',');
  const cells: string[] = [];
  for (let start = 0; ; ) {
    const end = record.indexOf(',', record[start] === QUOTE ? afterQuotes(record, start + 1, record.length) : start);
    if (end < 0) return [...cells, record.slice(start)];
    cells.push(record.slice(start, end));
    start = end + 1;
  }
}

/** Returns the content of a cell without its quotes and without spaces at its ends. */
export function contentOf(cell: string): string {
  const text = cell.trim();
  const quoted = text.length > 1 && text.startsWith(QUOTE) && text.endsWith(QUOTE);
  return quoted ? text.slice(1, -1).replaceAll('""', QUOTE).trim() : text;
}

/**
 * Returns whether quotes are open at index `end` of a text. `open` is true if index `start` is within quotes. If `open` is false, a cell
 * begins at `start`.
 */
function isOpenAt(text: string, start: number, end: number, open: boolean): boolean {
  for (let i = start; ; ) {
    if (open || text[i] === QUOTE) i = afterQuotes(text, open ? i : i + 1, end);
    if (i > end) return true;
    open = false;
    const comma = text.indexOf(',', i);
    if (comma < 0 || comma >= end) return false;
    i = comma + 1;
  }
}

/**
 * Returns the index after the closing quote of a cell. `from` is an index within the quotes of the cell. Returns `end + 1` if there is no
 * closing quote before `end`. A doubled quote is a quote character of the cell, and not a closing quote.
 */
function afterQuotes(text: string, from: number, end: number): number {
  for (;;) {
    const quote = text.indexOf(QUOTE, from);
    if (quote < 0 || quote >= end) return end + 1;
    if (text[quote + 1] !== QUOTE) return quote + 1;
    from = quote + 2;
  }
}
