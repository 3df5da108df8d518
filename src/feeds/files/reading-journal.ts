import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Once may be chance: a process is also ended by what else it does, and by people. */
export const CRASHES_MAX = 2;

interface Entry {
  readonly origin: string;
  readonly version: string;
}

interface Journal {
  /** What was being read when this was written, and by which process. */
  readonly reading: (Entry & { readonly pid: number }) | null;
  /** Files in whose reading the process ended. */
  readonly crashed: readonly (Entry & { readonly times: number })[];
}

/**
 * Which file is being read, written down before it is parsed, so that one in whose reading the process ends again and again is known at
 * the next start. It has to outlive the process and not the machine: the file is written and never synced. Without a path nothing is
 * written.
 */
export class ReadingJournal {
  #crashed = new Map<string, Journal['crashed'][number]>();
  #isReading = false;

  constructor(private readonly path: string | undefined) {
    const { reading, crashed } = read(path);
    for (const each of crashed) this.#crashed.set(each.origin, each);
    if (reading === null || isOther(reading.pid)) return;
    const { origin, version } = reading;
    this.crashed(origin, version);
    this.#write(null);
  }

  /** How often the process has ended while this version of a file was read, each time after the last that went well. */
  crashes(origin: string, version: string): number {
    const known = this.#crashed.get(origin);
    return known?.version === version ? known.times : 0;
  }

  begins(origin: string, version: string): void {
    this.#isReading = true;
    this.#write({ origin, version });
  }

  /** The process that read a version of a file has ended, and this one has not. */
  crashed(origin: string, version: string): void {
    this.#crashed.set(origin, { origin, version, times: this.crashes(origin, version) + 1 });
  }

  /** The file was read, or is given up as the service wishes. */
  ended(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#write(null);
  }

  /** What it was read to, be it nothing, is stored: its crashes say nothing any more. */
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
      // A full disk: files are read all the same.
    }
  }
}

/** Whether another process runs under this number: one that takes over from a service that is still about to end. */
function isOther(pid: number): boolean {
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
