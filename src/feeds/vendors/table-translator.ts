import { memoize } from '../../core/cache.ts';
import { cleanLine } from '../../core/clean-text.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { lastQuoted, newYorkDate } from '../../market/calendar.ts';
import {
  canonicalTicker,
  formatOptionSymbol,
  isTicker,
  type OptionSymbol,
  parseCallPut,
  parseOptionSymbol,
} from '../../market/option-symbol.ts';
import { STATE_THE_TIME, timeOfFile } from '../files/file-time.ts';
import type { FileFacts } from '../files/format.ts';
import { cellNumber } from '../numbers.ts';
import { PRICE_MAX } from '../print-execution.ts';
import { unreadable } from '../rejections.ts';
import { dateReader, FORM_TEXTS_MAX, instantReader } from './date-forms.ts';
import { findColumns, placesOf } from './find-columns.ts';
import { joinKey } from './join-file.ts';
import {
  FIELDS_OF,
  type MappedField,
  type Mapping,
  plainName,
  SIDE_FIELDS,
  type SideField,
  USUAL_NAMES,
} from './mapping.ts';
import { cellDollars, ScaleSamples } from './scale-samples.ts';

/** The cells of a row of a vendor's table. The cell of an index that the row does not have is empty. */
export interface Cells {
  text(cell: number): string;
}

/** The columns of Zomma's tables, in the order in which a translator writes them. */
const WRITTEN = {
  chain: [
    ...(['underlying', 'as_of', 'spot', 'symbol', 'expiry', 'put_call', 'strike', 'open_interest'] as const),
    ...(['bid', 'ask', 'last', 'volume', 'iv', 'delta', 'gamma', 'multiplier'] as const),
  ],
  prints: [
    ...['executed_at', 'option_chain_id', 'underlying_symbol', 'expiry', 'option_type', 'strike', 'price', 'size'],
    ...['side', 'nbbo_bid', 'nbbo_ask', 'delta', 'exchange', 'report_flags', 'upstream_condition_detail', 'canceled'],
    ...['id', 'sequence'],
  ],
  closes: ['ticker', 'date', 'close', 'volume'],
} as const;

/** The columns that an option has of its own: of a wide row's call or put, or of the one option of a row. */
interface Side {
  readonly side: '' | 'C' | 'P';
  readonly columns: Readonly<Partial<Record<SideField, number>>>;
}

/**
 * Translates the rows of a vendor's table to rows of Zomma's own table, as text with tabs between the cells. All rows must be observed before
 * the first one is translated, because the forms of a column follow from all of its texts. A cell that cannot be read is written as it is,
 * and the reader of Zomma's table then rejects its row and counts it.
 */
export class TableTranslator {
  /** The header line. */
  readonly header: string;
  readonly #columns: Readonly<Partial<Record<MappedField, number>>>;
  readonly #sides: readonly Side[];
  readonly #shared: Readonly<Partial<Record<MappedField, string>>>;
  readonly #timeField: 'as_of' | 'executed_at' | 'date';
  readonly #times = new Set<string>();
  readonly #expiries = new Set<string>();
  readonly #scales = new ScaleSamples();
  #instantOf: (text: string) => number | undefined = () => undefined;
  #dateOf: (text: string) => string | undefined = () => undefined;
  #newest: string | undefined;
  readonly #newestOfDay = new Map<string, number>();
  /** Number of rows whose contract has an earlier row. */
  #repeats = 0;
  readonly #seen = new Set<string>();
  #contracts = 0;
  #unmatched = 0;
  readonly #joinedFields: readonly SideField[];
  #ivScale = 1;
  #strikeScale = 1;
  #row = 0;
  #firstBad: string | undefined;

