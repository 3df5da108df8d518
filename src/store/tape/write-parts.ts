import type { Database } from 'bun:sqlite';
import type { PrintBatch } from '../../market/print-batch.ts';
import { pickRows, type TapeColumns } from '../../market/tape-columns.ts';
import { encodeEntries } from './tape-codec.ts';
import type { TapeDay } from './tape-days.ts';
import { entriesOf, merged, mergedAll, sliceEntries, type TapeEntries, validRows } from './tape-entries.ts';
import { byArrival, type Part, type TapeParts } from './tape-parts.ts';

/** Maximum number of prints in a part. Decoding or writing a part takes a few milliseconds. */
export const PART_MAX = 16_384;
/** A part has a separate copy of its large prints, above the lowest threshold of LARGE_FROM (dollars) that at most this share reaches. */
const LARGE_SHARE_MAX = 1 / 16;
const LARGE_FROM = [25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

/** Number of layers. A reader decodes the overlapping parts of all layers, and their cache has as many parts. */
const LAYERS_MAX = 4;

/** New prints of a day, with the further data that a part stores. */
export interface NewEntries {
  readonly prints: PrintBatch;
  /** The digests of the ids, with two words for each print. */
  readonly digests: Uint32Array;
  /** For each print, CANCELED, CORRECTED or 0. */
  readonly retired: Uint8Array;
}

/** The functions that `partWriter` creates. */
export type PartWriter = ReturnType<typeof partWriter>;

/** Creates the functions that write parts of at most `partMax` prints. A part is larger only to keep the prints of one moment together. */
export function partWriter(db: Database, parts: TapeParts, partMax = PART_MAX) {
  const insert = db.prepare<null, [Record<string, number | string | null | Uint8Array>]>(
    `INSERT INTO tape_parts (simulated, underlying, day, from_at, to_at, layer, place, entries, standing, last_at, large_from, large, columns, ids)
     VALUES ($simulated, $underlying, $day, $fromAt, $toAt, $layer, $place, $entries, $valid, $lastAt, $largeFrom, $large, $columns, $ids)`,
  );
  const remove = db.prepare<null, [number]>('DELETE FROM tape_parts WHERE id = ?');

  const write = (
    { simulated, underlying, day }: TapeDay,
    entries: TapeEntries,
    { layer, place }: Pick<Part, 'layer' | 'place'>,
  ): void => {
    const valid = validRows(entries);
    const { columns, ids } = encodeEntries(entries);
    const large = largeAmong(valid);
    insert.run({
      ...{ simulated, underlying, day, layer, place },
      ...{ fromAt: entries.at[0]!, toAt: entries.at[entries.count - 1]!, entries: entries.count, valid: valid.count },
      lastAt: valid.count > 0 ? valid.at[valid.count - 1]! : null,
      ...{ columns, ids },
      largeFrom: large?.from ?? null,
      large: large ? encodeEntries({ ...large.columns, ids: NO_IDS }).columns : null,
    });
  };

  /** Adds entries to a part, or creates new parts after the part. `place` is the day's highest place. Returns the new highest place. */
  const addTo = (tapeDay: TapeDay, part: Part, added: TapeEntries, place: number): number => {
    let last = place;
    const { layer } = part;
    const isAfter = added.at[0]! >= part.toAt;
    if (isAfter && !isRewrittenFor(added.count, part.entries, partMax)) {
      for (const piece of piecesOf(added, partMax, true)) write(tapeDay, piece, { layer, place: ++last });
      return last;
    }
    const stored = parts.entriesOf(part);
    remove.run(part.id);
    for (const [i, piece] of piecesOf(merged(stored, added), partMax, isAfter).entries()) {
      write(tapeDay, piece, { layer, place: i === 0 ? part.place : ++last });
    }
    return last;
  };

  /** Adds entries in time order to a layer of a day. They arrived after its entries, and lower layers, of the same times. */
  const merge = (tapeDay: TapeDay, added: TapeEntries, allParts: readonly Part[], layer: number): void => {
    const dayParts = allParts.filter((part) => part.layer === layer);
    if (dayParts.length === 0) {
      for (const [place, piece] of piecesOf(added, partMax, true).entries()) write(tapeDay, piece, { layer, place });
      return;
    }
    let place = Math.max(...dayParts.map((part) => part.place));
    let from = 0;
    for (const [i, part] of dayParts.entries()) {
      const next = dayParts[i + 1];
      let to = from;
      while (to < added.count && (next === undefined || added.at[to]! < next.fromAt)) to++;
      if (to > from) place = addTo(tapeDay, part, sliceEntries(added, from, to), place);
      from = to;
    }
  };

  return {
    /** Adds rows of a batch, in the order of their arrival after all stored entries, to the parts of their day. */
    add(tapeDay: TapeDay, { prints, digests, retired }: NewEntries, rows: readonly number[]): void {
      if (rows.length === 0) return;
      const { at } = prints;
      // Most tapes are in time order, and sorting would take as long as writing.
      const isSorted = rows.every((row, i) => i === 0 || at[rows[i - 1]!]! <= at[row]!);
      const sorted = isSorted ? rows : rows.toSorted((a, b) => at[a]! - at[b]!);
      const entries = entriesOf(prints, sorted, digests, retired);
      const dayParts = parts.ofDay(tapeDay);
      merge(tapeDay, entries, dayParts, layerFor(entries, dayParts));
    },
    /** Merges the first part of a higher layer into one part of the lowest layer, or first splits it. Returns false if there is one layer. */
    mergeLayer(tapeDay: TapeDay): boolean {
      const dayParts = byArrival(parts.ofDay(tapeDay), 0, Number.MAX_SAFE_INTEGER);
      const part = dayParts.find(({ layer }) => layer > 0);
      if (part === undefined) return false;
      const entries = parts.entriesOf(part);
      const next = dayParts.find(({ layer, fromAt }) => layer === 0 && fromAt > part.fromAt);
      let to = 0;
      while (to < entries.count && (next === undefined || entries.at[to]! < next.fromAt)) to++;
      remove.run(part.id);
      if (to === entries.count) merge(tapeDay, entries, dayParts, 0);
      else {
        write(tapeDay, sliceEntries(entries, 0, to), part);
        write(tapeDay, sliceEntries(entries, to, entries.count), part);
      }
      return true;
    },
    /** Joins the first consecutive parts of a day that fit into a single part. Returns false if there are no parts to join. */
    join(tapeDay: TapeDay): boolean {
      const joinable = joinableOf(parts.ofDay(tapeDay), partMax);
      if (joinable.length === 0) return false;
      const entries = mergedAll(joinable.map(parts.entriesOf));
      for (const { id } of joinable) remove.run(id);
      write(tapeDay, entries, joinable[0]!);
      return true;
    },
    /** Rewrites a part, if it is still there, with the flags of entries that were canceled or corrected later. */
    rewrite(id: number): void {
      const part = parts.part(id);
      if (part === undefined || part.retired === 0) return;
      const entries = parts.entriesOf(part);
      remove.run(part.id);
      write(part, entries, part);
    },
  };
}

/** Returns the lowest layer that takes entries without writing parts anew, or the highest. Higher layers must have arrived later. */
function layerFor({ at, count }: TapeEntries, dayParts: readonly Part[]): number {
  const layers = byArrival(dayParts, at[0]!, at[count - 1]!).map(({ layer, toAt }) =>
    toAt > at[0]! ? layer + 1 : layer,
  );
  return Math.min(Math.max(0, ...layers), LAYERS_MAX - 1);
}

const NO_IDS = new Uint32Array(0);

/** Returns the large prints and their threshold, dollars. Returns `undefined` if there are too many prints above every threshold. */
function largeAmong(columns: TapeColumns): { from: number; columns: TapeColumns } | undefined {
  const { count, price, size, multiplier } = columns;
  const most = Math.floor(count * LARGE_SHARE_MAX);
  if (most === 0) return undefined;
  for (const from of LARGE_FROM) {
    const rows = new Uint32Array(most);
    let found = 0;
    for (let row = 0; row < count && found <= most; row++) {
      if (price[row]! * size[row]! * multiplier[row]! >= from) rows[found++] = row;
    }
    if (found <= most) return { from, columns: pickRows(columns, rows.subarray(0, found)) };
  }
  return undefined;
}

/** Returns whether a part is rewritten when entries are appended. A large part is not rewritten for a few, which are joined when packed. */
function isRewrittenFor(added: number, entries: number, partMax: number): boolean {
  const total = entries + added;
  return 8 * total <= partMax || (total <= partMax && 4 * added >= partMax);
}

/** Splits entries into pieces of `partMax` (`fill`) or of equal sizes, extended to whole moments, up to `2 * partMax` entries. */
function piecesOf(entries: TapeEntries, partMax: number, fill: boolean): TapeEntries[] {
  const { count, at } = entries;
  const size = fill ? partMax : Math.ceil(count / Math.ceil(count / partMax));
  const pieces: TapeEntries[] = [];
  for (let from = 0, to = 0; from < count; from = to) {
    to = Math.min(count, from + size);
    while (to < count && at[to] === at[to - 1] && to - from < 2 * partMax) to++;
    pieces.push(sliceEntries(entries, from, to));
  }
  return pieces;
}

/** Returns the first consecutive parts that fit into a single part, or an empty list if there are none. */
function joinableOf(dayParts: readonly Part[], partMax: number): readonly Part[] {
  for (let from = 0; from < dayParts.length; from++) {
    let [to, entries] = [from, 0];
    while (to < dayParts.length && entries + dayParts[to]!.entries <= partMax) entries += dayParts[to++]!.entries;
    if (to - from > 1) return dayParts.slice(from, to);
  }
  return [];
}
