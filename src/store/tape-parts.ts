import type { Database } from 'bun:sqlite';
import { ContractNumbers, NUMBERS, pickRows, type TapeColumns } from '../market/tape-columns.ts';
import type { TapeSums } from '../market/tape-sums.ts';
import {
  type CANCELED,
  type CORRECTED,
  decodeColumns,
  decodeIds,
  decodeSums,
  encodeEntries,
  encodeSums,
  type TapeEntries,
  validRows,
} from './tape-codec.ts';

/** A New York day of an underlying. Each part belongs to one. */
export interface TapeDay {
  readonly simulated: number;
  readonly underlying: string;
  readonly day: string;
}

/** The head of a part: its row without the columns. A print is valid if it was neither cancelled nor corrected. */
export interface Part {
  readonly id: number;
  readonly day: string;
  readonly fromAt: number;
  readonly toAt: number;
  readonly place: number;
  /** Number of prints in the part, and of valid ones. */
  readonly entries: number;
  readonly valid: number;
  /** Number of prints that were valid when the part was written, and no longer are. */
  readonly retired: number;
  /** Time of the last print that was valid when the part was written, ms since the epoch. */
  readonly lastAt: number | null;
}

/** Consecutive parts and their sums. */
export interface SummedParts {
  readonly parts: readonly Part[];
  readonly sums: () => TapeSums;
}

/** The row of a known id in a part. */
export interface PartOfPrint {
  readonly part: Part;
  readonly row: number;
}

/** Most prints of a part. Decoding or writing a part takes a few milliseconds. */
export const PART_MAX = 16_384;
/** Most decoded parts in the cache. A window begins and ends within a part, and is usually requested more than once. */
const CACHED_PARTS_MAX = 4;
/** Most words of digests in the cache: those of four million prints. */
const CACHED_ID_WORDS_MAX = 8_000_000;
/** Sums are stored only if there are this many prints per contract. With fewer, adding up the prints is as fast. */
const PRINTS_PER_CONTRACT_MIN = 4;
/**
 * A part also has a separate copy of its large prints, if these are at most this share of its prints. The copy uses the lowest threshold
 * (premium, dollars) that leaves few enough.
 */
