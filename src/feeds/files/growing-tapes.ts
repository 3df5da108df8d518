import type { Content } from './opened-file.ts';
import { type PrintsDelivery, Tape } from './prints-csv.ts';
import { RowsRefused } from './rows-refused.ts';

/** Tapes that go on being written are few; where a reader left one takes some ten megabytes, most of it which trades it has seen. */
const TAPES_MAX = 4;
/** Looked through at a time for the last line break. */
const PIECE_BYTES = 64 * 1024;

/** Where the reading of a tape ended. */
interface Left {
  readonly version: string;
  readonly tape: Tape;
  readonly refused: RowsRefused;
  /** All whole lines, from the first byte on, and their digest. */
  readonly bytes: number;
  readonly digest: string;
}

/**
 * Tapes that grow, each read on from where it was left, so that a day's costs its length and not the square of it. The reader is
 * kept with its memory of the rows it has seen, without which the twin of an earlier row would pass for a copy; after a restart the
 * tape is read once from the top. What was read before is read on only where its bytes are the same to the last: they are digested
 * again, at some 1.5 GB a second, since a tape may also be rewritten in place.
 */
export class GrowingTapes {
  readonly #left = new Map<string, Left>();

  /**
   * The prints of a version of a tape that are new since the last one, or all of them.
   *
   * @param isKept whether what was read of a version has been stored.
   * @returns how many rows of the tape are no prints, and whether the version was there to its end.
   */
  async *read(
    file: Content,
    version: string,
    nowMs: number,
    isKept: (version: string) => boolean,
  ): AsyncGenerator<PrintsDelivery, { refused: RowsRefused; isWhole: boolean }> {
    const { origin, size } = file.facts;
    const left = this.#left.get(origin);
    this.#left.delete(origin);
    const hasher = new Bun.CryptoHasher('sha256');
    const goesOn = left !== undefined && isKept(left.version) && (await beginsWith(file, left, hasher));
    const { tape, refused, bytes: from } = goesOn ? left : { tape: new Tape(), refused: new RowsRefused(), bytes: 0 };
    const digested = goesOn ? hasher : new Bun.CryptoHasher('sha256');

    const end = (await isUtf16(file)) ? 0 : await endOfLines(file, from, size);
    let reached = from;
    async function* lines() {
      for await (const piece of file.pieces(from, end)) {
        digested.update(piece);
        reached += piece.length;
        yield piece;
      }
    }
    if (end > from) yield* counted(tape.read(lines(), nowMs), refused);
    const digest = digested.digest('hex');

    // Of a last line without a break nothing is kept in mind: it will be read again with its rest, unless it is a print already.
    const told = refused.copy();
    let isOpen = false;
    if (end < size || end === 0) {
      for await (const delivery of counted(tape.read(file.pieces(end, size), nowMs), told)) {
        isOpen ||= delivery.prints.length > 0;
        yield delivery;
      }
    }
    const isWhole = reached === Math.max(from, end);
    if (!isOpen && isWhole && end > 0) this.#keep(origin, { version, tape, refused, bytes: end, digest });
    return { refused: told, isWhole };
  }

  #keep(origin: string, left: Left): void {
    this.#left.set(origin, left);
    const [oldest] = this.#left.keys();
    if (this.#left.size > TAPES_MAX) this.#left.delete(oldest!);
  }
}

async function* counted(deliveries: AsyncIterable<PrintsDelivery>, refused: RowsRefused) {
  for await (const delivery of deliveries) {
    refused.add(delivery);
    yield delivery;
  }
}

/** Whether a file begins with the bytes that were read of it; the hasher has taken them in then. */
async function beginsWith(file: Content, { bytes, digest }: Left, hasher: Bun.CryptoHasher): Promise<boolean> {
  for await (const piece of file.pieces(0, bytes)) hasher.update(piece);
  return hasher.copy().digest('hex') === digest;
}

/** Where the last whole line ends that begins at or after `from`; `from` where there is none. */
async function endOfLines(file: Content, from: number, to: number): Promise<number> {
  for (let end = to; end > from; end -= PIECE_BYTES) {
    const start = Math.max(from, end - PIECE_BYTES);
    const at = (await file.slice(start, end)).lastIndexOf(LINE_FEED);
    if (at >= 0) return start + at + 1;
  }
  return from;
}

const LINE_FEED = 0x0a;

/** By its byte-order mark: there half a character can look like the end of a line. */
async function isUtf16(file: Content): Promise<boolean> {
  const [first, second] = await file.slice(0, 2);
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
