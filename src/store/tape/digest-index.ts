/** Numbers of slots of the first table and of each further table, powers of two. Most days fit into the first. */
const SLOTS_FIRST = 2 ** 20;
const SLOTS_MORE = 2 ** 22;
/** Maximum share of taken slots. A search in a fuller table takes more steps. */
const FILL_MAX = 0.8;

/**
 * An index of 64-bit digests that takes 5 bytes for each digest of a full table. A slot has only the high word of a digest, and the low word
 * determines the place of the slot. So `has` is wrong about an unknown digest once in some hundred million calls. A full table is never
 * copied: another table is added. Tables are few and large, because each search in a table waits for memory.
 */
export class DigestIndex {
  readonly #tables: Uint32Array[] = [];
  #free = 0;

  get bytes(): number {
    return this.#tables.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Returns false if the digest was never added. Returns true if it was, and very rarely otherwise. */
  has(low: number, high: number): boolean {
    for (let i = 0; i < this.#tables.length; i++) {
      const table = this.#tables[i]!;
      if (table[slotOf(table, low, high)] !== 0) return true;
    }
    return false;
  }

  /** Adds digests, with two words of 32 bits for each digest. */
  addAll(digests: Uint32Array): void {
    for (let i = 0; i < digests.length; i += 2) {
      const [low, high] = [digests[i]!, digests[i + 1]!];
      if (this.#free === 0) this.#addTable();
      const table = this.#tables.at(-1)!;
      const slot = slotOf(table, low, high);
      if (table[slot] !== 0) continue;
      table[slot] = high || 1;
      this.#free--;
    }
  }

  #addTable(): void {
    const slots = this.#tables.length === 0 ? SLOTS_FIRST : SLOTS_MORE;
    this.#tables.push(new Uint32Array(slots));
    this.#free = Math.floor(FILL_MAX * slots);
  }
}

/** Returns the slot of a digest, or the free slot in which it belongs. A free slot is 0, so the high word 0 counts as 1. */
function slotOf(table: Uint32Array, low: number, high: number): number {
  const mask = table.length - 1;
  const value = high || 1;
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    if (table[slot] === value || table[slot] === 0) return slot;
  }
}
