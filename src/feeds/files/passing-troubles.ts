import type { Found } from './walk.ts';

interface Trouble {
  readonly reason: string;
  /** When the file's rights, name or content last changed. */
  readonly changedMs: number;
  readonly times: number;
  /** Looks that are still to pass before it is tried again. */
  looksLeft: number;
}

/** A look is every five seconds: at the latest after two minutes. */
const LOOKS_MAX = 24;

/**
 * Files whose reading failed for a cause that passes, by their paths. Each is tried again at later looks, ever more rarely, and at once
 * when anything of the file has changed, its rights too.
 */
export class PassingTroubles {
  readonly #troubles = new Map<string, Trouble>();

  /** Whether a file is to be tried at this look. Counts the looks. */
  isDue({ origin, stats }: Found): boolean {
    const trouble = this.#troubles.get(origin);
    if (trouble === undefined || trouble.changedMs !== stats.ctimeMs) return true;
    return trouble.looksLeft-- <= 0;
  }

  /** It has failed; whether that is new and somebody should know. */
  met({ origin, stats }: Found, reason: string): boolean {
    const known = this.#troubles.get(origin);
    const times = known?.changedMs === stats.ctimeMs ? known.times + 1 : 1;
    const looksLeft = Math.min(LOOKS_MAX, 2 ** (times - 1) - 1);
    this.#troubles.set(origin, { reason, changedMs: stats.ctimeMs, times, looksLeft });
    return known?.reason !== reason;
  }

  /** It was read; whether there was trouble before. */
  over(origin: string): boolean {
    return this.#troubles.delete(origin);
  }

  /** Those that are not there any more are forgotten, and returned. */
  gone(present: ReadonlySet<string>): string[] {
    return [...this.#troubles.keys()].filter((origin) => !present.has(origin) && this.#troubles.delete(origin));
  }
}
