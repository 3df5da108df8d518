import type { Delivery, Feed } from '../../market/feed.ts';
import { readFileApart } from '../reader/read-apart.ts';
import { FileMarks, versionOf } from './file-marks.ts';
import { GrowingTapes } from './growing-tapes.ts';
import { PassingTroubles } from './passing-troubles.ts';
import { readFile, refusalOf } from './read-file.ts';
import { CRASHES_MAX, ReadingJournal } from './reading-journal.ts';
import { setAside } from './set-aside.ts';
import { type Found, type Problem, walk } from './walk.ts';

export interface FilesFeedOptions {
  /** Marks of this feed that are kept with its data: they alone say what was read. */
  readonly remembered: () => ReadonlyMap<string, string>;
  /** Folder to which files go of which nothing can be taken; without it nothing is ever written to the drop folder. */
  readonly setAside?: string | undefined;
  /** File in which it writes down what it is reading; without it a file that ends the process is read again at each start. */
  readonly journal?: string | undefined;
  readonly pollIntervalMs?: number;
  /** Waits between two looks at a file that was only just written to. */
  readonly pause?: () => Promise<void>;
}

/**
 * Market data dropped into a folder and its sub-folders. Every poll reads what is new or changed since it was last stored, by size
 * and time of change, over restarts too, and in another process what may need much memory. A file still being written is left for the
 * next poll, but for tapes, of which what is there is good. What is wrong with a file is said once, until it changes. Polls must not overlap.
 */
export function createFilesFeed(dir: string, options: FilesFeedOptions): Feed {
  const pause = options.pause ?? (() => Bun.sleep(SETTLING_PAUSE_MS));
  const tapes = new GrowingTapes();
  const troubles = new PassingTroubles();
  let journal: ReadingJournal | undefined;
  let isFirstLook = true;
  /** Problems told last. Before the start it may have been the folder itself. */
  let reported = new Map([[dir, '']]);

  async function* poll(nowMs: number, signal?: AbortSignal): AsyncGenerator<Delivery> {
    journal ??= new ReadingJournal(options.journal);
    const own = journal;
    // A service that is stopped while it reads has not crashed.
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
    const marks = FileMarks.of(root, options.remembered());
    const stuck = options.setAside === undefined ? [] : yield* clearedAway(root, files, marks, options.setAside);
    const unsound = [...problems, ...stuck];
    yield* unsound.filter(({ origin, reason }) => reported.get(origin) !== reason).map(refusalOf);
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
    // Read again should they come back. A folder that cannot be looked at has its files still.
    if (complete) yield* marks.gone(present);
  }

  async function* reading(
    journal: ReadingJournal,
    file: Found,
    root: string,
    marks: FileMarks,
    nowMs: number,
  ): AsyncGenerator<Delivery> {
    const { origin, stats } = file;
    const version = versionOf(stats);
    if (journal.crashes(origin, version) >= CRASHES_MAX) {
      journal.forget(origin);
      yield refusalOf({ origin, reason: CRASHED });
      yield marks.read(origin, stats, { refused: CRASHED });
      return;
    }
    // Of what passes nothing is remembered but what an earlier process has told.
    if (isFirstLook || marks.knows(origin)) yield { kind: 'settled', origin };
    journal.begins(origin, version);
    let outcome = yield* withoutTrouble(
      origin,
      readFile(root, file, { nowMs, marks, tapes, readApart: (content) => readFileApart(content, nowMs) }),
    );
    if (outcome === undefined) return;
    if (typeof outcome === 'object' && 'passing' in outcome) {
      if (outcome.isCrash) journal.crashed(origin, version);
      if (troubles.met(file, outcome.passing)) yield refusalOf({ origin, reason: outcome.passing });
      return;
    }
    journal.forget(origin);
    if (outcome === 'none') {
      const reason = whyNothing(file, marks);
      if (reason !== undefined) yield refusalOf({ origin, reason });
      if (reason !== undefined && !marks.hasHeld(origin)) outcome = { refused: reason };
    }
    yield marks.read(origin, stats, outcome);
  }

  /** The trouble with a file is over with the first thing that is read of it, before anything else is told of it. */
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

  /** Sets the bad files aside whose refusals are stored; returns those that cannot be. */
  async function* clearedAway(
    root: string,
    files: readonly Found[],
    marks: FileMarks,
    to: string,
  ): AsyncGenerator<Delivery, Problem[]> {
    const stuck: Problem[] = [];
    for (const file of files) {
      const { origin } = file;
      const refusal = marks.has(origin, file.stats) ? marks.refusal(origin) : undefined;
      if (refusal === undefined) continue;
      const { isMoved, told } = await setAside(root, file, to);
      const reason = `${refusal}; ${told}`;
      if (!isMoved) stuck.push({ origin, reason });
      else yield* [refusalOf({ origin, reason }), marks.forget(origin)];
    }
    return stuck;
  }

  const pace = { everyMs: options.pollIntervalMs ?? POLL_INTERVAL_MS, hours: 'always', delayMs: 0 } as const;
  return { name: 'files', simulated: false, pace, tickers: [], poll };
}

/** Why it is worth a word that a file holds nothing: it did, or by its name it ought to. Notes and pictures are passed over. */
function whyNothing({ origin, stats }: Found, marks: FileMarks): string | undefined {
  if (marks.hasHeld(origin)) return 'no longer holds market data';
  return stats.size > 0 && DATA_NAME.test(origin) ? 'holds no market data of a known format' : undefined;
}

const DATA_NAME = /\.(?:csv|json|parquet)(?:\.gz)?$/i;

const CRASHED = `the process that read it has ended ${CRASHES_MAX} times: change or replace the file to have it read again`;

/** Soon enough for a person who drops a file, rare enough for a folder on a network. */
const POLL_INTERVAL_MS = 5_000;
/** A file left alone for so long is taken to be whole. */
const SETTLED_AFTER_MS = 2_000;
const SETTLING_PAUSE_MS = 100;
