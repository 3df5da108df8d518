import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Observation, Observe } from '../core/events.ts';
import { errorOfReading, isDamage } from '../store/damage.ts';

/** Interval between two checks of the database file, ms. */
const LOOK_MS = 5_000;
const GONE = 'The database was removed or replaced. Restart the server.';
export const DAMAGED = {
  database: 'The database is damaged. Restore a backup with `zomma restore`.',
  mirror: 'The copy of the data is damaged. Restart the server, which copies the data again.',
} as const;

/** Watches whether the database of a running server can still be read. */
export type DatabaseWatch = ReturnType<typeof watchDatabase>;

/**
 * Starts to watch the database at `path`, which the server has opened. Every five seconds, reads a row of each table over a new
 * connection, because the server's own connection has pages in its cache. Reports a removed file and a damaged database once each.
 */
export function watchDatabase(path: string, observe: Observe, damaged: string = DAMAGED.database) {
  const dataDir = dirname(path);
  const inode = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const opened = inode();
  const isPresent = () => inode() === opened;
  let isDamaged = false;
  let isGoneReported = false;
  const check = (): void => {
    if (!isPresent()) {
      if (isGoneReported) return;
      isGoneReported = true;
      observe({ kind: 'database_gone', data_folder: dataDir });
      return;
    }
    const error = errorOfReading(path);
    if (isDamaged || !isDamage(error)) return;
    isDamaged = true;
    observe({ kind: 'database_damaged', data_folder: dataDir, error });
  };
  const timer = setInterval(check, LOOK_MS).unref();
  return {
    /** Whether the file at the path is the one that the server has opened. What the server writes to a removed file is lost at its end. */
    isPresent,
    /** Returns why the server cannot answer rightly, one sentence, or undefined. */
    problem: () => (isPresent() ? (isDamaged ? damaged : undefined) : GONE),
    /** Notes an observation. An error of SQLite in it may show that the database is damaged. */
    note(observation: Observation) {
      if ('error' in observation && !isDamaged && isDamage(observation.error)) check();
    },
    stop: () => clearInterval(timer),
  };
}
