import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import type { Observation } from '../../../src/core/events.ts';
import { DAY_MS } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { LevelRecord } from '../../../src/market/level-record.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { createLevelRecorder } from '../../../src/operations/history/level-recorder.ts';
import type { SurfaceAnswer } from '../../../src/operations/surface/surface-answer.ts';
import type { Store } from '../../../src/store/sqlite.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { simulated as simulatedTicker } from '../../analytics/simulated.ts';
import { AS_OF, chainOf, EXPIRY, LATER, print, quoted, range } from '../../analytics/small-chains.ts';
import { recordOf, withStoreFile } from '../../store/samples.ts';
import { overriding } from '../../support/overriding.ts';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { callExtended, smallMarket } from '../small-market.ts';

const ROWS = [
  ...quoted({ strikes: range(95, 105), rest: { openInterest: 20 } }),
  ...quoted({ strikes: range(95, 105), expiry: LATER, rest: { openInterest: 10 } }),
];
/** 4,004 contracts. */
const LARGE_ROWS = [EXPIRY, LATER].flatMap((expiry) =>
  quoted({ strikes: range(50, 150, 0.1), expiry, rest: { openInterest: 1 } }),
);
const chainAt = (days: number, overrides: Partial<Chain> = {}): Chain => ({
  ...chainOf(ROWS, { asOf: AS_OF + days * DAY_MS }),
  ...overrides,
});

function recorderOf(store: Store, recorded?: () => void) {
  const failures: Extract<Observation, { kind: 'levels_failed' }>[] = [];
  const recorder = createLevelRecorder({
    store,
    largePrintMinUsd: 100_000,
    ...(recorded && { onRecorded: recorded }),
    observe: (each) => {
      if (each.kind === 'levels_failed') failures.push(each);
    },
  });
  return { ...recorder, failures };
}

const savingBy = (store: Store, saveLevels: Store['saveLevels']): Store => overriding(store, { saveLevels });

/** Wakes a recorder and waits long enough for everything that these tests store. */
async function recordAll(store: Store) {
  const recorder = recorderOf(store);
  recorder.wake();
  await recorder.idle();
  await recorder.stop();
  return recorder;
}

async function turns() {
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
}

function kept(store: Store, underlying = 'ACME', simulated = false): LevelRecord[] {
  const times = store.levelTimes(underlying, 0, Number.MAX_SAFE_INTEGER, 'snapshot', simulated);
  return store.levels(underlying, times, simulated);
}
const days = (store: Store) => kept(store).map(({ asOf }) => (asOf - AS_OF) / DAY_MS);

test('records missing levels once, for recorded and simulated data', async () => {
  const { store } = smallMarket({ chains: [chainAt(0), chainAt(1), chainAt(0, { simulated: true })] });
  let saves = 0;
  const counted = savingBy(store, (...given) => {
    saves++;
    store.saveLevels(...given);
  });
  await recordAll(counted);
  expect([days(store), kept(store, 'ACME', true).length, saves]).toEqual([[0, 1], 1, 3]);
  await recordAll(counted);
  expect(saves).toBe(3);
  store.saveChain(chainAt(1, { spot: 101 }));
  await recordAll(counted);
  expect([kept(store)[1]!.spot, saves]).toEqual([101, 4]);
});

test.each([
  ['a few', 3, true],
  ['many', 600, false],
])('of %s snapshots that wait in a store with levels, all become events: %p', async (_, count, areAllEvents) => {
  const { store } = smallMarket({ chains: [chainAt(0)] });
  await recordAll(store);
  const minutes = range(1, count);
  for (const minute of minutes) store.saveChain(chainAt(0, { asOf: AS_OF + minute * 60_000 }));
  const order: number[] = [];
  const continued = savingBy(store, (id) => {
    order.push(id);
    store.saveLevels(id, undefined);
  });
  await recordAll(continued);
  expect(order.length).toBe(count);
  expect(order.every((id, i) => i === 0 || id > order[i - 1]!)).toBe(areAllEvents);
});

