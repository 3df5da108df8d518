import { cleanLine } from '../../core/clean-text.ts';
import { newYorkDate } from '../../market/calendar.ts';
import { canonicalTicker, parseCallPut, parseOptionSymbol } from '../../market/option-symbol.ts';
import { cellNumber } from '../numbers.ts';
import { unreadable } from '../rejections.ts';
import { type DateOrder, dateReader, FORM_TEXTS_MAX } from './date-forms.ts';
import { type MappedField, plainName, USUAL_NAMES } from './mapping.ts';

/** The fields of which a table may have two columns. Of other fields, a second column often has another meaning. */
const FIELDS = [
  ...(['underlying', 'symbol', 'as_of', 'spot', 'expiry', 'put_call', 'strike', 'multiplier', 'bid', 'ask'] as const),
  ...(['last', 'volume', 'open_interest', 'iv', 'delta', 'gamma', 'price', 'size'] as const),
];

/** Usual names that may mean something else beside another name of the field, such as the time of the last trade. */
const OTHER_MEANINGS = new Set([
  ...['ticker', 'symbol', 'root', 'contract', 'option', 'contractid', 'optionid', 'optionroot'],
  ...['tradedate', 'snapshottime', 'timestamp', 'quotetime', 'date', 'datetime', 'lasttrade', 'vol', 'dayvolume'],
  ...['totalvolume', 'volatility', 'ivmean', 'midiv', 'ivmid', 'contracts', 'underlyingclose', 'stockpriceclose'],
]);

/** Two columns of one field, with the words that show what a text of them says. */
interface Twins {
  readonly field: MappedField;
  readonly first: number;
  readonly second: number;
  readonly meaningOf: (text: string) => unknown;
}

/** Two texts of a row in columns of dates, whose order is not known yet. */
interface DatedPair {
  readonly texts: readonly [string, string];
  readonly row: number;
}

/** Finds two columns of one meaning in a table, such as `iv` and `impliedvol`, and compares their cells in all rows. */
export class TwinColumns {
  readonly #twins: readonly Twins[];
  readonly #dates = new Map<Twins, Map<string, DatedPair>>();
  #row = 0;
  #difference: string | undefined;

  /**
   * `taken` are the columns that are read. `namesOf` returns how a mapping names the column of a field: `sure` if it names it exactly, so that
   * nothing is compared, `plain` if a column counts only with the same name in another writing, and otherwise `undefined`.
   */
  constructor(
    private readonly names: readonly string[],
    taken: Readonly<Partial<Record<MappedField, number>>>,
    namesOf: (field: MappedField) => 'sure' | 'plain' | undefined = () => undefined,
  ) {
    const plain = names.map(plainName);
    this.#twins = FIELDS.flatMap((field) => {
      const first = taken[field];
      const named = namesOf(field);
      if (first === undefined || first < 0 || named === 'sure') return [];
      const sure = named === 'plain' ? [] : USUAL_NAMES[field]!.filter((name) => !OTHER_MEANINGS.has(name));
      const isTwin = (name: string, i: number) =>
        i !== first && (name === plain[first] || (sure.includes(name) && sure.includes(plain[first]!)));
      const meaningOf = MEANINGS[field] ?? numberIn;
      return plain.flatMap((name, second) => (isTwin(name, second) ? { field, first, second, meaningOf } : []));
    });
  }

  /** True if there are such columns, whose cells must be added. */
  get isAny(): boolean {
    return this.#twins.length > 0;
  }

  /** Adds the cells of the next row. */
  add(cells: { text(cell: number): string }): void {
    this.#row++;
    for (const twins of this.#twins) {
      const texts = [cells.text(twins.first).trim(), cells.text(twins.second).trim()] as const;
      if (texts[0] === texts[1] || this.#difference !== undefined) continue;
      if (DATES.has(twins.field)) this.#addDates(twins, texts);
      else if (differ(...(texts.map(twins.meaningOf) as [unknown, unknown])))
        this.#note(twins, { texts, row: this.#row });
    }
  }

  #addDates(twins: Twins, texts: readonly [string, string]): void {
    const pairs = this.#dates.getOrInsertComputed(twins, () => new Map<string, DatedPair>());
    if (pairs.size < FORM_TEXTS_MAX) pairs.getOrInsert(texts.join('\n'), { texts, row: this.#row });
  }

  /** Throws a `ClientError` that names two columns of one meaning with different cells. Dates without a certain order are in `order`. */
  assertEqual(order?: DateOrder): void {
    for (const [twins, pairs] of this.#dates) {
      const all = [...pairs.values()];
      const readers = [0, 1].map((side) =>
        datesIn(
          all.map(({ texts }) => dateText(texts[side]!)),
          order,
        ),
      );
      const different = all.find(({ texts }) => {
        const [some, others] = readers.map((read, side) => read(dateText(texts[side]!)));
        return some!.length > 0 && others!.length > 0 && !some!.some((date) => others!.includes(date));
      });
      if (different) this.#note(twins, different);
    }
    if (this.#difference !== undefined) throw unreadable(this.#difference);
  }

  #note({ field, first, second }: Twins, { texts, row }: DatedPair): void {
    const [a, b] = [first, second].map((place) => `"${cleanLine(this.names[place]!, 30)}"`);
    const [one, other] = texts.map((text) => `"${cleanLine(text, 30)}"`);
    this.#difference ??= `${field} is named twice: columns ${a} and ${b} differ, first in row ${row} with ${one} and ${other}. Name the right one in a mapping, such as ${field} = ${a}: docs/vendors.md`;
  }
}

const DATES: ReadonlySet<MappedField> = new Set(['as_of', 'expiry']);

/** Returns what a text of a field that is no number says, or `undefined` if it says nothing. */
const MEANINGS: { readonly [field in MappedField]?: (text: string) => unknown } = {
  underlying: (text) => canonicalTicker(text) || undefined,
  symbol: (text) => {
    const symbol = parseOptionSymbol(text);
    return symbol && JSON.stringify(symbol);
  },
  put_call: parseCallPut,
};

function differ(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return false;
  if (typeof a !== 'number' || typeof b !== 'number') return a !== b;
  return Math.abs(a - b) > 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

/** Returns the number in a text, also of dollars or in percent, or `undefined`. */
function numberIn(text: string): number | undefined {
  const isPercent = text.endsWith('%');
  const number = cellNumber((isPercent ? text.slice(0, -1) : text).replace('$', ''));
  return Number.isFinite(number) ? number * (isPercent ? 0.01 : 1) : undefined;
}

/** Returns the date of a text, without its time of day. */
function dateText(text: string): string {
  const isZoned = /\d{1,2}:\d\d.*(?:Z|[+-]\d\d:?\d\d)$/.test(text);
  const ms = isZoned ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  return Number.isFinite(ms) ? newYorkDate(ms) : text.replace(/[T ]\d{1,2}:.*$/, '');
}

/** Returns a function that reads a date, in both orders of day and month if the texts of its column allow both. */
function datesIn(texts: readonly string[], order: DateOrder | undefined): (text: string) => string[] {
  const reader = (each: DateOrder | undefined) => {
    try {
      return dateReader('', texts, each);
    } catch {
      return undefined;
    }
  };
  const usual = reader(order);
  const readers = usual ? [usual] : [reader('MDY'), reader('DMY')];
  return (text) => readers.flatMap((read) => read?.(text) ?? []);
}
