/** Maximum share of taken slots. A search in a fuller table takes more steps. */
const FILL_MAX = 0.8;

/**
 * An index of 64-bit digests that takes 5 bytes for each of `capacity` digests. A slot has only the high word of a digest, and the low word
 * determines the place of the slot. So `has` is wrong about an unknown digest once in some hundred million calls. One table, and not one for
 * each size, because each access to a large table waits for memory.
 */
export class DigestIndex {
  readonly #table: Uint32Array;
  #free: number;

  constructor(capacity: number) {
    this.#table = new Uint32Array(Math.ceil(capacity / FILL_MAX) + 1);
    this.#free = capacity;
  }

  get bytes(): number {
    return this.#table.byteLength;
  }

  /** Returns false if the digest was never added. Returns true if it was, and very rarely otherwise. */
  has(low: number, high: number): boolean {
    return this.#table[this.#slotOf(low, high)] !== 0;
  }

  /** Adds digests, with two words of 32 bits for each digest. Returns false if the index is full. */
  addAll(digests: Uint32Array): boolean {
    for (let i = 0; i < digests.length; i += 2) {
      const high = digests[i + 1]!;
      const slot = this.#slotOf(digests[i]!, high);
      if (this.#table[slot] !== 0) continue;
      if (this.#free-- <= 0) return false;
      this.#table[slot] = high || 1;
    }
    return true;
  }

  /** Returns the slot of a digest, or the free slot in which it belongs. A free slot is 0, so the high word 0 counts as 1. */
  #slotOf(low: number, high: number): number {
    const table = this.#table;
    const value = high || 1;
    for (let slot = Math.floor((low / 2 ** 32) * table.length); ; slot = slot + 1 === table.length ? 0 : slot + 1) {
      if (table[slot] === value || table[slot] === 0) return slot;
    }
  }
}