test('stored charm exposure is that of the answers, with the stored dividends', async () => {
  const dividend = { ticker: 'ACME', exDate: '2026-01-12', amount: 1, status: null, knownFrom: 0, simulated: false };
  const charmOf = async (dividends: (typeof dividend)[]) => {
    const { store, context } = smallMarket({ chains: [chainAt(0)], dividends });
    await recordAll(store);
    const [{ cex }] = kept(store) as [LevelRecord];
    const { net_cex_mil } = callExtended(getLiveGexNodes, { ticker: 'ACME' }, context);
    expect(net_cex_mil).toBeCloseTo(cex / 1e6, 12);
    return cex;
  };
  const [without, withDividend] = [await charmOf([]), await charmOf([dividend])];
  // The hedge of a forward does not shrink by the dividend.
  expect(Math.abs(withDividend! - without!)).toBeGreaterThan(1);
});

test('records new snapshots before the backlog, in order of arrival', async () => {
  const { store } = smallMarket({ chains: [0, 1, 2, 3].map((day) => chainAt(day)) });
  const order: number[] = [];
  const recorder = recorderOf(
    savingBy(store, (id, record) => {
      order.push((record!.asOf - AS_OF) / DAY_MS);
      store.saveLevels(id, record);
      // Snapshots of different moments, some older than those before.
      if (order.length === 1) for (const day of [7, 6]) store.saveChain(chainAt(day));
      if (order.length === 2) store.saveChain(chainAt(5));
      recorder.wake();
    }),
  );
  recorder.wake();
  await until(() => store.levelsDue().length === 0);
  await recorder.stop();
  expect(order).toEqual([3, 7, 6, 5, 2, 1, 0]);
});

test('of the backlog, the first snapshot comes first, and is recorded once', async () => {
  const { store } = smallMarket({ chains: [0, 1, 2].map((day) => chainAt(day)) });
  const order: number[] = [];
  const counted = savingBy(store, (id, record) => {
    order.push((record!.asOf - AS_OF) / DAY_MS);
    store.saveLevels(id, record);
  });
  const firstId = () => store.chainIdAt('ACME', false, AS_OF + DAY_MS);
  const recorder = createLevelRecorder({ store: counted, largePrintMinUsd: 1, observe: () => {}, firstId });
  recorder.wake();
  await recorder.idle();
  await recorder.stop();
  expect(order).toEqual([1, 2, 0]);
});

test('combines many wakes into one further look, and reports what it recorded', async () => {
  const { store } = smallMarket({ chains: [chainAt(0), chainAt(1)] });
  let looks = 0;
  let message = 0;
  const recorder = recorderOf(
    {
      ...store,
      levelsDue(after) {
        looks++;
        return store.levelsDue(after);
      },
    },
    () => message++,
  );
  for (let wake = 0; wake < 100; wake++) recorder.wake();
  await until(() => store.levelsDue().length === 0);
  // The first wake starts a look at once. The other wakes together request one more.
  expect([looks, message]).toEqual([2, 2]);
  await recorder.stop();
});

test('notices snapshots and levels that another process stores, without a wake', () =>
  withStoreFile(async (ours, path) => {
    const theirs = openStore(path, Date.now);
    let message = 0;
    const recorder = recorderOf(ours, () => message++);
    recorder.wake();
    theirs.saveChain(chainAt(0));
    await until(() => days(ours).length === 1);
    const before = message;
    theirs.transaction(() => {
      theirs.saveChain(chainAt(1));
      theirs.saveLevels(theirs.levelsDue()[0]!, { ...kept(ours)[0]!, asOf: AS_OF + DAY_MS });
    });
    await until(() => message > before);
    await recorder.stop();
    theirs.close();
  }));

test('loses nothing if the process ends in between', async () => {
  const { store } = smallMarket({ chains: [0, 1, 2, 3].map((day) => chainAt(day)) });
  const recorder = recorderOf(
    savingBy(store, (...given) => {
      store.saveLevels(...given);
      recorder.stop();
    }),
  );
  recorder.wake();
  await recorder.stop();
  await turns();
  expect(days(store).length).toBeLessThan(4);
  await recordAll(store);
  expect([days(store), store.levelsDue()]).toEqual([[0, 1, 2, 3], []]);
});

test('a snapshot without a live contract gets no levels and is not due again', async () => {
  const { store } = smallMarket({ chains: [chainAt(0), chainAt(90), chainAt(1)] });
  const { failures } = await recordAll(store);
  expect([days(store), store.levelsDue(), failures]).toEqual([[0, 1], [], []]);
});