const LARGE_SHARE_MAX = 1 / 16;
const LARGE_FROM = [25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

/**
 * The packed tape: columns, in parts of about ten thousand prints. The parts of a day are ordered by (from, to, place). If two parts share
 * a moment, the later part has the prints that arrived later.
 */
export type TapeParts = ReturnType<typeof tapeParts>;

export function tapeParts(db: Database, partMax = PART_MAX) {
  const RETIRED = '(SELECT count(*) FROM tape_retired WHERE part = id)';
  const HEAD = `id, day, from_at AS fromAt, to_at AS toAt, place, entries, standing - ${RETIRED} AS valid, ${RETIRED} AS retired,
    last_at AS lastAt`;
  const WITHIN = 'simulated = ? AND underlying = ? AND to_at >= ? AND to_at <= ? AND from_at <= ?';
  const ORDER = 'ORDER BY to_at, from_at, place';
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
     ORDER BY to_at DESC, from_at DESC, place DESC LIMIT 1`,
  );
  const blob = (name: string) =>
    db.prepare<{ blob: Uint8Array | null }, [number]>(`SELECT ${name} AS blob FROM tape_parts WHERE id = ?`);
  const [selectColumns, selectIds] = [blob('columns'), blob('ids')];
  const selectLarge = db.prepare<{ blob: Uint8Array }, [number, number]>(
    'SELECT large AS blob FROM tape_parts WHERE id = ? AND large_from <= ?',
  );
  const insert = db.prepare<null, [Record<string, number | string | null | Uint8Array>]>(
    `INSERT INTO tape_parts (simulated, underlying, day, from_at, to_at, place, entries, standing, last_at, large_from, large, columns, ids)
     VALUES ($simulated, $underlying, $day, $fromAt, $toAt, $place, $entries, $valid, $lastAt, $largeFrom, $large, $columns, $ids)`,
  );
  const remove = db.prepare<null, [number]>('DELETE FROM tape_parts WHERE id = ?');
  const selectRetired = db.prepare<{ entry: number; flag: number }, [number]>(
    'SELECT entry, flag FROM tape_retired WHERE part = ?',
  );
  const insertRetired = db.prepare<null, [number, number, number]>('INSERT INTO tape_retired VALUES (?, ?, ?)');
  const selectSums = db.prepare<{ rowid: number; last: number; entries: number; valid: number }, [number]>(
    'SELECT rowid, last, entries, standing AS valid FROM tape_sums WHERE first = ? ORDER BY entries DESC',
  );
  const selectSumsBlob = db.prepare<{ sums: Uint8Array }, [number]>('SELECT sums FROM tape_sums WHERE rowid = ?');
  const putSums = db.prepare<null, [number, number, number, number, Uint8Array]>(
    'INSERT OR REPLACE INTO tape_sums VALUES (?, ?, ?, ?, ?)',
  );
  const putDay = db.prepare<null, [number, string, string, number, number]>(
    'INSERT OR REPLACE INTO tape_days VALUES (?, ?, ?, ?, ?)',
  );

  /** Valid prints by part, the most recently used last. */
  const validColumns = new Map<string, TapeColumns>();
  const nameOf = (part: Part) => `part ${part.id} of the tape of ${part.day}`;
  const columnsOf = (part: Part): TapeColumns => {
    const columns = decodeColumns(selectColumns.get(part.id)!.blob!, nameOf(part));
    for (const { entry, flag } of part.retired > 0 ? selectRetired.all(part.id) : []) columns.flags[entry]! |= flag;
    return columns;
  };
  const ids = new Map<number, Uint32Array>();
  let cachedIdWords = 0;
  /** The digests of a part, cached because loading a day reads those of all its parts repeatedly. The digests of a part never change. */
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
  const validColumnsOf = (part: Part): TapeColumns => {
    const key = `${part.id} ${part.retired}`;
    const columns = validColumns.get(key) ?? validRows(columnsOf(part));
    validColumns.delete(key);
    validColumns.set(key, columns);
    if (validColumns.size > CACHED_PARTS_MAX) validColumns.delete(validColumns.keys().next().value!);
    return columns;
  };
  const write = ({ simulated, underlying, day }: TapeDay, entries: TapeEntries, place: number): void => {
    const valid = validRows(entries);
    const { columns, ids } = encodeEntries(entries);
    const large = largeOf(valid);
    insert.run({
      ...{ simulated, underlying, day, place },
      ...{ fromAt: entries.at[0]!, toAt: entries.at[entries.count - 1]!, entries: entries.count, valid: valid.count },
      lastAt: valid.count > 0 ? valid.at[valid.count - 1]! : null,
      ...{ columns, ids },
      largeFrom: large?.from ?? null,
      large: large ? encodeEntries({ ...large.columns, ids: NO_IDS }).columns : null,
    });
  };
  const heads = ({ simulated, underlying }: Omit<TapeDay, 'day'>, fromMs: number, toMs: number, endMs: number) =>
    selectHeads.all(simulated, underlying, fromMs, endMs, toMs);

  return {
    /** Parts with times in a range, in order. `endMs` is the end of the last day of the range. */
    heads,
    /** Numbers of prints in these parts. */
    counts: ({ simulated, underlying }: Omit<TapeDay, 'day'>, fromMs: number, toMs: number, endMs: number) =>
      selectCounts.get(simulated, underlying, fromMs, endMs, toMs)!,
    /** The first of these parts with a valid print. */
    first: ({ simulated, underlying }: Omit<TapeDay, 'day'>, fromMs: number, toMs: number, endMs: number) =>
      selectFirst.get(simulated, underlying, fromMs, endMs, toMs) ?? undefined,
    /** The last part that begins up to `untilMs` and has a valid print. */
    before: ({ simulated, underlying }: Omit<TapeDay, 'day'>, untilMs: number) =>
      selectBefore.get(simulated, underlying, untilMs) ?? undefined,
    part: (id: number) => selectPart.get(id) ?? undefined,
    /** All entries of a part, with their current flags. */
    columnsOf,
    /** The valid prints of a part. */
    validColumnsOf,
    /** The valid prints of at least a premium. The result can also have smaller prints, which the caller must filter out. */
    largeOf(part: Part, minPremiumUsd: number): TapeColumns {
      const large = part.retired > 0 ? null : selectLarge.get(part.id, minPremiumUsd);
      return large ? decodeColumns(large.blob, nameOf(part)) : validColumnsOf(part);
    },
    /**
     * The longest run of parts from index `from` on whose sums are stored, with at most `partsMax` parts and none that ends after `toMs`.
     * Returns `undefined` if there is no such run.
     */
    sumsFrom(from: number, dayParts: readonly Part[], toMs: number, partsMax: number): SummedParts | undefined {
      const { id, day } = dayParts[from]!;
      for (const row of selectSums.all(id)) {
        const last = dayParts.findIndex((part) => part.id === row.last);
        const parts = dayParts.slice(from, last + 1);
        const { entries, valid } = countsOf(parts);
        if (parts.length === 0 || parts.length > partsMax || parts.at(-1)!.toAt > toMs) continue;
        if (entries !== row.entries || valid !== row.valid) continue;
        const sums = () => decodeSums(selectSumsBlob.get(row.rowid)!.sums, `the sum of the tape of ${day}`);
        return { parts, sums };
      }
      return undefined;
    },
    /** Stores the sums of consecutive parts, unless reading the parts is as fast. */
    putSums(parts: readonly Part[], sums: TapeSums): void {
      const { entries, valid } = countsOf(parts);
      if (valid < PRINTS_PER_CONTRACT_MIN * sums.contracts.strike.length) return;
      putSums.run(parts[0]!.id, parts.at(-1)!.id, entries, valid, encodeSums(sums));
    },
    /** Records that the parts of a day are joined and added up. */
    recordSummedDay({ simulated, underlying, day }: TapeDay, dayParts: readonly Part[]): void {
      const { entries, valid } = countsOf(dayParts);
      putDay.run(simulated, underlying, day, entries, valid);
    },
    /** Records that an entry is no longer valid. */
    retire: ({ part, row }: PartOfPrint, flag: typeof CANCELED | typeof CORRECTED) =>
      void insertRetired.run(part.id, row, flag),
    /** Entries whose ids have these digests, by the index of the digest. */
    find(digests: Uint32Array, parts: readonly Part[]): Map<number, PartOfPrint[]> {
      const table = digestTable(digests);
      const found = new Map<number, PartOfPrint[]>();
      for (const part of parts) {
        const ids = idsOf(part);
        for (let row = 0; 2 * row < ids.length; row++) {
          const i = table(ids[2 * row]!, ids[2 * row + 1]!);
          if (i < 0) continue;
          const rows = found.get(i);
          if (rows) rows.push({ part, row });
          else found.set(i, [{ part, row }]);
        }
      }
      return found;
    },
    /** Adds entries to the parts of a day. The entries are in time order and arrived after all entries of these parts. */
    merge(tapeDay: TapeDay, added: TapeEntries, dayParts: readonly Part[]): void {
      if (dayParts.length === 0) {
        for (const [place, piece] of piecesOf(added, partMax, true).entries()) write(tapeDay, piece, place);
        return;
      }
      let place = Math.max(...dayParts.map((part) => part.place));
      let from = 0;
      for (const [i, part] of dayParts.entries()) {
        const next = dayParts[i + 1];
        let to = from;
        while (to < added.count && (next === undefined || added.at[to]! < next.fromAt)) to++;
        const addedToPart = slice(added, from, to);
        from = to;
        if (addedToPart.count === 0) continue;
        const isAfter = addedToPart.at[0]! >= part.toAt;
        if (isAfter && !isRewrittenFor(addedToPart.count, part.entries, partMax)) {
          for (const piece of piecesOf(addedToPart, partMax, true)) write(tapeDay, piece, ++place);
          continue;
        }
        const stored = { ...columnsOf(part), ids: idsOf(part) };
        remove.run(part.id);
        for (const [piece, entries] of piecesOf(merged(stored, addedToPart), partMax, isAfter).entries()) {
          write(tapeDay, entries, piece === 0 ? part.place : ++place);
        }
      }
    },
    /** The first consecutive parts of a day that fit into one part. Returns an empty list if no two parts do. */
    joinable(parts: readonly Part[]): readonly Part[] {
      for (let from = 0; from < parts.length; from++) {
        let [to, entries] = [from, 0];
        while (to < parts.length && entries + parts[to]!.entries <= partMax) entries += parts[to++]!.entries;
        if (to - from > 1) return parts.slice(from, to);
      }
      return [];
    },
    /** Joins consecutive parts into one. */
    join(tapeDay: TapeDay, parts: readonly Part[]): void {
      const entries = mergedAll(parts.map((part) => ({ ...columnsOf(part), ids: idsOf(part) })));
      for (const { id } of parts) remove.run(id);
      write(tapeDay, entries, parts[0]!.place);
    },
    /** Rewrites a part with the flags of the entries that were retired since it was written. */
    rewrite(tapeDay: TapeDay, part: Part): void {
      const entries = { ...columnsOf(part), ids: idsOf(part) };
      remove.run(part.id);
      write(tapeDay, entries, part.place);
    },
  };
}

const NO_IDS = new Uint32Array(0);

function countsOf(parts: readonly Part[]) {
  return {
    entries: parts.reduce((sum, part) => sum + part.entries, 0),
    valid: parts.reduce((sum, part) => sum + part.valid, 0),
  };
}

/** The large prints and their smallest premium, dollars. Returns `undefined` if no threshold leaves few enough. */
function largeOf(columns: TapeColumns): { from: number; columns: TapeColumns } | undefined {
  const { count, price, size, multiplier } = columns;
  const most = Math.floor(count * LARGE_SHARE_MAX);
  if (most === 0) return undefined;
  const premium = price.map((each, row) => each * size[row]! * multiplier[row]!);
  const from = LARGE_FROM.find((least) => premium.reduce((sum, each) => sum + Number(each >= least), 0) <= most);
  if (from === undefined) return undefined;
  const rows = Uint32Array.from(premium.keys()).filter((row) => premium[row]! >= from);
  return { from, columns: pickRows(columns, rows) };
}

/**
 * Whether a part is rewritten to append entries. For a few entries it is not: they become separate parts, which are joined when the day is
 * packed.
 */
function isRewrittenFor(added: number, entries: number, partMax: number): boolean {
  const total = entries + added;
  return 8 * total <= partMax || (total <= partMax && 4 * added >= partMax);
}

/** Splits entries into pieces of `partMax` (`fill`), or of equal size. Pieces end between two moments, if that is within 2 * `partMax`. */
function piecesOf(entries: TapeEntries, partMax: number, fill: boolean): TapeEntries[] {
  const { count, at } = entries;
  const size = fill ? partMax : Math.ceil(count / Math.ceil(count / partMax));
  const pieces: TapeEntries[] = [];
  for (let from = 0, to = 0; from < count; from = to) {
    to = Math.min(count, from + size);
    while (to < count && at[to] === at[to - 1] && to - from < 2 * partMax) to++;
    pieces.push(slice(entries, from, to));
  }
  return pieces;
}

function slice(entries: TapeEntries, from: number, to: number): TapeEntries {
  if (from === 0 && to === entries.count) return entries;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, entries[name].subarray(from, to)])) as Pick<
    TapeEntries,
    (typeof NUMBERS)[number]
  >;
  return {
    count: to - from,
    contracts: entries.contracts,
    contract: entries.contract.subarray(from, to),
    ...numbers,
    flags: entries.flags.subarray(from, to),
    ids: entries.ids.subarray(2 * from, 2 * to),
  };
}

/** Merges two columns of prints in time order. Within a moment, those of `first` come first. */
export function merged<T extends TapeColumns | TapeEntries>(first: T, second: T): T {
  const numbers = new ContractNumbers();
  const [ofFirst, ofSecond] = [numbers.ofAll(first.contracts), numbers.ofAll(second.contracts)];
  const count = first.count + second.count;
  const contract = new Uint32Array(count);
  for (let row = 0; row < first.count; row++) contract[row] = ofFirst[first.contract[row]!]!;
  for (let row = 0; row < second.count; row++) contract[first.count + row] = ofSecond[second.contract[row]!]!;
  const columns = Object.fromEntries(
    NUMBERS.map((name) => [name, joined(first[name], second[name], new Float64Array(count))]),
  ) as Pick<TapeColumns, (typeof NUMBERS)[number]>;
  const flags = joined(first.flags, second.flags, new Uint8Array(count));
  const both: TapeColumns = { count, contracts: numbers.contracts(), contract, ...columns, flags };
  const ids = 'ids' in first && 'ids' in second ? joined(first.ids, second.ids, new Uint32Array(2 * count)) : undefined;
  // If `second` begins after `first` ends, no sorting is needed.
  const isSorted = first.count === 0 || second.count === 0 || first.at[first.count - 1]! <= second.at[0]!;
  const order = isSorted ? undefined : orderOf(first, second);
  const all = order ? pickRows(both, order) : both;
  return (ids ? { ...all, ids: order ? pickPairs(ids, order) : ids } : all) as T;
}

function mergedAll(all: readonly TapeEntries[]): TapeEntries {
  const half = all.length >> 1;
  return half === 0 ? all[0]! : merged(mergedAll(all.slice(0, half)), mergedAll(all.slice(half)));
}

function joined<Column extends Float64Array | Uint32Array | Uint8Array>(first: Column, second: Column, into: Column) {
  into.set(first);
  into.set(second, first.length);
  return into;
}

function orderOf(first: TapeColumns, second: TapeColumns): Uint32Array {
  const order = new Uint32Array(first.count + second.count);
  for (let a = 0, b = 0, to = 0; to < order.length; to++) {
    const isFirst = b >= second.count || (a < first.count && first.at[a]! <= second.at[b]!);
    order[to] = isFirst ? a++ : first.count + b++;
  }
  return order;
}

function pickPairs(pairs: Uint32Array, rows: Uint32Array): Uint32Array {
  const picked = new Uint32Array(2 * rows.length);
  for (let to = 0; to < rows.length; to++) {
    picked[2 * to] = pairs[2 * rows[to]!]!;
    picked[2 * to + 1] = pairs[2 * rows[to]! + 1]!;
  }
  return picked;
}

/**
 * Digests of ids, two words each. With a million prints per day, two of them have the same digest on one of forty million days.
 */
export function digestsOf(prints: readonly { readonly id: string }[]): Uint32Array {
  const digests = new BigUint64Array(prints.length);
  for (let i = 0; i < prints.length; i++) digests[i] = Bun.hash.xxHash64(prints[i]!.id);
  return new Uint32Array(digests.buffer);
}

/** A lookup table of digests. It returns the index of the first equal digest, or -1. */
function digestTable(digests: Uint32Array): (low: number, high: number) => number {
  const size = 2 ** Math.ceil(Math.log2(digests.length + 2));
  const slots = new Int32Array(size).fill(-1);
  /** Returns the index of an equal digest, or the complement of the free slot. */
  const find = (low: number, high: number): number => {
    for (let slot = low & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const i = slots[slot]!;
      if (i < 0) return ~slot;
      if (digests[2 * i] === low && digests[2 * i + 1] === high) return i;
    }
  };
  for (let i = 0; 2 * i < digests.length; i++) {
    const slot = find(digests[2 * i]!, digests[2 * i + 1]!);
    if (slot < 0) slots[~slot] = i;
  }
  return (low, high) => Math.max(-1, find(low, high));
}
