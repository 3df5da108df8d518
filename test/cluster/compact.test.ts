import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import { DAY_MS } from '../../src/market/calendar.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { withStore } from '../../src/server/stored-data.ts';
import { rowsIn } from '../store/every-write.ts';
import { printOf } from '../store/samples.ts';
import { PASSWORD, postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { SharedStoreUsers } from '../support/shared-store.ts';
import { folderForTests } from '../support/test-folder.ts';

const folder = folderForTests();
const postgres = await postgresForTests();

const OLD = 120;
const AS_OF = Date.parse('2026-08-21T20:00:00Z');

testWithPostgres(
  'compact makes the copy of this machine smaller while a server runs, and no row gets another id',
  async () => {
    const users = new SharedStoreUsers(postgres);
    const [a, b, drop] = ['a', 'b', 'drop'].map((name) => join(folder, name)) as [string, string, string];
    mkdirSync(drop);
    await using first = await users.serve(a, '--feed', `files:${drop}`);
    mkdirSync(b, { mode: 0o700 });
    copyFileSync(join(a, 'secret'), join(b, 'secret'));
    await using second = await users.serve(b, '--feed', `files:${drop}`);
    await Promise.all([first.loaded, second.loaded]);
    const [instrument] = instrumentsOf({ seed: 1, universe: STANDARD_UNIVERSE, clock: 'real' });
    const chain = { ...simulatedChain(instrument!, AS_OF), simulated: false };
    await withStore({ dataDir: a, store: users.store, storePassword: PASSWORD }, 'write', async (store) => {
      for (let i = 0; i <= OLD; i += 20)
        await store.write((tx) => {
          for (let n = i; n < Math.min(i + 20, OLD); n++)
            tx.saveChain({ ...chain, asOf: AS_OF - 60 * DAY_MS - n * 60_000 });
          if (i === OLD) tx.saveChain(chain);
        });
      // Rows whose ids no column has, with a gap among them.
      const at = AS_OF - 3_600_000;
      const print = (n: number) => printOf(`${n}`, { at: n === 1 ? at - 90 * DAY_MS : at + n, simulated: false });
      for (const n of [0, 1, 2, 3]) await store.write((tx) => tx.savePrints([print(n)], { atOnce: true }));
    });
    // A snapshot stays until its levels are recorded.
    await users.untilCopied(a, (store) => store.snapshotCount() === OLD + 1 && store.levelsDue().length === 0);
    const { code, stdout } = await users.command(a, [
      'compact',
      '--keep-chains',
      '30',
      '--keep-prints',
      '31',
      '--json',
    ]);
    const { removed, bytes_before, bytes_after } = JSON.parse(stdout);
    expect([code, removed]).toEqual([0, { chains: OLD, prints: 1, levels: 0 }]);
    expect(bytes_after).toBeLessThan(bytes_before);
    await users.untilCopied(b, (store) => store.snapshotCount() === 1);
    await Promise.all([first.stop('SIGTERM'), second.stop('SIGTERM')]);
    // The other machine keeps its free pages for new data.
    expect(freePagesIn(b)).toBeGreaterThan(400);
    expect(freePagesIn(a)).toBeLessThan(300);
    expect(rowsIn(join(a, 'mirror.sqlite'))).toEqual(rowsIn(join(b, 'mirror.sqlite')));
  },
);

function freePagesIn(dataDir: string): number {
  const db = new Database(join(dataDir, 'mirror.sqlite'), { readonly: true });
  const { freelist_count } = db.query('PRAGMA freelist_count').get() as { freelist_count: number };
  db.close(true);
  return freelist_count;
}
