import type { Delivery, Feed } from '../../market/feed.ts';
import { readFileIsolated } from '../reader/isolated-reader.ts';
import { FileCheckpoints, versionOf } from './file-checkpoints.ts';
import { GrowingTapes } from './growing-tapes.ts';
import { readFile, rejectionOf } from './read-file.ts';
import { CRASHES_MAX, ReadingJournal } from './reading-journal.ts';
import { setAside } from './set-aside.ts';
import { TemporaryErrors } from './temporary-errors.ts';
import { type FoundFile, type SkippedFile, walk } from './walk.ts';

export interface FilesFeedOptions {
  /** The checkpoints of this feed, stored together with its data. They alone decide which files have been read. */
  readonly checkpoints: () => ReadonlyMap<string, string>;
  /** Folder to which rejected files are moved. If omitted, the feed never writes to the drop folder. */
  readonly setAside?: string | undefined;
  /** File that records which file is being read. If omitted, a file that crashes the process is read again at each start. */
  readonly journal?: string | undefined;
  readonly pollIntervalMs?: number;
  /** Waits between two checks of a file that was written to just before. */
  readonly pause?: () => Promise<void>;
}

/**
 * Reads market data from a folder and its sub-folders. Every poll reads the files that are new or changed since they were last stored,
 * judged by size and modification time, also across restarts. Files that may need much memory are read in another process. A file that is
 * still being written is left for the next poll, except for tapes, whose rows so far are valid. A problem with a file is reported once,
 * until the file changes. Polls must not overlap.
 */
