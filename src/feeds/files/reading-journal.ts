import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** One crash may be chance: other work of the process, or a person, may have ended it. */
export const CRASHES_MAX = 2;

interface Entry {
  readonly origin: string;
  readonly version: string;
}

interface Journal {
  /** The file that was being read when the journal was written, and the process that read it. */
  readonly reading: (Entry & { readonly pid: number }) | null;
  /** Files during whose reading the process ended. */
  readonly crashed: readonly (Entry & { readonly times: number })[];
}

/**
 * Records which file is being read, before it is parsed. If the process ends repeatedly while it reads the same file, the next start knows
 * that file. The journal must survive the process but not the machine, so it is written and never synced. Without a path, nothing is
 * written.
 */
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

  /** How often the process has ended while it read this version of a file, since the last successful read. */
  crashCount(origin: string, version: string): number {
    const known = this.#crashed.get(origin);
    return known?.version === version ? known.times : 0;
  }

  begin(origin: string, version: string): void {
    this.#isReading = true;
    this.#write({ origin, version });
  }

  /** Counts a crash of a separate process that read a version of a file. */
  recordCrash(origin: string, version: string): void {
    this.#crashed.set(origin, { origin, version, times: this.crashCount(origin, version) + 1 });
  }

  /** The file was read, or the service stopped the reading. */
  end(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#write(null);
  }

  /** The outcome of the file is stored, whatever it is, so its crashes no longer matter. */
  forget(origin: string): void {
    this.#crashed.delete(origin);
  }

  #write(reading: Entry | null): void {
    if (this.path === undefined) return;
    const journal: Journal = {
      reading: reading && { ...reading, pid: process.pid },
      crashed: [...this.#crashed.values()],
    };
    try {
      if (reading === null && this.#crashed.size === 0) rmSync(this.path, { force: true });
      else writeFileSync(this.path, JSON.stringify(journal), { mode: 0o600 });
    } catch {
      // The disk may be full. Files are read all the same.
    }
  }
}

/** Whether another process with this id is running. A service that takes over from one that is still ending finds such an id. */
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
