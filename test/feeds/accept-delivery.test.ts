import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { acceptDelivery } from '../../src/feeds/accept-delivery.ts';
import type { Chain } from '../../src/market/chain.ts';
import { MINUTE_MS } from '../../src/market/simulated-past.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { AS_OF, chainOf, contract, quoted, range } from '../analytics/small-chains.ts';
import { withStore, withStoreFile } from '../store/samples.ts';

/** What the store does with a new snapshot, depending on the stored one. */
const chain = (asOf: number, strikes = 10, openInterest = 10): Chain =>
  chainOf(
    quoted({ strikes: range(90, 89 + strikes) }).map((row) => contract({ ...row, openInterest })),
    { asOf },
  );
const accept = (snapshot: Chain, store: Store, rules = {}, nowMs = AS_OF + 60 * MINUTE_MS) =>
  acceptDelivery({ kind: 'chain', chain: snapshot }, store, nowMs, rules).snapshot;

describe('a snapshot', () => {
  test.each<[string, Chain, object, object, number]>([
    ['newer', chain(AS_OF + MINUTE_MS), {}, { isNew: true, isFresh: true }, 2],
    ['older', chain(AS_OF - MINUTE_MS), {}, { isNew: true, isFresh: false }, 2],
    ['identical', chain(AS_OF), {}, { isNew: false, isFresh: false }, 1],
    ['of the same moment with other figures', chain(AS_OF, 10, 11), {}, { isNew: true, isFresh: false }, 1],
    ['of the same moment from a polled source', chain(AS_OF, 10, 11), { isPolled: true }, { isNew: false }, 1],
    ['slightly older from a polled source', chain(AS_OF - MINUTE_MS), { isPolled: true }, { isNew: false }, 1],
    ['newer from a polled source', chain(AS_OF + MINUTE_MS), { isPolled: true }, { isNew: true }, 2],
    [
      'dated ahead of the clock',
      chain(AS_OF + 80 * MINUTE_MS),
      {},
      { isNew: true, ahead: expect.stringContaining('ahead of the clock') },
      2,
    ],
    ['with fewer contracts', chain(AS_OF + MINUTE_MS, 6), {}, { isNew: true, expected: 20 }, 2],
  ])('%s', (_name, sent, rules, expected, snapshots) =>
    withStore((store) => {
      expect(accept(chain(AS_OF), store)).toEqual({ isNew: true, ahead: undefined, isFresh: true, expected: 20 });
      const before = store.latestChainId('ACME', false);
      const snapshot = accept(sent, store, rules);
      expect(snapshot).toMatchObject(expected);
      expect(store.snapshots()).toHaveLength(snapshots);
      if (snapshot?.isNew === false) expect(store.latestChainId('ACME', false)).toBe(before!);
    }),
  );

  test('recognizes a stored older snapshot after a newer one was stored', () =>
    withStore((store) => {
      for (const sent of [chain(AS_OF - MINUTE_MS), chain(AS_OF)]) accept(sent, store);
      expect(accept(chain(AS_OF - MINUTE_MS), store)).toMatchObject({ isNew: false, isFresh: false });
    }));

  test('a snapshot dated ahead does not stop the current one from being fresh', () =>
    withStore((store) => {
      accept(chain(AS_OF + 300 * MINUTE_MS), store);
      accept(chain(AS_OF - MINUTE_MS), store);
      expect(accept(chain(AS_OF), store)).toMatchObject({ isNew: true, isFresh: true });
    }));
});

const unpriced = (asOf: number): Chain => ({ ...chain(asOf), ...nothing(20) });
const nothing = (count: number) => {
  const column = new Float64Array(count).fill(Number.NaN);
  return { bid: column, ask: column, last: column, iv: column };
};

describe('the stored snapshot stays, and the rejection names the reason', () => {
  const polled = { isPolled: true };
  test.each<[string, Chain, object, RegExp | undefined]>([
    [
      '80 % of the contracts, polled',
      chain(AS_OF + MINUTE_MS, 8),
      polled,
      /16 contracts, but 20 contracts of the last snapshot/,
    ],
    ['90 % of the contracts, polled', chain(AS_OF + MINUTE_MS, 9), polled, undefined],
    ['80 % of the contracts, from a file', chain(AS_OF + MINUTE_MS, 8), {}, undefined],
    ['80 % of the contracts five days later', chain(AS_OF + 5 * 1440 * MINUTE_MS, 8), polled, undefined],
    ['much older quotes, polled', chain(AS_OF - 20 * MINUTE_MS), polled, /older than the stored quotes of 2026-01-05/],
    ['older quotes, from a file', chain(AS_OF - MINUTE_MS), {}, undefined],
    ['without any price', unpriced(AS_OF + MINUTE_MS), {}, /no contract has a quote, a price or a volatility/],
  ])('%s', (_name, sent, rules, reason) =>
    withStore((store) => {
      accept(chain(AS_OF), store);
      const { delivery } = acceptDelivery({ kind: 'chain', chain: sent }, store, AS_OF + 6 * 1440 * MINUTE_MS, rules);
      expect(delivery).toMatchObject(
        reason ? { kind: 'rejection', ticker: 'ACME', reason: expect.stringMatching(reason) } : { kind: 'chain' },
      );
      expect(store.snapshots()).toHaveLength(reason ? 1 : 2);
    }),
  );
});

test('a new snapshot is compared with the last one without decoding its quotes', () =>
  withStore((store) => {
    let decoded = 0;
    const counted: Store = { ...store, chain: (id) => [store.chain(id), decoded++][0] as Chain | undefined };
    for (let minute = 0; minute < 5; minute++) accept(chain(AS_OF + minute * MINUTE_MS), counted, { isPolled: true });
    for (let minute = 5; minute < 9; minute++) accept(chain(AS_OF + minute * MINUTE_MS), counted);
    expect([store.snapshotCount(), decoded]).toEqual([9, 0]);
    // Only a snapshot of a known moment is compared quote by quote.
    expect(accept(chain(AS_OF + 8 * MINUTE_MS), counted)).toMatchObject({ isNew: false });
    expect(decoded).toBe(1);
  }));

test('a snapshot with -0 for 0 is known when it comes again', () =>
  withStore((store) => {
    const signed = { ...chain(AS_OF), delta: new Float64Array(20).fill(-0) };
    accept(signed, store);
    expect(accept(signed, store)).toMatchObject({ isNew: false });
  }));

test('a damaged stored snapshot does not block a new one', () =>
  withStoreFile((store, path) => {
    accept(chain(AS_OF), store);
    const db = new Database(path);
    db.run("UPDATE snapshots SET columns = x'00'");
    db.close();
    expect(accept(chain(AS_OF + MINUTE_MS), store)).toMatchObject({ isNew: true, isFresh: true });
  }));

test.each<[string, number, object, boolean]>([
  ['of a file, which does not give it', Number.NaN, { isFile: true }, true],
  ['of a file, which gives 0', 0, { isFile: true }, false],
  ['of a polled source', Number.NaN, { isPolled: true }, false],
  ['of past days of a provider', Number.NaN, {}, false],
])('a chain without open interest %s', (_what, openInterest, rules, isStored) =>
  withStore((store) => {
    const sent = { kind: 'chain', chain: chain(AS_OF, 10, openInterest) } as const;
    const { delivery, stored } = acceptDelivery(sent, store, AS_OF, rules);
    expect([delivery.kind, stored !== undefined]).toEqual([isStored ? 'chain' : 'rejection', isStored]);
    if (!isStored) expect(delivery).toMatchObject({ reason: 'ACME: no contract has open interest' });
  }),
);