export function createFilesFeed(dir: string, options: FilesFeedOptions): Feed {
  const pause = options.pause ?? (() => Bun.sleep(STABILITY_PAUSE_MS));
  const tapes = new GrowingTapes();
  const temporaryErrors = new TemporaryErrors();
  let journal: ReadingJournal | undefined;
  let isFirstPoll = true;
  /**
   * Reasons of the problems that the last poll found, by path. At the start it contains the folder itself, because an earlier process may
   * have reported the folder.
   */
  let reported = new Map([[dir, '']]);

  async function* poll(nowMs: number, signal?: AbortSignal): AsyncGenerator<Delivery> {
    journal ??= new ReadingJournal(options.journal);
    const opened = journal;
    // If the service is stopped while it reads a file, this does not count as a crash.
    const endReading = () => opened.end();
    signal?.addEventListener('abort', endReading);
    try {
      yield* scan(opened, nowMs, signal);
    } finally {
      signal?.removeEventListener('abort', endReading);
      endReading();
    }
  }

  async function* scan(journal: ReadingJournal, nowMs: number, signal?: AbortSignal): AsyncGenerator<Delivery> {
    const folder = await walk(dir, options.setAside);
    const { root, files, isComplete } = folder;
    const checkpoints = FileCheckpoints.of(root, options.checkpoints());
    const unmoved =
      options.setAside === undefined ? [] : yield* moveRejectedFiles(root, files, checkpoints, options.setAside);
    const problems = [...folder.problems, ...unmoved];
    yield* problems.filter(({ origin, reason }) => reported.get(origin) !== reason).map(rejectionOf);
    const reasons = new Map(problems.map(({ origin, reason }) => [origin, reason]));
    for (const origin of reported.keys()) if (!reasons.has(origin)) yield { kind: 'resolved', origin };
    reported = reasons;

    const present = new Set(files.map(({ origin }) => origin));
    if (isComplete) for (const origin of temporaryErrors.removeMissing(present)) yield { kind: 'resolved', origin };
    const changed = files.filter((file) => !checkpoints.has(file.origin, file.stats) && temporaryErrors.isDue(file));
    if (changed.some(({ stats }) => nowMs - stats.mtimeMs < STABLE_AFTER_MS)) await pause();
    for (const file of changed) {
      if (signal?.aborted) return;
      yield* processFile(journal, file, root, checkpoints, nowMs);
    }
    isFirstPoll = false;
    // Files that come back are read again. In a folder that cannot be read, the files may still exist.
    if (isComplete) yield* checkpoints.removalsOfMissing(present);
  }

  /** Delivers the contents of a new or changed file, and then its checkpoint. */
  async function* processFile(
    journal: ReadingJournal,
    file: FoundFile,
    root: string,
    checkpoints: FileCheckpoints,
    nowMs: number,
  ): AsyncGenerator<Delivery> {
    const { origin, stats } = file;
    const version = versionOf(stats);
    if (journal.crashCount(origin, version) >= CRASHES_MAX) {
      journal.forget(origin);
      yield rejectionOf({ origin, reason: CRASHED });
      yield checkpoints.checkpointFor(origin, stats, { rejection: CRASHED });
      return;
    }
    // The ledger may still have a rejection for a temporary error that an earlier process reported. So the first poll clears the rejections
    // of all files that it reads. Later polls need to do this only for files with a checkpoint.
    if (isFirstPoll || checkpoints.isKnown(origin)) yield { kind: 'resolved', origin };
    journal.begin(origin, version);
    let outcome = yield* clearErrorOnRead(
      origin,
      readFile(root, file, { nowMs, checkpoints, tapes, readIsolated: (content) => readFileIsolated(content, nowMs) }),
    );
    if (outcome === undefined) return;
    if (typeof outcome === 'object' && 'temporaryError' in outcome) {
      const { temporaryError: reason, isCrash } = outcome;
      if (isCrash) journal.recordCrash(origin, version);
      if (temporaryErrors.record(file, reason)) yield rejectionOf({ origin, reason });
      return;
    }
    journal.forget(origin);
    if (outcome === 'none') {
      const reason = whyWithoutData(file, checkpoints);
      if (reason !== undefined) yield rejectionOf({ origin, reason });
      if (reason !== undefined && !checkpoints.hadData(origin)) outcome = { rejection: reason };
    }
    yield checkpoints.checkpointFor(origin, stats, outcome);
  }

  /**
   * Passes the deliveries of a file on. Once the file can be read, first reports that its temporary error is resolved.
   */
  async function* clearErrorOnRead<Outcome extends object | string | undefined>(
    origin: string,
    deliveries: AsyncGenerator<Delivery, Outcome>,
  ): AsyncGenerator<Delivery, Outcome> {
    try {
      for (;;) {
        const { value, done } = await deliveries.next();
        const isRead = !done || !(typeof value === 'object' && 'temporaryError' in value);
        if (isRead && temporaryErrors.clear(origin)) yield { kind: 'resolved', origin };
        if (done) return value;
        yield value;
      }
    } finally {
      await deliveries.return(undefined as never);
    }
  }

  /** Moves rejected files whose rejections are stored to the set-aside folder. Returns the files that could not be moved. */
  async function* moveRejectedFiles(
    root: string,
    files: readonly FoundFile[],
    checkpoints: FileCheckpoints,
    to: string,
  ): AsyncGenerator<Delivery, SkippedFile[]> {
    const unmoved: SkippedFile[] = [];
    for (const file of files) {
      const { origin } = file;
      const rejection = checkpoints.has(origin, file.stats) ? checkpoints.rejection(origin) : undefined;
      if (rejection === undefined) continue;
      const { isMoved, message } = await setAside(root, file, to);
      const reason = `${rejection}; ${message}`;
      if (!isMoved) unmoved.push({ origin, reason });
      else yield* [rejectionOf({ origin, reason }), checkpoints.removalFor(origin)];
    }
    return unmoved;
  }

  const pace = { everyMs: options.pollIntervalMs ?? POLL_INTERVAL_MS, hours: 'always', delayMs: 0 } as const;
  return { name: 'files', simulated: false, pace, tickers: [], poll };
}

/**
 * Why a file without market data is reported: it had market data before, or its name suggests it. Notes and pictures are ignored, with
 * `undefined`.
 */
function whyWithoutData({ origin, stats }: FoundFile, checkpoints: FileCheckpoints): string | undefined {
  if (checkpoints.hadData(origin)) return 'no longer holds market data';
  return stats.size > 0 && DATA_NAME.test(origin) ? 'holds no market data of a known format' : undefined;
}

const DATA_NAME = /\.(?:csv|json|parquet)(?:\.gz)?$/i;

const CRASHED = `the process that read the file has ended ${CRASHES_MAX} times: change or replace the file to have it read again`;

/** Soon enough for a person who drops a file. Rare enough for a folder on a network. */
const POLL_INTERVAL_MS = 5_000;
/** A file that has not changed for this long is stable. */
const STABLE_AFTER_MS = 2_000;
/** Pause between two checks of a file that was written to just before. */
const STABILITY_PAUSE_MS = 100;
