import type { Database } from 'bun:sqlite';
import { memoize } from '../cache.ts';
import { addDays, newYorkInstant } from '../market/calendar.ts';
import type { Print } from '../market/prints.ts';
import type { MarketStore } from '../market/store.ts';
import { PARTS, type Stretch } from '../market/tape.ts';
import {
  columnsBy,
  dayOf,
  FLAG,
  pickRows,
  printOfRow,
  type TapeColumns,
  type TapeRow,
} from '../market/tape-columns.ts';
import { sumsOf, TapeSummer, type TapeSums } from '../market/tape-sums.ts';
import { printCounts } from './print-counts.ts';
import { printSums } from './print-sums.ts';
import { kindsIn } from './remove-old.ts';
import { CANCELED, CORRECTED, entriesOf, validRows } from './tape-codec.ts';
import { digestsOf, merged, PART_MAX, type Part, type PartOfPrint, type TapeDay, tapeParts } from './tape-parts.ts';

type PrintTable = Pick<
  MarketStore,
  | 'savePrints'
  | 'prints'
  | 'largePrints'
  | 'printSums'
  | 'sumPrintsFrom'
  | 'tape'
  | 'stretch'
  | 'tapeVersion'
  | 'lastPrintAt'
  | 'packTape'
>;

/** Smallest premium in the index of large prints, dollars. */
const INDEXED_MIN = 25_000;
/** Numbers of prints that are processed together. Tests use smaller numbers. */
export interface TapeSizes {
  /** Prints per part. */
  readonly part: number;
  /** Prints of a day from which a save writes them directly into parts. For fewer prints, rewriting a part is not worth the time. */
  readonly atOnce: number;
  /** Prints that are read, signed and added up at a time. */
  readonly rows: number;
}

const SIZES: TapeSizes = { part: PART_MAX, atOnce: 1_000, rows: 2_048 };
/** Free pages that stay in the file. Further free pages are returned to the disk, this many at a time. */
const FREE_PAGES = 256;
/** Limits of a transaction that moves rows into parts: rows, and the time after which it moves no more, ms. It takes about 10 ms in all. */
const MOVED_AT_ONCE = 512;
const MOVED_MS = 8;

/**
 * Option trades, each stored once by its id. A later copy with other values corrects the print. A later copy that is marked as cancelled
 * cancels it permanently. A print is valid if it was neither corrected nor cancelled. Prints of one moment stay in the order of their arrival,
 * because the tick rule depends on it.
 *
 * New prints are stored as rows, and closed days are packed into parts. A save with `atOnce` can also write to the parts directly. Parts
 * store digests of the ids. Rows arrived after the prints in the parts of their day, so at equal times the prints in parts come first. The
 * id of a copy is looked up in the rows, and in the parts of the copy's underlying and day. So once a day is packed, the same id on
 * another day or of another underlying is another print.
 */
