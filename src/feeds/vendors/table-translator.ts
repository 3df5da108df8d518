import { memoize } from '../../core/cache.ts';
import { cleanLine } from '../../core/clean-text.ts';
import type { Delivery } from '../../market/feed.ts';
import {
  canonicalTicker,
  formatOptionSymbol,
  isTicker,
  type OptionSymbol,
  parseCallPut,
  parseOptionSymbol,
} from '../../market/option-symbol.ts';
import { DecimalCommas, withPoint } from '../files/decimal-commas.ts';
import { STATE_THE_TIME, timeOfFile } from '../files/file-time.ts';
import type { FileFacts } from '../files/format.ts';
import { tickerOf } from '../files/roots.ts';
import { cellNumber } from '../numbers.ts';
import { PRICE_MAX } from '../print-execution.ts';
import { unreadable } from '../rejections.ts';
import { dateReader, FORM_TEXTS_MAX, instantReader } from './date-forms.ts';
import { assertComplete, findColumns, namingOf, placesOf } from './find-columns.ts';
import { JoinCheck } from './join-check.ts';
import { assertAfterTrades } from './last-trades.ts';
import { FIELDS_OF, type MappedField, type Mapping, plainName, SIDE_FIELDS, type SideField } from './mapping.ts';
import { NewestTimes } from './newest-times.ts';
import { contractOf, rowSymbol } from './row-contract.ts';
import { cellDollars, ScaleSamples } from './scale-samples.ts';
import { TwinColumns } from './twin-columns.ts';
import { lineOf, NUMBER_FIELDS, WRITTEN_COLUMNS } from './written-rows.ts';

/** The cells of a row of a vendor's table. The cell of an index that the row does not have is empty. */
export interface Cells {
  text(cell: number): string;
}

