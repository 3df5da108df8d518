import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { createMarket } from '../../src/market/market.ts';
import { MINUTE_MS } from '../../src/market/simulated-past.ts';
import type { SnapshotListing } from '../../src/market/store.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { withFolder } from '../support/process.ts';
import { chainOf, MONDAY_MS, withStoreFile } from './samples.ts';

/** Flips a byte in the blob of a snapshot, as a bad disk does. */
function damage(path: string, asOf: number): void {
  const db = new Database(path, { readwrite: true, strict: true });
  const { columns } = db.query('SELECT columns FROM snapshots WHERE as_of = ?').get(asOf) as { columns: Uint8Array };
  columns[columns.length - 1]! ^= 1;
  db.run('UPDATE snapshots SET columns = ? WHERE as_of = ?', [columns, asOf]);
  db.close(true);
}

test('a damaged snapshot is reported once and set aside, and the one before it is the newest', () =>
  withFolder(async (folder) => {
    const path = `${folder}/z.sqlite`;
    const reported: SnapshotListing[] = [];
    const store = openStore(path, Date.now, 'own', { onDamaged: (snapshot) => reported.push(snapshot) });
    const moments = [0, 1, 2, 3].map((i) => MONDAY_MS + i * MINUTE_MS);
    for (const asOf of moments) store.saveChain(chainOf({ asOf }));
    for (const asOf of moments.slice(2)) damage(path, asOf);
    const market = createMarket(store, STANDARD_UNIVERSE, true, () => MONDAY_MS + 10 * MINUTE_MS);
    expect(market.chain('SPX').asOf).toBe(moments[1]!);
    expect(market.chain('SPX').asOf).toBe(moments[1]!);
    expect(reported.map(({ asOf }) => asOf)).toEqual([moments[3]!, moments[2]!]);
    expect(store.damagedSnapshots()).toEqual([...reported].reverse());
    expect(store.snapshots().map(({ asOf }) => asOf)).toEqual(moments.slice(0, 2));
    // No levels are due for what cannot be read.
    expect(store.levelsDue()).toHaveLength(2);
    // A snapshot of the same moment that arrives again takes its place.
    store.saveChain(chainOf({ asOf: moments[3]! }));
    expect(market.chain('SPX').asOf).toBe(moments[3]!);
    expect(store.damagedSnapshots().map(({ asOf }) => asOf)).toEqual([moments[2]!]);
    expect(store.forgetSnapshots('SPX', moments[2])).toBe(1);
    expect(store.damagedSnapshots()).toEqual([]);
    store.close();
  }));

test('a damaged snapshot of the past gives way to the one before it, also when only its header is read', () =>
  withFolder((folder) => {
    const path = `${folder}/z.sqlite`;
    const store = openStore(path, Date.now, 'own', { onDamaged: () => {} });
    for (const minutes of [0, 1, 2])
      store.saveChain(chainOf({ asOf: MONDAY_MS + minutes * MINUTE_MS, simulated: false }));
    damage(path, MONDAY_MS + MINUTE_MS);
    const market = createMarket(store, STANDARD_UNIVERSE, false, () => MONDAY_MS + 10 * MINUTE_MS);
    expect(market.at(MONDAY_MS + MINUTE_MS).chain('SPX').asOf).toBe(MONDAY_MS);
    damage(path, MONDAY_MS + 2 * MINUTE_MS);
    expect(store.snapshotHead(store.latestChainId('SPX', false)!)).toBeUndefined();
    expect(store.damagedSnapshots()).toHaveLength(2);
    store.close();
  }));

test('without somebody to tell, the read of a damaged snapshot throws, and nothing is moved', () =>
  withStoreFile((store, path) => {
    store.saveChain(chainOf());
    damage(path, MONDAY_MS);
    expect(() => store.chain(store.latestChainId('SPX', true)!)).toThrow('snapshot 1 of SPX is damaged');
    expect([store.snapshots().length, store.damagedSnapshots()]).toEqual([1, []]);
  }));
