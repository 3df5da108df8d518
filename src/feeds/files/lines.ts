import { unreadable } from '../refused.ts';

export interface Lines {
  /** Whole lines, without their breaks (LF, CRLF or CR). */
  readonly lines: readonly string[];
  /** Whether this is the last line, alone, without a break: the text ends within it, or just after it. */
  readonly open: boolean;
}

/** No row of a table is longer. Bounds what is held in memory. */
const LINE_LENGTH_MAX = 1024 * 1024;

/**
 * Lines of a text that comes in pieces of any size: memory does not grow with it. Throws a Failure for binaries and for lines that
 * have no end.
 *
 * @param decoder where the text goes on from one whose encoding is known.
 */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>, decoder?: TextDecoder): AsyncGenerator<Lines> {
  let first: Uint8Array = new Uint8Array();
  let rest = '';
  for await (const piece of pieces) {
    // The encoding shows in the first bytes, which need not come together.
    if (!decoder) first = Buffer.concat([first, piece]);
    if (!decoder && first.length < MARK_BYTES) continue;
    const bytes = decoder ? piece : first;
    decoder ??= decoderOf(first);
    if (!decoder) throw unreadable('it is no text');
    rest += decoder.decode(bytes, { stream: true });
    // A return at the end may be half a break.
    const returned = rest.endsWith('\r') ? '\r' : '';
    const lines = withPlainBreaks(returned ? rest.slice(0, -1) : rest).split('\n');
    rest = lines.pop()! + returned;
    if (rest.length > LINE_LENGTH_MAX) throw unreadable(`a line of more than ${LINE_LENGTH_MAX} characters`);
    if (lines.length > 0) yield { lines, open: false };
  }
  rest += decoder ? decoder.decode() : new TextDecoder().decode(first);
  const lines = withPlainBreaks(rest).split('\n');
  const last = lines.pop()!;
  if (lines.length > 0) yield { lines, open: false };
  if (last !== '') yield { lines: [last], open: true };
}

/** The text with its lines ended by `\n`. */
export function withPlainBreaks(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

const MARK_BYTES = 2;
const BINARY_PROBE_BYTES = 8_192;

/** Whether it is UTF-16 text without the mark that would say so: of plain text every other byte is 0. */
export function isUnmarkedUtf16(head: Uint8Array): boolean {
  const probe = head.subarray(0, head.length < UTF16_PROBE_BYTES ? head.length & ~1 : UTF16_PROBE_BYTES);
  const zeros = (from: number) => probe.filter((byte, at) => at % 2 === from && byte === 0).length;
  const isText = (from: number) =>
    probe.every((byte, at) => at % 2 !== from || (byte >= 0x20 && byte < 0x7f) || isBreak(byte));
  const half = probe.length / 2;
  return half > 0 && ((zeros(0) === half && isText(1)) || (zeros(1) === half && isText(0)));
}

const UTF16_PROBE_BYTES = 512;

function isBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * For UTF-8, or UTF-16 where a byte-order mark says so; undefined for binaries. Bytes that are no UTF-8 become `U+FFFD` and spoil
 * only their row.
 */
export function decoderOf(head: Uint8Array): TextDecoder | undefined {
  const mark = `${head[0]} ${head[1]}`;
  const utf16 = mark === '255 254' ? 'utf-16le' : mark === '254 255' ? 'utf-16be' : undefined;
  if (!utf16 && head.subarray(0, BINARY_PROBE_BYTES).includes(0)) return undefined;
  return new TextDecoder(utf16 ?? 'utf-8');
}
