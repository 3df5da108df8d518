import { readFileSync } from 'node:fs';

/** Unit of /proc/stat: USER_HZ is 100 on every system. */
const TICK_MS = 10;
const SAMPLE_MS = 10;

/**
 * For how long the hypervisor has kept each processor of this virtual machine from running, ms since its start. Such a standstill delays
 * every process, whatever the service does. Returns an empty list if the system has no /proc.
 */
export function stolenMs(): number[] {
  try {
    const lines = readFileSync('/proc/stat', 'utf8').split('\n');
    return lines.flatMap((line) => (/^cpu\d/.test(line) ? [TICK_MS * Number(line.split(/ +/)[8] ?? 0)] : []));
  } catch {
    return [];
  }
}

/** Records stolen time while it runs, so that the time of a slow answer can be distinguished from that of a machine that stood still. */
export class StolenTime {
  readonly #samples: { readonly at: number; readonly stolen: readonly number[] }[] = [];
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS);

  constructor() {
    this.#sample();
  }

  /** The longest time that one processor was stolen between two moments of `performance.now()`, ms. */
  between(from: number, to: number): number {
    this.#sample();
    const before = this.#samples.findLast(({ at }) => at <= from) ?? this.#samples[0]!;
    const after = this.#samples.find(({ at }) => at >= to) ?? this.#samples.at(-1)!;
    return Math.max(0, ...after.stolen.map((ms, cpu) => ms - before.stolen[cpu]!));
  }

  /** The longest time that one processor was stolen since the start, ms. */
  total(): number {
    return this.between(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    this.#samples.push({ at: performance.now(), stolen: stolenMs() });
  }
}