type Places = Readonly<Partial<Record<MappedField, number>>>;

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
  readonly #columns: Places;
  readonly #sides: readonly Side[];
  readonly #twins: TwinColumns;
  /** The columns with numbers. */
  readonly #numbers: ReadonlySet<number>;
  readonly #shared: Partial<Record<MappedField, string>>;
  /** The column of the spot in the row of the underlying. */
  readonly #spotOfRow: number | undefined;
  readonly #timeField: 'as_of' | 'executed_at' | 'date';
  readonly #times = new Set<string>();
  readonly #expiries = new Set<string>();
  readonly #lastTrades = new Set<string>();
  readonly #scales = new ScaleSamples();
  #instantOf: (text: string) => number | undefined = () => undefined;
  #dateOf: (text: string) => string | undefined = () => undefined;
  /** The time of all rows, if the table has no times. */
  #fileTime: string | undefined;
  readonly #newestTimes: NewestTimes | undefined;
  readonly #join: JoinCheck | undefined;
  readonly #joinedFields: readonly SideField[];
  #ivScale = 1;
  #strikeScale = 1;
  readonly #commas = new DecimalCommas();
  #row = 0;
  #firstBad: string | undefined;

  /**
   * `names` are the names of the table's columns. `shared` are values that all rows have. Throws a `ClientError` that names the nearest columns
   * if the table lacks a required column.
   */
  constructor(
    private readonly mapping: Mapping,
    private readonly names: readonly string[],
    private readonly file: Pick<FileFacts, 'origin' | 'path' | 'stated'>,
    shared: Readonly<Partial<Record<MappedField, string>>> = {},
  ) {
    const { kind, columns, call, put } = mapping;
    const places = placesOf(names);
    const repeated = names.filter((name, i) => plainName(name) !== '' && names.indexOf(name) !== i);
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
    const taken: Places = isWide ? this.#columns : { ...this.#columns, ...this.#sides[0]!.columns };
    const isStated = mapping === file.stated?.mapping;
    this.#twins = new TwinColumns(names, taken, (field) =>
      namingOf(mapping.columns[field], names[taken[field]!], isStated),
    );
    const numbers = [this.#columns, ...this.#sides.map((side) => side.columns)];
    this.#numbers = new Set(numbers.flatMap((each) => NUMBER_FIELDS.flatMap((field) => (each as Places)[field] ?? [])));
    this.#shared = { ...shared, ...capturesOf(mapping, file), ...mapping.constants };
    this.#spotOfRow = findColumns(['spot'], mapping.underlyingRow ?? {}, places, true).spot;
    this.#join = file.stated?.joined && new JoinCheck(file.stated.joined);
    this.#joinedFields = file.stated?.joined?.[0]?.fields ?? [];
    this.#timeField = kind === 'chain' ? 'as_of' : kind === 'prints' ? 'executed_at' : 'date';
    if (kind === 'chain' && mapping.forms.asOf !== undefined) this.#newestTimes = new NewestTimes(mapping.forms.asOf);
    const has = (field: MappedField) => this.#columns[field] !== undefined || this.#shared[field] !== undefined;
    const isNamed = has('symbol') || this.#sides.every((side) => side.columns.symbol !== undefined);
    const used = new Set([this.#columns, ...this.#sides.map((side) => side.columns)].flatMap(Object.values<number>));
    const free = names.filter((name, i) => name !== '' && !used.has(i));
    assertComplete(mapping, free.length > 0 ? free : names, has, { isWide, isNamed });
    this.header = `${WRITTEN_COLUMNS[kind].join('\t')}\n`;
  }

  /** Notes the forms of a row's cells. */
  observe(written: Cells): void {
    const cells = this.#withPoints(written);
    if (this.#twins.isAny) this.#twins.add(cells);
    if (this.#isOfUnderlying(cells)) this.#shared.spot ??= cells.text(this.#spotOfRow!).trim();
    note(this.#times, this.#text(cells, this.#timeField));
    note(this.#expiries, this.#text(cells, 'expiry'));
    note(this.#lastTrades, this.#text(cells, 'last_trade_at'));
    if (this.mapping.kind !== 'chain') return;
    if (this.#newestTimes !== undefined) this.#noteTime(this.#newestTimes, cells);
    for (const { columns } of this.#sides) {
      const number = (field: SideField) => cellNumber(cellIn(cells, columns[field]));
      const symbol = cellIn(cells, columns.symbol);
      const strike = symbol !== '' && parseOptionSymbol(symbol) ? Number.NaN : cellDollars(this.#text(cells, 'strike'));
      this.#scales.add(strike, number('bid'), cellDollars(this.#text(cells, 'spot')), cellIn(cells, columns.iv));
    }
  }

  #noteTime(times: NewestTimes, cells: Cells): void {
    const fields = ['underlying', 'root', 'expiry', 'put_call', 'strike'] as const;
    const nameOf = () =>
      [cellIn(cells, this.#sides[0]!.columns.symbol), ...fields.map((field) => this.#text(cells, field))].join(' ');
    const contract = this.mapping.forms.asOf === 'newest' ? nameOf() : undefined;
    times.add(this.#ticker(cells), this.#text(cells, 'as_of'), contract);
  }

  /** Decides the forms of the columns. Throws a `ClientError` if a column could be read in two ways. */
  decide(): void {
    const { forms } = this.mapping;
    const { stated } = this.file;
    this.#twins.assertEqual(forms.order);
    const zone = stated?.zone ?? forms.zone;
    this.#dateOf = dateReader(this.#nameOf('expiry'), this.#expiries, forms.order, zone);
    const time = { order: forms.order, zone, close: stated?.close ?? forms.close };
    const times = this.#shared[this.#timeField] === undefined ? this.#times : [this.#shared[this.#timeField]!];
    this.#instantOf =
      this.#timeField === 'date'
        ? dayReader(this.#nameOf('date'), times, forms.order, zone)
        : memoize(TIMES_CACHED_MAX, instantReader(this.#nameOf(this.#timeField), times, time));
    if (this.mapping.kind === 'chain' && this.#shared.as_of === undefined && this.#times.size === 0) {
      const asOf = timeOfFile(this.file);
      if (asOf === undefined) throw unreadable(`the table states no time of its quotes. ${STATE_THE_TIME}`);
      assertAfterTrades(asOf, this.#nameOf('last_trade_at'), this.#lastTrades, time);
      this.#fileTime = isoOf(1_000 * asOf);
    } else this.#newestTimes?.decide(this.#instantOf);
    this.#ivScale = forms.ivScale ?? this.#scales.ivScale();
    this.#strikeScale = forms.strikeScale ?? this.#scales.strikeScale(this.#nameOf('strike'));
  }

  /** Returns the lines of a row: two for a wide row with a call and a put. */
  translate(written: Cells): string {
    const cells = this.#withPoints(written);
    this.#row++;
    const { kind } = this.mapping;
    if (this.#isOfUnderlying(cells)) return '';
    if (kind === 'closes') return this.#close(cells);
    return kind === 'prints' ? this.#print(cells) : this.#sides.map((side) => this.#contract(cells, side)).join('');
  }

  /** Returns whether a row names no contract, and the mapping says that such a row is that of the underlying. */
  #isOfUnderlying(cells: Cells): boolean {
    const named = ['expiry', 'put_call', 'strike'] as const;
    return this.#spotOfRow !== undefined && named.every((field) => this.#text(cells, field) === '');
  }

  /** Returns cells whose numbers have decimal points. */
  #withPoints(cells: Cells): Cells {
    if (this.mapping.forms.decimal === undefined) return cells;
    return { text: (cell) => (this.#numbers.has(cell) ? withPoint(cells.text(cell)) : cells.text(cell)) };
  }

  /** Returns the texts of a row from which its snapshot follows. */
  snapshotOf(cells: Cells): { ticker: string; time: string } {
    const time = this.#shared.as_of === undefined ? this.#text(cells, 'as_of') : '';
    return { ticker: this.#ticker(cells), time: this.#newestTimes?.sharedText(time) ?? time };
  }

  /** Returns the time of a snapshot, ms since the epoch, or NaN if its text is not a time. */
  timeOf(ticker: string, time: string): number {
    if (this.#fileTime !== undefined) return Date.parse(this.#fileTime);
    return Math.floor((this.#chainMicros(ticker, time || (this.#shared.as_of ?? '')) ?? Number.NaN) / 1_000);
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
    const parsed = rowSymbol(symbol);
    const expiry = this.#text(cells, 'expiry');
    const date = parsed ? undefined : this.#dateOf(expiry);
    const putCall = side || this.#text(cells, 'put_call');
    const callPut = parsed ? undefined : parseCallPut(putCall);
    const strike = this.#strike(cells);
    const root = this.#text(cells, 'root').trim();
    if (!parsed && callPut === undefined) this.#bad('put_call', putCall, SIDE_FORMS);
    if (!parsed && date === undefined) this.#bad('expiry', expiry, EXPIRY_FORMS);
    const at = this.#asOf(cells);
    const underlying = this.#underlying(cells, parsed, root);
    const contract = parsed ?? contractOf(root || underlying.toUpperCase(), date, callPut, strike);
    if (contract === undefined && date !== undefined && callPut !== undefined && underlying !== '')
      this.#bad('strike', this.#text(cells, 'strike'), 'a strike: 500, $500 or 1,250.5');
    const found = contract && this.#join?.textsOf(contract, Date.parse(at));
    const joined = this.mapping.forms.decimal === undefined ? found : found?.map(withPoint);
    const own = (field: SideField) => given(field) || (joined?.[this.#joinedFields.indexOf(field)] ?? '');
    const written = [
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
    ];
    const text = lineOf(written);
    if (text.includes(',')) this.#noteCommas(written, columns);
    return text;
  }

  /** Returns a chain that was read from the translated rows, or its rejection if the second file does not fit it. */
  checked(delivery: Delivery): Delivery {
    return this.#join?.checked(delivery, this.file.origin) ?? delivery;
  }

  #noteCommas(written: readonly string[], columns: Places): void {
    for (const [i, field] of WRITTEN_COLUMNS.chain.entries()) {
      const place = columns[field] ?? this.#columns[field];
      if (place !== undefined && (NUMBER_FIELDS as readonly string[]).includes(field))
        this.#commas.add(written[i]!, this.#row, `"${cleanLine(this.names[place]!, 40)}"`);
    }
  }

  /** Throws a `ClientError` if the numbers of the translated rows have decimal commas that no mapping states. */
  assertPoints(): void {
    this.#commas.assertFew(this.#row);
  }

  #print(cells: Cells): string {
    const text = (field: MappedField) => this.#text(cells, field);
    const given = text('symbol');
    const parsed = rowSymbol(given);
    const expiry = text('expiry');
    const time = text('executed_at');
    const micros = this.#instantOf(time);
    if (micros === undefined) this.#bad('executed_at', time, TIME_FORMS);
    const root = text('root').trim();
    const date = parsed ? undefined : this.#dateOf(expiry);
    const contract =
      root === '' ? undefined : contractOf(root, date, parseCallPut(text('put_call')), this.#strike(cells));
    return lineOf([
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
      ...[text('report_flags'), text('condition'), wordOf(text('canceled')), text('id'), text('sequence')],
    ]);
  }

  #close(cells: Cells): string {
    const day = this.#instantOf(this.#text(cells, 'date'));
    const date = day === undefined ? this.#text(cells, 'date') : new Date(day).toISOString().slice(0, 10);
    // Stooq writes the market after the ticker.
    const ticker = this.#text(cells, 'ticker').replace(/\.us$/i, '');
    return lineOf([ticker, date, this.#text(cells, 'close'), this.#text(cells, 'volume')]);
  }

  #asOf(cells: Cells): string {
    if (this.#fileTime !== undefined) return this.#fileTime;
    const text = this.#text(cells, 'as_of');
    const micros = this.#chainMicros(this.#newestTimes ? this.#ticker(cells) : '', text);
    if (micros !== undefined) return isoOf(micros);
    this.#bad('as_of', text, TIME_FORMS);
    return text === '' ? '?' : text;
  }

  /** Returns the time of the chain to which a row with a time belongs, microseconds since the epoch. */
  #chainMicros(ticker: string, text: string): number | undefined {
    const own = () => this.#instantOf(text);
    return this.#newestTimes ? this.#newestTimes.chainMicros(ticker, own) : own();
  }

  /** Returns the ticker of a row, or for a row without one a text that its chain shares. */
  #ticker(cells: Cells): string {
    const ticker = tickerOf(this.#text(cells, 'underlying'));
    if (isTicker(ticker)) return ticker;
    const symbol = rowSymbol(cellIn(cells, this.#sides[0]!.columns.symbol));
    return symbol?.underlying ?? (ticker || tickerOf(this.#text(cells, 'root')));
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
}

/** The fields of which each listed option has one. */
const QUOTED = ['bid', 'ask', 'last', 'volume', 'open_interest', 'iv'] as const;

function isoOf(micros: number): string {
  return new Date(micros / 1_000).toISOString();
}

const TIMES_CACHED_MAX = 4_096;
const EXPIRY_FORMS = 'a date: 2026-08-21, 20260821, 08/21/2026 or 21-Aug-2026';
const SIDE_FORMS = 'a side: C, CALL, CALLS, CE, P, PUT, PUTS or PE';
const TIME_FORMS = 'a time: 2026-08-21, 2026-08-21 15:45, 2026-08-21T19:45:00Z or a number of s, ms, µs or ns';

/** Returns the fields that the path of a file states. A person's mapping may also capture folders above those that are read. */
function capturesOf(mapping: Mapping, { origin, path = '', stated }: Pick<FileFacts, 'origin' | 'path' | 'stated'>) {
  if (mapping.path === undefined) return {};
  const pattern = new RegExp(mapping.path);
  const found = pattern.exec(origin) ?? (mapping === stated?.mapping ? pattern.exec(path) : null);
  return { ...found?.groups } as Partial<Record<MappedField, string>>;
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

/** A number states whether a trade is canceled as the condition of the cancellation, which is 0 without one. */
function wordOf(canceled: string): string {
  const condition = cellNumber(canceled);
  return Number.isFinite(condition) ? String(condition !== 0) : canceled;
}
