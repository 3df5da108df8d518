import { announceStep } from '../../core/event-loop-watchdog.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { unreadable } from '../rejections.ts';
import { ROW_CHARS_MAX } from './cells.ts';
import { FileHead, type TableHeader } from './file-head.ts';
import { lineBytesOf } from './lines.ts';

/** Maximum number of lines of a row. A cell with a comment has a few line breaks. */
const LINES_OF_ROW_MAX = 16;
/** A row has at most this many bytes: its characters have up to three each. */
const ROW_BYTES_MAX = 4 * ROW_CHARS_MAX;

/**
 * Yields the results of `work` for each block of rows below a header in a text of any length. `work` must read the rows at once, because another
 * scanner may use their memory after it returns. Throws a `ClientError` if no line is a header, or if a row is too long.
 */
export async function* mapBlocks<Result>(
  pieces: AsyncIterable<Uint8Array>,
  headerIn: (head: FileHead) => TableHeader | undefined,
  work: (row: RowScanner, header: TableHeader) => Result,
): AsyncGenerator<Result, void> {
  let header: TableHeader | undefined;
  let row: RowScanner | undefined;
  let rest: Uint8Array = new Uint8Array();
  for await (const { bytes } of lineBytesOf(pieces)) {
    announceStep('reading market data');
    // A cell in quotation marks may go on in the next lines.
    const text = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    let at = 0;
    if (!header) {
      header = headerIn(new FileHead(text));
      if (!header) throw unreadable('no header row was found');
      const { delimiter, end } = header;
      row = new RowScanner({ delimiter, linesMax: LINES_OF_ROW_MAX, charsMax: ROW_CHARS_MAX, isRaw: false });
      at = end;
    }
    while (at < text.length) {
      const next = row!.scan(text, at, text.length, false);
      if (next === at) break;
      at = next;
      yield work(row!, header);
    }
    // The next piece may have the memory of this piece.
    rest = new Uint8Array(text.subarray(at));
    if (rest.length > ROW_BYTES_MAX) throw unreadable(`a row has more than ${ROW_CHARS_MAX} characters`);
  }
  for (let at = 0; header && at < rest.length; ) {
    at = row!.scan(rest, at);
    yield work(row!, header);
  }
}
