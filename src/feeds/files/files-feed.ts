import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delivery, Feed } from '../../market/feed.ts';
import { deliveriesOf } from './deliveries.ts';
import { RowsRefused } from './rows-refused.ts';
import { type Found, type Problem, walk } from './walk.ts';

export interface FilesFeedOptions {
  readonly pollIntervalMs?: number;
  /** Waits between two looks at a file that was only just written to. */
  readonly pause?: () => Promise<void>;
}

/**
 * Market data dropped into a folder and its sub-folders. Every poll reads what is new or changed since the last one, by size and
 * time of change; a file still being written is left for the next poll. What is wrong with a file is said once, until it changes.
 * Nothing is ever written there. Polls must not overlap.
 */
export function createFilesFeed(dir: string, options: FilesFeedOptions = {}): Feed {
  const pause = options.pause ?? (() => Bun.sleep(SETTLING_PAUSE_MS));
  let read = new Map<string, string>();
  let reported = new Map<string, string>();
  /** Files that have held market data: when one no longer does, somebody should know. */
  const fruitful = new Set<string>();

  async function* poll(nowMs: number): AsyncGenerator<Delivery> {
    const { files, problems } = await walk(dir);
    yield* problems.filter(({ origin, reason }) => reported.get(origin) !== reason).map(refusalOf);

    const unchanged = files.filter((file) => read.get(file.origin) === versionOf(file.stats));
    const changed = files.filter((file) => read.get(file.origin) !== versionOf(file.stats));
    const done = new Map(unchanged.map(({ origin, stats }) => [origin, versionOf(stats)]));
    if (changed.some(({ stats }) => nowMs - stats.mtimeMs < SETTLED_AFTER_MS)) await pause();
    for (const file of changed) {
      const held = yield* readSettled(dir, file, nowMs);
      if (held === undefined) continue;
      done.set(file.origin, versionOf(file.stats));
      if (held) fruitful.add(file.origin);
      else if (fruitful.has(file.origin))
        yield refusalOf({ origin: file.origin, reason: 'no longer holds market data' });
    }
    // Only now: a poll that is broken off is made anew. Files that are gone are forgotten, and read again should they come back.
    read = done;
    reported = new Map(problems.map(({ origin, reason }) => [origin, reason]));
  }

  const pace = { everyMs: options.pollIntervalMs ?? POLL_INTERVAL_MS, hours: 'always', delayMs: 0 } as const;
  return { name: 'files', simulated: false, pace, tickers: [], poll };
}

/** Soon enough for a person who drops a file, rare enough for a folder on a network. */
const POLL_INTERVAL_MS = 5_000;
/** A file left alone for so long is taken to be whole. */
const SETTLED_AFTER_MS = 2_000;
const SETTLING_PAUSE_MS = 100;
/**
 * Delivers what a file holds; returns whether that is anything, or undefined while it is changing. Of a tape that changes while it is
 * read the prints are good all the same: it is only appended to, and each counts once when it is read again.
 */
async function* readSettled(dir: string, file: Found, nowMs: number): AsyncGenerator<Delivery, boolean | undefined> {
  const { origin, stats } = file;
  const isSettled = async () => versionOf(await stat(join(dir, origin))) === versionOf(stats);
  const refused = new RowsRefused();
  let held = false;
  try {
    for await (const delivery of deliveriesOf(dir, file, nowMs)) {
      // Looked at after the reading: what was written before it or meanwhile shows here.
      if (!held && !(await isSettled())) return undefined;
      held = true;
      if (delivery.kind === 'prints') refused.add(delivery);
      yield delivery;
    }
    if (!(await isSettled())) return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // Gone between the walk and the reading: it was renamed into place, or removed.
    if (code === 'ENOENT') return undefined;
    yield refusalOf({ origin, reason: `cannot be read (${code})` });
    return true;
  }
  const reason = refused.told();
  if (reason !== undefined) yield refusalOf({ origin, reason });
  return held;
}

function versionOf(stats: Stats): string {
  return `${stats.size} ${stats.mtimeMs}`;
}

function refusalOf({ origin, reason }: Problem): Delivery {
  return { kind: 'refusal', origin, reason };
}
