import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { repeatBackups } from '../../src/server/repeated-backups.ts';
import { lockFolder } from '../../src/store/folder/folder-lock.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

const at = testFolder();
const EVERY_MS = 20;

interface Event {
  readonly kind: 'made' | 'removed' | 'error' | 'overrun';
  readonly text: string;
  readonly leftOut?: number;
}

/** Repeats backups until `isOver` holds for the events. `round` does the work of a round, by its number. */
async function repeat(isOver: (events: Event[]) => boolean, round: (number: number) => unknown = () => {}) {
  const events: Event[] = [];
  const stop = new AbortController();
  const push = (event: Event) => {
    events.push(event);
    if (isOver(events)) stop.abort();
  };
  let rounds = 0;
  let running = 0;
  const isMade = await repeatBackups({
    ...{ folder: at('series'), everyMs: EVERY_MS, keep: 2, signal: stop.signal },
    async backUp(to) {
      expect(++running).toBe(1);
      try {
        await round(rounds++);
        stop.signal.throwIfAborted();
        mkdirSync(to);
        push({ kind: 'made', text: basename(to) });
      } finally {
        running--;
      }
    },
    onRemoved: (path) => push({ kind: 'removed', text: basename(path) }),
    onError: (error) => push({ kind: 'error', text: (error as Error).message }),
    onOverrun: (_, leftOut) => push({ kind: 'overrun', text: '', leftOut }),
  });
  return { events, isMade };
}

const count = (events: Event[], kind: Event['kind']) => events.filter((each) => each.kind === kind).length;
test('an error of a round is reported, the next one is tried, and the last one decides the result', async () => {
  mkdirSync(at('series'));
  const failing = (rounds: readonly number[]) => (round: number) => {
    if (rounds.includes(round)) throw new Error(`round ${round}`);
  };
  const healed = await repeat((events) => count(events, 'made') === 2, failing([1, 2]));
  expect(healed.events.filter(({ kind }) => kind !== 'overrun')).toMatchObject([
    { kind: 'made' },
    { kind: 'error', text: 'round 1' },
    { kind: 'error', text: 'round 2' },
    { kind: 'made' },
  ]);
  expect(healed.isMade).toBe(true);
  const broken = await repeat((events) => count(events, 'error') === 1, failing([1]));
  expect(broken.isMade).toBe(false);
});

test('a folder that is missing is reported and not created; it is used once it is there', async () => {
  const { events } = await repeat((all) => {
    if (count(all, 'error') === 2) mkdirSync(at('series'), { recursive: true });
    return count(all, 'made') === 1;
  });
  expect(events[0]).toMatchObject({ kind: 'error', text: `there is no folder ${at('series')}` });
  expect(count(events, 'error')).toBe(2);
  // It goes away while the backups run.
  const gone = await repeat((all) => {
    rmSync(at('series'), { recursive: true, force: true });
    return count(all, 'error') === 1;
  });
  expect([gone.isMade, readdirSync(at(''))]).toEqual([false, []]);
});

test('a round longer than the interval leaves out rounds, which is reported, and no two run at once', async () => {
  mkdirSync(at('series'));
  const { events } = await repeat(
    (all) => count(all, 'made') === 2,
    (round) => {
      const from = performance.now();
      return round === 0 && until(() => performance.now() - from > 3 * EVERY_MS);
    },
  );
  const [first, overrun] = events;
  expect([first?.kind, overrun?.kind]).toEqual(['made', 'overrun']);
  expect(overrun?.leftOut).toBeGreaterThanOrEqual(3);
});

test('a signal in the middle of a round ends it, and is no error', async () => {
  mkdirSync(at('series'));
  const stop = new AbortController();
  const errors: unknown[] = [];
  const ended = repeatBackups({
    ...{ folder: at('series'), everyMs: 30 * 86_400_000, keep: 2, signal: stop.signal },
    async backUp() {
      queueMicrotask(() => stop.abort());
      await until(() => stop.signal.aborted);
      stop.signal.throwIfAborted();
    },
    ...{ onRemoved: () => {}, onError: (error: unknown) => errors.push(error), onOverrun: () => {} },
  });
  expect([await ended, errors]).toEqual([true, []]);
});

test('the wait of a month neither fires at once nor outlasts the signal', async () => {
  mkdirSync(at('series'));
  const stop = new AbortController();
  let rounds = 0;
  const ended = repeatBackups({
    ...{ folder: at('series'), everyMs: 30 * 86_400_000, keep: 2, signal: stop.signal },
    async backUp() {
      rounds++;
      setTimeout(() => stop.abort(), 30);
    },
    ...{ onRemoved: () => {}, onError: () => {}, onOverrun: () => {} },
  });
  expect([await ended, rounds]).toEqual([true, 1]);
});

test('a folder in which another process makes a backup is left alone', async () => {
  mkdirSync(at('series'));
  const lock = lockFolder(at('series'));
  const { events } = await repeat((all) => {
    if (count(all, 'error') === 1) lock.release();
    return count(all, 'made') === 1;
  });
  expect(events[0]).toMatchObject({
    kind: 'error',
    text: `process ${process.pid} makes a backup in ${at('series')}`,
  });
});

test('the newest backups are kept', async () => {
  mkdirSync(at('series'));
  const { events } = await repeat((all) => count(all, 'made') === 4);
  const made = events.filter(({ kind }) => kind === 'made').map(({ text }) => text);
  expect(events.filter(({ kind }) => kind === 'removed').map(({ text }) => text)).toEqual(made.slice(0, 2));
});
