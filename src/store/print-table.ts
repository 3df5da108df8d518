import type { Database } from 'bun:sqlite';
import type { Print } from '../market/prints.ts';
import type { MarketStore } from '../market/store.ts';
import { printSums } from './print-sums.ts';

type PrintTable = Pick<
  MarketStore,
  'savePrints' | 'prints' | 'printSums' | 'sumPrintsFrom' | 'tape' | 'tapeMark' | 'lastPrintAt'
>;

/** The index of large prints holds those of at least this premium, dollars. */
const INDEXED_MIN = 25_000;

/**
 * Option trades, each once by its id. A later copy that says otherwise corrects it, one that says it was cancelled cancels it for good.
 * Those of one moment stay in the order in which they came: the tick rule reads it.
 */
export function printTable(db: Database): PrintTable {
  const insert = db.prepare<null, [PrintRow]>(
    `INSERT INTO prints (simulated, id, underlying, root, expiry, call_put, strike, price, size, multiplier, at, side,
       bid, ask, delta, multi_leg, sweep, block, canceled)
     VALUES ($simulated, $id, $underlying, $root, $expiry, $callPut, $strike, $price, $size, $multiplier, $at, $side,
       $bid, $ask, $delta, $multiLeg, $sweep, $block, $canceled) ON CONFLICT DO NOTHING`,
  );
  const selectStanding = db.prepare<PrintRow, [number, string]>(
    `${SELECT} WHERE simulated = ? AND id = ? AND canceled = 0`,
  );
  // '~' and a number, which are below '~:'.
  const selectEarlier = db.prepare<PrintRow, [number, string]>(
    `${SELECT} WHERE simulated = ?1 AND id > ?2 || '~' AND id < ?2 || '~:'`,
  );
  const cancel = db.prepare<null, [number, string]>('UPDATE prints SET canceled = 1 WHERE simulated = ? AND id = ?');
  // What was told first stays, as one that was cancelled; the id goes to the correction.
  const setAside = db.prepare<null, [number, string]>(
    `UPDATE prints SET canceled = 1, id = id || '~' || rowid WHERE simulated = ? AND id = ?`,
  );
  const between = (more: string) =>
    `${SELECT} WHERE simulated = ? AND underlying = ? AND at BETWEEN ? AND ? AND canceled = 0 ${more}`;
  const selectAbove = db.prepare<PrintRow, [number, string, number, number, number]>(
    between('AND premium >= ? ORDER BY at, rowid'),
  );
  const selectLarge = db.prepare<PrintRow, [number, string, number, number, number]>(
    between(`AND premium >= ${INDEXED_MIN} AND premium >= ? ORDER BY at, rowid`),
  );
  const selectTape = db.prepare<PrintRow, [number, string, number, number, string]>(
    between('AND expiry >= ? ORDER BY at, rowid'),
  );
  const selectMark = db.prepare<{ mark: string }, [number, string, number, number]>(
    `SELECT count(*) || '.' || ifnull(sum(canceled), 0) AS mark
     FROM prints WHERE simulated = ? AND underlying = ? AND at BETWEEN ? AND ?`,
  );
  const selectLast = db.prepare<{ at: number }, [number, string, number]>(
    'SELECT at FROM prints WHERE simulated = ? AND underlying = ? AND at <= ? AND canceled = 0 ORDER BY at DESC LIMIT 1',
  );

  const read: MarketStore['prints'] = (underlying, fromMs, toMs, simulated, minPremiumUsd) =>
    (minPremiumUsd < INDEXED_MIN ? selectAbove : selectLarge)
      .all(Number(simulated), underlying, fromMs, toMs, minPremiumUsd)
      .map(printOf);
  const sums = printSums(db, read);

  const save = db.transaction((prints: readonly Print[]) => {
    let [added, changed] = [0, 0];
    sums.refresh();
    for (const print of prints) {
      const row = rowOf(print);
      const isNew = insert.run(row).changes > 0;
      if (isNew) added++;
      else {
        const key = [Number(print.simulated), print.id] as const;
        const stood = selectStanding.get(...key);
        if (stood === null || Bun.deepEquals(stood, row)) continue;
        // A tape that is read again says first what it corrects later.
        const isEarlier = (each: PrintRow) => Bun.deepEquals({ ...each, id: row.id, canceled: 0 }, row);
        if (selectEarlier.all(...key).some(isEarlier)) continue;
        changed++;
        sums.count(printOf(stood), -1);
        if (print.canceled) {
          cancel.run(...key);
          continue;
        }
        setAside.run(...key);
        insert.run(row);
      }
      if (!print.canceled) sums.count(print, 1);
    }
    return { added, changed };
  });

  return {
    savePrints: (prints) => save.immediate(prints),
    prints: read,
    printSums: sums.printSums,
    sumPrintsFrom: sums.sumPrintsFrom,
    *tape(underlying, fromMs, toMs, simulated, fromExpiry = '') {
      for (const row of selectTape.iterate(Number(simulated), underlying, fromMs, toMs, fromExpiry)) yield printOf(row);
    },
    tapeMark: (underlying, fromMs, toMs, simulated) =>
      selectMark.get(Number(simulated), underlying, fromMs, toMs)!.mark,
    lastPrintAt: (underlying, simulated, untilMs = Number.MAX_SAFE_INTEGER) =>
      selectLast.get(Number(simulated), underlying, untilMs)?.at,
  };
}

const SELECT = `SELECT simulated, id, underlying, root, expiry, call_put AS callPut, strike, price, size, multiplier, at, side,
  bid, ask, delta, multi_leg AS multiLeg, sweep, block, canceled FROM prints`;

/** A print as SQLite keeps it: its booleans are 0 and 1. */
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