describe('snapshots that wait together', () => {
  const chains = [0, 1, 2, 3, 4].map((day) => chainAt(day));
  /** Records the snapshots while the clock stands still. Returns the number of transactions and the ids whose recording failed. */
  async function recordTogether(store: Store, saveLevels = store.saveLevels) {
    let transactions = 0;
    const saving = savingBy(store, saveLevels);
    const write: Store['write'] = (work) => {
      transactions++;
      return saving.write(work);
    };
    const recorder = recorderOf({ ...saving, write });
    recorder.wake();
    await recorder.idle();
    const clock = spyOn(performance, 'now').mockReturnValue(0);
    try {
      const stored = chains.map((chain) => ({ id: store.saveChain(chain), chain }));
      recorder.wake(stored);
      await recorder.idle();
      await recorder.stop();
      return { transactions, failed: recorder.failures.map(({ snapshot }) => snapshot), stored };
    } finally {
      clock.mockRestore();
    }
  }

  test('share a transaction', async () => {
    const { store } = smallMarket();
    expect((await recordTogether(store)).transactions).toBe(1);
    expect(days(store)).toEqual([0, 1, 2, 3, 4]);
  });

  test('are stored alone if the levels of one cannot be stored', async () => {
    const { store } = smallMarket();
    const { failed, stored } = await recordTogether(store, (id, levels) => {
      if (levels!.asOf === chains[2]!.asOf) throw new Error('a defect');
      store.saveLevels(id, levels);
    });
    expect([days(store), failed]).toEqual([[0, 1, 3, 4], [stored[2]!.id]]);
  });
});

describe('chains in hand', () => {
  /** Stores chains and gives them to the recorder. Returns the levels, and the number of snapshots that were read from the store. */
  async function recordGiven(chains: readonly Chain[], isGiven: boolean) {
    const { store } = smallMarket();
    let reads = 0;
    const chain: Store['chain'] = (id) => {
      reads++;
      return store.chain(id);
    };
    const recorder = recorderOf({ ...store, chain });
    const stored = chains.map((chain) => ({ id: store.saveChain(chain), chain }));
    recorder.wake(isGiven ? stored : []);
    await recorder.idle();
    await recorder.stop();
    return { levels: kept(store), reads, due: store.levelsDue(), failures: recorder.failures };
  }

  test('are not read from the store, and give the levels of the stored form', async () => {
    const signed = { ...chainAt(4), delta: new Float64Array(chainAt(4).count).fill(-0) };
    const chains = [
      chainAt(0),
      chainAt(1),
      chainAt(2),
      { ...simulatedTicker('SPY'), underlying: 'ACME', simulated: false },
      signed,
    ];
    const [given, read] = [await recordGiven(chains, true), await recordGiven(chains, false)];
    expect([given.reads, read.reads]).toEqual([0, chains.length]);
    expect(given.levels).toEqual(read.levels);
    expect([given.due, given.failures]).toEqual([[], []]);
  });

  test('are held up to a number of contracts, and the others are read', async () => {
    const large = Array.from({ length: 20 }, (_, day) => chainOf(LARGE_ROWS, { asOf: AS_OF + (day * DAY_MS) / 2 }));
    const held = Math.floor(60_000 / large[0]!.count);
    const { reads, levels } = await recordGiven(large, true);
    expect([reads, levels.length]).toEqual([large.length - held, large.length]);
  });

  test('that are forgotten get no levels', async () => {
    const { store } = smallMarket();
    const recorder = recorderOf(store);
    const chain = chainAt(0);
    recorder.wake([{ id: store.saveChain(chain), chain }]);
    store.forgetSnapshots('ACME');
    await recorder.idle();
    await recorder.stop();
    expect([kept(store), recorder.failures]).toEqual([[], []]);
  });
});

test('reports an unreadable snapshot once per start and records the others', async () => {
  const { store } = smallMarket({ chains: [chainAt(0), chainAt(1), chainAt(2)] });
  const [, damaged] = store.levelsDue();
  let reads = 0;
  const recorder = recorderOf({
    ...store,
    chain(id) {
      if (id !== damaged) return store.chain(id);
      reads++;
      throw new Error('damaged');
    },
  });
  recorder.wake();
  await recorder.idle();
  recorder.wake();
  store.saveChain(chainAt(3));
  recorder.wake();
  await recorder.idle();
  await recorder.stop();
  expect([days(store), reads, recorder.failures.map(({ snapshot }) => snapshot)]).toEqual([[0, 2, 3], 1, [damaged!]]);
  await recordAll(store);
  expect(days(store)).toEqual([0, 1, 2, 3]);
});

