import { lastQuoted, newYorkDate } from '../../market/calendar.ts';
import { unreadable } from '../rejections.ts';
import { epochMicros, FORM_TEXTS_MAX } from './date-forms.ts';

/** The largest share of repeated contracts in the rows of one chain. */
const REPEATED_SHARE_MAX = 0.1;
/** The least mean number of rows of a chain in a table of several chains. */
const ROWS_OF_CHAIN_MIN = 5;

/** The times of a ticker's rows. */
interface TickerTimes {
  /** The newest text of each hour. A large chain has tens of thousands of times, and a table of years has millions. */
  readonly newestOfHour: Map<string, string>;
  readonly texts: Set<string>;
  /** Number of rows from which `texts` was taken. */
  rows: number;
  readonly contracts: Set<string>;
  /** Number of rows whose contract has an earlier row. */
  repeats: number;
}

/**
 * The times of chains whose rows have times of their own: of each ticker the newest, or the newest of each New York day. A neighbour in the table
 * never dates a chain. All rows must be added before `decide`.
 */
export class NewestTimes {
  readonly #tickers = new Map<string, TickerTimes>();
  /** By ticker, or by ticker and New York date: the time of its chain, ms since the epoch. */
  readonly #newest = new Map<string, number>();

  constructor(private readonly of: 'newest' | 'day') {}

  /** Adds a row. `contract` names its contract, which only the form `newest` needs. */
  add(ticker: string, text: string, contract: string | undefined): void {
    const times = this.#tickers.getOrInsertComputed(ticker, () => ({
      ...{ newestOfHour: new Map(), texts: new Set<string>(), rows: 0, contracts: new Set<string>(), repeats: 0 },
    }));
    if (text !== '') {
      const hour = hourOf(text);
      const newest = times.newestOfHour.get(hour);
      if (newest === undefined || text > newest) times.newestOfHour.set(hour, text);
    }
    if (contract === undefined) return;
    if (times.texts.size < FORM_TEXTS_MAX) {
      times.texts.add(text);
      times.rows++;
    }
    if (times.contracts.has(contract)) times.repeats++;
    else times.contracts.add(contract);
  }

  /**
   * Finds the newest times. A ticker whose contracts repeat has several chains, each with a time of its own. Few repeated contracts are repeated
   * rows of one chain. Throws a `ClientError` if many contracts repeat, but their times are not those of chains.
   */
  decide(instantOf: (text: string) => number | undefined): void {
    let [repeats, contracts] = [0, 0];
    for (const [ticker, times] of this.#tickers) {
      contracts += times.contracts.size;
      const isRepeated = times.repeats > REPEATED_SHARE_MAX * times.contracts.size;
      if (isRepeated && times.texts.size * ROWS_OF_CHAIN_MIN <= times.rows) continue;
      if (isRepeated) repeats += times.repeats;
      for (const text of times.newestOfHour.values()) this.#note(ticker, (instantOf(text) ?? Number.NaN) / 1_000);
    }
    if (repeats > REPEATED_SHARE_MAX * contracts)
      throw unreadable(
        `${repeats} rows have the contract of another row, and each row has a time of its own. Keep the rows of one moment, or state as_of = "day" in a mapping`,
      );
    // After the close, quotes do not change.
    for (const [key, ms] of this.#newest) this.#newest.set(key, Math.floor(lastQuoted(ms)));
    this.#tickers.clear();
  }

  #note(ticker: string, ms: number): void {
    if (Number.isNaN(ms)) return;
    const key = this.#keyOf(ticker, ms);
    this.#newest.set(key, Math.max(ms, this.#newest.get(key) ?? ms));
  }

  #keyOf(ticker: string, ms: number): string {
    return this.of === 'day' ? `${ticker} ${newYorkDate(ms)}` : ticker;
  }

  /** Returns the time of the chain of a row, microseconds since the epoch. `own` reads the time of the row, which takes time. */
  chainMicros(ticker: string, own: () => number | undefined): number | undefined {
    const ofTicker = this.of === 'newest' ? this.#newest.get(ticker) : undefined;
    if (ofTicker !== undefined) return 1_000 * ofTicker;
    const micros = own();
    const ofDay = micros === undefined ? undefined : this.#newest.get(this.#keyOf(ticker, micros / 1_000));
    return ofDay === undefined ? micros : 1_000 * ofDay;
  }

  /** Returns a text that all rows of a chain may share, if days decide: the hour of a row. Otherwise returns the text. */
  sharedText(text: string): string {
    return this.of === 'day' ? hourOf(text) : text;
  }
}

/** Returns the start of a time's hour, in the form of the time. Within an hour, the newest time is the last in the order of texts. */
function hourOf(text: string): string {
  const from = text.indexOf(':');
  if (from < 0 && /^\d{9,19}(?:\.\d+)?$/.test(text))
    return String(Math.floor(epochMicros(text) / HOUR_MICROS) * HOUR_MICROS);
  if (from < 0) return text;
  let to = from;
  while (isOfTime(text.charCodeAt(to))) to++;
  return `${text.slice(0, from)}:00${text.slice(to)}`;
}

/** Returns whether a character is a digit, `:`, `.` or `,`. */
function isOfTime(code: number): boolean {
  return (code >= 0x30 && code <= 0x3a) || code === 0x2e || code === 0x2c;
}

const HOUR_MICROS = 3_600e6;
