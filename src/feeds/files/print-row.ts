import { memoizeBytes, textIn } from '../../core/memoize-bytes.ts';
import { recordOf } from '../../core/record-of.ts';
import { DAY_MS, isDate } from '../../market/calendar.ts';
import { BATCH_FLAG, type PrintBatch } from '../../market/print-batch.ts';
import type { Print } from '../../market/prints.ts';
import { FLAG } from '../../market/tape-columns.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { numberOf } from '../numbers.ts';
import { AFTER_EXPIRY_MS_MAX, type Execution, executionOf, PRICE_MAX, SIZE_MAX } from '../print-execution.ts';
import { unreadable } from '../rejections.ts';
import { epochMicros as microsOfNumber, minuteStartIn } from '../vendors/date-forms.ts';
import type { Stated } from '../vendors/stated.ts';
import { contractReader, type NoContract, type PrintedContract } from './print-contract.ts';
import { PrintIdentity, writeWhole } from './print-identity.ts';

/** Adds the print of a row to a batch, or returns the reason why the row is rejected. `nowMs` is the wall clock, ms since the epoch. */
export type RowReader = (row: RowScanner, batch: PrintBatch, nowMs: number) => RejectReason | undefined;

/**
 * Returns a function that reads the rows of one tape, once each in their order, because the ids of equal rows depend on it. The function
 * rejects a trade more than a day ahead of the wall clock, because the last trade determines the end of a flow window. `zone` is the zone of
 * times without a zone. Without it, the function returns NO_ZONE for such a time.
 */
export function rowReader(columns: Columns, zone: string | undefined): RowReader {
  const { option_chain_id, underlying_symbol, expiry, option_type, strike } = columns;
  const contractOf = contractReader([option_chain_id, underlying_symbol, expiry, option_type, strike]);
  const flagsOfReport = memoizeBytes(WORDS_MAX, (flags) => bitsOf(executionOf(flags, '')));
  const flagsOfCondition = memoizeBytes(WORDS_MAX, (condition) => bitsOf(executionOf('', condition)));
  const isTrue = memoizeBytes(WORDS_MAX, (text) => TRUE.test(text));
  const sideOfWord = memoizeBytes(WORDS_MAX, (word) => sideBits(sideOf(word, '')));
  const trade = new TradeText();
  const identity = new PrintIdentity();
  const executedMicros = timeReader(zone);

  return (row, batch, nowMs) => {
    const { bytes } = row;
    const time = columns.executed_at;
    const micros = executedMicros(bytes, row.start(time), row.end(time));
    if (Number.isNaN(micros)) return 'bad_time';
    if (micros === Number.POSITIVE_INFINITY) return NO_ZONE;
    const ms = Math.floor(micros / 1000);
    if (ms < AT_MIN || ms > nowMs + AHEAD_MS_MAX) return 'implausible_time';

    const contract = contractOf(row);
    if (typeof contract === 'string') return contract;
    if (ms - contract.expiryMs > AFTER_EXPIRY_MS_MAX) return 'expired';

    const price = numberOf(row, columns.price);
    if (!(price > 0 && price <= PRICE_MAX)) return 'bad_price';
    const size = numberOf(row, columns.size);
    if (!(Number.isInteger(size) && size > 0 && size <= SIZE_MAX)) return 'bad_size';

    const flagsIn = (column: number, memo: (bytes: Uint8Array, from: number, to: number) => number) =>
      column < 0 ? 0 : memo(bytes, row.start(column), row.end(column));
    let flags =
      flagsIn(columns.report_flags, flagsOfReport) | flagsIn(columns.upstream_condition_detail, flagsOfCondition);
    if (columns.canceled >= 0 && isTrue(bytes, row.start(columns.canceled), row.end(columns.canceled)))
      flags |= BATCH_FLAG.canceled;
    const { side } = columns;
    flags |=
      row.start(side) < row.end(side)
        ? sideOfWord(bytes, row.start(side), row.end(side))
        : columns.tags < 0
          ? 0
          : sideBits(sideOf('', row.text(columns.tags)));

    // A tape has many rows of a contract in a batch, and a property is faster than a look-up.
    if (contract.batch !== batch) {
      contract.batch = batch;
      contract.number = batch.addContract(contract);
    }
    const { number } = contract;
    let added: number;
    const given =
      row.text(columns.id) || idOfDay(ms, contract, row.text(columns.trade_id) || row.text(columns.sequence));
    if (given !== '') {
      if (given.length > ID_LENGTH_MAX) return 'bad_id';
      const id = Buffer.from(given);
      added = batch.addRow(number, id, 0, id.length);
    } else {
      const text = trade.of(row, columns, micros, contract, price, size);
      const length = identity.of(ms, text, (flags & BATCH_FLAG.canceled) !== 0);
      added = batch.addRow(number, identity.id, 0, length);
    }
    const bid = numberOf(row, columns.nbbo_bid);
    const ask = numberOf(row, columns.nbbo_ask);
    const isQuote = bid >= 0 && ask >= 0 && bid + ask < Number.POSITIVE_INFINITY;
    const delta = numberOf(row, columns.delta);
    batch.at[added] = ms;
    batch.price[added] = price;
    batch.size[added] = size;
    batch.multiplier[added] = 100;
    batch.bid[added] = isQuote ? bid : Number.NaN;
    batch.ask[added] = isQuote ? ask : Number.NaN;
    batch.delta[added] = Math.abs(delta) <= 1 ? delta : Number.NaN;
    batch.flags[added] = flags;
    return undefined;
  };
}

