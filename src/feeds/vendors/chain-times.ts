import { lastQuoted, newYorkDate } from '../../market/calendar.ts';
import { unreadable } from '../rejections.ts';

/** The largest share of repeated contracts in the rows of one chain. */
const REPEATED_SHARE_MAX = 0.1;
/** The least mean number of rows of a chain in a table of several chains. */
const ROWS_OF_CHAIN_MIN = 5;

/** Finds the time of the chain to which each row of a table belongs. */
export class ChainTimes {
  #instantOf: (text: string) => number | undefined = () => undefined;
  /** The time that all rows share, ISO 8601. */
  #shared: string | undefined;
  readonly #newestOfDay = new Map<string, number>();
  readonly #contracts = new Set<string>();
  /** Number of rows whose contract has an earlier row. */
  #repeats = 0;

  /** `texts` are the times of the rows as the table writes them. They may grow until the times are decided. */
  constructor(private readonly texts: ReadonlySet<string>) {}

  /** Notes the contract of a row, so that `decideNewest` can tell several chains from one. */
  noteContract(contract: string): void {
    if (this.#contracts.has(contract)) this.#repeats++;
    else this.#contracts.add(contract);
  }

  /** Each row belongs to the chain of its own time, microseconds since the epoch. */
  decideEach(instantOf: (text: string) => number | undefined): void {
    this.#instantOf = instantOf;
  }

  /** All rows have one time, ms since the epoch. */
  decideShared(ms: number): void {
    this.#shared = new Date(ms).toISOString();
  }

  /**
   * The newest time of all rows counts, or of the rows of each New York day. After the close, quotes do not change. Rows that are several
   * chains keep their times. Throws a `ClientError` if contracts repeat, but their times are not those of chains.
   */
  decideNewest(of: 'newest' | 'day'): void {
    if (this.#areChains()) return;
    let newest = Number.NEGATIVE_INFINITY;
    for (const text of this.texts) {
      const ms = (this.#instantOf(text) ?? Number.NaN) / 1_000;
      if (Number.isNaN(ms)) continue;
      newest = Math.max(newest, ms);
      const day = newYorkDate(ms);
      this.#newestOfDay.set(day, Math.max(ms, this.#newestOfDay.get(day) ?? ms));
    }
    for (const [day, ms] of this.#newestOfDay) this.#newestOfDay.set(day, Math.floor(lastQuoted(ms)));
    if (of === 'day') return;
    this.#newestOfDay.clear();
    if (newest > 0) this.decideShared(lastQuoted(newest));
  }

  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  /** Returns the time of the chain of a row with this text, ISO 8601, or `undefined` if the text is not a time. */
  isoOf(text: string): string | undefined {
    if (this.#shared !== undefined) return this.#shared;
    const micros = this.#microsOf(text);
    return micros === undefined ? undefined : new Date(micros / 1_000).toISOString();
  }

  /** Works like `isoOf`, in ms since the epoch, NaN if the text is not a time. */
  msOf(text: string): number {
    if (this.#shared !== undefined) return Date.parse(this.#shared);
    return Math.floor((this.#microsOf(text) ?? Number.NaN) / 1_000);
  }

  #microsOf(text: string): number | undefined {
    const micros = this.#instantOf(text);
    const ofDay = micros === undefined ? undefined : this.#newestOfDay.get(newYorkDate(micros / 1_000));
    return ofDay === undefined ? micros : 1_000 * ofDay;
  }

  /** Returns whether the rows are several chains, each with a time of its own. Few repeated contracts are repeated rows of one chain. */
  #areChains(): boolean {
    if (this.#repeats <= REPEATED_SHARE_MAX * this.#contracts.size) return false;
    if (this.texts.size * ROWS_OF_CHAIN_MIN <= this.#repeats + this.#contracts.size) return true;
    throw unreadable(
      `${this.#repeats} rows have the contract of another row, and each row has a time of its own. Keep the rows of one moment, or state as_of = "day" in a mapping`,
    );
  }
}
