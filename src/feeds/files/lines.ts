import { textIn } from '../../core/memoize-bytes.ts';
import { unreadable } from '../rejections.ts';

/** Maximum length of a line, characters. The bound limits the memory. Rows of tables are shorter. */
const LINE_LENGTH_MAX = 1024 * 1024;

/** Whole lines of a text, as UTF-8. */
export interface LineBytes {
  readonly bytes: Uint8Array;
  /** True if `bytes` is only the text's last line and this line has no line break. A last line without a line break may be incomplete. */
  readonly isUnterminated: boolean;
}

/**
 * Cuts a text that arrives in pieces of any size after line breaks (LF, CRLF or CR). The first bytes show its encoding, unless it continues
 * a text, which is then UTF-8. Throws a `ClientError` if the text is binary, or if a line is longer than LINE_LENGTH_MAX.
 */
export async function* lineBytesOf(
  pieces: AsyncIterable<Uint8Array>,
  isContinuation = false,
): AsyncGenerator<LineBytes> {
  let toUtf8: ToUtf8 | undefined = isContinuation ? (bytes) => bytes : undefined;
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of pieces) {
    let text = toUtf8 ? toUtf8(piece) : piece;
    // Only the first line of a piece is joined with the rest of the piece before, because a copy of all bytes takes as long as reading them.
    const feed = toUtf8 && rest.length > 0 ? text.indexOf(LF) : -1;
    if (feed >= 0) {
      yield { bytes: Buffer.concat([rest, text.subarray(0, feed + 1)]), isUnterminated: false };
      text = text.subarray(feed + 1);
      rest = text.subarray(0, 0);
    }
    rest = rest.length === 0 ? text : Buffer.concat([rest, text]);
    // The first bytes show the encoding, but may arrive in several pieces.
    if (!toUtf8 && rest.length < UTF8_BOM.length) continue;
    if (!toUtf8) {
      toUtf8 = converterOf(rest);
      if (!toUtf8) throw unreadable('the file is not text');
      rest = toUtf8(rest);
    }
    const end = endOfLines(rest);
    const bytes = rest.subarray(0, end);
    // The next piece may have the memory of this piece.
    rest = new Uint8Array(rest.subarray(end));
    if (rest.length > LINE_LENGTH_MAX && textIn(rest, 0, rest.length).length > LINE_LENGTH_MAX)
      throw unreadable(`a line has more than ${LINE_LENGTH_MAX} characters`);
    if (end > 0) yield { bytes, isUnterminated: false };
  }
  if (toUtf8) rest = Buffer.concat([rest, toUtf8(new Uint8Array(), true)]);
  const end = endOfLines(rest);
  if (end > 0) yield { bytes: rest.subarray(0, end), isUnterminated: false };
  if (end < rest.length) yield { bytes: rest.subarray(end), isUnterminated: rest.at(-1) !== CR };
}

/** Returns a whole text as UTF-8 without a byte-order mark, or `undefined` for binary data. */
export function utf8Of(bytes: Uint8Array): Uint8Array | undefined {
  return converterOf(bytes)?.(bytes, true);
}

type ToUtf8 = (bytes: Uint8Array, isLast?: boolean) => Uint8Array;

/**
 * Returns a function that converts the pieces of a text with the start `head` to UTF-8 without a byte-order mark, or `undefined` for binary
 * data. Without a mark of UTF-16, a text is UTF-8. Bytes that are not valid UTF-8 damage only their own row.
 */
function converterOf(head: Uint8Array): ToUtf8 | undefined {
  const mark = `${head[0]} ${head[1]}`;
  const utf16 = mark === '255 254' ? 'utf-16le' : mark === '254 255' ? 'utf-16be' : undefined;
  if (utf16) {
    const decoder = new TextDecoder(utf16);
    return (bytes, isLast = false) => Buffer.from(decoder.decode(bytes, { stream: !isLast }));
  }
  if (head.subarray(0, BINARY_PROBE_BYTES).includes(0)) return undefined;
  let start = UTF8_BOM.every((byte, i) => head[i] === byte) ? UTF8_BOM.length : 0;
  return (bytes) => {
    const text = bytes.subarray(start);
    start = 0;
    return text;
  };
}

/** Returns the index after the last line break. A CR at the end of a piece may be the first half of a CRLF. */
function endOfLines(text: Uint8Array): number {
  const feed = text.lastIndexOf(LF) + 1;
  return feed + text.subarray(feed, -1).lastIndexOf(CR) + 1;
}

const [LF, CR] = [0x0a, 0x0d];
const UTF8_BOM = [0xef, 0xbb, 0xbf];

/** Returns the text with `\n` as its line break. */
export function withPlainBreaks(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

/** Number of bytes at the start of a file in which a zero byte is searched. Only binary data contains zero bytes. */
const BINARY_PROBE_BYTES = 8_192;

/** Returns whether a file that begins with `head` is UTF-16 without a byte-order mark: every second byte of ASCII text is 0. */
export function isUnmarkedUtf16(head: Uint8Array): boolean {
  const probe = head.subarray(0, head.length < UTF16_PROBE_BYTES ? head.length & ~1 : UTF16_PROBE_BYTES);
  const zeros = (from: number) => probe.filter((byte, i) => i % 2 === from && byte === 0).length;
  const isText = (from: number) =>
    probe.every((byte, i) => i % 2 !== from || (byte >= 0x20 && byte < 0x7f) || isBreak(byte));
  const half = probe.length / 2;
  return half > 0 && ((zeros(0) === half && isText(1)) || (zeros(1) === half && isText(0)));
}

const UTF16_PROBE_BYTES = 512;

function isBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d || byte === 0x09;
}
