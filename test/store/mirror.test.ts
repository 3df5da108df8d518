import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { type ChangeSet, type Mirror, openMirror } from '../../src/store/mirror.ts';
import { rowKeyOf } from '../../src/store/mirrored-tables.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { withFolder } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';
import { NOW_MS, rowsIn, WRITES } from './every-write.ts';

const CLUSTER = 'a';
/** The same values in other objects, as after a journey over a network. */
const travelled = (changes: ChangeSet): ChangeSet => structuredClone(changes);

const mirrorAt = (path: string): Mirror =>
  openMirror(
    path,
    () => NOW_MS,
    () => {},
  );

/** Takes changes as a database does that knows only the keys of the tables. */
function keep(log: Map<string, Map<string, unknown>>, { tables, sequences }: ChangeSet): void {
  for (const { table, rows, removed } of tables) {
    const kept = log.getOrInsertComputed(table.name, () => new Map());
    for (const key of removed) kept.delete(JSON.stringify(key));
    for (const row of rows) kept.set(JSON.stringify(rowKeyOf(table, row)), row);
  }
  for (const each of sequences) log.getOrInsertComputed('sequences', () => new Map()).set(each[0], each);
}

test('mirrors have the rows, ids and errors that one database has after the same writes', () =>
  withFolder(async (folder) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(WRITES.length - 1), fc.nat(500)), { maxLength: 40 }),
        async (writes) => {
          const prefix = `${run++}`;
          const path = (name: string) => join(folder, `${prefix}-${name}`);
          const plain = openStore(path('plain'), () => NOW_MS);
          const mirrors = ['a', 'b'].map((name) => mirrorAt(path(name)));
          const log = new Map<string, Map<string, unknown>>();
          for (const [place, [which, n]] of writes.entries()) {
            const work = (tx: Store) => WRITES[which]!(tx, n);
            let error: unknown;
            try {
              plain.transaction(() => work(plain));
            } catch (thrown) {
              error = (thrown as Error).message;
            }
            // Any mirror may decide the next write.
            const decides = mirrors[n % 2]!;
            let changes: ChangeSet;
            try {
              ({ changes } = decides.rehearse(work, 0));
            } catch (thrown) {
              expect((thrown as Error).message).toEqual(error as string);
              continue;
            }
            expect(error).toBeUndefined();
            for (const mirror of mirrors)
              mirror.apply(travelled(changes), { cluster: CLUSTER, place: place + 1, copied: null }, mirror.place());
            keep(log, changes);
          }
          for (const mirror of mirrors) mirror.close();
          plain.close();
          // No write changes the name of the log, which a mirror gets with its first copy.
          const writtenIn = (name: string) => ({ ...rowsIn(path(name)), level_log: [] });
          const expected = writtenIn('plain');
          for (const name of ['a', 'b']) expect(writtenIn(name)).toEqual(expected);
          const texts = (rows: Iterable<unknown>) => Array.from(rows, (row) => Bun.inspect(row)).sort();
          for (const [name, rows] of Object.entries(expected))
            expect([name, texts(log.get(name)?.values() ?? [])]).toEqual([name, texts(rows)]);
        },
      ),
      { numRuns: IS_LONG ? 300 : 25 },
    );
  }));

test('a mirror that goes back to a place forgets what was changed after it', () =>
  withFolder((folder) => {
    const mirror = mirrorAt(join(folder, 'mirror'));
    const at = (place: number) => ({ cluster: CLUSTER, place, copied: null });
    for (const place of [5, 6, 7])
      mirror.apply(mirror.rehearse((tx) => WRITES[0]!(tx, place), 0).changes, at(place), mirror.place());
    expect(mirror.appliedPlaces()).toEqual([7, 6, 5]);
    mirror.apply({ tables: [], sequences: [], written: { keys: [], group: 'others' } }, at(5), at(7));
    expect(mirror.appliedPlaces()).toEqual([5]);
    mirror.close();
  }));
