/** Maximum number of trades in each of two tables of recent trades. Equal rows of a tape are close to each other. */
const RECENT_MAX = 20_000;
/** Number of slots of a table, a power of two. At most a third of them is taken. */
const SLOTS = 2 ** 16;

/**
 * Derives the ids of the prints of one file without an id column: the time and a digest of the trade, and `-2`, `-3` … for further equal
 * rows. So a print keeps its id if its file is read twice or two files overlap, and equal fills are all stored. Values that may differ in a
 * later copy are left out: `canceled`, condition, flags, quotes and Greeks. A canceled row has the id of the first equal print that is not
 * yet canceled. A trade is forgotten after 20,000 to 40,000 others, so that the memory is bounded. A later equal row is then the same print.
 */
export class PrintIdentity {
  /** The bytes of the last id. */
  readonly id = new Uint8Array(64);
  #recent = new TradeTable();
  #older = new TradeTable();
  readonly #hash = new BigUint64Array(1);
  readonly #words = new Uint32Array(this.#hash.buffer);

  /**
   * Writes the id of a row and trade to `id`, and returns its length. It begins with `at`, so that ids are added at the end of the index.
   */
  of(at: number, trade: Uint8Array, isCanceled: boolean): number {
    this.#hash[0] = Bun.hash.xxHash64(trade);
    const low = this.#words[0]!;
    const high = this.#words[1]!;
    let slot = this.#recent.find(low, high);
    if (slot < 0) {
      const older = this.#older;
      const before = older.find(low, high);
      const [prints, canceled] = before < 0 ? [0, 0] : [older.prints[before]!, older.canceled[before]!];
      if (this.#recent.count >= RECENT_MAX) {
        [this.#older, this.#recent] = [this.#recent, older];
        older.clear();
        slot = older.find(low, high);
      }
      slot = this.#recent.add(~slot, low, high, prints, canceled);
    }
    const { prints, canceled } = this.#recent;
    const cancelsOne = isCanceled && canceled[slot]! < prints[slot]!;
    if (!cancelsOne) prints[slot]!++;
    if (isCanceled) canceled[slot]!++;
    const ordinal = cancelsOne ? canceled[slot]! : prints[slot]!;
    let end = writeWhole(at, 36, this.id, 0);
    this.id[end++] = DASH;
    end = writeWords36(low, high, this.id, end);
    if (ordinal === 1) return end;
    this.id[end++] = DASH;
    return writeWhole(ordinal, 10, this.id, end);
  }
}

/** Counts of the rows of recent trades, in a hash table. The key of a trade is its digest of two words. */
class TradeTable {
  count = 0;
  /** Number of prints that the rows of a trade create, by slot. A row that cancels another one creates none. 0 marks a free slot. */
  readonly prints = new Uint32Array(SLOTS);
  /** Number of canceled prints. The earliest prints are canceled first. */
  readonly canceled = new Uint32Array(SLOTS);
  readonly #keys = new Uint32Array(2 * SLOTS);

  /** Returns the slot of a trade, or the bitwise complement (`~`) of the slot that is free for the trade. */
  find(low: number, high: number): number {
    const keys = this.#keys;
    for (let slot = low & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      if (this.prints[slot] === 0) return ~slot;
      if (keys[2 * slot] === low && keys[2 * slot + 1] === high) return slot;
    }
  }

  /** Adds a trade to a free slot. The caller then counts at least one print. */
  add(slot: number, low: number, high: number, prints: number, canceled: number): number {
    this.#keys[2 * slot] = low;
    this.#keys[2 * slot + 1] = high;
    this.prints[slot] = prints;
    this.canceled[slot] = canceled;
    this.count++;
    return slot;
  }

  clear(): void {
    this.count = 0;
    this.prints.fill(0);
  }
}

const DASH = 0x2d;
const DIGITS_36 = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz');

/** Writes a whole number from 0 to 2^53 in a base of up to 36 from the index `at` on. Returns the index after the last digit. */
export function writeWhole(value: number, base: number, into: Uint8Array, at: number): number {
  let end = at;
  for (let rest = value; rest >= base; rest = Math.floor(rest / base)) end++;
  let rest = value;
  for (let i = end; i >= at; i--) {
    const next = Math.floor(rest / base);
    into[i] = DIGITS_36[rest - base * next]!;
    rest = next;
  }
  return end + 1;
}

/** Writes a whole number of two 32-bit words in base 36. Returns the index after the last digit. */
function writeWords36(low: number, high: number, into: Uint8Array, at: number): number {
  // The number is divided by 36^5 twice. The dividend of each step is exact: a remainder below 36^5 before the next 16 bits.
  const a = Math.floor(high / PIECE);
  let rest = (high - PIECE * a) * 65_536 + (low >>> 16);
  const b = Math.floor(rest / PIECE);
  rest = (rest - PIECE * b) * 65_536 + (low & 0xffff);
  const c = Math.floor(rest / PIECE);
  const last = rest - PIECE * c;
  // Now the number is (a * 2^32 + b * 2^16 + c) * 36^5 + last, with the quotient below 2^39.
  const quotient = a * 4_294_967_296 + b * 65_536 + c;
  const first = Math.floor(quotient / PIECE);
  const middle = quotient - PIECE * first;
  if (first > 0) return writePiece(last, into, writePiece(middle, into, writeWhole(first, 36, into, at)));
  if (middle > 0) return writePiece(last, into, writeWhole(middle, 36, into, at));
  return writeWhole(last, 36, into, at);
}

/** Writes five digits in base 36. */
function writePiece(value: number, into: Uint8Array, at: number): number {
  let rest = value;
  for (let i = at + 4; i >= at; i--) {
    const next = Math.floor(rest / 36);
    into[i] = DIGITS_36[rest - 36 * next]!;
    rest = next;
  }
  return at + 5;
}

const PIECE = 36 ** 5;