export function printTable(db: Database, sizes: TapeSizes = SIZES): PrintTable {
  const parts = tapeParts(db, sizes.part);
  const counts = printCounts(db);
  const insert = db.prepare<null, [PrintRow]>(
    `INSERT INTO prints (simulated, id, underlying, root, expiry, call_put, strike, price, size, multiplier, at, side,
       bid, ask, delta, multi_leg, sweep, block, canceled)
     VALUES ($simulated, $id, $underlying, $root, $expiry, $callPut, $strike, $price, $size, $multiplier, $at, $side,
       $bid, $ask, $delta, $multiLeg, $sweep, $block, $canceled) ON CONFLICT DO NOTHING`,
  );
  const selectKnown = db.prepare<PrintRow, [number, string]>(`${SELECT} WHERE simulated = ? AND id = ?`);
  // The ids of corrected copies: the id, '~' and a rowid. They sort between the id with '~' and the id with '~:'.
  const selectEarlier = db.prepare<PrintRow, [number, string]>(
    `${SELECT} WHERE simulated = ?1 AND id > ?2 || '~' AND id < ?2 || '~:'`,
  );
  const cancel = db.prepare<null, [number, string]>('UPDATE prints SET canceled = 1 WHERE simulated = ? AND id = ?');
  // The first copy stays as a cancelled row under another id. The correction gets the id.
  const replace = db.prepare<null, [number, string]>(
    `UPDATE prints SET canceled = 1, id = id || '~' || rowid WHERE simulated = ? AND id = ?`,
  );
  const WITHIN = 'WHERE simulated = ? AND underlying = ? AND at BETWEEN ? AND ?';
  const select = (more: string) =>
    db.prepare<PrintRow, [number, string, number, number, number]>(`${SELECT} ${WITHIN} AND canceled = 0 ${more}`);
  const selectAbove = select('AND premium >= ? ORDER BY at, rowid');
  const selectLarge = select(`AND premium >= ${INDEXED_MIN} AND premium >= ? ORDER BY at, rowid`);
  // Not sorted by rowid, which would take as long as the rest. `sortRows` sorts the few prints that share a moment.
  const selectColumns = db.prepare<ColumnRow, [number, string, number, number]>(
    `${SELECT_COLUMNS} ${WITHIN} AND canceled = 0 ORDER BY at`,
  );
  const selectNext = (least: string) =>
    db.prepare<ColumnRow, [number, string, number, number, number, number, number]>(
      `${SELECT_COLUMNS} ${WITHIN} AND canceled = 0 AND ${least} AND premium >= ? AND (at, rowid) > (?3, ?)
       ORDER BY at, rowid LIMIT ?`,
    );
  const [selectNextAbove, selectNextLarge] = [selectNext('TRUE'), selectNext(`premium >= ${INDEXED_MIN}`)];
  const selectNth = db.prepare<{ at: number }, [number, string, number, number, number]>(
    `SELECT at FROM prints ${WITHIN} AND canceled = 0 ORDER BY at LIMIT 1 OFFSET ?`,
  );
  const selectFirst = db.prepare<{ at: number }, [number, string, number, number]>(
    `SELECT at FROM prints ${WITHIN} AND canceled = 0 ORDER BY at LIMIT 1`,
  );
  const selectAny = db.prepare<{ found: number }, [number, string, number, number]>(
    `SELECT EXISTS (SELECT * FROM prints ${WITHIN}) AS found`,
  );
  const selectLast = db.prepare<{ at: number }, [number, string, number]>(
    'SELECT at FROM prints WHERE simulated = ? AND underlying = ? AND at <= ? AND canceled = 0 ORDER BY at DESC LIMIT 1',
  );
  const selectOldest = db.prepare<PrintRow & { rowid: number }, [number, string, number, number, number]>(
    `SELECT rowid, ${SELECT.slice('SELECT '.length)} ${WITHIN} ORDER BY at, rowid LIMIT ?`,
  );
  const selectOldestAt = db.prepare<{ at: number }, [number, string]>(
    'SELECT at FROM prints WHERE simulated = ? AND underlying = ? ORDER BY at LIMIT 1',
  );
  const selectKinds = kindsIn(db);
  const selectRetiredParts = db.prepare<{ part: number }, []>('SELECT DISTINCT part FROM tape_retired');
  const selectUnsummed = db.prepare<TapeDay, [string]>(
    `SELECT simulated, underlying, day FROM
       (SELECT simulated, underlying, day, sum(entries) AS entries, sum(standing) AS standing
        FROM tape_parts WHERE day < ? GROUP BY simulated, underlying, day)
     WHERE (simulated, underlying, day, entries, standing) NOT IN
       (SELECT simulated, underlying, day, entries, standing FROM tape_days)`,
  );
  const selectFree = db.prepare<{ pages: number }, []>('SELECT freelist_count AS pages FROM pragma_freelist_count');
  const deleteOldest = db.prepare<null, [number, string, number, number, number, number]>(
    `DELETE FROM prints ${WITHIN} AND (at, rowid) <= (?, ?)`,
  );

  const partsIn = (simulated: number, underlying: string, fromMs: number, toMs: number) =>
    parts.heads({ simulated, underlying }, fromMs, toMs, dayEnd(toMs));
  const partsOf = ({ simulated, underlying, day }: TapeDay) => partsIn(simulated, underlying, ...rangeOf(day));

  const rows: MarketStore['prints'] = (underlying, fromMs, toMs, simulated, minPremiumUsd) =>
    (minPremiumUsd < INDEXED_MIN ? selectAbove : selectLarge)
      .all(Number(simulated), underlying, fromMs, toMs, minPremiumUsd)
      .map(printOf);
  function* packed(...[underlying, fromMs, toMs, simulated, minPremiumUsd]: Parameters<MarketStore['prints']>) {
    for (const part of partsIn(Number(simulated), underlying, fromMs, toMs)) {
      yield { day: part.day, columns: printsWithin(parts.largeOf(part, minPremiumUsd), fromMs, toMs, minPremiumUsd) };
    }
  }
  const read: MarketStore['prints'] = (...range) => {
    const [underlying, , , simulated] = range;
    const ofParts = packed(...range)
      .map(({ columns }) => printsOf(columns, underlying, simulated))
      .toArray()
      .flat();
    // The sort is stable: packed prints come first within a moment.
    return ofParts.length === 0 ? rows(...range) : [...ofParts, ...rows(...range)].sort((a, b) => a.at - b.at);
  };
  const mayHave = (underlying: string, fromMs: number, toMs: number, simulated: boolean) =>
    selectAny.get(Number(simulated), underlying, fromMs, toMs)!.found === 1 ||
    partsIn(Number(simulated), underlying, fromMs, toMs).length > 0;
  const sums = printSums(db, { rows, packed, mayHave });

  /** Saves a print as a row. `packed` are the copies in parts with its id. Returns `undefined` if the print is neither new nor a change. */
  const saveRow = (print: Print, packed: readonly StoredCopy[]): 'added' | 'changed' | undefined => {
    const row = rowOf(print);
    const key = [row.simulated, row.id] as const;
    if (packed.length === 0 && insert.run(row).changes > 0) {
      counts.count(row, 1, row.canceled);
      if (!print.canceled) sums.count(print, 1);
      return 'added';
    }
    const stored = selectKnown.get(...key);
    const validRow = stored?.canceled === 0 ? printOf(stored) : undefined;
    const valid = validRow ?? (stored ? undefined : packed.find(({ flag }) => flag === 0)?.print());
    if (valid === undefined || isSame(valid, print)) return undefined;
    // A tape that is read again delivers earlier copies before their corrections. These copies change nothing.
    const earlier = [
      ...selectEarlier.all(...key).map(printOf),
      ...packed.filter(({ flag }) => flag === CORRECTED).map((each) => each.print()),
    ];
    if (earlier.some((each) => isSame(each, print))) return undefined;
    sums.count(valid, -1);
    if (validRow === undefined) packed.find(({ flag }) => flag === 0)!.retire(print.canceled ? CANCELED : CORRECTED);
    else {
      (print.canceled ? cancel : replace).run(...key);
      counts.count({ ...row, at: validRow.at, underlying: validRow.underlying }, 0, 1);
    }
    if (!print.canceled) {
      counts.count(row, insert.run(row).changes, 0);
      sums.count(print, 1);
    }
    return 'changed';
  };

  /** The copies in parts of some prints of a day, by the index of the print. `retire` writes to the store at once. */
  const copiesIn = (tapeDay: TapeDay, digests: Uint32Array, dayParts: readonly Part[]): Map<number, StoredCopy[]> => {
    const { underlying, simulated } = tapeDay;
    const columnsByPart = new Map<number, TapeColumns>();
    const copyOf = (found: PartOfPrint): StoredCopy => {
      const columns = columnsByPart.get(found.part.id) ?? parts.columnsOf(found.part);
      columnsByPart.set(found.part.id, columns);
      return {
        get flag() {
          return columns.flags[found.row]! & (CANCELED | CORRECTED);
        },
        print: () => printOfRow(columns, found.row, { ...WITHOUT_ID, underlying, simulated: simulated === 1 }),
        retire(flag) {
          columns.flags[found.row]! |= flag;
          parts.retire(found, flag);
        },
      };
    };
    const found = dayParts.length === 0 ? [] : parts.find(digests, dayParts);
    return new Map([...found].map(([i, rows]) => [i, rows.map(copyOf)]));
  };

  /** Saves prints of one day directly into its parts. The day has no rows any more, so its parts have all copies. */
  const saveInParts = (tapeDay: TapeDay, prints: readonly Print[]) => {
    const digests = digestsOf(prints);
    const packed = copiesIn(tapeDay, digests, partsOf(tapeDay));
    const firstById = new Map<string, number>();
    /** Indices of the new prints of an id, by the index of the first print with this id. */
    const newById = new Map<number, number[]>();
    const retired = new Uint8Array(prints.length);
    const toPack: number[] = [];
    let [added, changed] = [0, 0];
    const newCopy = (i: number): StoredCopy => ({
      get flag() {
        return retired[i]!;
      },
      print: () => prints[i]!,
      retire(flag) {
        retired[i]! |= flag;
      },
    });
    const add = (i: number) => {
      const print = prints[i]!;
      if (print.canceled) retired[i] = CANCELED;
      else sums.count(print, 1);
      toPack.push(i);
    };
    for (let i = 0; i < prints.length; i++) {
      const print = prints[i]!;
      assertComplete(print);
      const first = firstById.get(print.id);
      if (first === undefined) firstById.set(print.id, i);
      const before = packed.get(first ?? i);
      if (first === undefined && before === undefined) {
        added++;
        add(i);
        continue;
      }
      const ofId = first ?? i;
      // Without copies in parts, the first print with this id is new.
      const newOfId = newById.get(ofId) ?? (before === undefined ? [ofId] : []);
      const copies = [...(before ?? []), ...newOfId.map(newCopy)];
      const valid = copies.find(({ flag }) => flag === 0);
      const validPrint = valid?.print();
      if (valid === undefined || validPrint === undefined || isSame(validPrint, print)) continue;
      if (copies.some(({ flag, print: earlier }) => flag === CORRECTED && isSame(earlier(), print))) continue;
      changed++;
      sums.count(validPrint, -1);
      valid.retire(print.canceled ? CANCELED : CORRECTED);
      if (print.canceled) continue;
      add(i);
      newById.set(ofId, [...newOfId, i]);
    }
    pack(tapeDay, prints, digests, retired, toPack);
    return { added, changed };
  };

  /** Writes some of these prints into the parts of their day. */
  const pack = (
    tapeDay: TapeDay,
    prints: readonly Print[],
    digests: Uint32Array,
    retired: Uint8Array,
    indices: readonly number[],
  ) => {
    if (indices.length === 0) return;
    const sorted = indices.toSorted((a, b) => prints[a]!.at - prints[b]!.at);
    const ids = new Uint32Array(2 * sorted.length);
    for (const [to, from] of sorted.entries()) ids.set(digests.subarray(2 * from, 2 * from + 2), 2 * to);
    const entries = entriesOf(
      sorted.map((i) => prints[i]!),
      ids,
      Uint8Array.from(sorted, (i) => retired[i]!),
    );
    parts.merge(tapeDay, entries, partsOf(tapeDay));
  };

  /** Moves the oldest rows of a day into its parts. Returns the number of rows. */
  const moveRows = (tapeDay: TapeDay, limit: number): number => {
    const { simulated, underlying } = tapeDay;
    const range = rangeOf(tapeDay.day);
    const rows = selectOldest.all(simulated, underlying, ...range, limit);
    const last = rows.at(-1);
    if (last === undefined) return 0;
    const prints = rows.map(({ rowid, ...row }) => {
      const isCorrected = row.canceled === 1 && row.id.endsWith(`~${rowid}`);
      return { ...printOf(row), id: isCorrected ? row.id.slice(0, row.id.lastIndexOf('~')) : row.id, isCorrected };
    });
    const retired = Uint8Array.from(prints, ({ canceled, isCorrected }) =>
      isCorrected ? CORRECTED : canceled ? CANCELED : 0,
    );
    pack(tapeDay, prints, digestsOf(prints), retired, [...prints.keys()]);
    const deleted = deleteOldest.run(simulated, underlying, ...range, last.at, last.rowid).changes;
    if (deleted !== rows.length) throw new Error('rows disappeared while they were packed');
    for (const row of rows) counts.count(row, -1, -row.canceled);
    return rows.length;
  };

  const saveAll = (prints: readonly Print[], atOnce: boolean) => {
    const total = { added: 0, changed: 0 };
    sums.refresh();
    const days = daysOf(prints);
    for (const day of days) {
      if (!atOnce || day.indices.length < sizes.atOnce) continue;
      if (moveRows(day, MOVED_AT_ONCE) === MOVED_AT_ONCE) continue;
      const { added, changed } = saveInParts(
        day,
        day.indices.map((i) => prints[i]!),
      );
      total.added += added;
      total.changed += changed;
      day.isSaved = true;
    }
    const copies = new Map<number, StoredCopy[]>();
    for (const day of days) {
      const dayParts = day.isSaved ? [] : partsOf(day);
      if (dayParts.length === 0) continue;
      const ofDay = day.indices.map((i) => prints[i]!);
      const packed = copiesIn(day, digestsOf(ofDay), dayParts);
      const firstById = new Map(ofDay.map(({ id }, row) => [id, row] as const).reverse());
      for (const [row, i] of day.indices.entries()) copies.set(i, packed.get(firstById.get(ofDay[row]!.id)!) ?? []);
    }
    const saved = new Set(days.flatMap((day) => (day.isSaved ? day.indices : [])));
    for (const [i, print] of prints.entries()) {
      if (saved.has(i)) continue;
      const result = saveRow(print, copies.get(i) ?? []);
      if (result) total[result]++;
    }
    return total;
  };
  const save = db.transaction((prints: readonly Print[], atOnce: boolean) =>
    counts.batch(() => saveAll(prints, atOnce)),
  );

  const columnsOfRows = (simulated: number, underlying: string, fromMs: number, toMs: number) =>
    columnsBy(sortRows(selectColumns.all(simulated, underlying, fromMs, toMs)), ({ flags }) => flags);

  const stretch: MarketStore['stretch'] = (underlying, fromMs, toMs, simulated, mostParts) => {
    if (fromMs > toMs) return undefined;
    const kind = { simulated: Number(simulated), underlying };
    const stretchFrom = (day: string, from: number, until: number, columns: () => TapeColumns): Stretch => ({
      day,
      toMs: until,
      columns,
      sums: () => sumsOf(columns()),
      // Read anew from rows and parts: between two steps, rows can be packed and parts rewritten.
      prints: () => read(underlying, from, until, simulated, 0),
    });
    const rowAt = selectFirst.get(kind.simulated, underlying, fromMs, toMs)?.at;
    const part = parts.first(kind, fromMs, toMs, dayEnd(toMs));
    if (part === undefined || (rowAt !== undefined && rowAt < part.fromAt)) {
      if (rowAt === undefined) return undefined;
      const day = dayOf(rowAt);
      const until = Math.min(toMs, dayEnd(rowAt), part === undefined ? toMs : part.fromAt - 1);
      // A stretch ends between two moments.
      const next = selectNth.get(kind.simulated, underlying, rowAt, until, sizes.rows)?.at;
      const last = next === undefined ? until : Math.max(rowAt, next - 1);
      return stretchFrom(day, rowAt, last, () => columnsOfRows(kind.simulated, underlying, rowAt, last));
    }
    const { day } = part;
    const dayParts = partsOf({ ...kind, day });
    const hasRows = (from: number, to: number) => selectAny.get(kind.simulated, underlying, from, to)!.found === 1;
    const i = dayParts.findIndex(({ id }) => id === part.id);
    const summed = part.fromAt >= fromMs ? parts.sumsFrom(i, dayParts, toMs, mostParts) : undefined;
    if (
      summed &&
      !hasRows(part.fromAt, summed.parts.at(-1)!.toAt) &&
      !sharesMoment(summed.parts, dayParts[i + summed.parts.length])
    ) {
      const columns = () => summed.parts.map(parts.validColumnsOf).reduce(merged);
      return { ...stretchFrom(day, part.fromAt, summed.parts.at(-1)!.toAt, columns), sums: summed.sums };
    }
    const group = groupFrom(part, dayParts);
    const [from, to] = [Math.max(fromMs, part.fromAt), Math.min(toMs, group.at(-1)!.toAt)];
    const columns = () => {
      const [one, ...others] = group.map((each) => printsWithin(parts.validColumnsOf(each), from, to));
      const all = others.reduce(merged, one!);
      const rows = columnsOfRows(kind.simulated, underlying, from, to);
      return rows.count === 0 ? all : merged(all, rows);
    };
    return stretchFrom(day, from, to, columns);
  };

  function* largePrints(...[underlying, fromMs, toMs, simulated, minPremiumUsd]: Parameters<MarketStore['prints']>) {
    const kind = { simulated: Number(simulated), underlying };
    const selectRows = minPremiumUsd < INDEXED_MIN ? selectNextAbove : selectNextLarge;
    // Parts have been read up to `from` (exclusive), and rows up to the rowid `after` in the moment `rowsFrom`.
    let [from, rowsFrom, after] = [fromMs, fromMs, BEFORE_ROWS];
    while (from <= toMs || rowsFrom <= toMs) {
      const part = from <= toMs ? parts.first(kind, from, toMs, dayEnd(toMs)) : undefined;
      const group = part ? groupFrom(part, partsOf({ ...kind, day: part.day })) : [];
      let until = Math.min(toMs, group.at(-1)?.toAt ?? toMs);
      const found = selectRows.all(...[kind.simulated, underlying, rowsFrom, until, minPremiumUsd, after, sizes.rows]);
      let [rows, isWhole] = [found, found.length < sizes.rows];
      if (!isWhole) {
        // Ends between two moments, unless one moment has more prints than fit.
        const last = found.at(-1)!;
        rows = found.filter(({ at }) => at < last.at);
        isWhole = rows.length > 0;
        until = isWhole ? last.at - 1 : last.at;
        if (!isWhole) [rows, rowsFrom, after] = [found, last.at, last.rowid];
      }
      const packed = group
        .filter(({ fromAt }) => fromAt <= until)
        .map((each) => printsWithin(parts.largeOf(each, minPremiumUsd), from, until, minPremiumUsd));
      const all = [...packed, columnsBy(rows, ({ flags }) => flags)].filter(({ count }) => count > 0);
      from = until + 1;
      if (isWhole) [rowsFrom, after] = [from, BEFORE_ROWS];
      // Yields even without prints, because parts were decoded.
      yield all.length > 0 ? all.reduce(merged) : columnsBy([], () => 0);
    }
  }

  /** Moves rows of the last underlying in `kinds`, and removes underlyings from `kinds` that have no more rows to move. */
  const moveOldest = (kinds: Omit<TapeDay, 'day'>[], beforeMs: number, limit: number): number => {
    const until = performance.now() + (MOVED_MS * limit) / MOVED_AT_ONCE;
    let moved = 0;
    for (let kind = kinds.at(-1); kind && moved < limit && performance.now() < until; kind = kinds.at(-1)) {
      const at = selectOldestAt.get(kind.simulated, kind.underlying)?.at;
      if (at === undefined || at >= beforeMs) kinds.pop();
      else moved += moveRows({ ...kind, day: dayOf(at) }, limit - moved);
    }
    return moved;
  };
  const move = db.transaction((kinds: Omit<TapeDay, 'day'>[], beforeMs: number, limit: number) =>
    counts.batch(() => moveOldest(kinds, beforeMs, limit)),
  );
  const rewrite = db.transaction((id: number) => {
    const part = parts.part(id);
    if (part !== undefined && part.retired > 0) parts.rewrite(part, part);
  });
  const join = db.transaction((tapeDay: TapeDay): boolean => {
    const joinable = parts.joinable(partsOf(tapeDay));
    if (joinable.length > 0) parts.join(tapeDay, joinable);
    return joinable.length > 0;
  });
  /** Stores the sums of parts, unless the parts have changed meanwhile. */
  const putSums = db.transaction((tapeDay: TapeDay, summed: readonly Part[], sums: TapeSums, isDay: boolean) => {
    const current = partsOf(tapeDay);
    const first = current.findIndex(({ id }) => id === summed[0]!.id);
    const isSame = summed.every(({ id, retired }, i) => current[first + i]?.id === id && retired === 0);
    if (!isSame || (isDay && current.length !== summed.length)) return;
    parts.putSums(summed, sums);
    if (isDay) parts.recordSummedDay(tapeDay, summed);
  });
  /** Adds up the parts of a day in blocks, the blocks in larger blocks, and the whole day. */
  function* addUp(tapeDay: TapeDay): Generator<number, void> {
    const dayParts = partsOf(tapeDay);
    const sizes = [PARTS.few, PARTS.many].filter((size) => size < dayParts.length);
    const summers = new Map(sizes.map((size) => [size, new TapeSummer()]));
    const day = new TapeSummer();
    for (const [i, part] of dayParts.entries()) {
      let sums: TapeSums | undefined = sumsOf(validRows(parts.columnsOf(part)));
      // A full block is added to the next larger block.
      for (const size of sizes) {
        summers.get(size)!.add(sums);
        yield 0;
        const isFull = (i + 1) % size === 0 || i + 1 === dayParts.length;
        sums = isFull ? summers.get(size)!.sums() : undefined;
        if (sums === undefined) break;
        summers.set(size, new TapeSummer());
        putSums.immediate(tapeDay, dayParts.slice(Math.floor(i / size) * size, i + 1), sums, false);
      }
      if (sums) day.add(sums);
      yield 0;
    }
    putSums.immediate(tapeDay, dayParts, day.sums(), true);
    yield 0;
  }
  function* packTape(beforeDay: string, rowsAtOnce = MOVED_AT_ONCE): Generator<number, void> {
    const [beforeMs] = rangeOf(beforeDay);
    for (const kinds = selectKinds.all(); kinds.length > 0; ) yield move.immediate(kinds, beforeMs, rowsAtOnce);
    for (const { part } of selectRetiredParts.all()) {
      rewrite.immediate(part);
      yield 0;
    }
    for (const tapeDay of selectUnsummed.all(beforeDay)) {
      while (join.immediate(tapeDay)) yield 0;
      yield* addUp(tapeDay);
    }
    // Does nothing for files that were created without auto_vacuum.
    while (selectFree.get()!.pages > FREE_PAGES) {
      const before = selectFree.get()!.pages;
      db.query(`PRAGMA incremental_vacuum(${FREE_PAGES})`).all();
      yield 0;
      if (selectFree.get()!.pages >= before) return;
    }
  }

  return {
    savePrints: (prints, { atOnce = false } = {}) => save.immediate(prints, atOnce),
    prints: read,
    largePrints,
    printSums: sums.printSums,
    sumPrintsFrom: sums.sumPrintsFrom,
    stretch,
    *tape(underlying, fromMs, toMs, simulated, fromExpiry = '') {
      for (let from = fromMs; ; ) {
        const next = stretch(underlying, from, toMs, simulated, PARTS.one);
        if (next === undefined) return;
        for (const print of next.prints()) if (print.expiry >= fromExpiry) yield print;
        from = next.toMs + 1;
      }
    },
    tapeVersion(underlying, fromMs, toMs, simulated) {
      const kind = { simulated: Number(simulated), underlying };
      const rows = counts.of(kind.simulated, underlying, fromMs, toMs);
      const packed = parts.counts(kind, fromMs, toMs, dayEnd(toMs));
      const count = rows.entries + packed.entries;
      return { count, version: `${count}.${rows.canceled + packed.entries - packed.valid}` };
    },
    lastPrintAt(underlying, simulated, untilMs = Number.MAX_SAFE_INTEGER) {
      const rowAt = selectLast.get(Number(simulated), underlying, untilMs)?.at;
      const kind = { simulated: Number(simulated), underlying };
      for (let part = parts.before(kind, untilMs); part; part = parts.before(kind, part.fromAt - 1)) {
        if (rowAt !== undefined && rowAt >= part.toAt) return rowAt;
        const { at } =
          part.retired === 0 && part.lastAt !== null && part.lastAt <= untilMs
            ? { at: [part.lastAt] }
            : printsWithin(parts.validColumnsOf(part), 0, untilMs);
        if (at.length > 0) return Math.max(at.at(-1)!, rowAt ?? 0);
      }
      return rowAt;
    },
    packTape,
  };
}