  /**
   * `names` are the names of the table's columns. `shared` are values that all rows have. Throws a `ClientError` that names the nearest columns
   * if the table lacks a required column.
   */
  constructor(
    private readonly mapping: Mapping,
    private readonly names: readonly string[],
    private readonly file: Pick<FileFacts, 'origin' | 'stated'>,
    shared: Readonly<Partial<Record<MappedField, string>>> = {},
  ) {
    const { kind, columns, call, put } = mapping;
    const places = placesOf(names);
    const repeated = names.filter((name, i) => plainName(name) !== '' && places.get(plainName(name)) !== i);
    if (repeated.length > 0)
      throw unreadable(`column ${repeated.map((name) => cleanLine(name, 30)).join(', ')} is named twice`);
    const fields = FIELDS_OF[kind];
    const isWide = call !== undefined && put !== undefined;
    const usual = isWide ? fields.filter((field) => !SIDE_FIELDS.includes(field as SideField)) : fields;
    this.#columns = findColumns(usual, columns, places);
    this.#sides = isWide
      ? [
          { side: 'C', columns: findColumns(SIDE_FIELDS, call, places, true) },
          { side: 'P', columns: findColumns(SIDE_FIELDS, put, places, true) },
        ]
      : [{ side: '', columns: findColumns(kind === 'chain' ? SIDE_FIELDS : [], columns, places) }];
    this.#shared = { ...shared, ...capturesOf(mapping, file.origin), ...mapping.constants };
    this.#joinedFields = file.stated?.joined?.fields ?? [];
    this.#timeField = kind === 'chain' ? 'as_of' : kind === 'prints' ? 'executed_at' : 'date';
    this.#assertComplete();
    this.header = `${WRITTEN[kind].join('\t')}\n`;
  }

