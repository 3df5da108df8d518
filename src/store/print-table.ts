import type { Database } from 'bun:sqlite';
import { addDays, newYorkInstant } from '../market/calendar.ts';
import type { Print } from '../market/prints.ts';
import type { MarketStore } from '../market/store.ts';
import { PARTS, type Stretch } from '../market/tape.ts';
import { columnsBy, dayOf, FLAG, printAt, rowsAt, type TapeColumns, type TapeRow } from '../market/tape-columns.ts';
import { sumsOf, TapeSummer, type TapeSums } from '../market/tape-sums.ts';
import { printCounts } from './print-counts.ts';
import { printSums } from './print-sums.ts';
import { kindsIn } from './remove-old.ts';
import { CANCELED, CORRECTED, entriesOf, standing } from './tape-codec.ts';
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
  | 'tapeMark'
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
 * cancels it permanently. A print stands if it was neither corrected nor cancelled. Prints of one moment stay in the order of their arrival,
 * because the tick rule depends on it.
 *
 * New prints are stored as rows, and closed days are packed into parts. A save with `atOnce` can also write to the parts directly. Parts
 * store digests of the ids. Rows arrived after the prints in the parts of their day, so at equal times the prints in parts come first. The
 * id of a copy is looked up in the rows, and in the parts of the copy's own underlying and day. So once a day is packed, the same id on
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
  const setAside = db.prepare<null, [number, string]>(
    `UPDATE prints SET canceled = 1, id = id || '~' || rowid WHERE simulated = ? AND id = ?`,
  );
  const WITHIN = 'WHERE simulated = ? AND underlying = ? AND at BETWEEN ? AND ?';
  const select = (more: string) =>
    db.prepare<PrintRow, [number, string, number, number, number]>(`${SELECT} ${WITHIN} AND canceled = 0 ${more}`);
  const selectAbove = select('AND premium >= ? ORDER BY at, rowid');
  const selectLarge = select(`AND premium >= ${INDEXED_MIN} AND premium >= ? ORDER BY at, rowid`);
  // Not sorted by rowid, which would take as long as the rest. `inOrder` sorts the few prints that share a moment.
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

  const rows: MarketStore['prints'] = (underlying, fromMs, toMs, simulated, minPremiumUsd) =>
    (minPremiumUsd < INDEXED_MIN ? selectAbove : selectLarge)
      .all(Number(simulated), underlying, fromMs, toMs, minPremiumUsd)
      .map(printOf);
  function* packed(...[underlying, fromMs, toMs, simulated, minPremiumUsd]: Parameters<MarketStore['prints']>) {
    for (const part of partsIn(Number(simulated), underlying, fromMs, toMs)) {
      yield { day: part.day, columns: cut(parts.largeOf(part, minPremiumUsd), fromMs, toMs, minPremiumUsd) };
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
  const saveRow = (print: Print, packed: readonly Known[]): 'added' | 'changed' | undefined => {
    const row = rowOf(print);
    const key = [row.simulated, row.id] as const;
    if (packed.length === 0 && insert.run(row).changes > 0) {
      counts.count(row, 1, row.canceled);
      if (!print.canceled) sums.count(print, 1);
      return 'added';
    }
    const known = selectKnown.get(...key);
    const standing = known?.canceled === 0 ? printOf(known) : undefined;
    const stood = standing ?? (known ? undefined : packed.find(({ flag }) => flag === 0)?.print());
    if (stood === undefined || isSame(stood, print)) return undefined;
    // A tape that is read again delivers earlier copies before their corrections. These copies change nothing.
    const earlier = [
      ...selectEarlier.all(...key).map(printOf),
      ...packed.filter(({ flag }) => flag === CORRECTED).map((each) => each.print()),
    ];
    if (earlier.some((each) => isSame(each, print))) return undefined;
    sums.count(stood, -1);
    if (standing === undefined) packed.find(({ flag }) => flag === 0)!.retire(print.canceled ? CANCELED : CORRECTED);
    else {
      (print.canceled ? cancel : setAside).run(...key);
      counts.count({ ...row, at: standing.at, underlying: standing.underlying }, 0, 1);
    }
    if (!print.canceled) {
      counts.count(row, insert.run(row).changes, 0);
      sums.count(print, 1);
    }
    return 'changed';
  };

  /** The copies in parts of some prints of a day, by the index of the print. `retire` writes to the store at once. */
  const knownIn = (of: TapeDay, digests: Uint32Array, its: readonly Part[]): Map<number, Known[]> => {
    const columns = new Map<number, TapeColumns>();
    const knownOf = (found: PartOfPrint): Known => {
      const own = columns.get(found.part.id) ?? parts.columnsOf(found.part);
      columns.set(found.part.id, own);
      return {
        get flag() {
          return own.flags[found.row]! & (CANCELED | CORRECTED);
        },
        print: () => printAt(own, found.row, { ...NAMELESS, underlying: of.underlying, simulated: of.simulated === 1 }),
        retire(flag) {
          own.flags[found.row]! |= flag;
          parts.retire(found, flag);
        },
      };
    };
    const found = its.length === 0 ? [] : parts.find(digests, its);
    return new Map([...found].map(([number, each]) => [number, each.map(knownOf)]));
  };

  /** Saves prints of one day directly into its parts. The day has no rows any more, so its parts have all copies. */
  const saveInParts = (of: TapeDay, prints: readonly Print[]) => {
    const range = rangeOf(of.day);
    const digests = digestsOf(prints);
    const packed = knownIn(of, digests, partsIn(of.simulated, of.underlying, ...range));
    const numbers = new Map<string, number>();
    const fresh = new Map<number, number[]>();
    const retired = new Uint8Array(prints.length);
    const taken: number[] = [];
    let [added, changed] = [0, 0];
    const freshOf = (number: number): Known => ({
      get flag() {
        return retired[number]!;
      },
      print: () => prints[number]!,
      retire(flag) {
        retired[number]! |= flag;
      },
    });
    const take = (number: number) => {
      const print = prints[number]!;
      if (print.canceled) retired[number] = CANCELED;
      else sums.count(print, 1);
      taken.push(number);
    };
    for (let number = 0; number < prints.length; number++) {
      const print = prints[number]!;
      checked(print);
      const first = numbers.get(print.id);
      if (first === undefined) numbers.set(print.id, number);
      const before = packed.get(first ?? number);
      if (first === undefined && before === undefined) {
        added++;
        take(number);
        continue;
      }
      const ofId = first ?? number;
      // Without copies in parts, the first print with this id is new.
      const own = fresh.get(ofId) ?? (before === undefined ? [ofId] : []);
      const known = [...(before ?? []), ...own.map(freshOf)];
      const stood = known.find(({ flag }) => flag === 0);
      const standing = stood?.print();
      if (stood === undefined || standing === undefined || isSame(standing, print)) continue;
      if (known.some(({ flag, print: earlier }) => flag === CORRECTED && isSame(earlier(), print))) continue;
      changed++;
      sums.count(standing, -1);
      stood.retire(print.canceled ? CANCELED : CORRECTED);
      if (print.canceled) continue;
      take(number);
      fresh.set(ofId, [...own, number]);
    }
    pack(of, prints, digests, retired, taken);
    return { added, changed };
  };

  /** Writes some of these prints into the parts of their day. */
  const pack = (
    of: TapeDay,
    prints: readonly Print[],
    digests: Uint32Array,
    retired: Uint8Array,
    taken: readonly number[],
  ) => {
    if (taken.length === 0) return;
    const inOrder = taken.toSorted((a, b) => prints[a]!.at - prints[b]!.at);
    const ids = new Uint32Array(2 * inOrder.length);
    for (const [to, from] of inOrder.entries()) ids.set(digests.subarray(2 * from, 2 * from + 2), 2 * to);
    const entries = entriesOf(
      inOrder.map((number) => prints[number]!),
      ids,
      Uint8Array.from(inOrder, (number) => retired[number]!),
    );
    parts.merge(of, entries, partsIn(of.simulated, of.underlying, ...rangeOf(of.day)));
  };

  /** Moves the oldest rows of a day into its parts. Returns the number of rows. */
  const moveRows = (of: TapeDay, limit: number): number => {
    const range = rangeOf(of.day);
    const rows = selectOldest.all(of.simulated, of.underlying, ...range, limit);
    const last = rows.at(-1);
    if (last === undefined) return 0;
    const prints = rows.map(({ rowid, ...row }) => {
      const aside = row.canceled === 1 && row.id.endsWith(`~${rowid}`);
      return { ...printOf(row), id: aside ? row.id.slice(0, row.id.lastIndexOf('~')) : row.id, aside };
    });
    const retired = Uint8Array.from(prints, ({ canceled, aside }) => (aside ? CORRECTED : canceled ? CANCELED : 0));
    pack(of, prints, digestsOf(prints), retired, [...prints.keys()]);
    const gone = deleteOldest.run(of.simulated, of.underlying, ...range, last.at, last.rowid).changes;
    if (gone !== rows.length) throw new Error('rows disappeared while they were packed');
    for (const row of rows) counts.count(row, -1, -row.canceled);
    return rows.length;
  };

  const saveAll = (prints: readonly Print[], atOnce: boolean) => {
    const total = { added: 0, changed: 0 };
    sums.refresh();
    const days = daysOf(prints);
    for (const day of days) {
      if (!atOnce || day.numbers.length < sizes.atOnce) continue;
      if (moveRows(day, MOVED_AT_ONCE) === MOVED_AT_ONCE) continue;
      const { added, changed } = saveInParts(
        day,
        day.numbers.map((number) => prints[number]!),
      );
      total.added += added;
      total.changed += changed;
      day.isSaved = true;
    }
    const known = new Map<number, Known[]>();
    for (const day of days) {
      const its = day.isSaved ? [] : partsIn(day.simulated, day.underlying, ...rangeOf(day.day));
      if (its.length === 0) continue;
      const own = day.numbers.map((number) => prints[number]!);
      const digests = digestsOf(own);
      const packed = knownIn(day, digests, its);
      const first = new Map(own.map(({ id }, at) => [id, at] as const).reverse());
      for (const [at, number] of day.numbers.entries()) known.set(number, packed.get(first.get(own[at]!.id)!) ?? []);
    }
    const isSaved = new Set(days.flatMap((day) => (day.isSaved ? day.numbers : [])));
    for (const [number, print] of prints.entries()) {
      if (isSaved.has(number)) continue;
      const done = saveRow(print, known.get(number) ?? []);
      if (done) total[done]++;
    }
    return total;
  };
  const save = db.transaction((prints: readonly Print[], atOnce: boolean) =>
    counts.batch(() => saveAll(prints, atOnce)),
  );

  const columnsOfRows = (simulated: number, underlying: string, fromMs: number, toMs: number) =>
    columnsBy(inOrder(selectColumns.all(simulated, underlying, fromMs, toMs)), ({ flags }) => flags);

  const stretch: MarketStore['stretch'] = (underlying, fromMs, toMs, simulated, mostParts) => {
    if (fromMs > toMs) return undefined;
    const kind = { simulated: Number(simulated), underlying };
    const stretchFrom = (of: string, from: number, until: number, columns: () => TapeColumns): Stretch => ({
      day: of,
      toMs: until,
      columns,
      sums: () => sumsOf(columns()),
      // Read anew from rows and parts: between two steps, rows can be packed and parts rewritten.
      prints: () => read(underlying, from, until, simulated, 0),
    });
    const row = selectFirst.get(kind.simulated, underlying, fromMs, toMs)?.at;
    const part = parts.first(kind, fromMs, toMs, dayEnd(toMs));
    if (part === undefined || (row !== undefined && row < part.fromAt)) {
      if (row === undefined) return undefined;
      const day = dayOf(row);
      const until = Math.min(toMs, dayEnd(row), part === undefined ? toMs : part.fromAt - 1);
      // A stretch ends between two moments.
      const next = selectNth.get(kind.simulated, underlying, row, until, sizes.rows)?.at;
      const last = next === undefined ? until : Math.max(row, next - 1);
      return stretchFrom(day, row, last, () => columnsOfRows(kind.simulated, underlying, row, last));
    }
    const { day } = part;
    const its = partsIn(kind.simulated, underlying, ...rangeOf(day));
    const hasRows = (from: number, to: number) => selectAny.get(kind.simulated, underlying, from, to)!.found === 1;
    const at = its.findIndex(({ id }) => id === part.id);
    const summed = part.fromAt >= fromMs ? parts.sumsFrom(at, its, toMs, mostParts) : undefined;
    if (
      summed &&
      !hasRows(part.fromAt, summed.parts.at(-1)!.toAt) &&
      !meets(summed.parts, its[at + summed.parts.length])
    ) {
      const own = summed.parts;
      const columns = () => own.map(parts.standingOf).reduce(merged);
      return { ...stretchFrom(day, part.fromAt, own.at(-1)!.toAt, columns), sums: summed.sums };
    }
    const group = groupFrom(part, its);
    const [from, to] = [Math.max(fromMs, part.fromAt), Math.min(toMs, group.at(-1)!.toAt)];
    const columns = () => {
      const [one, ...others] = group.map((each) => cut(parts.standingOf(each), from, to));
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
      const group = part ? groupFrom(part, partsIn(kind.simulated, underlying, ...rangeOf(part.day))) : [];
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
        .map((each) => cut(parts.largeOf(each, minPremiumUsd), from, until, minPremiumUsd));
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
  const join = db.transaction((of: TapeDay): boolean => {
    const its = parts.neighbours(partsIn(of.simulated, of.underlying, ...rangeOf(of.day)));
    if (its.length > 0) parts.join(of, its);
    return its.length > 0;
  });
  /** Stores the sums of parts, unless the parts have changed meanwhile. */
  const putSums = db.transaction((of: TapeDay, its: readonly Part[], sums: TapeSums, isDay: boolean) => {
    const now = partsIn(of.simulated, of.underlying, ...rangeOf(of.day));
    const at = now.findIndex(({ id }) => id === its[0]!.id);
    const isSame = its.every(({ id, retired }, number) => now[at + number]?.id === id && retired === 0);
    if (!isSame || (isDay && now.length !== its.length)) return;
    parts.putSums(its, sums);
    if (isDay) parts.settled(of, its);
  });
  /** Adds up the parts of a day in blocks, the blocks in larger blocks, and the whole day. */
  function* addUp(of: TapeDay): Generator<number, void> {
    const its = partsIn(of.simulated, of.underlying, ...rangeOf(of.day));
    const sizes = [PARTS.few, PARTS.many].filter((size) => size < its.length);
    const summers = new Map(sizes.map((size) => [size, new TapeSummer()]));
    const day = new TapeSummer();
    for (const [number, part] of its.entries()) {
      let sums: TapeSums | undefined = sumsOf(standing(parts.columnsOf(part)));
      // A full block is added to the next larger block.
      for (const size of sizes) {
        summers.get(size)!.add(sums);
        yield 0;
        const isFull = (number + 1) % size === 0 || number + 1 === its.length;
        sums = isFull ? summers.get(size)!.sums() : undefined;
        if (sums === undefined) break;
        summers.set(size, new TapeSummer());
        putSums.immediate(of, its.slice(Math.floor(number / size) * size, number + 1), sums, false);
      }
      if (sums) day.add(sums);
      yield 0;
    }
    putSums.immediate(of, its, day.sums(), true);
    yield 0;
  }
  function* packTape(beforeDay: string, rowsAtOnce = MOVED_AT_ONCE): Generator<number, void> {
    const [beforeMs] = rangeOf(beforeDay);
    for (const kinds = selectKinds.all(); kinds.length > 0; ) yield move.immediate(kinds, beforeMs, rowsAtOnce);
    for (const { part } of selectRetiredParts.all()) {
      rewrite.immediate(part);
      yield 0;
    }
    for (const of of selectUnsummed.all(beforeDay)) {
      while (join.immediate(of)) yield 0;
      yield* addUp(of);
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
    tapeMark(underlying, fromMs, toMs, simulated) {
      const kind = { simulated: Number(simulated), underlying };
      const rows = counts.of(kind.simulated, underlying, fromMs, toMs);
      const packed = parts.counts(kind, fromMs, toMs, dayEnd(toMs));
      const count = rows.entries + packed.entries;
      return { count, mark: `${count}.${rows.canceled + packed.entries - packed.standing}` };
    },
    lastPrintAt(underlying, simulated, untilMs = Number.MAX_SAFE_INTEGER) {
      const row = selectLast.get(Number(simulated), underlying, untilMs)?.at;
      const kind = { simulated: Number(simulated), underlying };
      for (let part = parts.before(kind, untilMs); part; part = parts.before(kind, part.fromAt - 1)) {
        if (row !== undefined && row >= part.toAt) return row;
        const { at } =
          part.retired === 0 && part.lastAt !== null && part.lastAt <= untilMs
            ? { at: [part.lastAt] }
            : cut(parts.standingOf(part), 0, untilMs);
        if (at.length > 0) return Math.max(at.at(-1)!, row ?? 0);
      }
      return row;
    },
    packTape,
  };
}

/** One of the stored copies with an id. */
interface Known {
  /** 0 if the copy stands, else CANCELED or CORRECTED. */
  readonly flag: number;
  print(): Print;
  retire(flag: typeof CANCELED | typeof CORRECTED): void;
}

/** Less than every rowid. */
const BEFORE_ROWS = -1;

const NAMELESS = { id: '', canceled: false };

/** Whether a copy has the values of a stored print and is not cancelled. */
function isSame(known: Print, copy: Print): boolean {
  return !copy.canceled && Bun.deepEquals({ ...known, id: '', canceled: false }, { ...copy, id: '' });
}

/** Throws `RangeError` for a print that SQLite would reject as a row. */
function checked({ id, at, callPut, strike, price, size, multiplier }: Print): void {
  // The sum is not finite if one of the numbers is not.
  const isWhole = Number.isFinite(strike + price + size + multiplier) && Number.isSafeInteger(at);
  if (!isWhole || (callPut !== 1 && callPut !== -1)) throw new RangeError(`NOT NULL: print ${id} lacks a number`);
}

interface PrintsOfDay extends TapeDay {
  readonly numbers: number[];
  isSaved: boolean;
}

/** Groups prints by underlying and New York day. `numbers` are indices of prints. */
function daysOf(prints: readonly Print[]): PrintsOfDay[] {
  const days = new Map<string, PrintsOfDay>();
  let last: PrintsOfDay | undefined;
  for (const [number, { underlying, at, simulated }] of prints.entries()) {
    const day = dayOf(at);
    if (last?.day !== day || last.underlying !== underlying || last.simulated !== Number(simulated)) {
      const key = `${simulated} ${underlying} ${day}`;
      last = days.get(key) ?? { simulated: Number(simulated), underlying, day, numbers: [], isSaved: false };
      days.set(key, last);
    }
    last.numbers.push(number);
  }
  return [...days.values()];
}

function printsOf(columns: TapeColumns, underlying: string, simulated: boolean): Print[] {
  const own = { ...NAMELESS, underlying, simulated };
  return Array.from({ length: columns.count }, (_, row) => printAt(columns, row, own));
}

/** A part and the parts after it, as long as each begins in the moment in which the one before ends. They are read together. */
function groupFrom(part: Part, its: readonly Part[]): Part[] {
  const group = [part];
  for (const next of its.slice(its.findIndex(({ id }) => id === part.id) + 1)) {
    if (!meets(group, next)) break;
    group.push(next);
  }
  return group;
}

/** Whether the next part begins in the moment in which some parts end. */
function meets(parts: readonly Part[], next: Part | undefined): boolean {
  return next !== undefined && next.fromAt <= parts.at(-1)!.toAt;
}

/** Prints in [fromMs, toMs] of at least a premium, dollars. */
function cut(columns: TapeColumns, fromMs: number, toMs: number, minPremiumUsd = 0): TapeColumns {
  const { at, count, price, size, multiplier } = columns;
  if (minPremiumUsd <= 0 && (count === 0 || (at[0]! >= fromMs && at[count - 1]! <= toMs))) return columns;
  const rows = new Uint32Array(count);
  let left = 0;
  for (let row = 0; row < count; row++) {
    const isWithin = at[row]! >= fromMs && at[row]! <= toMs;
    if (isWithin && price[row]! * size[row]! * multiplier[row]! >= minPremiumUsd) rows[left++] = row;
  }
  return rowsAt(columns, rows.subarray(0, left));
}

const ranges = new Map<string, readonly [number, number]>();

/** First and last millisecond of a New York day. */
function rangeOf(day: string): readonly [fromMs: number, toMs: number] {
  let range = ranges.get(day);
  if (range === undefined) {
    range = [newYorkInstant(day, '00:00'), newYorkInstant(addDays(day, 1), '00:00') - 1];
    if (ranges.size >= RANGES_KEPT) ranges.clear();
    ranges.set(day, range);
  }
  return range;
}

const RANGES_KEPT = 1_000;

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
function inOrder(rows: ColumnRow[]): ColumnRow[] {
  const isSorted = rows.every(({ at, rowid }, number) => {
    const before = rows[number - 1];
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
