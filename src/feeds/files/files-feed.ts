import { dirname, join } from 'node:path';
import { errorCode } from '../../core/errors.ts';
import type { Delivery, Feed } from '../../market/feed.ts';
import { ReaderEnded, readFileIsolated } from '../reader/isolated-reader.ts';
import { folderMappings } from '../vendors/folder-mapping.ts';
import { isSecondFile } from '../vendors/join-file.ts';
import { contentsWithin, type FileReadOptions } from './deliveries.ts';
import { FileCheckpoints, type Outcome } from './file-checkpoints.ts';
import { isUnknownData, NO_MARKET_DATA } from './format.ts';
import { GrowingTapes } from './growing-tapes.ts';
import type { JournalStorage } from './journal-storage.ts';
import { Content, openWithin } from './opened-file.ts';
import { CRASHES_MAX, ReadingJournal } from './reading-journal.ts';
import { RejectedRows } from './rejected-rows.ts';
import { deleteOld, setAside } from './set-aside.ts';
import { TemporaryErrors } from './temporary-errors.ts';
import { type FoundFile, type SkippedFile, walk } from './walk.ts';

export interface FilesFeedOptions {
  /** Returns this feed's checkpoints, which are stored together with its data. A file with a checkpoint has been read. */
  readonly checkpoints: () => ReadonlyMap<string, string>;
  /** Folder to which rejected files are moved. If omitted, the feed never writes to the drop folder. */
  readonly setAside?: string | undefined;
  /** The journal, which records the file that is being read. If omitted, files that caused a crash are read again at each start. */
  readonly journal?: JournalStorage | undefined;
  /** Number of days after which a completely read file is deleted. If omitted, no file is deleted. */
  readonly keepDays?: number | undefined;
  readonly pollIntervalMs?: number;
  /** Waits before a recently changed file is checked again. */
  readonly pause?: () => Promise<void>;
}

/**
 * Creates the feed of a drop folder and its sub-folders. Each poll reads the files whose size or modification time differs from their stored
 * checkpoint. Files that are still being written are left to the next poll, but a tape is read while it grows. A problem with a file is
 * reported once, and once more after a change of the file. Polls must not overlap. The origin of a file is its path in `dir`.
 */