  /** Notes the forms of a row's cells. */
  observe(cells: Cells): void {
    note(this.#times, this.#text(cells, this.#timeField));
    note(this.#expiries, this.#text(cells, 'expiry'));
    if (this.mapping.kind !== 'chain') return;
    if (this.mapping.forms.asOf === 'newest') this.#noteContract(cells);
    for (const { columns } of this.#sides) {
      const number = (field: SideField) => cellNumber(cellIn(cells, columns[field]));
      const symbol = cellIn(cells, columns.symbol);
      const strike = symbol !== '' && parseOptionSymbol(symbol) ? Number.NaN : cellDollars(this.#text(cells, 'strike'));
      this.#scales.add(strike, number('bid'), cellDollars(this.#text(cells, 'spot')), cellIn(cells, columns.iv));
    }
  }

  #noteContract(cells: Cells): void {
    const fields = ['underlying', 'root', 'expiry', 'put_call', 'strike'] as const;
    const texts = fields.map((field) => this.#text(cells, field));
    const key = [cellIn(cells, this.#sides[0]!.columns.symbol), ...texts].join(' ');
    if (this.#seen.has(key)) this.#repeats++;
    else this.#seen.add(key);
  }

  /** Decides the forms of the columns. Throws a `ClientError` if a column could be read in two ways. */
  decide(): void {
    const { forms } = this.mapping;
    const { stated } = this.file;
    this.#dateOf = dateReader(this.#nameOf('expiry'), this.#expiries, forms.order);
    const time = { order: forms.order, zone: stated?.zone ?? forms.zone, close: stated?.close ?? forms.close };
    const times = this.#shared[this.#timeField] === undefined ? this.#times : [this.#shared[this.#timeField]!];
    this.#instantOf =
      this.#timeField === 'date'
        ? dayReader(this.#nameOf('date'), times, forms.order)
        : memoize(TIMES_CACHED_MAX, instantReader(this.#nameOf(this.#timeField), times, time));
    if (this.mapping.kind === 'chain' && this.#shared.as_of === undefined && this.#times.size === 0) {
      const asOf = timeOfFile(this.file);
      if (asOf === undefined) throw unreadable(`the table states no time of its quotes. ${STATE_THE_TIME}`);
      this.#newest = isoOf(1_000 * asOf);
    } else if (forms.asOf !== undefined && !this.#hasSnapshots()) this.#findNewest(forms.asOf);
    this.#ivScale = forms.ivScale ?? this.#scales.ivScale();
    this.#strikeScale = forms.strikeScale ?? this.#scales.strikeScale(this.#nameOf('strike'));
  }

  /** Returns the lines of a row: two for a wide row with a call and a put. */
  translate(cells: Cells): string {
    this.#row++;
    const { kind } = this.mapping;
    if (kind === 'closes') return this.#close(cells);
    return kind === 'prints' ? this.#print(cells) : this.#sides.map((side) => this.#contract(cells, side)).join('');
  }

  /** Returns the texts of a row from which its snapshot follows. */
  snapshotOf(cells: Cells): { ticker: string; time: string } {
    const ticker = canonicalTicker(this.#text(cells, 'underlying'));
    const isShared = this.#newest !== undefined || this.#shared.as_of !== undefined;
    const symbol = isTicker(ticker) ? undefined : symbolOf(cellIn(cells, this.#sides[0]!.columns.symbol));
    return {
      ticker: symbol?.underlying ?? (ticker || this.#text(cells, 'root')),
      time: isShared ? '' : this.#text(cells, 'as_of'),
    };
  }

  /** Returns the time of a snapshot, ms since the epoch, or NaN if its text is not a time. */
  timeOf(time: string): number {
    if (this.#newest !== undefined) return Date.parse(this.#newest);
    return Math.floor((this.#chainMicros(time || (this.#shared.as_of ?? '')) ?? Number.NaN) / 1_000);
  }

  get kind(): Mapping['kind'] {
    return this.mapping.kind;
  }

  /** Returns the first cell that could not be read, with its row and the accepted forms, or `undefined`. */
  get firstBad(): string | undefined {
    return this.#firstBad;
  }

  #contract(cells: Cells, { side, columns }: Side): string {
    const given = (field: SideField) => cellIn(cells, columns[field]);
    // A wide row has both options even if only one is listed.
    if (side !== '' && QUOTED.every((field) => given(field) === '')) return '';
    const symbol = given('symbol').trim();
    const parsed = symbolOf(symbol);
    const expiry = this.#text(cells, 'expiry');
    const date = this.#dateOf(expiry);
    const putCall = side || this.#text(cells, 'put_call');
    const strike = this.#strike(cells);
    const root = this.#text(cells, 'root').trim();
    if (!parsed && date === undefined) this.#bad('expiry', expiry, EXPIRY_FORMS);
    const at = this.#asOf(cells);
    const underlying = this.#underlying(cells, parsed, root);
    const contract = parsed ?? contractOf(root || underlying.toUpperCase(), date, parseCallPut(putCall), strike);
    if (contract === undefined && date !== undefined && underlying !== '') {
      if (parseCallPut(putCall) === undefined) this.#bad('put_call', putCall, 'a side: C, P, CALL or PUT');
      else this.#bad('strike', this.#text(cells, 'strike'), 'a strike: 500, $500 or 1,250.5');
    }
    const joined = contract && this.#joined(contract, at);
    const own = (field: SideField) => given(field) || (joined?.[this.#joinedFields.indexOf(field)] ?? '');
    return line([
      underlying,
      at,
      this.#spot(cells),
      parsed ? symbol : root !== '' && contract ? formatOptionSymbol(contract, 'compact') : '',
      date ?? expiry,
      putCall,
      strike,
      own('open_interest'),
      own('bid'),
      own('ask'),
      own('last'),
      own('volume'),
      this.#iv(own('iv')),
      own('delta'),
      own('gamma'),
      this.#text(cells, 'multiplier'),
    ]);
  }

  /** Returns the texts of a contract in the second file, and counts the contracts that it lacks. */
  #joined(contract: Contract, at: string): readonly string[] | undefined {
    const joined = this.file.stated?.joined;
    if (joined === undefined) return undefined;
    const { root, expiry, callPut, strike } = contract;
    const day = newYorkDate(Date.parse(at));
    const key = (date?: string) => joinKey(root, expiry, callPut, strike, date);
    const texts = joined.values.get(key(day)) ?? joined.values.get(key());
    this.#contracts++;
    if (texts === undefined) this.#unmatched++;
    return texts;
  }

  /** Throws a `ClientError` if the second file lacks more than a tenth of the contracts. */
  assertJoined(): void {
    if (this.#unmatched <= UNMATCHED_SHARE_MAX * this.#contracts) return;
    throw unreadable(
      `${this.#unmatched} of ${this.#contracts} contracts are not in ${cleanLine(this.file.stated!.joined!.file)}. The two files must be of the same day`,
    );
  }

  #print(cells: Cells): string {
    const text = (field: MappedField) => this.#text(cells, field);
    const given = text('symbol');
    const parsed = symbolOf(given);
    const expiry = text('expiry');
    const time = text('executed_at');
    const micros = this.#instantOf(time);
    if (micros === undefined) this.#bad('executed_at', time, TIME_FORMS);
    const root = text('root').trim();
    const date = this.#dateOf(expiry);
    const contract =
      root === '' ? undefined : contractOf(root, date, parseCallPut(text('put_call')), this.#strike(cells));
    return line([
      micros === undefined ? time : String(micros),
      parsed ? given.trim() : contract ? formatOptionSymbol(contract, 'compact') : '',
      parsed ? '' : this.#underlying(cells, parsed, root),
      parsed ? '' : (date ?? expiry),
      parsed ? '' : text('put_call'),
      parsed ? '' : this.#strike(cells),
      ...[
        this.#price(text('price')),
        text('size'),
        text('side'),
        text('bid'),
        text('ask'),
        text('delta'),
        text('exchange'),
      ],
      ...[text('report_flags'), text('condition'), text('canceled'), text('id'), text('sequence')],
    ]);
  }

  #close(cells: Cells): string {
    const day = this.#instantOf(this.#text(cells, 'date'));
    const date = day === undefined ? this.#text(cells, 'date') : new Date(day).toISOString().slice(0, 10);
    // Stooq writes the market after the ticker.
    const ticker = this.#text(cells, 'ticker').replace(/\.us$/i, '');
    return line([ticker, date, this.#text(cells, 'close'), this.#text(cells, 'volume')]);
  }

  #asOf(cells: Cells): string {
    if (this.#newest !== undefined) return this.#newest;
    const text = this.#text(cells, 'as_of');
    const micros = this.#chainMicros(text);
    if (micros !== undefined) return isoOf(micros);
    this.#bad('as_of', text, TIME_FORMS);
    return text === '' ? '?' : text;
  }

  /**
   * Returns whether the rows are several chains, each with a time of its own. Few repeated contracts are repeated rows of one chain. Throws a
   * `ClientError` if the contracts repeat, but their times are not those of chains.
   */
  #hasSnapshots(): boolean {
    if (this.#repeats <= REPEATED_SHARE_MAX * this.#seen.size) return false;
    if (this.#times.size * ROWS_OF_CHAIN_MIN <= this.#repeats + this.#seen.size) return true;
    throw unreadable(
      `${this.#repeats} rows have the contract of another row, and each row has a time of its own. Keep the rows of one moment, or state as_of = "day" in a mapping`,
    );
  }

  /** Finds the newest time of all rows, or of the rows of each New York day. After the close, quotes do not change. */
  #findNewest(of: 'newest' | 'day'): void {
    let newest = Number.NEGATIVE_INFINITY;
    for (const text of this.#times) {
      const ms = (this.#instantOf(text) ?? Number.NaN) / 1_000;
      if (Number.isNaN(ms)) continue;
      newest = Math.max(newest, ms);
      const day = newYorkDate(ms);
      this.#newestOfDay.set(day, Math.max(ms, this.#newestOfDay.get(day) ?? ms));
    }
    for (const [day, ms] of this.#newestOfDay) this.#newestOfDay.set(day, Math.floor(lastQuoted(ms)));
    if (of === 'day') return;
    this.#newestOfDay.clear();
    if (newest > 0) this.#newest = isoOf(1_000 * lastQuoted(newest));
  }

  /** Returns the time of the chain to which a row with a time belongs, microseconds since the epoch. */
  #chainMicros(text: string): number | undefined {
    const micros = this.#instantOf(text);
    const ofDay = micros === undefined ? undefined : this.#newestOfDay.get(newYorkDate(micros / 1_000));
    return ofDay === undefined ? micros : 1_000 * ofDay;
  }

  #underlying(cells: Cells, parsed: OptionSymbol | undefined, root: string): string {
    const ticker = this.#text(cells, 'underlying');
    return isTicker(canonicalTicker(ticker)) ? ticker : (parsed?.underlying ?? (ticker || root));
  }

  #spot(cells: Cells): string {
    const spot = this.#text(cells, 'spot');
    if (cellDollars(spot) > 0) return spot.replace('$', '');
    const [bid, ask] = [cellDollars(this.#text(cells, 'spot_bid')), cellDollars(this.#text(cells, 'spot_ask'))];
    return bid > 0 && ask >= bid ? String((bid + ask) / 2) : '';
  }

  #strike(cells: Cells): string {
    const text = this.#text(cells, 'strike').replace('$', '');
    if (this.#strikeScale === 1) return text;
    const strike = cellNumber(text);
    return Number.isFinite(strike) ? String(Math.round(strike * this.#strikeScale * 1_000) / 1_000) : text;
  }

  #price(text: string): string {
    const { priceScale } = this.mapping.forms;
    const price = cellNumber(text);
    return priceScale !== undefined && price > PRICE_MAX ? String(Math.round(price * priceScale * 1e9) / 1e9) : text;
  }

  #iv(text: string): string {
    const isPercent = text.endsWith('%');
    const scale = isPercent ? 0.01 : this.#ivScale;
    if (scale === 1) return text;
    const value = cellNumber(isPercent ? text.slice(0, -1) : text);
    return Number.isFinite(value) ? String(value * scale) : text;
  }

  #text(cells: Cells, field: MappedField): string {
    return this.#shared[field] ?? cellIn(cells, this.#columns[field]).trim();
  }

  #nameOf(field: MappedField): string {
    const column = this.#columns[field];
    return column === undefined ? field : `"${cleanLine(this.names[column]!)}"`;
  }

  #bad(field: MappedField, text: string, forms: string): void {
    this.#firstBad ??= `row ${this.#row}, column ${this.#nameOf(field)}: "${cleanLine(text, 40)}" is not ${forms}`;
  }

  /** Throws a `ClientError` if the table cannot have what a row needs. */
  #assertComplete(): void {
    const has = (field: MappedField) => this.#columns[field] !== undefined || this.#shared[field] !== undefined;
    const { kind } = this.mapping;
    const isNamed =
      kind !== 'closes' && (has('symbol') || this.#sides.every(({ columns }) => columns.symbol !== undefined));
    const contract = ['expiry', 'strike', ...(this.#sides.length === 2 ? [] : ['put_call'])] as MappedField[];
    const needed: MappedField[] = [];
    if (kind === 'closes') needed.push('ticker', 'date', 'close');
    else if (!isNamed) needed.push(...(has('root') ? [] : ['underlying' as const]), ...contract);
    if (kind === 'prints') needed.push('executed_at', 'price', 'size');
    const missing = needed.filter((field) => !has(field));
    if (missing.length === 0) return;
    const words = missing.map((field) => {
      const near = nearestNames(USUAL_NAMES[field]?.[0] ?? field, this.names).slice(0, 2);
      return `${field} (nearest: ${near.map((each) => cleanLine(each, 30)).join(', ')})`;
    });
    throw unreadable(
      `read as ${this.mapping.vendor}, the table has no column for ${words.join(' and ')}. Name the column in a mapping: docs/vendors.md`,
    );
  }
}

/** The fields of which each listed option has one. */
const QUOTED = ['bid', 'ask', 'last', 'volume', 'open_interest', 'iv'] as const;

function isoOf(micros: number): string {
  return new Date(micros / 1_000).toISOString();
}

/** The largest share of repeated contracts in the rows of one chain. */
const REPEATED_SHARE_MAX = 0.1;
/** The least mean number of rows of a chain in a table of several chains. */
const ROWS_OF_CHAIN_MIN = 5;
/** The largest share of contracts that a second file may lack. */
const UNMATCHED_SHARE_MAX = 0.1;
const TIMES_CACHED_MAX = 4_096;
const EXPIRY_FORMS = 'a date: 2026-08-21, 20260821, 08/21/2026 or 21-Aug-2026';
const TIME_FORMS = 'a time: 2026-08-21, 2026-08-21 15:45, 2026-08-21T19:45:00Z or a number of s, ms, µs or ns';

/** Returns the fields that the path of a file states. */
function capturesOf({ path }: Mapping, origin: string): Partial<Record<MappedField, string>> {
  return path === undefined ? {} : { ...new RegExp(path).exec(origin)?.groups };
}

function cellIn(cells: Cells, cell: number | undefined): string {
  return cell === undefined ? '' : cells.text(cell);
}

function note(texts: Set<string>, text: string): void {
  if (text !== '' && texts.size < FORM_TEXTS_MAX) texts.add(text);
}

function dayReader(...[column, texts, order]: Parameters<typeof dateReader>): (text: string) => number | undefined {
  const dateOf = dateReader(column, texts, order);
  return (text) => {
    const date = dateOf(text);
    return date === undefined ? undefined : Date.parse(`${date}T00:00:00Z`);
  };
}

const symbolOf = memoize(65_536, (text: string) => parseOptionSymbol(text.trim()));

type Contract = Pick<OptionSymbol, 'root' | 'expiry' | 'callPut' | 'strike'>;

function contractOf(
  root: string,
  expiry: string | undefined,
  callPut: 1 | -1 | undefined,
  text: string,
): Contract | undefined {
  const strike = cellNumber(text);
  if (root === '' || expiry === undefined || callPut === undefined || !(strike > 0 && strike < 1e5)) return undefined;
  return { root: root.replace(/^\^/, '').toUpperCase(), expiry, callPut, strike };
}

/** Writes cells as a line. Tabs and line breaks become spaces. */
function line(cells: readonly string[]): string {
  return `${cells.map((cell) => (/["\t\r\n]/.test(cell) ? `"${cell.replaceAll(/[\t\r\n]/g, ' ').replaceAll('"', '""')}"` : cell)).join('\t')}\n`;
}
