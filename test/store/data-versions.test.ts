import { expect, test } from 'bun:test';
import type { Member } from '../../src/access/members.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { chainOf, closeWith, DAY_MS, keepLevels, MONDAY_MS, printOf, recordOf } from './samples.ts';

/** What each write changes. An answer that is cached by these counts is never older than the data. */
const KINDS = ['snapshots', 'prints', 'closes', 'dividends', 'levels', 'feeds', 'gaps'] as const;
const MEMBER: Member = {
  ...{ uuid: 'a', tier: 'b', status: 'active' as const, expiresAt: null, accountId: 'c', generation: 0 },
  ...{ keyDigest: 'd', previousDigest: null, previousUntil: null },
};
const ENTRY = { atMs: 1, actor: 'a', client: null, action: 'added', account: null, result: 'ok', detail: null };

/** `version` changes, `others` changes, or the count of a kind changes, of the underlying SPX and in total. */
const writes: [what: string, write: (store: Store) => unknown, changed: readonly string[]][] = [
  ['a snapshot', (store) => store.saveChain(chainOf({ asOf: MONDAY_MS + 1 })), ['version', 'snapshots']],
  ['levels', (store) => store.saveLevels(store.levelsDue()[0]!, recordOf({ simulated: true })), ['version', 'levels']],
  ['a snapshot without levels', (store) => store.saveLevels(store.levelsDue()[0]!, undefined), ['version', 'others']],
  ['a forgotten snapshot', (store) => store.forgetSnapshots('SPX'), ['version', 'snapshots', 'levels']],
  ['prints', (store) => store.savePrints([printOf('b')]), ['version', 'prints']],
  ['a correction', (store) => store.savePrints([printOf('a', { canceled: true })]), ['version', 'prints']],
  ['packing', (store) => [...store.packTape('2026-02-01')], []],
  ['another minimum premium', (store) => store.sumPrintsFrom(7), ['version', 'others']],
  ['closes', (store) => store.saveCloses([closeWith({})]), ['version', 'closes']],
  [
    'dividends',
    (store) =>
      store.saveDividends([
        { ticker: 'SPX', exDate: '2026-01-09', amount: 1, status: 'declared', knownFrom: 0, simulated: true },
      ]),
    ['version', 'dividends'],
  ],
  ['retention', (store) => store.removeOld({ presentMs: MONDAY_MS, printsFromMs: MONDAY_MS }), ['version', 'others']],
  ['a gap', (store) => store.connection('massive', false, 1, 'lost'), ['feeds', 'gaps']],
  ['a poll', (store) => store.pollBegan('files', 1), ['feeds']],
  ['a checkpoint', (store) => store.setCheckpoint('files', 'a', 'b'), ['feeds']],
  ['a set clock', (store) => store.clockStepped({ sinceMs: 0, byMs: DAY_MS, nowMs: DAY_MS }), ['feeds']],
  ['a member', (store) => store.saveMember(MEMBER), ['version']],
  ['an audit entry', (store) => store.saveAudit(ENTRY as never), []],
  ['a read', (store) => store.chain(store.latestChainId('SPX', true)!), []],
];

test.each(writes)('%s', (_, write, changed) => {
  const store = openStore(':memory:', Date.now);
  keepLevels(store, { simulated: true, asOf: MONDAY_MS - DAY_MS });
  store.saveChain(chainOf());
  store.savePrints([printOf('a')]);
  store.openFeeds([{ name: 'files', simulated: true, tickers: [] }]);
  const state = () => ({
    version: store.version(),
    others: store.otherChanges(),
    ...Object.fromEntries(KINDS.map((kind) => [kind, store.changes(kind)])),
  });
  const ofTickers = () => KINDS.map((kind) => [store.changes(`${kind} SPX`), store.changes(`${kind} NDX`)]);
  const [before, countsBefore] = [state(), ofTickers()];
  write(store);
  const after = state();
  expect(Object.keys(after).filter((key) => after[key as 'version'] !== before[key as 'version'])).toEqual([
    ...changed,
  ]);
  for (const [i, kind] of KINDS.entries()) {
    const isOfTicker = changed.includes(kind) && kind !== 'feeds' && kind !== 'gaps';
    const [spx, ndx] = countsBefore[i]!;
    expect([kind, ...ofTickers()[i]!]).toEqual([kind, isOfTicker ? spx! + 1 : spx!, ndx!]);
  }
  store.close();
});

test('a failed write counts as a change', () => {
  const store = openStore(':memory:', Date.now);
  const fail = () =>
    store.transaction(() => {
      store.saveChain(chainOf());
      throw new Error('later');
    });
  expect(fail).toThrow('later');
  expect([store.changes('snapshots SPX'), store.snapshotCount()]).toEqual([1, 0]);
  store.close();
});
