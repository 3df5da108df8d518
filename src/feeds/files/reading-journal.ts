import type { JournalStorage } from './journal-storage.ts';

/** Number of early ends of its reading process after which a file is no longer read. Other work may have caused a single one. */
export const CRASHES_MAX = 2;

type Entry = Readonly<{ origin: string; version: string }>;

interface Journal {
  /** The file that was being read when the journal was written, with the process that read it. Null if no file was being read. */
  readonly reading: (Entry & { readonly writer: string }) | null;
  /** The files whose reading ended in a crash, each with its number of crashes. */
  readonly crashed: readonly (Entry & { readonly times: number })[];
}

/** Records which file is being read, so that the next process knows a file that ended the process before it. */
export class ReadingJournal {
  #crashed = new Map<string, Journal['crashed'][number]>();
  #isReading = false;

  constructor(private readonly storage: JournalStorage | undefined) {
    const { reading, crashed } = parse(storage?.read());
    for (const each of crashed) this.#crashed.set(each.origin, each);
    if (!storage || reading === null || storage.mayRun(reading.writer)) return;
    const { origin, version } = reading;
    this.recordCrash(origin, version);
    void this.#write(null);
  }

  /** Whether a file is known by its content. Otherwise, size and modification time tell its version. */
  get isByContent(): boolean {
    return this.storage?.isByContent ?? false;
  }

  /** Returns the number of crashes on this version of a file since its last successful read. */
  crashCount(origin: string, version: string): number {
    const known = this.#crashed.get(origin);
    return known?.version === version ? known.times : 0;
  }

  /** Records that a file is being read from now on. Resolves when the record is stored. */
  async begin(origin: string, version: string): Promise<void> {
    this.#isReading = true;
    await this.#write({ origin, version });
  }

  recordCrash(origin: string, version: string): void {
    this.#crashed.set(origin, { origin, version, times: this.crashCount(origin, version) + 1 });
  }

  /** Records that no file is being read: the reading has ended or was stopped. */
  end(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    void this.#write(null);
  }

  /** Removes the recorded crashes of a file after a reading without a crash. */
  forget(origin: string): void {
    this.#crashed.delete(origin);
  }

  async #write(reading: Entry | null): Promise<void> {
    if (this.storage === undefined) return;
    const { writer } = this.storage;
    const crashed = [...this.#crashed.values()];
    const journal: Journal = { reading: reading && { ...reading, writer }, crashed };
    const isEmpty = reading === null && crashed.length === 0;
    await Promise.try(() => this.storage!.write(isEmpty ? null : JSON.stringify(journal))).catch(() => {});
  }
}

const EMPTY: Journal = { reading: null, crashed: [] };

function parse(text: string | undefined): Journal {
  try {
    return text === undefined ? EMPTY : { ...EMPTY, ...(JSON.parse(text) as Partial<Journal>) };
  } catch {
    return EMPTY;
  }
}
