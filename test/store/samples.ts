import { Database } from 'bun:sqlite';
import { addDays, DAY_MS, newYorkDate, newYorkInstant } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { LevelRecord, StoredLevels } from '../../src/market/level-record.ts';
import type { Close, Print } from '../../src/market/prints.ts';
import type { MarketStore } from '../../src/market/store.ts';
import { migrate } from '../../src/store/migrations.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { withFolder } from '../support/process.ts';

/** Runs work on a store, by default one in memory, and closes it afterwards. */
export async function withStore(work: (store: Store) => unknown, path = ':memory:'): Promise<void> {
  const store = openStore(path, Date.now);
  try {
    await work(store);
  } finally {
    store.close();
  }
}

/** The same on a new file. */
export const withStoreFile = (work: (store: Store, path: string) => unknown): Promise<void> =>
  withFolder((folder) => withStore((store) => work(store, `${folder}/z.db`), `${folder}/z.db`));

/** An empty database in memory, of the newest schema. */
export function memoryDatabase(): Database {
  const db = new Database(':memory:', { strict: true });
  migrate(db);
  return db;
}

const STORE = new URL('../../src/store/sqlite.ts', import.meta.url).href;

/** A separate process that opens the store at a path as `store` and runs a script. */
export function spawnOnStore(path: string, script: string) {
  const program = `import { openStore } from ${JSON.stringify(STORE)}; const store = openStore(process.argv[1], Date.now); ${script}`;
  return Bun.spawn([process.execPath, '-e', program, path], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
}

/** The output of such a process, which is killed as soon as the output is enough. */
export async function outputOf(child: ReturnType<typeof spawnOnStore>, isEnough: (output: string) => boolean) {
  let output = '';
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += text;
    if (isEnough(output)) child.kill('SIGKILL');
  }
  await child.exited;
  return output;
}

/** 15:00 in New York on a Monday. */
export const MONDAY_MS = Date.UTC(2026, 0, 5, 20);
export { DAY_MS };

/** A chain of `count` contracts in two series. Every cell is different, and some are missing. */
export function chainOf(changes: Partial<Chain> = {}): Chain {
  const count = changes.count ?? 5;
  const column = (seed: number) => Float64Array.from({ length: count }, (_, row) => seed + row / 7);
  const gappy = (seed: number) => Float64Array.from({ length: count }, (_, row) => (row % 3 === 1 ? NaN : seed + row));
  const cut = Math.ceil(count / 2);
  return {
    ...{ underlying: 'SPX', asOf: MONDAY_MS, spot: 6000.25, source: 'simulated', simulated: true, count },
    series: [
      series('SPX', 'AM', 0, cut, MONDAY_MS + 11 * DAY_MS),
      { ...series('SPXW', 'PM', cut, count, MONDAY_MS + 12 * DAY_MS), adjusted: true },
    ],
    seriesIndex: Uint16Array.from({ length: count }, (_, row) => (row < cut ? 0 : 1)),
    callPut: Float64Array.from({ length: count }, (_, row) => (row % 2 === 0 ? 1 : -1)),
    ...{ strike: column(5900), bid: gappy(1), ask: gappy(2), last: gappy(3), volume: column(10) },
    ...{ openInterest: column(20), iv: gappy(0.2), delta: column(-0.5), gamma: column(1e-9) },
    ...{ multiplier: column(100), refused: { 'no strike': 3, 'Zürich "quoted"': 1 } },
    ...changes,
  };
}

function series(root: string, settlement: 'AM' | 'PM', start: number, end: number, settlesAt: number) {
  return { root, expiry: '2026-01-16', settlement, settlesAt, adjusted: false, start, end };
}

export function printOf(id: string, changes: Partial<Print> = {}): Print {
  return {
    ...{ id, underlying: 'SPX', root: 'SPXW', expiry: '2026-01-16', callPut: -1, strike: 5900.5, price: 12.35 },
    ...{ size: 40, multiplier: 100, at: MONDAY_MS, side: 'ask', bid: 12.1, ask: 12.35, delta: -0.41, multiLeg: true },
    ...{ sweep: false, block: true, canceled: false, simulated: true },
    ...changes,
  };
}

export function closeWith(changes: Partial<Close>): Close {
  return { ...{ ticker: 'SPX', date: '2026-01-05', close: 1, volume: null, simulated: false }, ...changes };
}

/** A level record with a different value in every field. */
export function recordOf(overrides: Partial<LevelRecord> = {}): LevelRecord {
  const asOf = overrides.asOf ?? MONDAY_MS;
  return {
    ...{ underlying: 'SPX', simulated: false, asOf, day: newYorkDate(asOf), spot: 6000.25 },
    ...{ netGex: -1.5e9, grossGex: 9.25e9, gexFlip: 6010.5, flipResolved: true, callWall: 6100, putWall: 5900 },
    ...{ maxPain: 6000, expiry: '2026-01-16', dex: 1e11, vex: -2e8, cex: 3.5e7, atmIv30d: 0.1625 },
    ...{ nearestIv: 0.1675, expiringGex: 1.25e9, signProbability: 0.9375 },
    byHorizon: { session: null, '35d': MONTH },
    ...overrides,
  };
}

/**
 * Stores `perDay` levels on each of some days in the database file of a store that has levels: copies of the first stored levels, a minute
 * apart, from 15:00 in New York on.
 */
export function copyLevels(
  path: string,
  underlyings: readonly string[],
  firstDay: string,
  days: number,
  perDay: number,
) {
  const db = new Database(path, { strict: true });
  const columns = db
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('levels')")
    .all()
    .map(({ name }) => name)
    .filter((name) => !['seq', 'underlying', 'as_of', 'day', 'advanced'].includes(name));
  const insert = db.prepare(
    `WITH RECURSIVE minutes (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM minutes WHERE i + 1 < ?4)
     INSERT INTO levels (underlying, as_of, day, advanced, ${columns})
     SELECT ?1, ?2 + 60000 * i, ?3, 0, ${columns} FROM minutes CROSS JOIN levels
     WHERE seq = (SELECT min(seq) FROM levels)`,
  );
  db.transaction(() => {
    for (const underlying of underlyings)
      for (let i = 0; i < days; i++) {
        const day = addDays(firstDay, i);
        insert.run(underlying, newYorkInstant(day, '15:00'), day, perDay);
      }
  }).immediate();
  db.close();
}
/** The levels of the horizon of 35 days in `recordOf`. */
export const MONTH: StoredLevels = {
  ...{
    netGex: -1e9,
    grossGex: 5e9,
    signProbability: 0.875,
    gexFlip: 6020,
    flipResolved: true,
    callWall: 6100,
    putWall: 5900,
  },
  ...{ maxPain: 5990, expiry: '2026-01-09' },
};

/** Stores a snapshot and its levels. Returns the id of the snapshot. */
export function keepLevels(store: MarketStore, overrides: Partial<LevelRecord> = {}): number {
  const record = recordOf(overrides);
  const { underlying, asOf, spot, simulated } = record;
  const chain = chainOf({ underlying, asOf, spot, simulated });
  // Levels come only from chains that have not settled.
  const isSettled = asOf >= chain.series[0]!.settlesAt;
  const later = chain.series.map((each) => ({ ...each, expiry: '2027-12-17', settlesAt: asOf + DAY_MS }));
  store.saveChain(isSettled ? { ...chain, series: later } : chain);
  const id = store.levelsDue()[0]!;
  store.saveLevels(id, record);
  return id;
}
