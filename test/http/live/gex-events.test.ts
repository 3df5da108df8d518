import { expect, test } from 'bun:test';
import { createGexEvents, type GexEvents } from '../../../src/http/live/gex-events.ts';
import type { StreamPosition } from '../../../src/http/live/stream-position.ts';
import type { CrossingKind } from '../../../src/operations/gex/level-crossings.ts';
import { openStore, type Store } from '../../../src/store/sqlite.ts';
import { keepLevels, MONDAY_MS } from '../../store/samples.ts';
import { seqOf } from '../../support/event-ids.ts';

const SPX = new Set(['SPX']);

/** Reads all events after a position. Returns their sequence numbers and the number of pages. */
function readAll(events: GexEvents, after: number, tickers = SPX, on?: ReadonlySet<CrossingKind>) {
  const seqs: number[] = [];
  const selection = { tickers, on };
  let position: StreamPosition = { seq: after };
  for (let pages = 1; ; pages++) {
    const page = events.recentPage(position, selection) ?? events.storedPage(position, selection);
    const ids = idsOf(page.chunks);
    expect(ids.length).toBeLessThanOrEqual(256);
    seqs.push(...ids);
    expect(page.next.seq).toBeGreaterThanOrEqual(ids.at(-1) ?? position.seq);
    if (!page.hasMore) return { seqs, pages };
    position = page.next;
  }
}

const idsOf = (chunks: readonly Uint8Array[]) =>
  [
    ...Buffer.concat(chunks)
      .toString()
      .matchAll(/^id: (.+)$/gm),
  ].map(([, id]) => seqOf(id));

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test('the log reads the same from memory and from the store, from any position', () => {
  const store = openStore(':memory:', Date.now);
  let kept = 0;
  const keep = (count: number) =>
    store.transaction(() => {
      for (let each = 0; each < count; each++) keepLevels(store, { asOf: MONDAY_MS + kept++ });
    });
  keep(10);
  const events = createGexEvents(store, false, { nowMs: Date.now, recentMax: 100 });
  keep(600);
  // The log does not have events that it has not taken in yet.
  expect(readAll(events, 10).seqs).toEqual([]);
  const { log, rows } = counting(store);
  const counted = createGexEvents(log, false, { nowMs: Date.now, recentMax: 150 });
  for (const more of [150, 149, 1, 1, 400, 0, 1]) {
    keep(more);
    for (const each of [events, counted]) each.refresh();
    for (const after of [0, 1, 255, 256, 609, 610, 611, ...range(kept - 152, kept)]) {
      expect([after, readAll(counted, after).seqs]).toEqual([after, range(after + 1, kept)]);
    }
    // The last hundred events come from memory.
    const before = rows();
    for (const after of range(Math.max(610, kept - 100), kept)) readAll(counted, after);
    expect(rows()).toBe(before);
  }
  expect(readAll(events, 0)).toEqual({ seqs: range(1, kept), pages: Math.ceil(kept / 256) });
  store.close();
});

test('streams of the same tickers at the same position share one chunk until the log grows', () => {
  const store = openStore(':memory:', Date.now);
  const events = createGexEvents(store, false, { nowMs: Date.now });
  for (const underlying of ['SPX', 'QQQ', 'SPX'])
    keepLevels(store, { underlying, asOf: MONDAY_MS + store.lastLevelSeq() });
  events.refresh();
  const chunksOf = (after: number, ...tickers: string[]) =>
    events.recentPage({ seq: after }, { tickers: new Set(tickers), on: undefined })!.chunks;
  const [shared, ...more] = chunksOf(0, 'SPX', 'QQQ');
  expect([more, idsOf([shared!])]).toEqual([[], [1, 2, 3]]);
  expect(chunksOf(0, 'QQQ', 'SPX')[0]).toBe(shared!);
  expect(idsOf(chunksOf(0, 'QQQ'))).toEqual([2]);
  expect(idsOf(chunksOf(2, 'QQQ', 'SPX'))).toEqual([3]);
  keepLevels(store, { underlying: 'SPX', asOf: MONDAY_MS + 9 });
  events.refresh();
  expect(idsOf(chunksOf(0, 'SPX', 'QQQ'))).toEqual([1, 2, 3, 4]);
  store.close();
});

test.each([true, false])('an event states whether the flip is resolved: %p', (flipResolved) => {
  const store = openStore(':memory:', Date.now);
  keepLevels(store, { flipResolved, grossGex: 2.5e9 });
  const events = createGexEvents(store, false, { nowMs: Date.now });
  const [, data] = /^data: (.*)$/m.exec(Buffer.concat([...events.current(SPX).chunks]).toString())!;
  const { flip_resolved, gross_gex_mil, provenance } = JSON.parse(data!);
  expect([flip_resolved, gross_gex_mil, provenance.notes.length]).toEqual([flipResolved, 2_500, flipResolved ? 0 : 1]);
  store.close();
});

test('following a quiet ticker from far back does not read the rows of other tickers', () => {
  const store = openStore(':memory:', Date.now);
  const moved: number[] = [];
  store.transaction(() => {
    for (let each = 0; each < 5_000; each++) {
      const isQuiet = each % 1_000 === 999;
      keepLevels(store, { underlying: isQuiet ? 'QUIET' : `T${each % 50}`, asOf: MONDAY_MS + each });
      if (isQuiet) moved.push(store.lastLevelSeq());
    }
  });
  const { log, rows } = counting(store);
  const events = createGexEvents(log, false, { nowMs: Date.now });
  const quiet = new Set(['QUIET']);
  expect(readAll(events, 1, quiet)).toEqual({ seqs: moved, pages: 1 });
  // A hundred streams at the same position cost one read.
  for (let stream = 0; stream < 100; stream++) readAll(events, 1, quiet);
  expect(rows()).toBe(moved.length);
  // With several tickers the order of the log holds, and no event is lost between pages.
  const both = readAll(events, 0, new Set(['QUIET', 'T7', 'T1', 'NOBODY'])).seqs;
  const all = store.levelEvents(0, 10_000, false).filter(({ underlying }) => /^(QUIET|T7|T1)$/.test(underlying));
  expect(both).toEqual(all.map(({ seq }) => seq));
  expect(all.length).toBeGreaterThan(200);
  store.close();
});