/** One of the stored copies with an id. */
interface StoredCopy {
  /** 0 if the copy is valid, else CANCELED or CORRECTED. */
  readonly flag: number;
  print(): Print;
  retire(flag: typeof CANCELED | typeof CORRECTED): void;
}

/** Less than every rowid. */
const BEFORE_ROWS = -1;

/** Prints in parts have no id, and only valid ones are read. */
const WITHOUT_ID = { id: '', canceled: false };

/** Whether a copy has the values of a stored print and is not cancelled. */
function isSame(stored: Print, copy: Print): boolean {
  return !copy.canceled && Bun.deepEquals({ ...stored, id: '', canceled: false }, { ...copy, id: '' });
}

/** Throws `RangeError` for a print that SQLite would reject as a row. */
function assertComplete({ id, at, callPut, strike, price, size, multiplier }: Print): void {
  // The sum is not finite if one of the numbers is not.
  const isWhole = Number.isFinite(strike + price + size + multiplier) && Number.isSafeInteger(at);
  if (!isWhole || (callPut !== 1 && callPut !== -1)) throw new RangeError(`NOT NULL: print ${id} lacks a number`);
}

interface PrintsOfDay extends TapeDay {
  /** Indices of the prints. */
  readonly indices: number[];
  isSaved: boolean;
}

