import { type ColumnNames, type MappedField, plainName, USUAL_NAMES } from './mapping.ts';

/** Finds the column of each field. With `isExact`, only the names that the mapping gives count. */
export function findColumns<Field extends MappedField>(
  fields: readonly Field[],
  named: ColumnNames,
  places: ReadonlyMap<string, number>,
  isExact = false,
): Readonly<Partial<Record<Field, number>>> {
  const found = fields.map((field) => {
    const names = [...(named[field] ?? []).map(plainName), ...(isExact ? [] : (USUAL_NAMES[field] ?? []))];
    return [field, names.map((name) => places.get(name)).find((place) => place !== undefined)] as const;
  });
  return Object.fromEntries(found.filter(([, place]) => place !== undefined)) as Partial<Record<Field, number>>;
}

/** Returns the index of each column by its plain name. Of columns with equal names, the first counts. */
export function placesOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, i) => [plainName(name), i] as const).reverse());
}
