import type { Content } from './opened-file.ts';
import { PrintsCsvReader, type PrintsDelivery } from './prints-csv.ts';
import { RejectedRows } from './rejected-rows.ts';

/** Maximum number of tapes whose state is in memory. A state takes some 10 MB. Few tapes grow at the same time. */
const TAPES_MAX = 4;
/** Number of bytes that the search for the last line break reads at once. */
const PIECE_BYTES = 64 * 1024;

/** The state of a tape after it was read. The next read of the tape continues from this state. */
interface ReadState {
  readonly version: string;
  readonly tape: PrintsCsvReader;
  readonly rejectedRows: RejectedRows;
  /** Number of bytes from the start of the file to the end of the last whole line. */
  readonly bytes: number;
  /** SHA-256 digest of the first `bytes` bytes of the file. */
  readonly digest: string;
}

/**
 * Reads tapes that grow. Each read starts where the one before ended, so that the time does not grow with the square of the length. The
 * reader of a tape stays in memory, because it counts equal rows. A tape may also be rewritten in place, so a read continues only if a digest
 * of all earlier bytes (1.5 GB per second) has not changed.
 */
export class GrowingTapes {
  readonly #states = new Map<string, ReadState>();

  /**
   * Yields the prints that were added to a tape since its last read, or all of them. `isStored` tells whether the contents of a version have
   * been stored. Returns the counts of all rejected rows, and whether the file still had all whole lines of this version.
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
    const { tape, rejectedRows, from } = continues
      ? { ...state, from: state.bytes }
      : { tape: new PrintsCsvReader(file.facts.stated), rejectedRows: new RejectedRows(), from: 0 };
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

    // A last line without a line break may be incomplete. If it can be read as a print already, the next read starts at the beginning.
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

/** Yields the deliveries unchanged, and adds their rejected rows to the counts. */
async function* addRejected(deliveries: AsyncIterable<PrintsDelivery>, rejectedRows: RejectedRows) {
  for await (const delivery of deliveries) {
    rejectedRows.add(delivery);
    yield delivery;
  }
}

/** Returns whether a file still begins with the bytes of the last read. `hasher` receives these bytes. */
async function beginsWith(file: Content, { bytes, digest }: ReadState, hasher: Bun.CryptoHasher): Promise<boolean> {
  for await (const piece of file.pieces(0, bytes)) hasher.update(piece);
  return hasher.copy().digest('hex') === digest;
}

/** Returns the end of the last whole line between the positions `from` and `to`. Returns `from` if there is no whole line. */
async function endOfLines(file: Content, from: number, to: number): Promise<number> {
  for (let end = to; end > from; end -= PIECE_BYTES) {
    const start = Math.max(from, end - PIECE_BYTES);
    const i = (await file.slice(start, end)).lastIndexOf(LINE_FEED);
    if (i >= 0) return start + i + 1;
  }
  return from;
}

const LINE_FEED = 0x0a;

/** Returns whether the file is marked as UTF-16. Such a tape is read from the start, because half a character can look like a line break. */
async function isUtf16(file: Content): Promise<boolean> {
  const [first, second] = await file.slice(0, 2);
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