/** Groups prints by underlying and New York day. */
function daysOf(prints: readonly Print[]): PrintsOfDay[] {
  const days = new Map<string, PrintsOfDay>();
  let last: PrintsOfDay | undefined;
  for (const [i, { underlying, at, simulated }] of prints.entries()) {
    const day = dayOf(at);
    if (last?.day !== day || last.underlying !== underlying || last.simulated !== Number(simulated)) {
      const key = `${simulated} ${underlying} ${day}`;
      last = days.get(key) ?? { simulated: Number(simulated), underlying, day, indices: [], isSaved: false };
      days.set(key, last);
    }
    last.indices.push(i);
  }
  return [...days.values()];
}

function printsOf(columns: TapeColumns, underlying: string, simulated: boolean): Print[] {
  const fields = { ...WITHOUT_ID, underlying, simulated };
  return Array.from({ length: columns.count }, (_, row) => printOfRow(columns, row, fields));
}

/** A part and the parts after it, as long as each begins in the moment in which the one before ends. They are read together. */
function groupFrom(part: Part, dayParts: readonly Part[]): Part[] {
  const group = [part];
  for (const next of dayParts.slice(dayParts.findIndex(({ id }) => id === part.id) + 1)) {
    if (!sharesMoment(group, next)) break;
    group.push(next);
  }
  return group;
}

