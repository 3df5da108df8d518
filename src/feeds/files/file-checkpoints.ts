import type { Stats } from 'node:fs';
import type { Delivery } from '../../market/feed.ts';

/** Incremented when the formats change such that files must be read again: a file that was rejected may now be readable. */
const READER = 1;

/** The result of reading a file: market data, no market data, or rejected with the reason. */
export type Outcome = 'data' | 'none' | { readonly rejection: string };

type Checkpoint = Extract<Delivery, { kind: 'checkpoint' }>;

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
  static of(root: string, checkpoints: ReadonlyMap<string, string>): FileCheckpoints {
    const folder = new Bun.CryptoHasher('sha256').update(root).digest('hex').slice(0, FOLDER_DIGITS);
    const prefix = `${folder} `;
    const ofFolder = [...checkpoints].filter(([key]) => key.startsWith(prefix));
    return new FileCheckpoints(folder, new Map(ofFolder.map(([key, value]) => [key.slice(prefix.length), value])));
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
  isKnown(origin: string): boolean {
    return this.#values.has(origin);
  }

  /** Whether a version of the file had market data, or was rejected as market data. If a later version has none, this is reported. */
  hadData(origin: string): boolean {
    return ![undefined, 'none'].includes(this.#outcome(origin));
  }

  /** Why the version that was read last was rejected. Returns `undefined` if it was not rejected. */
  rejection(origin: string): string | undefined {
    const outcome = this.#outcome(origin);
    return outcome?.startsWith(REJECTED) ? outcome.slice(REJECTED.length) : undefined;
  }

  /** The checkpoint that this version was read. Deliver it after the contents of the file. */
  checkpointFor(origin: string, stats: Stats, outcome: Outcome): Checkpoint {
    const lasting = outcome === 'none' && this.hadData(origin) ? 'data' : outcome;
    const text = typeof lasting === 'string' ? lasting : `${REJECTED}${lasting.rejection}`;
    return this.#checkpoint(origin, `${versionOf(stats)} ${text}`);
  }

  /** The checkpoint that removes the stored one of a file. */
  removalFor(origin: string): Checkpoint {
    return this.#checkpoint(origin, null);
  }

  /** Deliveries that remove the checkpoints and the rejections of files that are no longer present. */
  removalsOfMissing(present: ReadonlySet<string>): Delivery[] {
    return [...this.#values.keys()]
      .filter((origin) => !present.has(origin))
      .flatMap((origin) => [this.removalFor(origin), { kind: 'resolved', origin }]);
  }

  /** The outcome, which follows the three words of the version. */
  #outcome(origin: string): string | undefined {
    return this.#values.get(origin)?.split(' ').slice(3).join(' ');
  }

  #checkpoint(origin: string, value: string | null): Checkpoint {
    return { kind: 'checkpoint', key: `${this.#folder} ${origin}`, value };
  }
}

const FOLDER_DIGITS = 16;
/** Begins the stored outcome of a rejected file. The reason follows. Databases have this text, so it never changes. */
const REJECTED = 'refused ';

/** A text that changes whenever the file changes. */
export function versionOf(stats: Stats): string {
  return `${READER} ${stats.size} ${stats.mtimeMs}`;
}
