import { expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { type PackingDeps, packTape, startPacking } from '../../src/feeds/packing.ts';
import { newYorkInstant } from '../../src/market/calendar.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { printOf, withStoreFile } from '../store/samples.ts';

const TODAY = newYorkInstant('2026-01-07', '11:00');

/** Prints 30 s apart, from the 5th at 10:00 on. */
const PRINTS = Array.from({ length: 5_000 }, (_, i) =>
  printOf(`p${i}`, { simulated: false, canceled: false, at: newYorkInstant('2026-01-05', '10:00') + i * 30_000 }),
);

const withPrints = (work: (store: Store, deps: PackingDeps, observed: Observation[]) => Promise<void>) =>
  withStoreFile(async (store) => {
    store.savePrints(PRINTS);
    const observed: Observation[] = [];
    const observe = (each: Observation) => void observed.push(each);
    await work(store, { store, observe, nowMs: () => TODAY, isAnswering: () => false }, observed);
    expect(store.prints('SPX', 0, TODAY * 2, false, 0)).toHaveLength(PRINTS.length);
  });

test('packs past days, with turns for other work, and reports it once', () =>
  withPrints(async (_store, deps, observed) => {
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await packTape(deps);
    clearInterval(others);
    // The first print is of the 5th at 10:00, with 30 s per print. Prints of the 7th are not packed.
    const closed = (newYorkInstant('2026-01-07', '00:00') - newYorkInstant('2026-01-05', '10:00')) / 30_000;
    expect(observed).toEqual([{ kind: 'tape_packed', prints: closed }]);
    expect(turns).toBeGreaterThan(1);
    await packTape(deps);
    expect(observed).toHaveLength(1);
  }));

test('packing that is stopped midway continues the next time', () =>
  withPrints(async (store, deps) => {
    let checks = 0;
    await packTape(deps, () => ++checks > 1);
    expect(store.prints('SPX', 0, TODAY * 2, false, 0)).toHaveLength(PRINTS.length);
    const packed = Promise.withResolvers<Observation>();
    const packing = startPacking({ ...deps, observe: packed.resolve }, 0);
    expect(await packed.promise).toMatchObject({ kind: 'tape_packed' });
    await packing.stop();
  }));

test('packing waits while clients wait for answers, but at most two seconds for each step', () =>
  withPrints(async (_store, deps, observed) => {
    let checks = 0;
    await packTape({ ...deps, isAnswering: () => ++checks > 0 }, () => checks >= 5);
    expect([checks, observed]).toEqual([5, []]);
    const startedAt = performance.now();
    await packTape({ ...deps, isAnswering: () => true }, () => performance.now() - startedAt > 2_500);
    expect(observed).toEqual([{ kind: 'tape_packed', prints: 512 }]);
    checks = 0;
    await packTape({ ...deps, isAnswering: () => ++checks < 5 });
    expect(observed).toHaveLength(2);
  }));
