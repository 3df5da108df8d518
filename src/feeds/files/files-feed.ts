import type { Delivery, Feed } from '../../market/feed.ts';
import { readFileApart } from '../reader/read-apart.ts';
import { FileCheckpoints, versionOf } from './file-checkpoints.ts';
import { GrowingTapes } from './growing-tapes.ts';
import { readFile, rejectionOf } from './read-file.ts';
import { CRASHES_MAX, ReadingJournal } from './reading-journal.ts';
import { setAside } from './set-aside.ts';
import { TransientErrors } from './transient-errors.ts';
import { type FoundFile, type SkippedFile, walk } from './walk.ts';

export interface FilesFeedOptions {
  /** The checkpoints of this feed, stored together with its data. They alone decide which files have been read. */
  readonly remembered: () => ReadonlyMap<string, string>;
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
  const pause = options.pause ?? (() => Bun.sleep(SETTLING_PAUSE_MS));
  const tapes = new GrowingTapes();
  const troubles = new TransientErrors();
  let journal: ReadingJournal | undefined;
  let isFirstLook = true;
  /**
   * Reasons of the problems that the last poll found, by path. At the start it contains the folder itself, because an earlier process may
   * have reported the folder.
   */
  let reported = new Map([[dir, '']]);

  async function* poll(nowMs: number, signal?: AbortSignal): AsyncGenerator<Delivery> {
    journal ??= new ReadingJournal(options.journal);
    const own = journal;
    // If the service is stopped while it reads a file, this does not count as a crash.
    const ended = () => own.ended();
    signal?.addEventListener('abort', ended);
    try {
      yield* look(own, nowMs, signal);
    } finally {
      signal?.removeEventListener('abort', ended);
      ended();
    }
  }

  async function* look(journal: ReadingJournal, nowMs: number, signal?: AbortSignal): AsyncGenerator<Delivery> {
    const { root, files, problems, complete } = await walk(dir, options.setAside);
    const marks = FileCheckpoints.of(root, options.remembered());
    const stuck = options.setAside === undefined ? [] : yield* clearedAway(root, files, marks, options.setAside);
    const unsound = [...problems, ...stuck];
    yield* unsound.filter(({ origin, reason }) => reported.get(origin) !== reason).map(rejectionOf);
    const sound = new Map(unsound.map(({ origin, reason }) => [origin, reason]));
    for (const origin of reported.keys()) if (!sound.has(origin)) yield { kind: 'settled', origin };
    reported = sound;

    const present = new Set(files.map(({ origin }) => origin));
    if (complete) for (const origin of troubles.gone(present)) yield { kind: 'settled', origin };
    const changed = files.filter((file) => !marks.has(file.origin, file.stats) && troubles.isDue(file));
    if (changed.some(({ stats }) => nowMs - stats.mtimeMs < SETTLED_AFTER_MS)) await pause();
    for (const file of changed) {
      if (signal?.aborted) return;
      yield* reading(journal, file, root, marks, nowMs);
    }
    isFirstLook = false;
    // Files that come back are read again. In a folder that cannot be read, the files may still exist.
    if (complete) yield* marks.gone(present);
  }

  async function* reading(
    journal: ReadingJournal,
    file: FoundFile,
    root: string,
    marks: FileCheckpoints,
    nowMs: number,
  ): AsyncGenerator<Delivery> {
    const { origin, stats } = file;
    const version = versionOf(stats);
    if (journal.crashes(origin, version) >= CRASHES_MAX) {
      journal.forget(origin);
      yield rejectionOf({ origin, reason: CRASHED });
      yield marks.read(origin, stats, { refused: CRASHED });
      return;
    }
    // The ledger may still have a rejection for a temporary error that an earlier process reported. So the first poll clears the rejections
    // of all files that it reads. Later polls need to do this only for files with a checkpoint.
    if (isFirstLook || marks.knows(origin)) yield { kind: 'settled', origin };
    journal.begins(origin, version);
    let outcome = yield* withoutTrouble(
      origin,
      readFile(root, file, { nowMs, marks, tapes, readApart: (content) => readFileApart(content, nowMs) }),
    );
    if (outcome === undefined) return;
    if (typeof outcome === 'object' && 'passing' in outcome) {
      if (outcome.isCrash) journal.crashed(origin, version);
      if (troubles.met(file, outcome.passing)) yield rejectionOf({ origin, reason: outcome.passing });
      return;
    }
    journal.forget(origin);
    if (outcome === 'none') {
      const reason = whyNothing(file, marks);
      if (reason !== undefined) yield rejectionOf({ origin, reason });
      if (reason !== undefined && !marks.hasHeld(origin)) outcome = { refused: reason };
    }
    yield marks.read(origin, stats, outcome);
  }

  /**
   * Passes the deliveries of a file on. With the first sign that the file can be read, the file's temporary error is reported as over,
   * before anything else.
   */
  async function* withoutTrouble<Outcome extends object | string | undefined>(
    origin: string,
    deliveries: AsyncGenerator<Delivery, Outcome>,
  ): AsyncGenerator<Delivery, Outcome> {
    try {
      for (;;) {
        const { value, done } = await deliveries.next();
        const isOver = !done || !(typeof value === 'object' && 'passing' in value);
        if (isOver && troubles.over(origin)) yield { kind: 'settled', origin };
        if (done) return value;
        yield value;
      }
    } finally {
      await deliveries.return(undefined as never);
    }
  }

  /** Moves rejected files whose rejections are stored to the set-aside folder. Returns the files that could not be moved. */
  async function* clearedAway(
    root: string,
    files: readonly FoundFile[],
    marks: FileCheckpoints,
    to: string,
  ): AsyncGenerator<Delivery, SkippedFile[]> {
    const stuck: SkippedFile[] = [];
    for (const file of files) {
      const { origin } = file;
      const refusal = marks.has(origin, file.stats) ? marks.refusal(origin) : undefined;
      if (refusal === undefined) continue;
      const { isMoved, told } = await setAside(root, file, to);
      const reason = `${refusal}; ${told}`;
      if (!isMoved) stuck.push({ origin, reason });
      else yield* [rejectionOf({ origin, reason }), marks.forget(origin)];
    }
    return stuck;
  }

  const pace = { everyMs: options.pollIntervalMs ?? POLL_INTERVAL_MS, hours: 'always', delayMs: 0 } as const;
  return { name: 'files', simulated: false, pace, tickers: [], poll };
}

/**
 * Why a file without market data is reported: it had market data before, or its name suggests it. Notes and pictures are ignored, with
 * `undefined`.
 */
function whyNothing({ origin, stats }: FoundFile, marks: FileCheckpoints): string | undefined {
  if (marks.hasHeld(origin)) return 'no longer holds market data';
  return stats.size > 0 && DATA_NAME.test(origin) ? 'holds no market data of a known format' : undefined;
}

const DATA_NAME = /\.(?:csv|json|parquet)(?:\.gz)?$/i;

const CRASHED = `the process that read the file has ended ${CRASHES_MAX} times: change or replace the file to have it read again`;

/** Soon enough for a person who drops a file. Rare enough for a folder on a network. */
const POLL_INTERVAL_MS = 5_000;
/** A file that has not changed for this long is considered complete. */
const SETTLED_AFTER_MS = 2_000;
const SETTLING_PAUSE_MS = 100;
