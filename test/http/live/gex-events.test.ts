import { expect, test } from 'bun:test';
import { createGexEvents, type GexEvents } from '../../../src/http/live/gex-events.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { keepLevels, MONDAY_MS } from '../../store/samples.ts';

/** All that comes after a place, and in how many pages. */
function readAll(events: GexEvents, after: number): { seqs: number[]; pages: number } {
  const seqs: number[] = [];
  for (let pages = 1; ; pages++) {
    const page = events.after(after);
    expect(page.events.length).toBeLessThanOrEqual(256);
    seqs.push(...page.events.map(({ seq }) => seq));
    expect(page.upTo).toBe(seqs.at(-1) ?? after);
    if (!page.more) return { seqs, pages };
    after = page.upTo;
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('the log is the same from memory and from the store, from wherever it is read', () => {
  const store = openStore(':memory:');
  let kept = 0;
  const keep = (count: number) =>
    store.transaction(() => {
      for (let each = 0; each < count; each++) keepLevels(store, { asOf: MONDAY_MS + kept++ });
    });
  keep(10);
  const events = createGexEvents(store, false, 100);
  keep(600);
  // What it has not taken in it does not know of.
  expect(readAll(events, 10).seqs).toEqual([]);
  let reads = 0;
  const levelEvents: typeof store.levelEvents = (...args) => {
    reads++;
    return store.levelEvents(...args);
  };
  const counted = createGexEvents({ ...store, levelEvents }, false, 150);
  for (const more of [150, 149, 1, 1, 400, 0, 1]) {
    keep(more);
    for (const each of [events, counted]) each.refresh();
    for (const after of [0, 1, 255, 256, 609, 610, 611, ...range(kept - 152, kept)]) {
      expect([after, readAll(counted, after).seqs]).toEqual([after, range(after + 1, kept)]);
    }
    // The last hundred come from memory.
    const before = reads;
    for (const after of range(Math.max(610, kept - 100), kept)) readAll(counted, after);
    expect(reads).toBe(before);
  }
  expect(readAll(events, 0)).toEqual({ seqs: range(1, kept), pages: Math.ceil(kept / 256) });
  store.close();
});