/** Whether the next part begins in the moment in which some parts end. */
function sharesMoment(parts: readonly Part[], next: Part | undefined): boolean {
  return next !== undefined && next.fromAt <= parts.at(-1)!.toAt;
}

/** Prints in [fromMs, toMs] of at least a premium, dollars. */
function printsWithin(columns: TapeColumns, fromMs: number, toMs: number, minPremiumUsd = 0): TapeColumns {
  const { at, count, price, size, multiplier } = columns;
  if (minPremiumUsd <= 0 && (count === 0 || (at[0]! >= fromMs && at[count - 1]! <= toMs))) return columns;
  const rows = new Uint32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) {
    const isWithin = at[row]! >= fromMs && at[row]! <= toMs;
    if (isWithin && price[row]! * size[row]! * multiplier[row]! >= minPremiumUsd) rows[found++] = row;
  }
  return pickRows(columns, rows.subarray(0, found));
}

const RANGES_CACHED_MAX = 1_000;

/** First and last millisecond of a New York day. */
const rangeOf = memoize(RANGES_CACHED_MAX, (day: string): readonly [fromMs: number, toMs: number] => [
  newYorkInstant(day, '00:00'),
  newYorkInstant(addDays(day, 1), '00:00') - 1,
]);

/** Dates are written with four digits for the year. */
const LAST_MS = Date.UTC(9999, 0, 1);

