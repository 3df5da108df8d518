import type { FoundFile } from './walk.ts';

interface TransientError {
  readonly reason: string;
  /** When the file's permissions, name or content last changed, ms since the epoch. */
  readonly changedMs: number;
  readonly times: number;
  /** Scans to skip before the file is tried again. */
  looksLeft: number;
}

/** A scan takes place every five seconds, so the longest pause is two minutes. */
const LOOKS_MAX = 24;

/**
 * Files with a temporary error, by path. Each file is tried again at later scans, with growing pauses. If the file or its permissions have
 * changed, the next scan tries it.
 */
export class TransientErrors {
  readonly #troubles = new Map<string, TransientError>();

  /** Whether to try a file at this scan. Counts the scan, so call it once per scan. */
  isDue({ origin, stats }: FoundFile): boolean {
    const trouble = this.#troubles.get(origin);
    if (trouble === undefined || trouble.changedMs !== stats.ctimeMs) return true;
    return trouble.looksLeft-- <= 0;
  }

  /** Records a failure. Returns whether the reason is new and has to be reported. */
  met({ origin, stats }: FoundFile, reason: string): boolean {
    const known = this.#troubles.get(origin);
    const times = known?.changedMs === stats.ctimeMs ? known.times + 1 : 1;
    const looksLeft = Math.min(LOOKS_MAX, 2 ** (times - 1) - 1);
    this.#troubles.set(origin, { reason, changedMs: stats.ctimeMs, times, looksLeft });
    return known?.reason !== reason;
  }

  /** Records that the file was read. Returns whether it had an error before. */
  over(origin: string): boolean {
    return this.#troubles.delete(origin);
  }

  /** Drops the files that are no longer present, and returns their paths. */
  gone(present: ReadonlySet<string>): string[] {
    return [...this.#troubles.keys()].filter((origin) => !present.has(origin) && this.#troubles.delete(origin));
  }
}
