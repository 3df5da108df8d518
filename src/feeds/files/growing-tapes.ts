import type { Content } from './opened-file.ts';
import { PrintsCsvReader, type PrintsDelivery } from './prints-csv.ts';
import { RejectedRows } from './rejected-rows.ts';

/** Few tapes grow at the same time. The state of a reader takes some 10 MB, most of it the trades that it has seen. */
const TAPES_MAX = 4;
/** Bytes that are searched at a time for the last line break. */
const PIECE_BYTES = 64 * 1024;

/** The state after a read of a tape. The next read continues from it. */
interface ReadState {
  readonly version: string;
  readonly tape: PrintsCsvReader;
  readonly rejectedRows: RejectedRows;
  /** Length in bytes of all whole lines from the start of the file. `digest` is the digest of these bytes. */
  readonly bytes: number;
  readonly digest: string;
}

/**
 * Reads tapes that grow, each from where the last read ended, so that the cost of a day's tape grows with its length and not with the
 * square of its length. The reader stays in memory with the rows that it has seen: without them, a row that equals an earlier one would be
 * taken for a copy. After a restart, the tape is read once from the start. A read continues only if the bytes before its start have not
 * changed, because a tape may also be rewritten in place. To verify this, these bytes are digested again, at some 1.5 GB a second.
 */
export class GrowingTapes {
  readonly #states = new Map<string, ReadState>();

  /**
   * Yields the prints of a version of a tape that are new since the version before, or all of them.
   *
   * @param isStored whether the contents of a version have been stored.
   * @returns how many rows of the tape are not prints, and whether the tape was still as long as this version.
   */
  async *read(
    file: Content,
    version: string,
    nowMs: number,
    isStored: (version: string) => boolean,
  ): AsyncGenerator<PrintsDelivery, { rejectedRows: RejectedRows; isWhole: boolean }> {
    const { origin, size } = file.facts;
    const state = this.#states.get(origin);
    this.#states.delete(origin);
    const hasher = new Bun.CryptoHasher('sha256');
    const continues = state !== undefined && isStored(state.version) && (await beginsWith(file, state, hasher));
    const {
      tape,
      rejectedRows,
      bytes: from,
    } = continues ? state : { tape: new PrintsCsvReader(), rejectedRows: new RejectedRows(), bytes: 0 };
    const digested = continues ? hasher : new Bun.CryptoHasher('sha256');

    const end = (await isUtf16(file)) ? 0 : await endOfLines(file, from, size);
    let position = from;
    async function* lines() {
      for await (const piece of file.pieces(from, end)) {
        digested.update(piece);
        position += piece.length;
        yield piece;
      }
    }
    if (end > from) yield* addRejected(tape.read(lines(), nowMs), rejectedRows);
    const digest = digested.digest('hex');

    // A last line without a line break changes no state: it is read again once it is complete. If it is a print already, it is delivered
    // now, and the next read starts anew.
    const total = rejectedRows.copy();
    let isLastLineDelivered = false;
    if (end < size || end === 0) {
      for await (const delivery of addRejected(tape.read(file.pieces(end, size), nowMs), total)) {
        isLastLineDelivered ||= delivery.prints.length > 0;
        yield delivery;
      }
    }
    const isWhole = position === Math.max(from, end);
    if (!isLastLineDelivered && isWhole && end > 0) {
      this.#store(origin, { version, tape, rejectedRows, bytes: end, digest });
    }
    return { rejectedRows: total, isWhole };
  }

  #store(origin: string, state: ReadState): void {
    this.#states.set(origin, state);
    const [oldest] = this.#states.keys();
    if (this.#states.size > TAPES_MAX) this.#states.delete(oldest!);
  }
}

/** Passes deliveries on, and counts their rejected rows. */
async function* addRejected(deliveries: AsyncIterable<PrintsDelivery>, rejectedRows: RejectedRows) {
  for await (const delivery of deliveries) {
    rejectedRows.add(delivery);
    yield delivery;
  }
}

/** Whether a file begins with the bytes that were read before. Afterwards, `hasher` has digested these bytes. */
async function beginsWith(file: Content, { bytes, digest }: ReadState, hasher: Bun.CryptoHasher): Promise<boolean> {
  for await (const piece of file.pieces(0, bytes)) hasher.update(piece);
  return hasher.copy().digest('hex') === digest;
}

/** The end of the last whole line after `from`. Returns `from` if there is no whole line. */
async function endOfLines(file: Content, from: number, to: number): Promise<number> {
  for (let end = to; end > from; end -= PIECE_BYTES) {
    const start = Math.max(from, end - PIECE_BYTES);
    const i = (await file.slice(start, end)).lastIndexOf(LINE_FEED);
    if (i >= 0) return start + i + 1;
  }
  return from;
}

const LINE_FEED = 0x0a;

/** Detected by the byte-order mark. In UTF-16, half a character can look like a line break. */
async function isUtf16(file: Content): Promise<boolean> {
  const [first, second] = await file.slice(0, 2);
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
