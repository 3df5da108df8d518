import { expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { packTape, startPacking } from '../../src/feeds/packing.ts';
import { newYorkInstant } from '../../src/market/calendar.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { inFolder, printOf } from '../store/samples.ts';

const TODAY = newYorkInstant('2026-01-07', '11:00');

function withPrints(work: (store: ReturnType<typeof openStore>, path: string) => Promise<void>) {
  return inFolder(async (folder) => {
    const store = openStore(`${folder}/z.db`, Date.now);
    const prints = Array.from({ length: 5_000 }, (_, i) =>
      printOf(`p${i}`, { simulated: false, canceled: false, at: newYorkInstant('2026-01-05', '10:00') + i * 30_000 }),
    );
    store.savePrints(prints);
    await work(store, `${folder}/z.db`);
    store.close();
  });
}

test('packs past days, with turns for other work, and reports it once', () =>
  withPrints(async (store) => {
    const observed: Observation[] = [];
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await packTape({ store, observe: (each) => observed.push(each), nowMs: () => TODAY, isAnswering: () => false });
    clearInterval(others);
    // The first print is of the 5th at 10:00, with 30 s per print. Prints of the 7th are not packed.
    const closed = (newYorkInstant('2026-01-07', '00:00') - newYorkInstant('2026-01-05', '10:00')) / 30_000;
    expect(observed).toEqual([{ kind: 'tape_packed', prints: closed }]);
    expect(turns).toBeGreaterThan(1);
    expect(store.prints('SPX', 0, TODAY * 2, false, 0)).toHaveLength(5_000);
    await packTape({ store, observe: (each) => observed.push(each), nowMs: () => TODAY, isAnswering: () => false });
    expect(observed).toHaveLength(1);
  }));

test('packing that is stopped midway continues the next time', () =>
  withPrints(async (store) => {
    let checks = 0;
    await packTape({ store, observe: () => {}, nowMs: () => TODAY, isAnswering: () => false }, () => ++checks > 1);
    expect(store.prints('SPX', 0, TODAY * 2, false, 0)).toHaveLength(5_000);
    const packed = Promise.withResolvers<Observation>();
    const packing = startPacking({ store, observe: packed.resolve, nowMs: () => TODAY, isAnswering: () => false }, 0);
    expect(await packed.promise).toMatchObject({ kind: 'tape_packed' });
    await packing.stop();
    expect(store.prints('SPX', 0, TODAY * 2, false, 0)).toHaveLength(5_000);
  }));

test('packing waits while clients wait for answers, but at most two seconds for each step', () =>
  withPrints(async (store) => {
    const observed: Observation[] = [];
    const deps = { store, observe: (each: Observation) => observed.push(each), nowMs: () => TODAY };
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
