import { expect, test } from 'bun:test';
import { truncateSync, writeFileSync } from 'node:fs';
import type { Observation } from '../../src/core/events.ts';
import { createDiskSpace } from '../../src/feeds/disk-space.ts';
import { ingestOnce } from '../../src/feeds/ingest.ts';
import type { Delivery, Feed } from '../../src/market/feed.ts';
import { openMemory } from '../../src/server/stored-data.ts';
import { parseSettings } from '../support/parse-settings.ts';
import { testFolder } from '../support/test-folder.ts';

const data = testFolder();

test.each([
  ['1MB', true],
  ['0.025GB', false],
  ['3 mb', false],
  ['1.5TB', false],
  ['2MB', true],
])('with --data-max %s a folder of 2 MB is full: %p', (dataMax, isFull) => {
  writeFileSync(data('zomma.sqlite'), Buffer.alloc(1.5e6));
  writeFileSync(data('zomma.sqlite-wal'), Buffer.alloc(0.5e6));
  const reason = createDiskSpace(parseSettings({ dataDir: data(), dataMax })).fullReason();
  expect(reason).toEqual(
    isFull
      ? `The data folder has 2 MB, and --data-max is ${dataMax.replace('MB', ' MB')}. Nothing more is stored until there is room.`
      : undefined,
  );
});

test('a full folder stops storing and reports it; storing resumes by itself when there is room', async () => {
  const grown = data('zomma.sqlite');
  writeFileSync(grown, '');
  const store = openMemory();
  const observed: Observation[] = [];
  const observe = (each: Observation) => void observed.push(each);
  let now = 0;
  let polls = 0;
  const close = (day: number) => ({ ticker: 'SPY', date: `2026-08-${day}`, close: 1, volume: null, simulated: false });
  const feed: Feed = {
    ...{ name: 'files', simulated: false, tickers: [] },
    pace: { everyMs: 5, hours: 'always', delayMs: 0 },
    async *poll(): AsyncGenerator<Delivery> {
      polls++;
      yield { kind: 'closes', closes: [close(10 + polls)] };
    },
  };
  store.openFeeds([feed]);
  const room = createDiskSpace({ dataDir: data(), dataMax: 1e6, observe, elapsedMs: () => now });
  const poll = () => ingestOnce({ feed, store, observe, nowMs: Date.now, room });
  const errorOf = () => store.feedStates()[0]!.error;

  await poll();
  expect([polls, errorOf()]).toEqual([1, null]);
  truncateSync(grown, 1e6);
  now += 1_000;
  for (let again = 0; again < 3; again++) await poll();
  // The feed does not even read while there is no room.
  expect([polls, errorOf()]).toEqual([
    1,
    'The data folder has 1 MB, and --data-max is 1 MB. Nothing more is stored until there is room.',
  ]);
  truncateSync(grown, 0.985e6);
  now += 1_000;
  await poll();
  expect(polls).toBe(1);
  truncateSync(grown, 0.9e6);
  now += 1_000;
  await poll();
  expect([polls, errorOf()]).toEqual([2, null]);
  expect(observed.map(({ kind }) => kind).filter((kind) => kind.startsWith('data_'))).toEqual([
    'data_full',
    'data_has_room',
  ]);
  store.close();
});
