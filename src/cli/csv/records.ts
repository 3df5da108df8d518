import { OperatorError } from '../../errors.ts';

/** A record of a CSV as it stands there, without its line break, and the line it begins on (the first is 1). */
export interface CsvRecord {
  readonly text: string;
  readonly line: number;
}

/** No row of figures is longer; what is, has a quote that never closes, or is no CSV. Bounds what is held in memory. */
const RECORD_LENGTH_MAX = 1024 * 1024;

const QUOTE = '"';

/** Cuts a CSV that comes in pieces into records. Line breaks are LF or CRLF, and part of a cell within quotes (RFC 4180). */
export class RecordSplitter {
  #rest = '';
  #line = 1;

  /** The records that end in this piece, blank lines left out. Throws `OperatorError` where one is too long to be any. */
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

  /** What stands after the last line break. Throws `OperatorError` where it ends within quotes. */
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
      'is there a quote that never closes?',
    );
  }
}

/** Cells of a record as they stand there, quotes and all. */
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

/** What a cell says: without the quotes around it and the blanks at its ends. */
export function contentOf(cell: string): string {
  const text = cell.trim();
  const quoted = text.length > 1 && text.startsWith(QUOTE) && text.endsWith(QUOTE);
  return quoted ? text.slice(1, -1).replaceAll('""', QUOTE).trim() : text;
}

/** Whether quotes are open at `end`, from what is known at `start`: within quotes, or at the beginning of a cell. */
function isOpenAt(text: string, start: number, end: number, open: boolean): boolean {
  for (let at = start; ; ) {
    if (open || text[at] === QUOTE) at = afterQuotes(text, open ? at : at + 1, end);
    if (at > end) return true;
    open = false;
    const comma = text.indexOf(',', at);
    if (comma < 0 || comma >= end) return false;
    at = comma + 1;
  }
}

/** Where the quotes that are open at `at` have closed; beyond `end` where they have not. A doubled quote is one within. */
function afterQuotes(text: string, at: number, end: number): number {
  for (;;) {
    const quote = text.indexOf(QUOTE, at);
    if (quote < 0 || quote >= end) return end + 1;
    if (text[quote + 1] !== QUOTE) return quote + 1;
    at = quote + 2;
  }
}
