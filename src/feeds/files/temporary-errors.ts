import type { FoundFile } from './walk.ts';

interface FailedFile {
  readonly reason: string;
  /** Time of the last change of the file's permissions, name or content, ms since the epoch. */
  readonly changedMs: number;
  /** Number of failed readings since `changedMs`. */
  readonly failures: number;
  scansToSkip: number;
}

/** Maximum number of scans to skip. A scan takes place every five seconds, so the longest pause is two minutes. */
const SCANS_TO_SKIP_MAX = 24;

/** The files with a temporary error. Later scans try each again after growing pauses, or at once if the file or its permissions change. */
export class TemporaryErrors {
  readonly #files = new Map<string, FailedFile>();

  /** Returns whether this scan must read the file. Counts the scan, so call this method once per file and scan. */
  isDue({ origin, stats }: FoundFile): boolean {
    const failed = this.#files.get(origin);
    if (failed === undefined || failed.changedMs !== stats.ctimeMs) return true;
    return failed.scansToSkip-- <= 0;
  }

  /** Records the error of a file. Returns whether the reason of the error is new and must be reported. */
  record({ origin, stats }: FoundFile, reason: string): boolean {
    const before = this.#files.get(origin);
    const failures = before?.changedMs === stats.ctimeMs ? before.failures + 1 : 1;
    const scansToSkip = Math.min(SCANS_TO_SKIP_MAX, 2 ** (failures - 1) - 1);
    this.#files.set(origin, { reason, changedMs: stats.ctimeMs, failures, scansToSkip });
    return before?.reason !== reason;
  }

  /** Records that the file was read. Returns whether the file had an error before. */
  clear(origin: string): boolean {
    return this.#files.delete(origin);
  }

  /** Removes the files that are no longer present, and returns their paths. */
  removeMissing(present: ReadonlySet<string>): string[] {
    return [...this.#files.keys()].filter((origin) => !present.has(origin) && this.#files.delete(origin));
  }
}