test('skips a snapshot that is deleted before it is read', async () => {
  const { store } = smallMarket({ chains: [chainAt(0), chainAt(1)] });
  const { failures } = await recordAll({
    ...store,
    chain(id) {
      store.forgetSnapshots('ACME', AS_OF);
      return store.chain(id);
    },
  });
  expect([days(store), failures]).toEqual([[1], []]);
});

test('reports a failing store query and retries on the next wake', async () => {
  const { store } = smallMarket({ chains: [chainAt(0)] });
  let asked = 0;
  const recorder = recorderOf({
    ...store,
    levelsDue() {
      if (++asked === 1) throw new Error('busy');
      return store.levelsDue();
    },
  });
  recorder.wake();
  recorder.wake();
  for (let turn = 0; turn < 20_000 && days(store).length === 0; turn++) await new Promise(setImmediate);
  await recorder.stop();
  expect([days(store), recorder.failures.map(({ snapshot }) => snapshot)]).toEqual([[0], [null]]);
});

test('requests are served between two snapshots', async () => {
  const { store } = smallMarket({ chains: [0, 1, 2, 3].map((day) => chainAt(day)) });
  const recorder = recorderOf(store);
  recorder.wake();
  const left = new Set<number>();
  for (let turn = 0; turn < 500_000 && !left.has(0); turn++) {
    await new Promise(setImmediate);
    left.add(store.levelsDue().length);
  }
  await recorder.stop();
  expect(left).toEqual(new Set([4, 3, 2, 1, 0]).intersection(left));
  expect([left.has(2), left.has(1)]).toEqual([true, true]);
});

test.each([
  ['no prints', [], EXPIRY],
  ['a large print', [{ at: AS_OF }], LATER],
  ['a large print 30 days ago', [{ at: AS_OF - 30 * DAY_MS }], LATER],
  ['a large print before that', [{ at: AS_OF - 30 * DAY_MS - 1 }], EXPIRY],
  ['a large print after the snapshot', [{ at: AS_OF + 1 }], EXPIRY],
  ['a small print', [{ size: 1 }], EXPIRY],
  ['a simulated print', [{ simulated: true }], EXPIRY],
])('the dominant expiry with %s', async (_, prints, expiry) => {
  const { store } = smallMarket({
    chains: [chainAt(0)],
    prints: prints.map((each) => print({ expiry: LATER, ...each })),
  });
  await recordAll(store);
  expect(kept(store).map((each) => each.expiry)).toEqual([expiry]);
});

describe('the recorded levels', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
    await recordAll(service.app.store);
  });
  afterAll(() => service.close());

  test.each(['SPY', 'TSLA', 'XLE', 'BRK.B'])('of %s equal the answer of get_live_gex_nodes', async (ticker) => {
    const response = await service.request('POST', '/api/v1/tools/get_live_gex_nodes?extended=true', {
      body: { ticker },
    });
    const live = (await response.json()) as Record<string, never> & {
      provenance: { as_of: string };
      horizons: Record<'session' | '35d', Record<string, never> | null>;
    };
    const storedOf = (of: Record<string, never> | null) =>
      of && {
        ...{ netGex: expect.closeTo(of.net_gex_mil! * 1e6, 3), grossGex: expect.closeTo(of.gross_gex_mil! * 1e6, 3) },
        ...{ gexFlip: of.gex_flip!, flipResolved: of.flip_resolved!, callWall: of.call_wall!, putWall: of.put_wall! },
        ...{ maxPain: of.max_pain!, expiry: of.expiry!, signProbability: expect.any(Number) as unknown as number },
      };
    const [levels] = kept(service.app.store, ticker, true);
    const fromMillions = (name: string) => expect.closeTo(live[name]! * 1e6, 3) as unknown as number;
    expect(levels).toEqual({
      ...{ underlying: ticker, simulated: true, asOf: Date.parse(live.provenance.as_of), spot: live.spot_price! },
      ...{ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), maxPain: live.max_pain!, expiry: live.expiry! },
      ...{ netGex: fromMillions('net_gex_mil'), grossGex: fromMillions('gross_gex_mil') },
      ...{ gexFlip: live.gex_flip!, flipResolved: live.flip_resolved!, callWall: live.call_wall! },
      ...{ putWall: live.put_wall!, dex: fromMillions('net_dex_mil'), vex: fromMillions('net_vex_mil') },
      ...{ cex: fromMillions('net_cex_mil'), atmIv30d: expect.any(Number) },
      ...{ nearestIv: expect.any(Number), expiringGex: expect.any(Number), signProbability: expect.any(Number) },
      byHorizon: { session: storedOf(live.horizons.session), '35d': storedOf(live.horizons['35d']) },
    });
    const surface = (await (await service.request('GET', `/api/v1/surface/${ticker}`)).json()) as SurfaceAnswer;
    const row = surface.maturities.days.indexOf(30);
    // The surface also fits all other settlements, so its volatility is slightly different.
    expect(levels!.atmIv30d! / surface.maturities.atm_iv[row]!).toBeWithin(0.95, 1.05);
  });
});

