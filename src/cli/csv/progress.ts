import { formatCount } from '../text-format.ts';

/** Minimum duration of a run before its progress is shown, ms. */
const FIRST_MS = 1000;
/** The minimum time between two updates, ms. */
const EVERY_MS = 200;
const BAR_WIDTH = 20;

/** Shows the progress of a long run as one terminal line. */
export class ProgressBar {
  readonly #startedMs: number;
  #nextMs: number;
  #shown = false;

  /** `bytes` is the size of the whole input. If `bytes` is unknown, the line has no bar. `nowMs` is any monotonic clock. */
  constructor(
    private readonly write: (text: string) => void,
    private readonly bytes: number | undefined,
    private readonly nowMs: () => number,
  ) {
    this.#startedMs = nowMs();
    this.#nextMs = this.#startedMs + FIRST_MS;
  }

  /** Updates the line. `bytes` and `rows` are the numbers of bytes and rows read so far. */
  update(bytes: number, rows: number): void {
    const now = this.nowMs();
    if (now < this.#nextMs) return;
    this.#nextMs = now + EVERY_MS;
    this.#shown = true;
    const rate = Math.round((rows / (now - this.#startedMs)) * 1000);
    const megabytes = (bytes / 1e6).toFixed(1);
    this.write(`\r\x1b[K${this.#bar(bytes)}${megabytes} MB, ${formatCount(rows)} rows, ${formatCount(rate)} rows/s`);
  }

  #bar(bytes: number): string {
    if (!this.bytes) return '';
    const share = Math.min(1, bytes / this.bytes);
    const full = '='.repeat(Math.floor(BAR_WIDTH * share));
    return `[${full.padEnd(BAR_WIDTH)}] ${String(Math.floor(100 * share)).padStart(3)} %  `;
  }

  /** Removes the line from the terminal. */
  end(): void {
    if (this.#shown) this.write('\r\x1b[K');
  }
}
