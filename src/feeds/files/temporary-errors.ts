import type { FoundFile } from './walk.ts';

interface FailedFile {
  readonly reason: string;
  /** When the file's permissions, name or content last changed, ms since the epoch. */
  readonly changedMs: number;
  readonly failures: number;
  /** Scans to skip before the file is tried again. */
  scansToSkip: number;
}

/** A scan takes place every five seconds, so the longest pause is two minutes. */
const SCANS_TO_SKIP_MAX = 24;

/**
 * Files with a temporary error, by path. Each file is tried again at later scans, with growing pauses. If the file or its permissions have
 * changed, the next scan tries it.
 */
export class TemporaryErrors {
  readonly #files = new Map<string, FailedFile>();

  /** Whether to try a file at this scan. Counts the scan, so call it once per scan. */
  isDue({ origin, stats }: FoundFile): boolean {
    const failed = this.#files.get(origin);
    if (failed === undefined || failed.changedMs !== stats.ctimeMs) return true;
    return failed.scansToSkip-- <= 0;
  }

  /** Records an error. Returns whether the reason is new and has to be reported. */
  record({ origin, stats }: FoundFile, reason: string): boolean {
    const before = this.#files.get(origin);
    const failures = before?.changedMs === stats.ctimeMs ? before.failures + 1 : 1;
    const scansToSkip = Math.min(SCANS_TO_SKIP_MAX, 2 ** (failures - 1) - 1);
    this.#files.set(origin, { reason, changedMs: stats.ctimeMs, failures, scansToSkip });
    return before?.reason !== reason;
  }

  /** Records that the file was read. Returns whether it had an error before. */
  clear(origin: string): boolean {
    return this.#files.delete(origin);
  }

  /** Drops the files that are no longer present, and returns their paths. */
  removeMissing(present: ReadonlySet<string>): string[] {
    return [...this.#files.keys()].filter((origin) => !present.has(origin) && this.#files.delete(origin));
  }
}
