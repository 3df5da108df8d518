import type { Stats } from 'node:fs';
import type { Delivery } from '../../market/feed.ts';

/** Incremented when the formats change such that files must be read again: a file that was rejected may now be readable. */
const READER = 1;

/** The result of reading a file: market data, no market data, or rejected with the reason. */
export type Outcome = 'data' | 'none' | { readonly refused: string };

type Mark = Extract<Delivery, { kind: 'mark' }>;

/**
 * The versions of one folder's files that have been read, stored as checkpoints of the feed. The key of a checkpoint is the folder and the
 * file's path in the folder. The value is the file's size, its modification time and the outcome of reading it.
 */
export class FileCheckpoints {
  readonly #folder: string;
  readonly #values: ReadonlyMap<string, string>;

  private constructor(folder: string, values: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.#values = values;
  }

  /**
   * The checkpoints of one folder among all checkpoints of the feed. Folders are identified by their path without links, because a path may
   * be another folder tomorrow, and one folder may have two paths.
   */
  static of(root: string, remembered: ReadonlyMap<string, string>): FileCheckpoints {
    const folder = new Bun.CryptoHasher('sha256').update(root).digest('hex').slice(0, FOLDER_DIGITS);
    const own = [...remembered].filter(([key]) => key.startsWith(`${folder} `));
    return new FileCheckpoints(folder, new Map(own.map(([key, value]) => [key.slice(folder.length + 1), value])));
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

  /** Whether a version of the file had market data, or was rejected as market data. If a later version has none, this is reported. */
  hasHeld(origin: string): boolean {
    return ![undefined, 'none'].includes(this.#outcome(origin));
  }

  /** Why the version that was read last was rejected. Returns `undefined` if it was not rejected. */
  refusal(origin: string): string | undefined {
    const outcome = this.#outcome(origin);
    return outcome?.startsWith(REFUSED) ? outcome.slice(REFUSED.length) : undefined;
  }

  /** The checkpoint that this version was read. Deliver it after the contents of the file. */
  read(origin: string, stats: Stats, outcome: Outcome): Mark {
    const known = outcome === 'none' && this.hasHeld(origin) ? 'data' : outcome;
    const told = typeof known === 'string' ? known : `${REFUSED}${known.refused}`;
    return this.#mark(origin, `${versionOf(stats)} ${told}`);
  }

  forget(origin: string): Mark {
    return this.#mark(origin, null);
  }

  /** Drops the checkpoints of files that are no longer present, and the recorded rejections of those files. */
  gone(present: ReadonlySet<string>): Delivery[] {
    return [...this.#values.keys()]
      .filter((origin) => !present.has(origin))
      .flatMap((origin) => [this.forget(origin), { kind: 'settled', origin }]);
  }

  /** The outcome, which follows the three words of the version. */
  #outcome(origin: string): string | undefined {
    return this.#values.get(origin)?.split(' ').slice(3).join(' ');
  }

  #mark(origin: string, value: string | null): Mark {
    return { kind: 'mark', key: `${this.#folder} ${origin}`, value };
  }
}

const FOLDER_DIGITS = 16;
const REFUSED = 'refused ';

/** A text that changes whenever the file changes. */
export function versionOf(stats: Stats): string {
  return `${READER} ${stats.size} ${stats.mtimeMs}`;
}
