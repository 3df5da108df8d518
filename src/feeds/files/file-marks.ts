import type { Stats } from 'node:fs';
import type { Delivery } from '../../market/feed.ts';

/** Counts up when the formats change so that a file should be read again: one that was refused may now be understood. */
const READER = 1;

/** What a file was found to hold: market data, nothing of that kind, or something of which nothing can be taken, and why. */
export type Outcome = 'data' | 'none' | { readonly refused: string };

type Mark = Extract<Delivery, { kind: 'mark' }>;

/**
 * Which versions of which files of one folder were read, as a feed's marks: from the folder and the file's path in it to its
 * size, its time of change and what it was found to hold.
 */
export class FileMarks {
  readonly #folder: string;
  readonly #values: ReadonlyMap<string, string>;

  private constructor(folder: string, values: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.#values = values;
  }

  /** Those of a folder among all that the feed remembers: one path can be another folder tomorrow, and one folder have two paths. */
  static of(root: string, remembered: ReadonlyMap<string, string>): FileMarks {
    const folder = new Bun.CryptoHasher('sha256').update(root).digest('hex').slice(0, FOLDER_DIGITS);
    const own = [...remembered].filter(([key]) => key.startsWith(`${folder} `));
    return new FileMarks(folder, new Map(own.map(([key, value]) => [key.slice(folder.length + 1), value])));
  }

  /** Whether this version was read. */
  has(origin: string, stats: Stats): boolean {
    return this.isLast(origin, versionOf(stats));
  }

  /** Whether this is the version that was stored last. */
  isLast(origin: string, version: string): boolean {
    return this.#values.get(origin)?.startsWith(`${version} `) ?? false;
  }

  /** Whether any version was read. */
  knows(origin: string): boolean {
    return this.#values.has(origin);
  }

  /** Whether a version of the file held market data, or meant to: when one no longer does, somebody should know. */
  hasHeld(origin: string): boolean {
    return ![undefined, 'none'].includes(this.#outcome(origin));
  }

  /** Why nothing could be taken of the version that was read last; undefined where something was. */
  refusal(origin: string): string | undefined {
    const outcome = this.#outcome(origin);
    return outcome?.startsWith(REFUSED) ? outcome.slice(REFUSED.length) : undefined;
  }

  /** That this version was read, to be delivered after what it holds. */
  read(origin: string, stats: Stats, outcome: Outcome): Mark {
    const known = outcome === 'none' && this.hasHeld(origin) ? 'data' : outcome;
    const told = typeof known === 'string' ? known : `${REFUSED}${known.refused}`;
    return this.#mark(origin, `${versionOf(stats)} ${told}`);
  }

  forget(origin: string): Mark {
    return this.#mark(origin, null);
  }

  /** Forgets the files that are none of these, and what was refused of them. */
  gone(present: ReadonlySet<string>): Delivery[] {
    return [...this.#values.keys()]
      .filter((origin) => !present.has(origin))
      .flatMap((origin) => [this.forget(origin), { kind: 'settled', origin }]);
  }

  /** What follows the version, which is three words. */
  #outcome(origin: string): string | undefined {
    return this.#values.get(origin)?.split(' ').slice(3).join(' ');
  }

  #mark(origin: string, value: string | null): Mark {
    return { kind: 'mark', key: `${this.#folder} ${origin}`, value };
  }
}

const FOLDER_DIGITS = 16;
const REFUSED = 'refused ';

/** What changes when a file does. */
export function versionOf(stats: Stats): string {
  return `${READER} ${stats.size} ${stats.mtimeMs}`;
}
