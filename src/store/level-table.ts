import type { Database } from 'bun:sqlite';
import { newYorkDate } from '../market/calendar.ts';
import {
  type LevelEvent,
  type LevelRecord,
  type LevelSpot,
  STORED_HORIZONS,
  type StoredHorizon,
  type StoredLevels,
} from '../market/level-record.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { LevelStore } from '../market/store.ts';
import { thinSimulated } from './thin-simulated.ts';

/**
 * Creates the functions that read and write levels, 200 bytes a snapshot, which are kept longer than snapshots. Simulated levels are
 * removed with their snapshots. The table is also a log (`level-log`): `seq` is the order of storage.
 */
export function levelTable(db: Database, nowMs: () => number): LevelStore {
  const selectDue = db.prepare<{ id: number }, [number]>(
    'SELECT snapshot AS id FROM levels_due WHERE snapshot > ? ORDER BY snapshot DESC',
  );
  // With CROSS JOIN, SQLite reads the few due snapshots first, and not all snapshots of the tickers.
  const countIn = (table: string) =>
    db.prepare<{ count: number }, [number, string, number]>(
      `SELECT count(*) AS count FROM ${table} CROSS JOIN snapshots ON id = snapshot
       WHERE simulated = ?1 AND as_of <= ?3 AND underlying IN (SELECT value FROM json_each(?2))`,
    );
  const [countDue, countHorizonsDue] = [countIn('levels_due'), countIn('horizons_due')];
  const selectHorizonsDue = db.prepare<{ id: number }, []>('SELECT snapshot AS id FROM horizons_due ORDER BY id DESC');
  const deleteHorizonsDue = db.prepare<null, [number]>('DELETE FROM horizons_due WHERE snapshot = ?');
  const deleteDue = db.prepare<null, [number]>('DELETE FROM levels_due WHERE snapshot = ?');
  const deleteOf = db.prepare<null, [number]>(
    `DELETE FROM levels WHERE (simulated, underlying, as_of) =
       (SELECT simulated, underlying, as_of FROM snapshots WHERE id = ?)`,
  );
  const insert = db.prepare<
    null,
    [StoredLevelRow & { readonly source: string; readonly advanced: number; readonly keptAt: number }]
  >(
    `INSERT INTO levels (simulated, underlying, as_of, source, advanced, kept_at, day, spot, net_gex, gross_gex, gex_flip,
       flip_resolved, call_wall, put_wall, max_pain, expiry, dex, vex, cex, atm_iv_30d, nearest_iv,
       expiring_gex, sign_probability, ${HORIZON_COLUMNS.map(({ column }) => column).join(', ')})
     VALUES ($simulated, $underlying, $asOf, $source, $advanced, $keptAt, $day, $spot, $netGex,
       $grossGex, $gexFlip, $flipResolved, $callWall, $putWall, $maxPain, $expiry, $dex, $vex, $cex, $atmIv30d, $nearestIv,
       $expiringGex, $signProbability, ${HORIZON_COLUMNS.map(({ name }) => `$${name}`).join(', ')})`,
  );
  const updateHorizons = db.prepare<null, [HorizonRow & { readonly id: number }]>(
    `UPDATE levels SET ${HORIZON_COLUMNS.map(({ column, name }) => `${column} = $${name}`).join(', ')}
     WHERE (simulated, underlying, as_of) = (SELECT simulated, underlying, as_of FROM snapshots WHERE id = $id)`,
  );
  const insertRemoved = db.prepare<null, [number, string]>(
    'INSERT OR REPLACE INTO levels_removed (simulated, underlying) VALUES (?, ?)',
  );
  const selectSource = db.prepare<{ source: string }, [number]>('SELECT source FROM snapshots WHERE id = ?');
  const thin = thinSimulated(db, 'levels');
  const selectTimes = db.prepare<{ at: number }, [number, string, number, number, number]>(
    `SELECT as_of AS at FROM levels WHERE simulated = ? AND underlying = ? AND as_of BETWEEN ? AND ?
     ORDER BY as_of DESC LIMIT ?`,
  );
  const selectLast = db.prepare<{ at: number }, [number, string, number]>(
    'SELECT as_of AS at FROM levels WHERE simulated = ? AND underlying = ? AND as_of <= ? ORDER BY as_of DESC LIMIT 1',
  );
  // The query uses the index to step back from day to day. The query's time therefore grows with the number of days, not of snapshots.
  const selectDaily = db.prepare<{ at: number }, [number, string, number, number, number, string]>(
    `WITH RECURSIVE days (day) AS (
       SELECT * FROM (
         SELECT day FROM levels WHERE simulated = ?1 AND underlying = ?2 AND as_of <= ?4 ORDER BY as_of DESC LIMIT 1
       )
       UNION ALL
       SELECT (SELECT max(day) FROM levels WHERE simulated = ?1 AND underlying = ?2 AND day < days.day)
       FROM days WHERE day >= ?6 LIMIT ?5
     ), last AS (
       SELECT (
         SELECT max(as_of) FROM levels WHERE simulated = ?1 AND underlying = ?2 AND day = days.day AND as_of <= ?4
       ) AS at FROM days WHERE day >= ?6
     ) SELECT at FROM last WHERE at >= ?3 ORDER BY at DESC`,
  );
  const selectAt = db.prepare<StoredLevelRow, [number, string, string]>(
    `SELECT ${RECORD} FROM levels
     WHERE simulated = ? AND underlying = ? AND as_of IN (SELECT value FROM json_each(?)) ORDER BY as_of`,
  );
  const selectSpots = db.prepare<LevelSpot, [number, string, number, number]>(
    `SELECT spot, count(*) AS records FROM levels
     WHERE simulated = ? AND underlying = ? AND as_of BETWEEN ? AND ? GROUP BY spot ORDER BY spot`,
  );
  const selectVolatilities = db.prepare<{ iv: number | null }, [number, string, string, number]>(
    `SELECT (
       SELECT atm_iv_30d FROM levels WHERE simulated = ?1 AND underlying = ?2 AND day = value AND as_of <= ?4 ORDER BY as_of DESC LIMIT 1
     ) AS iv FROM json_each(?3) ORDER BY key`,
  );
  const selectHead = db.prepare<{ seq: number }, []>("SELECT seq FROM sqlite_sequence WHERE name = 'levels'");
  const selectStored = db.prepare<StoredLevelRow & Entry, [number, number]>(
    `SELECT ${RECORD}, ${ENTRY} FROM levels WHERE seq > ? AND simulated = ? ORDER BY seq`,
  );
  const selectRemoved = db.prepare<{ underlying: string }, [number, number]>(
    'SELECT underlying FROM levels_removed WHERE seq > ? AND simulated = ?',
  );
  const selectRemovedHead = db.prepare<{ seq: number }, []>(
    "SELECT seq FROM sqlite_sequence WHERE name = 'levels_removed'",
  );
  const selectCurrent = db.prepare<StoredLevelRow & Entry, [number, string, number, number]>(
    `SELECT ${RECORD}, ${ENTRY} FROM levels WHERE simulated = ? AND underlying = ? AND as_of <= ? AND seq <= ?
     ORDER BY as_of DESC LIMIT 1`,
  );

  const save = db.transaction((snapshotId: number, record: LevelRecord | undefined) => {
    // Stores nothing if a process has meanwhile stored the levels, or has removed or replaced the snapshot.
    if (deleteDue.run(snapshotId).changes === 0) return;
    deleteOf.run(snapshotId);
    if (record === undefined) return;
    const { underlying, asOf, simulated } = record;
    // Levels dated after `presentMs` have a wrong date. `last` leaves such levels out.
    const presentMs = nowMs() + AHEAD_MS;
    const last = selectLast.get(Number(simulated), underlying, presentMs)?.at;
    // The record becomes an entry of the log (`levelEvents`) only if it is newer than all stored levels up to `presentMs`.
    const advanced = Number(last === undefined || (last < asOf && asOf <= presentMs));
    const { source } = selectSource.get(snapshotId)!;
    insert.run({ ...rowOf(record), source, advanced, keptAt: nowMs() });
    if (simulated) thin(underlying, asOf);
  });

  const fill = db.transaction((id: number, record: LevelRecord | undefined) => {
    if (deleteHorizonsDue.run(id).changes === 0 || !record) return;
    updateHorizons.run({ ...horizonRowOf(record), id });
    // Processes that hold the newest levels of the ticker in memory read them again.
    insertRemoved.run(Number(record.simulated), record.underlying);
  });

  return {
    levelsDueOf: (underlyings, simulated, untilMs, ofHorizons) =>
      (ofHorizons ? [countDue, countHorizonsDue] : [countDue])
        .map((each) => each.get(Number(simulated), JSON.stringify(underlyings), untilMs)!.count)
        .reduce((sum, each) => sum + each, 0),
    horizonsDue: () => selectHorizonsDue.all().map(({ id }) => id),
    fillHorizons: (snapshotId, record) => fill.immediate(snapshotId, record),
    levelsDue: (afterId = 0) => selectDue.all(afterId).map(({ id }) => id),
    saveLevels: (snapshotId, record) => save.immediate(snapshotId, record),
    lastLevelsAt: (underlying, untilMs, simulated) => selectLast.get(Number(simulated), underlying, untilMs)?.at,
    levelTimes(underlying, fromMs, toMs, per, simulated, limit = Number.MAX_SAFE_INTEGER) {
      const given = [Number(simulated), underlying, fromMs, toMs, limit] as const;
      const newestFirst = per === 'day' ? selectDaily.all(...given, newYorkDate(fromMs)) : selectTimes.all(...given);
      return newestFirst.map(({ at }) => at).reverse();
    },
    levels: (underlying, times, simulated) =>
      selectAt.all(Number(simulated), underlying, JSON.stringify(times)).map(recordOfRow),
    levelSpots: (underlying, fromMs, toMs, simulated) => selectSpots.all(Number(simulated), underlying, fromMs, toMs),
    newestLevels(underlying, untilMs, simulated) {
      const row = selectCurrent.get(Number(simulated), underlying, untilMs, Number.MAX_SAFE_INTEGER);
      return row ? recordOfRow(row) : undefined;
    },
    volatilitiesOfDays: (underlying, days, untilMs, simulated) =>
      selectVolatilities.all(Number(simulated), underlying, JSON.stringify(days), untilMs).map(({ iv }) => iv),
    currentLevels(underlying, upToSeq, simulated) {
      const until = (ms: number) => selectCurrent.get(Number(simulated), underlying, ms, upToSeq);
      const row = until(nowMs() + AHEAD_MS) ?? until(Number.MAX_SAFE_INTEGER);
      return row ? recordOfRow(row) : undefined;
    },
    levelCursor: () => ({ stored: selectHead.get()?.seq ?? 0, removed: selectRemovedHead.get()?.seq ?? 0 }),
    levelChanges: ({ stored, removed }, simulated) => ({
      stored: selectStored.all(stored, Number(simulated)).map(recordOfRow),
      removed: selectRemoved.all(removed, Number(simulated)).map(({ underlying }) => underlying),
    }),
  };
}

