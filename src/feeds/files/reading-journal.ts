import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Number of early ends of its reading process after which a file is no longer read. Other work may have caused a single one. */
export const CRASHES_MAX = 2;

type Entry = Readonly<{ origin: string; version: string }>;

interface Journal {
  /** The file that was being read when the journal was written, with the process that read it. Null if no file was being read. */
  readonly reading: (Entry & { readonly pid: number }) | null;
  /** The files whose reading ended in a crash, each with its number of crashes. */
  readonly crashed: readonly (Entry & { readonly times: number })[];
}

/** Records which file is being read, so that the next start knows a file that ended the process. It is not synced to the disk. */
export class ReadingJournal {
  #crashed = new Map<string, Journal['crashed'][number]>();
  #isReading = false;

  constructor(private readonly path: string | undefined) {
    const { reading, crashed } = read(path);
    for (const each of crashed) this.#crashed.set(each.origin, each);
    if (reading === null || isOtherProcess(reading.pid)) return;
    const { origin, version } = reading;
    this.recordCrash(origin, version);
    this.#write(null);
  }

  /** Returns the number of crashes on this version of a file since its last successful read. */
  crashCount(origin: string, version: string): number {
    const known = this.#crashed.get(origin);
    return known?.version === version ? known.times : 0;
  }

  /** Records that a file is being read from now on. */
  begin(origin: string, version: string): void {
    this.#isReading = true;
    this.#write({ origin, version });
  }

  recordCrash(origin: string, version: string): void {
    this.#crashed.set(origin, { origin, version, times: this.crashCount(origin, version) + 1 });
  }

  /** Records that no file is being read: the reading has ended or was stopped. */
  end(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#write(null);
  }

  /** Removes the recorded crashes of a file after a reading without a crash. */
  forget(origin: string): void {
    this.#crashed.delete(origin);
  }

  #write(reading: Entry | null): void {
    if (this.path === undefined) return;
    const crashed = [...this.#crashed.values()];
    const journal: Journal = { reading: reading && { ...reading, pid: process.pid }, crashed };
    try {
      if (reading === null && this.#crashed.size === 0) rmSync(this.path, { force: true });
      else writeFileSync(this.path, JSON.stringify(journal), { mode: 0o600 });
    } catch {
      // The disk may be full. The service can read files without the journal.
    }
  }
}

/** Returns whether another process with this id is running. The other process may be a previous service that has not ended yet. */
function isOtherProcess(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch {
    return false;
  }
}

const EMPTY: Journal = { reading: null, crashed: [] };

function read(path: string | undefined): Journal {
  try {
    return path === undefined ? EMPTY : { ...EMPTY, ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<Journal>) };
  } catch {
    return EMPTY;
  }
}