test('retries a write that another process blocks', async () => {
  const { store } = smallMarket({ chains: [chainAt(0)] });
  let refusals = 2;
  const recorder = recorderOf(
    savingBy(store, (...given) => {
      if (refusals-- > 0) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
      store.saveLevels(...given);
    }),
  );
  recorder.wake();
  await until(() => kept(store).length === 1);
  expect([days(store), recorder.failures]).toEqual([[0], []]);
  await recorder.stop();
});

test('levels that another process blocks are stored before later ones', async () => {
  const { store } = smallMarket({ chains: [chainAt(0)] });
  let refusals = 2;
  const order: number[] = [];
  const recorder = recorderOf(
    savingBy(store, (id, record) => {
      if (refusals-- > 0) {
        const day = 3 - refusals;
        // This transaction is undone.
        setImmediate(() => {
          store.saveChain(chainAt(day));
          recorder.wake();
        });
        throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
      }
      order.push((record!.asOf - AS_OF) / DAY_MS);
      store.saveLevels(id, record);
    }),
  );
  recorder.wake();
  await until(() => kept(store).length === 3);
  await recorder.stop();
  expect(order).toEqual([0, 2, 3]);
});

test('levels of earlier versions get those of shorter horizons last, and a snapshot that cannot be read keeps none', async () => {
  const { store } = smallMarket({ chains: [chainAt(0), chainAt(1), chainAt(2)] });
  const ids = store.levelsDue().slice(1);
  for (const id of ids) store.saveLevels(id, recordOf({ underlying: 'ACME', asOf: store.chain(id)!.asOf }));
  const filled: [number, boolean][] = [];
  let pending = [...ids];
  const recorder = recorderOf(
    overriding(store, {
      chain: (id) => (id === ids[1] ? undefined : store.chain(id)),
      horizonsDue: () => pending,
      fillHorizons: (id, record) => {
        pending = pending.filter((each) => each !== id);
        filled.push([id, record!.byHorizon['35d'] !== null && store.levelsDue().length === 0]);
      },
    }),
  );
  recorder.wake();
  await recorder.idle();
  await recorder.stop();
  expect([filled, pending, recorder.failures]).toEqual([[[ids[0]!, true]], [ids[1]!], []]);
});

test('every snapshot has its own volatility at 30 days, also a second after another', async () => {
  const { store } = smallMarket();
  const ivs = [0.2, 0.3, 0.4];
  for (const [second, iv] of ivs.entries()) {
    const rows = [EXPIRY, LATER].flatMap((expiry) =>
      quoted({ strikes: range(90, 110), expiry, iv, halfSpread: 0.01, rest: { openInterest: 1 } }),
    );
    store.saveChain(chainOf(rows, { asOf: AS_OF + second * 1_000 }));
  }
  await recordAll(store);
  const [first, ...others] = kept(store).map(({ atmIv30d }) => atmIv30d!);
  expect(others.map((each) => each / first!)).toEqual([expect.closeTo(1.5, 1), expect.closeTo(2, 1)] as never);
});
