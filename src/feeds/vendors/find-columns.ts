import { cleanLine } from '../../core/clean-text.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { unreadable } from '../rejections.ts';
import { type ColumnNames, type MappedField, type Mapping, plainName, USUAL_NAMES } from './mapping.ts';

/** Finds the column of each field. With `isExact`, only the names that the mapping gives count. */
export function findColumns<Field extends MappedField>(
  fields: readonly Field[],
  named: ColumnNames,
  places: ReadonlyMap<string, number>,
  isExact = false,
): Readonly<Partial<Record<Field, number>>> {
  const found = fields.map((field) => {
    const given = (named[field] ?? []).map((name) => places.get(asWritten(name)) ?? places.get(plainName(name)));
    const usual = isExact ? [] : (USUAL_NAMES[field] ?? []).map((name) => places.get(name));
    return [field, [...given, ...usual].find((place) => place !== undefined)] as const;
  });
  return Object.fromEntries(found.filter(([, place]) => place !== undefined)) as Partial<Record<Field, number>>;
}

/** Returns the index of each column by its plain name, and by its name as it is written. Of columns with equal names, the first counts. */
export function placesOf(names: readonly string[]): ReadonlyMap<string, number> {
  const places = names.map((name, i) => [plainName(name), i] as const);
  return new Map([...places, ...names.map((name, i) => [asWritten(name), i] as const)].reverse());
}

/** Returns the key of a name as it is written, which no plain name equals. */
function asWritten(name: string): string {
  return `=${name.trim().toLowerCase()}`;
}

/** Returns how a mapping names the column of a field, at `place` of a table, for `TwinColumns`. */
export function namingOf(names: readonly string[] | undefined, place: string | undefined, isStated: boolean) {
  if (names === undefined || names.length === 0) return undefined;
  return isStated && names.some((name) => asWritten(name) === asWritten(place ?? '')) ? 'sure' : 'plain';
}

/**
 * Throws a `ClientError` that names the nearest columns of `names` if a table does not have what each row needs. `has` says whether it has a
 * field, `isNamed` whether it has the symbols of all options, and `isWide` whether a row has a call and a put.
 */
export function assertComplete(
  { kind, vendor }: Mapping,
  names: readonly string[],
  has: (field: MappedField) => boolean,
  { isNamed, isWide }: { readonly isNamed: boolean; readonly isWide: boolean },
): void {
  const contract = ['expiry', 'strike', ...(isWide ? [] : ['put_call'])] as MappedField[];
  const needed: MappedField[] = [];
  if (kind === 'closes') needed.push('ticker', 'date', 'close');
  else if (!isNamed) needed.push(...(has('root') ? [] : ['underlying' as const]), ...contract);
  if (kind === 'prints') needed.push('executed_at', 'price', 'size');
  const missing = needed.filter((field) => !has(field));
  if (missing.length === 0) return;
  const words = missing.map((field) => {
    const near = nearestNames(USUAL_NAMES[field]?.[0] ?? field, names).slice(0, 2);
    return `${field} (nearest: ${near.map((each) => cleanLine(each, 30)).join(', ')})`;
  });
  throw unreadable(
    `read as ${vendor}, the table has no column for ${words.join(' and ')}. Name the column in a mapping: docs/vendors.md`,
  );
}
