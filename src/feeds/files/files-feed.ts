import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delivery, Feed } from '../../market/feed.ts';
import { readMarketFile } from './read-market-file.ts';
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
      const deliveries = await readSettled(join(dir, file.origin), file);
      if (deliveries === undefined) continue;
      done.set(file.origin, versionOf(file.stats));
      if (deliveries.length > 0) fruitful.add(file.origin);
      else if (fruitful.has(file.origin))
        yield refusalOf({ origin: file.origin, reason: 'no longer holds market data' });
      yield* deliveries;
    }
    // Only now: a poll that is broken off is made anew. Files that are gone are forgotten, and read again should they come back.
    read = done;
    reported = new Map(problems.map(({ origin, reason }) => [origin, reason]));
  }

  return { name: 'files', simulated: false, pollIntervalMs: options.pollIntervalMs ?? POLL_INTERVAL_MS, poll };
}

/** Soon enough for a person who drops a file, rare enough for a folder on a network. */
const POLL_INTERVAL_MS = 5_000;
/** A file left alone for so long is taken to be whole. */
const SETTLED_AFTER_MS = 2_000;
const SETTLING_PAUSE_MS = 100;
/** Five times the largest chain the exchange serves; all of a file is held in memory while it is read. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** What a file holds, or undefined while it is changing. */
async function readSettled(path: string, { origin, stats }: Found): Promise<Delivery[] | undefined> {
  if (stats.size > FILE_BYTES_MAX) {
    return [refusalOf({ origin, reason: `${stats.size} bytes, more than the ${FILE_BYTES_MAX} that are read` })];
  }
  try {
    const bytes = await readFile(path);
    // Looked at after the reading: what was written before it or meanwhile shows here.
    if (versionOf(await stat(path)) !== versionOf(stats)) return undefined;
    return readMarketFile(bytes, { origin, modifiedMs: Math.floor(stats.mtimeMs) });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // Gone between the walk and the reading: it was renamed into place, or removed.
    return code === 'ENOENT' ? undefined : [refusalOf({ origin, reason: `cannot be read (${code})` })];
  }
}

function versionOf(stats: Stats): string {
  return `${stats.size} ${stats.mtimeMs}`;
}

function refusalOf({ origin, reason }: Problem): Delivery {
  return { kind: 'refusal', origin, reason };
}