/** Maximum number of cached words. Tapes have some dozens of conditions. */
const WORDS_MAX = 1_024;

/** Writes the text that identifies a trade: its time, contract, price, size and exchange, separated by `|`. */
class TradeText {
  #bytes = new Uint8Array(512);

  of(
    row: RowScanner,
    { price: priceColumn, size: sizeColumn, exchange }: Columns,
    micros: number,
    { symbolBytes }: PrintedContract,
    price: number,
    size: number,
  ): Uint8Array {
    const from = row.start(exchange);
    const to = row.end(exchange);
    const longest = to - from + symbolBytes.length + 100;
    if (this.#bytes.length < longest) this.#bytes = new Uint8Array(2 * longest);
    let end = writeWhole(micros, 10, this.#bytes, 0);
    this.#bytes[end++] = BAR;
    for (let at = 0; at < symbolBytes.length; at++) this.#bytes[end++] = symbolBytes[at]!;
    this.#bytes[end++] = BAR;
    end = this.#writeNumber(row, priceColumn, price, end);
    this.#bytes[end++] = BAR;
    end = this.#writeNumber(row, sizeColumn, size, end);
    this.#bytes[end++] = BAR;
    for (let at = from; at < to; at++) this.#bytes[end++] = row.bytes[at]!;
    return this.#bytes.subarray(0, end);
  }

  /** Writes a number as JavaScript does. The cell usually has the same digits, but may have zeros at its end. */
  #writeNumber(row: RowScanner, column: number, value: number, at: number): number {
    const { bytes } = row;
    const from = row.start(column);
    let to = row.end(column);
    let point = -1;
    let isPlain =
      to - from <= PLAIN_BYTES && bytes[from]! !== POINT && (bytes[from] !== ZERO || bytes[from + 1] === POINT);
    for (let i = from; i < to && isPlain; i++) {
      if (bytes[i] === POINT && point < 0) point = i;
      else isPlain = bytes[i]! >= ZERO && bytes[i]! <= NINE;
    }
    if (!isPlain || value < PLAIN_MIN) {
      const text = String(value);
      for (let i = 0; i < text.length; i++) this.#bytes[at + i] = text.charCodeAt(i);
      return at + text.length;
    }
    if (point >= 0) {
      while (bytes[to - 1] === ZERO) to--;
      if (to === point + 1) to = point;
    }
    for (let i = from; i < to; i++) this.#bytes[at++] = bytes[i]!;
    return at;
  }
}

/** A number with at most this many digits and a point is written by JavaScript with the same digits, if it is at least PLAIN_MIN. */
const PLAIN_BYTES = 16;
const PLAIN_MIN = 1e-6;
const [POINT, ZERO, NINE] = [0x2e, 0x30, 0x39];
const BAR = 0x7c;

function sideBits(side: Print['side']): number {
  return side === null ? 0 : FLAG[side];
}

function bitsOf({ multiLeg, sweep, block, canceled }: Execution): number {
  const execution = (multiLeg ? FLAG.multiLeg : 0) | (sweep ? FLAG.sweep : 0) | (block ? FLAG.block : 0);
  return execution | (canceled ? BATCH_FLAG.canceled : 0);
}

/** The reason for a time without a zone if its zone is not known. */
export const NO_ZONE = 'no_zone';

type RejectReason =
  | NoContract
  | typeof NO_ZONE
  | 'bad_time'
  | 'implausible_time'
  | 'expired'
  | 'bad_price'
  | 'bad_size'
  | 'bad_id';

/** The earliest accepted time of a trade, ms since the epoch. Earlier trades are older than electronic records of trades. */
const AT_MIN = Date.UTC(1990, 0, 1);
/** The maximum time by which a trade may be ahead of the wall clock. Differences between clocks are smaller. */
const AHEAD_MS_MAX = DAY_MS;
/** Maximum length of an id, characters. */
const ID_LENGTH_MAX = 100;

const TRUE = /^(?:t|true|1|y|yes)$/i;

/** Returns an id with the exchange's number, or ''. Exchanges restart their numbers each day, some of them for each contract. */
function idOfDay(ms: number, { symbol }: PrintedContract, number: string): string {
  return number && `${Math.floor(ms / DAY_MS)}-${symbol}-${number}`;
}

/** Returns the side for a word such as `ask`, `above_ask` or `buy`, and null for others. The tags name the side of an empty cell. */
export function sideOf(cell: string, tags: string): Print['side'] {
  const usual = SIDES.get(cell);
  if (usual !== undefined) return usual;
  const word = cell === '' ? (/\b(ask|bid|mid)_side\b/i.exec(tags)?.[1] ?? '') : cell;
  const plain = word.toLowerCase().replace(/[ _-]side$/, '');
  return SIDES.get(plain.replace(/[ -]/g, '_')) ?? null;
}

const SIDES: ReadonlyMap<string, Print['side']> = new Map([
  ...['ask', 'at_ask', 'above_ask', 'buy', 'buyer', 'bought'].map((word) => [word, 'ask'] as const),
  ...['bid', 'at_bid', 'below_bid', 'sell', 'seller', 'sold'].map((word) => [word, 'bid'] as const),
  ...['mid', 'middle', 'between'].map((word) => [word, 'mid'] as const),
]);

/** The tape columns that the reader uses. */
export const PRINT_COLUMNS = [
  ...['executed_at', 'option_chain_id', 'underlying_symbol', 'expiry', 'option_type', 'strike', 'price', 'size'],
  ...['side', 'tags', 'nbbo_bid', 'nbbo_ask', 'delta', 'exchange', 'report_flags', 'canceled'],
  ...['upstream_condition_detail', 'id', 'trade_id', 'sequence'],
] as const;
const CONTRACT_COLUMNS = ['underlying_symbol', 'expiry', 'option_type', 'strike'] as const;

/** Index of each column. The index is -1 for a column that the tape does not have. */
export type Columns = Readonly<Record<(typeof PRINT_COLUMNS)[number], number>>;

/** Finds the columns of a tape. Throws a `ClientError` if a required column is missing, or if a used column appears twice. */
export function printColumnsOf(header: readonly string[]): Columns {
  const needed = ['price', 'size', ...(header.includes('option_chain_id') ? [] : CONTRACT_COLUMNS)];
  const missing = needed.filter((name) => !header.includes(name));
  if (missing.length > 0) throw unreadable(`the table has no column ${missing.join(', ')}`);
  const repeated = PRINT_COLUMNS.filter((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (repeated.length > 0) throw unreadable(`column ${repeated.join(', ')} is named twice`);
  return recordOf(PRINT_COLUMNS, (name) => header.indexOf(name));
}

/** Returns whether a line is the header of a tape. The header of a tape names the time, and either the contract or the underlying. */
export function isPrintsHeader(cells: readonly string[]): boolean {
  const has = (name: string) => cells.includes(name);
  return has('executed_at') && (has('option_chain_id') || has('underlying_symbol'));
}

/** The columns by which the tape of Unusual Whales is known. The vendor writes its times in UTC. */
const UTC_COLUMNS = [
  ...[
    'executed_at',
    'option_chain_id',
    'nbbo_bid',
    'nbbo_ask',
    'ewma_nbbo_bid',
    'ewma_nbbo_ask',
    'sector',
    'report_flags',
  ],
  ...['upstream_condition_detail', 'equity_type'],
];

/**
 * Returns the zone of a tape's times without a zone, or `undefined` if nobody says it. A flag or a mapping that a person names comes before
 * what is known of the vendor, and the mapping of a folder after it.
 */
export function zoneOfTimes(header: readonly string[], stated: Stated | undefined): string | undefined {
  const mapped = stated?.mapping?.forms.zone;
  const named = stated?.zone ?? (stated?.isOfFolder ? undefined : mapped);
  return named ?? (UTC_COLUMNS.every((name) => header.includes(name)) ? 'UTC' : mapped);
}

/**
 * Returns a function that parses the time of a trade, the bytes [from, to), in microseconds since the epoch: `2026-08-17T13:30:00.00714Z`,
 * `2026-08-17 13:30:00.00714+00`, numbers of seconds, milliseconds, microseconds or nanoseconds since the epoch, and times without a zone,
 * which are in `zone`. Returns NaN if the text is not a time, and infinity for a time without a zone if `zone` is not known.
 */
function timeReader(zone: string | undefined): (bytes: Uint8Array, from: number, to: number) => number {
  const secondIn = zone === 'UTC' ? secondOf : secondsIn(zone);
  return (bytes, from, to) => {
    const usual = usualMicros(bytes, from, to, secondIn);
    return Number.isNaN(usual) ? microsOf(textIn(bytes, from, to), zone) : usual;
  };
}

function microsOf(text: string, zone: string | undefined): number {
  if (EPOCH.test(text)) return epochMicros(text);
  const match = INSTANT.exec(text);
  if (match === null) return Number.NaN;
  const [, date = '', hour, minute, second, fraction = '', given, sign, offsetHour = 0, offsetMinute = 0] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  if (Number(offsetHour) > 18 || Number(offsetMinute) > 59 || !isDate(date)) return Number.NaN;
  const at = given === undefined ? zone : 'UTC';
  if (at === undefined) return Number.POSITIVE_INFINITY;
  const offset = (sign === '-' ? -60 : 60) * Number(offsetHour) + (sign === '-' ? -1 : 1) * Number(offsetMinute);
  const start =
    at === 'UTC'
      ? Date.parse(`${date}T00:00:00Z`) * 1e3 + (Number(hour) * 3600 + (Number(minute) - offset) * 60) * 1e6
      : minuteStartIn(`${date}T${hour}:${minute}`, at);
  return start + Number(second) * 1e6 + (fraction === '' ? 0 : Number(fraction.padEnd(6, '0').slice(0, 6)));
}

const EPOCH = /^\d{9,19}(?:\.\d+)?$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|UTC|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/**
 * A fast parser for times such as `2026-08-17 13:30:00.007140+00`, also with a `T`, a `Z` or no zone. `secondIn` reads a second without a
 * zone. Returns NaN for any other text.
 */
function usualMicros(bytes: Uint8Array, from: number, to: number, secondIn: typeof secondOf): number {
  const point = from + 19;
  const isHour = bytes[to - 3] === PLUS && bytes[to - 2] === ZERO && bytes[to - 1] === ZERO;
  const end = bytes[to - 1] === LETTER_Z ? to - 1 : isHour ? to - 3 : to;
  const read = end === to ? secondIn : secondOf;
  if (end === point) return read(bytes, from, point);
  const decimals = end - point - 1;
  if (bytes[point] !== POINT || decimals < 1 || decimals > 6) return Number.NaN;
  let fraction = 0;
  for (let at = point + 1; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    fraction = 10 * fraction + digit;
  }
  return read(bytes, from, point) + fraction * SCALES[6 - decimals]!;
}

const [PLUS, LETTER_Z] = [0x2b, 0x5a];
const SCALES = [1, 10, 100, 1_000, 10_000, 100_000];

const SECONDS_MAX = 16_384;
/** Returns a function that reads whole seconds in a zone. Many trades have the second of the trade before. */
const secondsIn = (zone: string | undefined) =>
  memoizeBytes(SECONDS_MAX, (text) => (EPOCH.test(text) ? Number.NaN : microsOf(text, zone)));
const secondOf = secondsIn('UTC');

/**
 * Converts a number of seconds, milliseconds, microseconds or nanoseconds since the epoch to microseconds. Seconds are below 10^11 until the
 * year 5138, and milliseconds have been above it since 1973. They are below 10^14, and microseconds below 10^17.
 */
function epochMicros(text: string): number {
  const value = Number(text);
  if (value >= 1e16) return microsOfNumber(text);
  if (value < 1e11) return Math.round(value * 1e6);
  return value < 1e14 ? Math.round(value * 1e3) : Math.floor(value);
}