export function createFilesFeed(dir: string, options: FilesFeedOptions): Feed {
  const pause = options.pause ?? (() => Bun.sleep(STABILITY_PAUSE_MS));
  const tapes = new GrowingTapes();
  const temporaryErrors = new TemporaryErrors();
  let journal: ReadingJournal | undefined;
  let isFirstPoll = true;
  /** The reason for which the last poll could not delete old files, or an empty text. */
  let undeletedFor = '';
  /** The reasons that the last poll found, by origin. An earlier process may have reported a problem with the folder itself. */
  let reported = new Map([[dir, '']]);

  async function* poll(nowMs: number, signal?: AbortSignal): AsyncGenerator<Delivery> {
    journal ??= new ReadingJournal(options.journal);
    const opened = journal;
    // A stop of the service while it reads a file does not count as a crash.
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
    const mappings = await folderMappings(
      root,
      files.map(({ origin }) => origin),
    );
    const checkpoints = FileCheckpoints.of(root, options.checkpoints(), mappings.text);
    const problems = [...folder.problems, ...mappings.problems];
    if (options.setAside !== undefined)
      problems.push(...(yield* moveRejectedFiles(root, files, checkpoints, options.setAside)));
    yield* problems.filter(({ origin, reason }) => reported.get(origin) !== reason).map(rejectionOf);
    const reasons = new Map(problems.map(({ origin, reason }) => [origin, reason]));
    for (const origin of reported.keys()) if (!reasons.has(origin)) yield { kind: 'resolved', origin };
    reported = reasons;

    const present = new Set(files.map(({ origin }) => origin));
    if (isComplete) for (const origin of temporaryErrors.removeMissing(present)) yield { kind: 'resolved', origin };
    const changed = files.filter((file) => !checkpoints.has(file.origin, file.stats) && temporaryErrors.isDue(file));
    if (changed.some(({ stats }) => nowMs - stats.mtimeMs < STABLE_AFTER_MS)) await pause();
    // Without its mapping, a folder's files could be read in a wrong way.
    for (const file of changed) {
      if (signal?.aborted) return;
      const { stated, problem } = mappings.of(file.origin);
      if (problem === undefined) yield* processFile(journal, file, root, { checkpoints, nowMs, stated });
    }
    isFirstPoll = false;
    if (options.keepDays !== undefined) {
      const undeleted = await deleteOld(root, files, checkpoints, options.keepDays);
      if (undeleted.reason !== undeletedFor) yield { kind: 'undeleted', ...undeleted };
      undeletedFor = undeleted.reason;
    }
    // A file that comes back is read again. If a folder is unreadable, its files may still exist.
    if (isComplete) yield* checkpoints.removalsOfMissing(present);
  }

  /** Yields the contents of a new or changed file, and then its checkpoint. */
  async function* processFile(
    journal: ReadingJournal,
    file: FoundFile,
    root: string,
    { checkpoints, nowMs, stated }: Pick<ReadFileDeps, 'checkpoints' | 'nowMs' | 'stated'>,
  ): AsyncGenerator<Delivery> {
    const { origin, stats } = file;
    // A journal that several servers share takes time. A file that ends servers is met in the first poll of the next one.
    const isJournaled = isFirstPoll || !journal.isByContent;
    const version =
      isJournaled && journal.isByContent ? await contentDigest(join(root, origin)) : checkpoints.versionOf(stats);
    if (journal.crashCount(origin, version) >= CRASHES_MAX) {
      journal.forget(origin);
      yield rejectionOf({ origin, reason: CRASHED });
      yield checkpoints.checkpointFor(origin, stats, { rejection: CRASHED });
      return;
    }
    // Because an earlier process may have reported a temporary error, the first poll clears the rejections of every file that it reads.
    if (isFirstPoll || checkpoints.isKnown(origin)) yield { kind: 'resolved', origin };
    if (isJournaled) await journal.begin(origin, version);
    let outcome = yield* clearErrorOnRead(
      origin,
      readFile(root, file, {
        ...{ nowMs, checkpoints, tapes, stated },
        readIsolated: (content) => readFileIsolated(content, nowMs),
      }),
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
      const isSecond = isSecondFile(origin, stated);
      if (isSecond) yield* rereadWith(file, checkpoints);
      const reason = isSecond ? undefined : whyWithoutData(file, checkpoints);
      if (reason !== undefined) yield rejectionOf({ origin, reason });
      if (reason !== undefined && !checkpoints.hadData(origin)) outcome = { rejection: reason };
    }
    yield checkpoints.checkpointFor(origin, stats, outcome);
  }

  /** Removes the checkpoints of the files that a new second file completes, so that the next poll reads them again. */
  function* rereadWith(second: FoundFile, checkpoints: FileCheckpoints): Generator<Delivery> {
    const folder = dirname(second.origin);
    const beside = [...checkpoints.origins()].filter((each) => dirname(each) === folder && each !== second.origin);
    for (const origin of beside) yield checkpoints.removalFor(origin);
  }

  /** Yields the deliveries of a file, and before them that its temporary error is resolved. */
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

  /** Moves rejected files to the folder `to`, after their rejections are stored. Returns the files that could not be moved. */
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

/** Returns why a file without market data is reported, or `undefined` for an ignored file, such as a note or a picture. */
function whyWithoutData({ origin, stats }: FoundFile, checkpoints: FileCheckpoints): string | undefined {
  if (checkpoints.hadData(origin)) return 'no longer contains market data';
  return isUnknownData(origin, stats.size) ? NO_MARKET_DATA : undefined;
}

const CRASHED = `the process that read the file has ended ${CRASHES_MAX} times. To have the file read again, change or replace it`;

/** Interval between two polls, ms: short enough to read new files soon, and long enough for a folder on a network. */
const POLL_INTERVAL_MS = 5_000;
/** The time without changes after which a file counts as stable, and the pause between two checks of a recently changed file, ms. */
const [STABLE_AFTER_MS, STABILITY_PAUSE_MS] = [2_000, 100];

interface ReadFileDeps extends Pick<FileReadOptions, 'nowMs' | 'readIsolated' | 'stated'> {
  readonly checkpoints: FileCheckpoints;
  readonly tapes: GrowingTapes;
}

/** A temporary error, such as missing permissions or a lack of file descriptors. It does not show whether the file is valid. */
interface TemporaryError {
  /** The reason for the error, in words. */
  readonly temporaryError: string;
  /** True if the separate process that read the file ended early. */
  readonly isCrash: boolean;
}

/**
 * Yields the contents of a file of the drop folder `root`, a path without links. Returns the outcome, or a temporary error. Errors without a
 * code are thrown. Returns `undefined` if the file was removed or has changed since the scan that found it. An uncompressed tape may grow, so
 * `undefined` then means that some of the whole lines at the time of the scan are missing.
 */
async function* readFile(
  root: string,
  found: FoundFile,
  { nowMs, checkpoints, tapes, stated, readIsolated }: ReadFileDeps,
): AsyncGenerator<Delivery, Outcome | TemporaryError | undefined> {
  const { origin } = found;
  const { size } = found.stats;
  const version = checkpoints.versionOf(found.stats);
  let rejectedRows = new RejectedRows();
  let isTape = false;
  let isWhole = true;
  let outcome: Outcome = 'none';
  let reason: string | undefined;
  async function* readTape(content: Content) {
    isTape = true;
    // The code reads a tape up to its length at the time of the scan. Bytes that were appended after the scan belong to a later version.
    const seen = new Content(content.fd, { ...content.facts, size });
    const tape = yield* tapes.read(seen, version, nowMs, (stored) => checkpoints.isLast(origin, stored));
    rejectedRows = tape.rejectedRows;
    isWhole = tape.isWhole;
  }
  try {
    await using file = await openWithin(root, origin);
    if (!file) return undefined;
    const checkStable = async () => checkpoints.versionOf(await file.handle.stat()) === version;
    const reading = { nowMs, stated, readTape, ...(readIsolated && { readIsolated }) };
    for await (const delivery of contentsWithin(root, file.content, reading)) {
      // A file that is not a tape is read completely before its first delivery, so the check notices every write before and meanwhile.
      if (outcome === 'none' && reason === undefined && !isTape && !(await checkStable())) return undefined;
      if (delivery.kind === 'rejection') reason = delivery.reason;
      else outcome = 'data';
      if (delivery.kind === 'prints' && !isTape) rejectedRows.add(delivery);
      yield delivery;
    }
    const isStable = await checkStable();
    if (isTape ? !isWhole : !isStable) return undefined;
    // The last row of a tape that is still growing is likely to be incomplete. So the rejected rows of a growing tape are not reported yet.
    const summary = isTape && !isStable ? undefined : rejectedRows.summary();
    if (summary !== undefined) yield rejectionOf({ origin, reason: summary });
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isCrash = error instanceof ReaderEnded;
    return { temporaryError: isCrash ? error.message : `cannot be read (${code})`, isCrash };
  }
  return outcome === 'data' || reason === undefined ? outcome : { rejection: reason };
}

/** Returns the rejection of a file. The origin of the rejection is the path of the file in the drop folder. */
function rejectionOf({ origin, reason }: SkippedFile): Delivery {
  return { kind: 'rejection', origin, reason };
}

/** Returns the digest of a file's content, or an empty text if it cannot be read, which the read itself then reports. */
async function contentDigest(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  try {
    for await (const bytes of Bun.file(path).stream()) hasher.update(bytes);
  } catch {
    return '';
  }
  return hasher.digest('hex');
}
