import { isRecord } from '../../core/json-shape.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import { cellNumber } from '../numbers.ts';
import { instantReader } from './date-forms.ts';
import { type MappedField, plainName, USUAL_NAMES } from './mapping.ts';

/** A value beside the rows of a JSON document. */
export interface PointedValue {
  /** The JSON pointer. */
  readonly pointer: string;
  readonly text: string;
}

/** Number of levels in which values are sought, and of keys of an object that is no map of contracts. */
const [DEPTH_MAX, KEYS_MAX] = [3, 100];

/** What the last keys of the values look like, besides the usual names, and which texts are such values. */
const FIELDS: readonly { field: MappedField; likely: RegExp; isValue: (text: string) => boolean }[] = [
  {
    field: 'underlying',
    likely: /^(?:underlying|stock)(?:name|symbol|ticker)$/,
    isValue: (text) => isTicker(canonicalTicker(text)),
  },
  { field: 'as_of', likely: /updated|generated|fetched|time$|timestamp/, isValue: isInstant },
  {
    field: 'spot',
    likely: /^(?:current|last|market|regularmarket|underlying|stock|spot|close)(?:price|value)?$|^price$/,
    isValue: (text) => cellNumber(text) > 0 && Number.isFinite(cellNumber(text)),
  },
];

/** Finds the values beside the rows of a JSON document that all rows may share: underlying, time and spot. */
export function valuesBeside(document: unknown): ReadonlyMap<MappedField, PointedValue> {
  const values = [...scalarsIn(document, '', DEPTH_MAX)];
  const found = FIELDS.flatMap(({ field, likely, isValue }) => {
    const possible = values.filter(({ text }) => isValue(text));
    const nameOf = ({ pointer }: PointedValue) => plainName(pointer.split('/').at(-1)!);
    const usual = USUAL_NAMES[field]!.map((name) => possible.find((each) => nameOf(each) === name));
    const value = usual.find((each) => each !== undefined) ?? possible.find((each) => likely.test(nameOf(each)));
    return value === undefined ? [] : [[field, value] as const];
  });
  return new Map(found);
}

function isInstant(text: string): boolean {
  try {
    return instantReader('', [text], { zone: 'UTC' })(text) !== undefined;
  } catch {
    return false;
  }
}

/** Yields the values of an object and of the objects in it, but not those of lists. */
function* scalarsIn(value: unknown, pointer: string, depth: number): Generator<PointedValue> {
  if (typeof value === 'string' || typeof value === 'number') yield { pointer, text: String(value) };
  if (!isRecord(value) || depth === 0 || Object.keys(value).length > KEYS_MAX) return;
  for (const [key, child] of Object.entries(value))
    if (!/[/~]/.test(key)) yield* scalarsIn(child, `${pointer}/${key}`, depth - 1);
}
