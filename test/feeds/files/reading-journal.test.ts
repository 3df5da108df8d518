import { beforeEach, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { fileJournal, ledgerJournal } from '../../../src/feeds/files/journal-storage.ts';
import { ReadingJournal } from '../../../src/feeds/files/reading-journal.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { testFolder } from '../../support/test-folder.ts';

const folder = testFolder();
const drop = testFolder();
let path: string;
beforeEach(() => {
  path = folder('reading.json');
});

/** The journal as the next process reads it if this process ends now. */
const restarted = () => new ReadingJournal(fileJournal(path));

test('counts a process that dies during a read, and removes the journal after a normal end', () => {
  for (let crash = 0; crash < 3; crash++) {
    const journal = restarted();
    expect(journal.crashCount('a.csv', '1 2 3')).toBe(crash);
    journal.begin('b.csv', '1');
    journal.end();
    journal.begin('a.csv', '1 2 3');
  }
  const journal = restarted();
  expect([journal.crashCount('a.csv', '1 2 4'), journal.crashCount('b.csv', '1')]).toEqual([0, 0]);
  journal.begin('a.csv', '1 2 3');
  journal.forget('a.csv');
  journal.end();
  expect(existsSync(path)).toBe(false);
  expect(restarted().crashCount('a.csv', '1 2 3')).toBe(0);
});

test('in a ledger, counts the deaths of one server after another, by the content of a file', async () => {
  using store = Object.assign(openStore(':memory:', Date.now), { [Symbol.dispose]() {} });
  const next = (writer: string) => new ReadingJournal(ledgerJournal(store, writer));
  await next('a').begin('a.csv', 'digest');
  const second = next('b');
  expect([second.isByContent, second.crashCount('a.csv', 'digest')]).toEqual([true, 1]);
  await second.begin('a.csv', 'digest');
  const third = next('c');
  expect([third.crashCount('a.csv', 'digest'), third.crashCount('a.csv', 'other')]).toEqual([2, 0]);
  await third.begin('b.csv', 'x');
  third.end();
  expect(next('d').crashCount('b.csv', 'x')).toBe(0);
});

test('counts again from zero for another version of the file', () => {
  for (const version of ['1', '2']) restarted().begin('a.csv', version);
  expect([restarted().crashCount('a.csv', '1'), restarted().crashCount('a.csv', '2')]).toEqual([0, 1]);
});

test.each(['', '{', 'null', '[]', '{"reading":null}'])('ignores an invalid journal: %p', (text) => {
  writeFileSync(path, text);
  expect(restarted().crashCount('a.csv', '1')).toBe(0);
});

test('the feed journals its reads, skips a file that ended two processes, and reads it if it changes', async () => {
  const checkpoints = new Map<string, string>();
  const feed = () =>
    createFilesFeed(drop(), { pause: async () => {}, checkpoints: () => checkpoints, journal: fileJournal(path) });
  const file = drop('a.csv');
  writeFileSync(file, 'date,ticker,close\n2026-08-20,SPY,640\n');
  const poll = async (crashes = false) => {
    const deliveries: Delivery[] = [];
    let left: string | undefined;
    for await (const delivery of feed().poll(Date.now())) {
      if (delivery.kind === 'checkpoint') checkpoints.set(delivery.key, delivery.value!);
      else deliveries.push(delivery);
      if (!crashes || delivery.kind !== 'closes') continue;
      left = readFileSync(path, 'utf8');
      break;
    }
    // Leaving the loop ends the read normally, but a crash does not.
    if (left !== undefined) writeFileSync(path, left);
    return deliveries.filter(({ kind }) => kind !== 'resolved');
  };
  for (let crash = 0; crash < 2; crash++) {
    const before = await poll(true);
    expect(before).toMatchObject([{ kind: 'closes' }]);
  }
  const reason = 'the process that read the file has ended 2 times. To have the file read again, change or replace it';
  expect(await poll()).toEqual([{ kind: 'rejection', origin: 'a.csv', reason }]);
  expect(await poll()).toEqual([]);
  writeFileSync(file, 'date,ticker,close\n2026-08-20,SPY,640.5\n');
  expect(await poll()).toMatchObject([{ kind: 'closes' }]);
  expect(await poll()).toEqual([]);
});

test('a stop during a read does not count as a crash', async () => {
  writeFileSync(drop('a.csv'), 'date,ticker,close\n2026-08-20,SPY,640\n');
  const stop = new AbortController();
  const feed = createFilesFeed(drop(), {
    pause: async () => {},
    checkpoints: () => new Map(),
    journal: fileJournal(path),
  });
  const reading = feed.poll(Date.now(), stop.signal)[Symbol.asyncIterator]();
  while ((await reading.next()).value?.kind !== 'closes');
  expect(existsSync(path)).toBe(true);
  stop.abort();
  expect(existsSync(path)).toBe(false);
  await reading.return?.();
});

test('a read of a process that still runs does not count as a crash', async () => {
  const other = Bun.spawn(['sleep', '30']);
  restarted().begin('a.csv', '1');
  writeFileSync(path, readFileSync(path, 'utf8').replace(`"writer":"${process.pid}"`, `"writer":"${other.pid}"`));
  expect(restarted().crashCount('a.csv', '1')).toBe(0);
  other.kill();
  await other.exited;
  expect(restarted().crashCount('a.csv', '1')).toBe(1);
});