test('reads the current levels of a ticker once for all new streams, and again if there are newer ones', () => {
  const store = openStore(':memory:', Date.now);
  for (const underlying of ['SPX', 'NDX']) keepLevels(store, { underlying });
  const { log, rows } = counting(store);
  const events = createGexEvents(log, false, { nowMs: Date.now });
  for (let stream = 0; stream < 50; stream++) {
    expect(idsOf(events.current(new Set(['SPX', 'NONE'])).chunks)).toEqual([1]);
    expect(idsOf(events.current(new Set(['NDX', 'SPX'])).chunks)).toEqual([1, 2]);
  }
  expect(rows()).toBe(2);
  keepLevels(store, { asOf: MONDAY_MS + 1 });
  expect(idsOf(events.current(SPX).chunks)).toEqual([3]);
  store.close();
});

test('takes in a long log of another process in parts', () => {
  const store = openStore(':memory:', Date.now);
  const events = createGexEvents(store, false, { nowMs: Date.now });
  store.transaction(() => {
    for (let each = 0; each < 2_500; each++) keepLevels(store, { asOf: MONDAY_MS + each });
  });
  let parts = 1;
  while (events.refresh()) parts++;
  expect(parts).toBe(3);
  expect(readAll(events, 0).seqs).toEqual(range(1, 2_500));
  store.close();
});

const FLIPS = new Set(['flip_cross'] as const);

test('crossings read the same from memory and from the store, from any position and after a restart', () => {
  const store = openStore(':memory:', Date.now);
  const early = createGexEvents(store, false, { nowMs: Date.now, recentMax: 50 });
  // Spot alternates about the flip at every third record of SPX. Other tickers have their records in between.
  store.transaction(() => {
    for (let each = 0; each < 900; each++) {
      const isSpx = each % 2 === 0;
      const spot = Math.floor(each / 6) % 2 === 0 ? 90 : 110;
      keepLevels(store, {
        underlying: isSpx ? 'SPX' : 'QQQ',
        asOf: MONDAY_MS + each,
        spot: isSpx ? spot : 90,
        gexFlip: 100,
      });
    }
  });
  const crossed = range(1, 900).filter((seq) => seq > 6 && (seq - 1) % 6 === 0);
  while (early.refresh());
  for (const events of [early, createGexEvents(store, false, { nowMs: Date.now })]) {
    for (const after of [0, 6, 7, 8, 500, 849, 850, 890, 899, 900]) {
      expect([after, readAll(events, after, SPX, FLIPS).seqs]).toEqual([after, crossed.filter((seq) => seq > after)]);
      expect(readAll(events, after, new Set(['QQQ']), FLIPS).seqs).toEqual([]);
    }
    // Streams of every event and of other crossings have their own pages.
    expect(readAll(events, 880).seqs).toEqual(range(881, 900).filter((seq) => seq % 2 === 1));
    expect(readAll(events, 0, SPX, new Set(['wall_break'] as const)).seqs.length).toBeLessThan(crossed.length);
  }
  store.close();
});

test('a client of crossings resumes from its event or from a day ago, whichever is later', () => {
  const HOUR_MS = 3_600_000;
  let nowMs = MONDAY_MS;
  const store = openStore(':memory:', () => nowMs);
  for (let hour = 1; hour <= 60; hour++) {
    nowMs += HOUR_MS;
    keepLevels(store, { asOf: nowMs, spot: hour % 2 === 0 ? 90 : 110, gexFlip: 100 });
  }
  const events = createGexEvents(store, false, { nowMs: () => nowMs });
  const [crossings, all] = [
    { tickers: SPX, on: FLIPS },
    { tickers: SPX, on: undefined },
  ];
  // The record 36 was stored exactly a day ago.
  for (const [after, ofCrossings, ofAll] of [
    [60, 60, 60],
    [50, 50, 50],
    [36, 36, 36],
    [35, 35, undefined],
    [7, 35, undefined],
    [0, 35, undefined],
    [61, undefined, undefined],
  ] as const) {
    const from = [crossings, all].map((selection) => events.resumeFrom(after, selection)?.seq);
    expect([after, ...from]).toEqual([after, ofCrossings, ofAll]);
  }
  // A ticker without a missed record always resumes.
  expect(events.resumeFrom(3, { tickers: new Set(['NONE']), on: undefined })?.seq).toBe(3);
  store.close();
});

/** Returns the log, and the number of its rows that have been read. */
function counting(store: Store) {
  let rows = 0;
  const log = {
    ...store,
    levelEvents: (...args: Parameters<Store['levelEvents']>) => counted(store.levelEvents(...args)),
    levelEventsOf: (...args: Parameters<Store['levelEventsOf']>) => counted(store.levelEventsOf(...args)),
    currentLevels(...args: Parameters<Store['currentLevels']>) {
      const levels = store.currentLevels(...args);
      if (levels) rows++;
      return levels;
    },
  };
  const counted = <Row>(read: Row[]) => {
    rows += read.length;
    return read;
  };
  return { log, rows: () => rows };
}
