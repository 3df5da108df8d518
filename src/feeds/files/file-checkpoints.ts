import type { Stats } from 'node:fs';
import type { Delivery } from '../../market/feed.ts';

/** The version of the code that reads files. A higher version makes the service read all files again after a change of the formats. */
const READER = 2;

/** The outcome of reading a file: market data, no market data, or a rejection with its reason. */
export type Outcome = 'data' | 'none' | { readonly rejection: string };

type Checkpoint = Extract<Delivery, { kind: 'checkpoint' }>;

/** The read files of a folder, whose path is in the key of a checkpoint by its digest. The value has the version and the outcome. */
export class FileCheckpoints {
  readonly #folder: string;
  readonly #values: ReadonlyMap<string, string>;

  readonly #reader: string;

  private constructor(folder: string, values: ReadonlyMap<string, string>, mapping: string) {
    this.#folder = folder;
    this.#values = values;
    this.#reader = mapping === '' ? String(READER) : `${READER}-${digestOf(mapping).slice(0, MAPPING_DIGITS)}`;
  }

  /**
   * Selects the checkpoints of the folder `root`, a path without links, because links may later lead to another folder. `mapping` is the text of
   * the folder's mapping, with which its files are read.
   */
  static of(root: string, checkpoints: ReadonlyMap<string, string>, mapping = ''): FileCheckpoints {
    const folder = digestOf(root).slice(0, FOLDER_DIGITS);
    const prefix = `${folder} `;
    const ofFolder = [...checkpoints].filter(([key]) => key.startsWith(prefix));
    return new FileCheckpoints(
      folder,
      new Map(ofFolder.map(([key, value]) => [key.slice(prefix.length), value])),
      mapping,
    );
  }

  /** Returns the version of a file: a text of three words that changes if the file, the reader or the mapping changes. */
  versionOf(stats: Stats): string {
    return `${this.#reader} ${versionOf(stats)}`;
  }

  /** Returns the origins of the files that have been read. */
  origins(): Iterable<string> {
    return this.#values.keys();
  }

  /** Returns whether the file is unchanged since it was last read. */
  has(origin: string, stats: Stats): boolean {
    return this.isLast(origin, this.versionOf(stats));
  }

  /** Returns whether `version` is the version of the file that was read last. */
  isLast(origin: string, version: string): boolean {
    return this.#values.get(origin)?.startsWith(`${version} `) ?? false;
  }

  /** Returns whether any version of the file has been read. */
  isKnown(origin: string): boolean {
    return this.#values.has(origin);
  }

  /** Returns whether an earlier version of the file had market data, or was rejected. */
  hadData(origin: string): boolean {
    return ![undefined, 'none'].includes(this.#outcome(origin));
  }

  /** Returns why the last reading rejected the file, or `undefined` if the file was not rejected. */
  rejection(origin: string): string | undefined {
    const outcome = this.#outcome(origin);
    return outcome?.startsWith(REJECTED) ? outcome.slice(REJECTED.length) : undefined;
  }

  /** Returns the checkpoint for a file that was read. The checkpoint must be delivered after the contents of the file. */
  checkpointFor(origin: string, stats: Stats, outcome: Outcome): Checkpoint {
    const lasting = outcome === 'none' && this.hadData(origin) ? 'data' : outcome;
    const text = typeof lasting === 'string' ? lasting : `${REJECTED}${lasting.rejection}`;
    return this.#checkpoint(origin, `${this.versionOf(stats)} ${text}`);
  }

  /** Returns the delivery that removes the stored checkpoint of a file. */
  removalFor(origin: string): Checkpoint {
    return this.#checkpoint(origin, null);
  }

  /** Returns the deliveries that remove checkpoints and rejections of missing files. */
  removalsOfMissing(present: ReadonlySet<string>): Delivery[] {
    return [...this.#values.keys()]
      .filter((origin) => !present.has(origin))
      .flatMap((origin) => [this.removalFor(origin), { kind: 'resolved', origin }]);
  }

  /** Returns the stored outcome of a file. The stored text consists of the three words of the version and then the outcome. */
  #outcome(origin: string): string | undefined {
    return this.#values.get(origin)?.split(' ').slice(3).join(' ');
  }

  #checkpoint(origin: string, value: string | null): Checkpoint {
    return { kind: 'checkpoint', key: `${this.#folder} ${origin}`, value };
  }
}

const FOLDER_DIGITS = 16;
const MAPPING_DIGITS = 8;
/** The text before the reason in the stored outcome of a rejected file. Existing databases contain this text, so it must never change. */
const REJECTED = 'refused ';

/** Returns a text of two words that changes if a file changes. */
export function versionOf(stats: Stats): string {
  return `${stats.size} ${stats.mtimeMs}`;
}

function digestOf(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}
