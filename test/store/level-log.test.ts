import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { copyChecked, makeBackup, restoreDatabase } from '../../src/store/folder/backup.ts';
import { levelLog } from '../../src/store/level-log.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { withFolder } from '../support/process.ts';
import { keepLevels, MONDAY_MS } from './samples.ts';

const NAME = /^[0-9a-f]{12}$/;

describe('the name of the log', () => {
  test('is new in each database, and stays', () =>
    withFolder((folder) => {
      const nameOf = (file: string) => {
        const store = openStore(join(folder, file), Date.now);
        const name = store.levelLogName();
        store.close();
        return name;
      };
      const [first, again, other] = [nameOf('a'), nameOf('a'), nameOf('b')];
      expect([NAME.test(first), again === first, other === first]).toEqual([true, true, false]);
    }));

  test('is given to a database of schema 20, whose levels stay', () => {
    const db = new Database(':memory:', { strict: true });
    migrate(db, MIGRATIONS.slice(0, 8));
    db.run(
      `INSERT INTO levels (simulated, underlying, as_of, source, advanced, day, spot, net_gex, gross_gex, gex_flip, flip_resolved, call_wall,
         put_wall, max_pain, expiry, dex, vex, cex)
       VALUES (0, 'SPX', ${MONDAY_MS}, 'test', 1, '2026-01-05', 1, -1, 2, 3, 1, 4, 5, 6, '2026-01-16', 7, 8, 9)`,
    );
    migrate(db);
    const log = levelLog(db);
    expect(log.levelLogName()).toMatch(NAME);
    // Levels without a time of storage have their moment.
    expect(log.levelEvents(0, 9, false)).toMatchObject([{ seq: 1, underlying: 'SPX', keptAt: MONDAY_MS }]);
  });

  test('is another one after a restore, also of a backup without a name', () =>
    withFolder(async (folder) => {
      const path = (file: string) => join(folder, file);
      const source = openStore(path('source'), Date.now);
      keepLevels(source);
      await makeBackup(path('source'), path('backup'), { version: '0', nowMs: 0, copy: copyChecked });
      restoreDatabase(path('backup'), path('restored'));
      const restored = openStore(path('restored'), Date.now);
      expect(restored.levelLogName()).toMatch(NAME);
      expect(restored.levelLogName()).not.toBe(source.levelLogName());
      expect(restored.levelEvents(0, 9, false)).toEqual(source.levelEvents(0, 9, false));
      for (const each of [source, restored]) each.close();

      const old = new Database(path('old'), { strict: true });
      migrate(old, MIGRATIONS.slice(0, 8));
      old.close();
      await makeBackup(path('old'), path('old-backup'), { version: '0', nowMs: 0, copy: copyChecked });
      restoreDatabase(path('old-backup'), path('old-restored'));
      const upgraded = openStore(path('old-restored'), Date.now);
      expect(upgraded.levelLogName()).toMatch(NAME);
      upgraded.close();
    }));
});

const at = (minutes: number) => MONDAY_MS + 60_000 * minutes;
const NONE = [0, Number.MAX_SAFE_INTEGER] as const;

/** A log of eight records. SPX of minute 1 is late, and NDX of minute 3 simulated. */
async function withLog(work: (store: Store) => void): Promise<void> {
  let nowMs = 0;
  const store = openStore(':memory:', () => nowMs);
  const keep = (minutes: number, underlying: string, simulated = false) => {
    nowMs = at(10 + store.lastLevelSeq());
    keepLevels(store, { underlying, asOf: at(minutes), simulated });
  };
  keep(0, 'SPX');
  keep(0, 'NDX');
  keep(2, 'SPX');
  keep(1, 'SPX');
  keep(2, 'NDX');
  keep(3, 'NDX', true);
  keep(3, 'SPX');
  keep(3, 'NDX');
  try {
    work(store);
  } finally {
    store.close();
  }
}

describe('the records of a log', () => {
  test('around a number are of any underlying, and the last entry is of one', () =>
    withLog((store) => {
      const { before, after } = store.levelsAround(4);
      expect([before, after]).toEqual([
        { seq: 4, underlying: 'SPX', asOf: at(1), keptAt: at(13) },
        { seq: 5, underlying: 'NDX', asOf: at(2), keptAt: at(14) },
      ]);
      expect(store.levelsAround(0)).toMatchObject({ before: undefined, after: { seq: 1 } });
      expect(store.levelsAround(99)).toMatchObject({ before: { seq: 8 }, after: undefined });
      const last = (underlying: string, upTo: number) => store.lastLevelEntry(underlying, upTo, false)?.seq;
      // The late record is no entry.
      expect([last('SPX', 4), last('SPX', 2), last('NDX', 7), last('NDX', 1)]).toEqual([3, 1, 5, undefined]);
      expect(store.lastLevelEntry('NDX', 9, true)).toEqual({ seq: 6, underlying: 'NDX', asOf: at(3), keptAt: at(15) });
    }));

  test.each<[name: string, args: Parameters<Store['levelPlaces']>, seqs: number[]]>([
    ['all, in the order of moments', ['SPX', 0, NONE, 9, false], [1, 4, 3, 7]],
    ['above a moment', ['SPX', at(1), NONE, 9, false], [3, 7]],
    ['in a range of numbers', ['SPX', 0, [3, 7], 9, false], [4, 7]],
    ['the first ones', ['SPX', 0, NONE, 2, false], [1, 4]],
    ['of the simulated market', ['NDX', 0, NONE, 9, true], [6]],
    ['of no ticker', ['NONE', 0, NONE, 9, false], []],
  ])('of a ticker: %s', (_, args, seqs) =>
    withLog((store) => {
      expect(store.levelPlaces(...args).map(({ seq }) => seq)).toEqual(seqs);
    }),
  );

  test('are read by their numbers, with whether they are entries', () =>
    withLog((store) => {
      const read = store.levelRecords([7, 4, 99, 6]);
      expect(read.map(({ seq, asOf, isEntry }) => [seq, asOf, isEntry])).toEqual([
        [4, at(1), false],
        [6, at(3), true],
        [7, at(3), true],
      ]);
      expect(read[2]).toEqual({ ...store.levelEvents(5, 1, false)[0]!, isEntry: true });
    }));

  test.each<[name: string, args: Parameters<Store['lateLevels']>, seqs: number[]]>([
    ['that is no entry', [['SPX', 'NDX'], NONE, 9, false], [4]],
    ['of the tickers', [['NDX'], NONE, 9, false], []],
    ['after a number', [['SPX'], [4, 9], 9, false], []],
    ['up to a number', [['SPX'], [3, 4], 9, false], [4]],
    ['at most some', [['SPX'], NONE, 0, false], []],
    ['of the simulated market', [['SPX'], NONE, 9, true], []],
  ])('are found if they are late: each %s', (_, args, seqs) =>
    withLog((store) => {
      expect(store.lateLevels(...args).map(({ seq }) => seq)).toEqual(seqs);
    }),
  );
});
