import type { Database } from 'bun:sqlite';
import type { TapeColumns } from '../../market/tape-columns.ts';
import { decodeColumns, decodeIds } from './tape-codec.ts';
import { endOfDay, rangeOfDay, type TapeDay, type TapeId } from './tape-days.ts';
import { type CANCELED, type CORRECTED, type TapeEntries, validRows } from './tape-entries.ts';

/** A part's row in the table `tape_parts`, without the blobs. A valid print was neither canceled nor corrected. */
export interface Part {
  readonly id: number;
  readonly day: string;
  readonly fromAt: number;
  readonly toAt: number;
  readonly place: number;
  /** Prints of a layer arrived after the prints of lower layers with the same times. Parts of one layer share at most one moment. */
  readonly layer: number;
  /** The numbers of all prints and of valid prints in the part. */
  readonly entries: number;
  readonly valid: number;
  /** The number of prints that were valid when the part was written, but are no longer valid. */
  readonly retired: number;
  /** The time of the last print that was valid when the part was written, ms since the epoch. */
  readonly lastAt: number | null;
}

/** Maximum number of decoded parts in the cache. A requested period usually begins and ends within a part, and is requested repeatedly. */
const CACHED_PARTS_MAX = 4;
/** Maximum number of digest words in the cache, enough for half a million prints. */
const CACHED_ID_WORDS_MAX = 1_000_000;
/** Maximum memory of all indexes, bytes. The index of the day that is used now is kept, however large it is. */
const INDEX_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The functions that read the packed tape. The tape is packed as columns, in parts of about ten thousand prints. The parts of a day are
 * ordered by the columns `to_at`, `from_at`, `layer` and `place`. `byArrival` has the order of prints of the same moment.
 */
export type TapeParts = ReturnType<typeof tapeParts>;