/** The columns of the levels of each horizon. `name` is the property of the row, `field` that of the levels. */
const HORIZON_COLUMNS = STORED_HORIZONS.flatMap((horizon) =>
  (
    [
      ['netGex', 'net_gex'],
      ['grossGex', 'gross_gex'],
      ['signProbability', 'sign_probability'],
      ['gexFlip', 'gex_flip'],
      ['flipResolved', 'flip_resolved'],
      ['callWall', 'call_wall'],
      ['putWall', 'put_wall'],
      ['maxPain', 'max_pain'],
      ['expiry', 'expiry'],
    ] as const satisfies readonly [keyof StoredLevels, string][]
  ).map(([field, column]) => ({
    horizon,
    field,
    column: `${column}_${horizon}`,
    name: `${field}_${horizon}` as const,
  })),
);
type HorizonRow = Record<(typeof HORIZON_COLUMNS)[number]['name'], number | string | null>;

/** The columns of a level record, as the properties of `StoredLevelRow`. */
export const RECORD = `simulated, underlying, as_of AS asOf, day, spot, net_gex AS netGex, gross_gex AS grossGex, gex_flip AS gexFlip,
  flip_resolved AS flipResolved, call_wall AS callWall, put_wall AS putWall, max_pain AS maxPain, expiry, dex, vex, cex,
  atm_iv_30d AS atmIv30d, nearest_iv AS nearestIv, expiring_gex AS expiringGex, sign_probability AS signProbability,
  ${HORIZON_COLUMNS.map(({ column, name }) => `${column} AS ${name}`).join(', ')}`;