/** The last millisecond of the day of a moment. */
function dayEnd(atMs: number): number {
  return atMs >= LAST_MS ? atMs : rangeOf(dayOf(Math.max(0, atMs)))[1];
}

const SELECT = `SELECT simulated, id, underlying, root, expiry, call_put AS callPut, strike, price, size, multiplier, at, side,
  bid, ask, delta, multi_leg AS multiLeg, sweep, block, canceled FROM prints`;

const SELECT_COLUMNS = `SELECT rowid, root, expiry, call_put AS callPut, strike, price, size, multiplier, at, bid, ask, delta,
  CASE side WHEN 'bid' THEN ${FLAG.bid} WHEN 'ask' THEN ${FLAG.ask} WHEN 'mid' THEN ${FLAG.mid} ELSE 0 END
    + ${FLAG.multiLeg} * multi_leg + ${FLAG.sweep} * sweep + ${FLAG.block} * block AS flags FROM prints`;

/** The columns of a row that `TapeColumns` needs. They are faster to read than the full row. */
interface ColumnRow extends TapeRow {
  readonly rowid: number;
  readonly flags: number;
}

/** Rows in order of time and then of arrival. */
function sortRows(rows: ColumnRow[]): ColumnRow[] {
  const isSorted = rows.every(({ at, rowid }, i) => {
    const before = rows[i - 1];
    return before === undefined || before.at < at || before.rowid < rowid;
  });
  return isSorted ? rows : rows.sort((a, b) => a.at - b.at || a.rowid - b.rowid);
}

/** A print as SQLite stores it: booleans are 0 and 1. */
type PrintRow = Omit<Print, Flag> & Record<Flag, number>;
type Flag = 'multiLeg' | 'sweep' | 'block' | 'canceled' | 'simulated';

function rowOf(print: Print): PrintRow {
  return {
    ...print,
    multiLeg: Number(print.multiLeg),
    sweep: Number(print.sweep),
    block: Number(print.block),
    canceled: Number(print.canceled),
    simulated: Number(print.simulated),
  };
}

function printOf(row: PrintRow): Print {
  return {
    ...row,
    multiLeg: row.multiLeg === 1,
    sweep: row.sweep === 1,
    block: row.block === 1,
    canceled: row.canceled === 1,
    simulated: row.simulated === 1,
  };
}