/** Creates the functions that read parts. Days with more prints than `indexedFrom` have an index of digests while prints are added. */
export function tapeParts(db: Database, indexedFrom: number) {
  const RETIRED = '(SELECT count(*) FROM tape_retired WHERE part = id)';
  const HEAD = `id, day, from_at AS fromAt, to_at AS toAt, place, layer, entries, standing - ${RETIRED} AS valid, ${RETIRED} AS retired,
    last_at AS lastAt`;
  const WITHIN = 'simulated = ? AND underlying = ? AND to_at >= ? AND to_at <= ? AND from_at <= ?';
  const ORDER = 'ORDER BY to_at, from_at, layer, place';
  const selectHeads = db.prepare<Part, [number, string, number, number, number]>(
    `SELECT ${HEAD} FROM tape_parts WHERE ${WITHIN} ${ORDER}`,
  );
  const selectPart = db.prepare<Part & TapeDay, [number]>(
    `SELECT ${HEAD}, simulated, underlying FROM tape_parts WHERE id = ?`,
  );
  const selectCounts = db.prepare<{ entries: number; valid: number }, [number, string, number, number, number]>(
    `SELECT ifnull(sum(entries), 0) AS entries, ifnull(sum(standing - ${RETIRED}), 0) AS valid
     FROM tape_parts WHERE ${WITHIN}`,
  );
  const selectFirst = db.prepare<Part, [number, string, number, number, number]>(
    `SELECT ${HEAD} FROM tape_parts WHERE ${WITHIN} AND standing > ${RETIRED} ${ORDER} LIMIT 1`,
  );
  const selectBefore = db.prepare<Part, [number, string, number]>(
    `SELECT ${HEAD} FROM tape_parts WHERE simulated = ? AND underlying = ? AND from_at <= ? AND standing > ${RETIRED}
     ORDER BY to_at DESC`,
  );
  const blob = (name: string) =>
    db.prepare<{ blob: Uint8Array | null }, [number]>(`SELECT ${name} AS blob FROM tape_parts WHERE id = ?`);
  const [selectColumns, selectIds] = [blob('columns'), blob('ids')];
  const selectLarge = db.prepare<{ blob: Uint8Array }, [number, number]>(
    'SELECT large AS blob FROM tape_parts WHERE id = ? AND large_from <= ?',
  );
  const selectRetired = db.prepare<{ entry: number; flag: number }, [number]>(
    'SELECT entry, flag FROM tape_retired WHERE part = ?',
  );
  const insertRetired = db.prepare<null, [number, number, number]>('INSERT INTO tape_retired VALUES (?, ?, ?)');
  const selectRetiredParts = db.prepare<{ part: number }, []>('SELECT DISTINCT part FROM tape_retired');

  const within = ({ simulated, underlying }: TapeId, fromMs: number, toMs: number) =>
    selectHeads.all(simulated, underlying, fromMs, endOfDay(toMs), toMs);

  const columnsOf = (part: Part): TapeColumns => {
    const columns = decodeColumns(selectColumns.get(part.id)!.blob!, nameOf(part));
    for (const { entry, flag } of part.retired > 0 ? selectRetired.all(part.id) : []) columns.flags[entry]! |= flag;
    return columns;
  };
  /** The valid prints of each cached part. The most recently used part is the last entry. */
  const validColumns = new Map<string, TapeColumns>();
  const validColumnsOf = (part: Part): TapeColumns => {
    const key = `${part.id} ${part.retired}`;
    const columns = validColumns.get(key) ?? validRows(columnsOf(part));
    validColumns.delete(key);
    validColumns.set(key, columns);
    if (validColumns.size > CACHED_PARTS_MAX) validColumns.delete(validColumns.keys().next().value!);
    return columns;
  };
  const ids = new Map<number, Uint32Array>();
  let cachedIdWords = 0;
  // The digests are cached, because loading a day reads the digests of all its parts repeatedly. The digests of a part never change.
  const idsOf = (part: Part): Uint32Array => {
    const cached = ids.get(part.id);
    if (cached) return cached;
    const decoded = decodeIds(selectIds.get(part.id)!.blob!, nameOf(part));
    if (cachedIdWords + decoded.length > CACHED_ID_WORDS_MAX) {
      ids.clear();
      cachedIdWords = 0;
    }
    ids.set(part.id, decoded);
    cachedIdWords += decoded.length;
    return decoded;
  };

  /** The indexes of large days. The most recently used index is the last entry. */
  const indexes = new Map<string, { readonly index: DigestIndex; readonly parts: Set<number> }>();
  const indexOf = ({ simulated, underlying, day }: TapeDay, dayParts: readonly Part[]): DigestIndex => {
    const key = `${simulated} ${underlying} ${day}`;
    const known = indexes.get(key) ?? { index: new DigestIndex(), parts: new Set() };
    indexes.delete(key);
    // A part never changes. If parts are written anew, the index has digests that are no longer stored, which does no harm.
    for (const part of dayParts) {
      if (known.parts.has(part.id)) continue;
      known.parts.add(part.id);
      known.index.addAll(decodeIds(selectIds.get(part.id)!.blob!, nameOf(part)));
    }
    indexes.set(key, known);
    let bytes = indexes.values().reduce((sum, each) => sum + each.index.bytes, 0);
    for (const [other, each] of indexes) {
      if (bytes <= INDEX_BYTES_MAX || other === key) break;
      indexes.delete(other);
      bytes -= each.index.bytes;
    }
    return known.index;
  };

  return {
    /** Returns false if the parts of a day have none of the given digests, and true if they may. Takes as long for any day. */
    mayHave(tapeDay: TapeDay, digests: Uint32Array, dayParts: readonly Part[]): boolean {
      if (dayParts.reduce((sum, { entries }) => sum + entries, 0) <= indexedFrom) return dayParts.length > 0;
      const index = indexOf(tapeDay, dayParts);
      for (let i = 0; i < digests.length; i += 2) if (index.has(digests[i]!, digests[i + 1]!)) return true;
      return false;
    },
    /** Returns the parts that overlap the period from `fromMs` to `toMs`, in their order. */
    within,
    /** Returns the parts of a day, in their order. */
    ofDay: (tapeDay: TapeDay): Part[] => within(tapeDay, ...rangeOfDay(tapeDay.day)),
    /** Returns the numbers of all prints and of valid prints in the parts that overlap the period from `fromMs` to `toMs`. */
    counts: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number) =>
      selectCounts.get(simulated, underlying, fromMs, endOfDay(toMs), toMs)!,
    /** Returns the first part from `fromMs` to `toMs` that has a valid print, if any. */
    first: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number): Part | undefined =>
      selectFirst.get(simulated, underlying, fromMs, endOfDay(toMs), toMs) ?? undefined,
    /** Returns the parts that have a valid print and begin at or before `untilMs`. The part that ends last comes first. */
    before: ({ simulated, underlying }: TapeId, untilMs: number): Iterable<Part> =>
      selectBefore.iterate(simulated, underlying, untilMs),
    /** Returns a part by its id, or `undefined` if the part was removed. */
    part: (id: number): (Part & TapeDay) | undefined => selectPart.get(id) ?? undefined,
    /** Returns the ids of the parts in which entries were canceled or corrected after the part was written. */
    retiredParts: (): number[] => selectRetiredParts.all().map(({ part }) => part),
    /** Returns all entries of a part, with current flags but without digests. Throws `OperatorError` if the part is damaged. */
    columnsOf,
    /** Returns the digests of the ids in a part, with two words of 32 bits for each id. Throws `OperatorError` if the part is damaged. */
    idsOf,
    /** Returns all entries of a part. Throws `OperatorError` if the part is damaged. */
    entriesOf: (part: Part): TapeEntries => ({ ...columnsOf(part), ids: idsOf(part) }),
    /** Returns the valid prints of a part. Throws `OperatorError` if the part is damaged. */
    validColumnsOf,
    /** Returns the valid prints of at least `minPremiumUsd` dollars. The caller must filter out smaller prints. */
    largeOf(part: Part, minPremiumUsd: number): TapeColumns {
      const large = part.retired > 0 ? null : selectLarge.get(part.id, minPremiumUsd);
      return large ? decodeColumns(large.blob, nameOf(part)) : validColumnsOf(part);
    },
    /** Records that the entry in a row of a part is no longer valid. */
    retire: (part: Part, row: number, flag: typeof CANCELED | typeof CORRECTED): void =>
      void insertRetired.run(part.id, row, flag),
  };
}

/** Returns the parts of a day with prints from `fromMs` to `toMs`, ordered by arrival: of one moment, prints of later parts arrived later. */
export function byArrival(dayParts: readonly Part[], fromMs: number, toMs: number): Part[] {
  return dayParts.filter(({ fromAt, toAt }) => fromAt <= toMs && toAt >= fromMs).sort((a, b) => a.layer - b.layer);
}

/** Returns the name of a part in an error message. */
function nameOf(part: Part): string {
  return `part ${part.id} of the tape of ${part.day}`;
}

/** Numbers of slots of the first table and of each further table, powers of two. Most days fit into the first. */
const SLOTS_FIRST = 2 ** 20;
const SLOTS_MORE = 2 ** 22;
/** Maximum share of taken slots. A search in a fuller table takes more steps. */
const FILL_MAX = 0.8;

/**
 * An index of 64-bit digests that takes 5 bytes each in a full table. A slot has the high word, and the low word determines its place, so
 * `has` is wrong once in some hundred million calls. A full table is not copied: another is added. Tables are few and large, because each
 * search waits for memory.
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