/** When a record was stored. Rows of early versions of the program lack the time, and the slightly earlier `as_of` counts. */
export const KEPT_AT = 'ifnull(kept_at, as_of)';
/** The columns of an entry of the log, in addition to those of its record. */
export const ENTRY = `seq, source, ${KEPT_AT} AS keptAt`;

/** A level record as SQLite stores it: booleans are 0 and 1. */
export type StoredLevelRow = Omit<LevelRecord, Flag | 'byHorizon'> & Record<Flag, number> & HorizonRow;
type Flag = 'simulated' | 'flipResolved';
export type Entry = Pick<LevelEvent, 'seq' | 'source' | 'keptAt'>;

function rowOf({ byHorizon, ...record }: LevelRecord): StoredLevelRow {
  return {
    ...record,
    simulated: Number(record.simulated),
    flipResolved: Number(record.flipResolved),
    ...horizonRowOf({ byHorizon }),
  };
}

function horizonRowOf({ byHorizon }: Pick<LevelRecord, 'byHorizon'>): HorizonRow {
  const cells = HORIZON_COLUMNS.map(({ horizon, field, name }) => {
    const cell = byHorizon[horizon]?.[field] ?? null;
    return [name, typeof cell === 'boolean' ? Number(cell) : cell];
  });
  return Object.fromEntries(cells) as HorizonRow;
}

/** Returns the record of a row, with the row's other properties. */
export function recordOfRow<Row extends StoredLevelRow>(row: Row): Omit<Row, keyof StoredLevelRow> & LevelRecord {
  const record: Record<string, unknown> = { ...row };
  const byHorizon: Record<StoredHorizon, Record<string, unknown> | null> = { session: null, '35d': null };
  for (const { horizon, field, name } of HORIZON_COLUMNS) {
    const cell = row[name];
    if (cell !== null)
      byHorizon[horizon] = { ...byHorizon[horizon], [field]: field === 'flipResolved' ? cell === 1 : cell };
    delete record[name];
  }
  const flags = { simulated: row.simulated === 1, flipResolved: row.flipResolved === 1 };
  return { ...record, ...flags, byHorizon } as unknown as Omit<Row, keyof StoredLevelRow> & LevelRecord;
}
