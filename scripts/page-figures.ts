/**
 * Generates web/figure-fields.json: the fields of the answers that the web terminal shows, each with the sentence of its schema. The Explain
 * panel takes the sentences from there, so that the page and the API cannot differ.
 */
import { join } from 'node:path';
import type { TSchema } from '@sinclair/typebox';
import { OPERATIONS } from '../src/operations/registry.ts';

export const PAGE_FIGURES = join(import.meta.dir, '../web/figure-fields.json');

/** The fields of the operations of the page, by operation and field. A field within another one has both names: `by_side.unknown`. */
export function pageFigures(): string {
  const rows = OPERATIONS.filter(
    ({ page, ofMarket, name }) => typeof page === 'string' && ofMarket && name !== VIEW,
  ).map(({ name, title, full, tool }) => [name, { title, method: tool?.method ?? '', fields: fieldsOf(full) }]);
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
}

/** The parts of the view are answers of other operations. */
const VIEW = 'get_gex_view';
/** Fields that are no figures: what the answer is of, and the lists of names. */
const HEADS: ReadonlySet<string> = new Set([
  'ticker',
  'provenance',
  'expiry',
  'root',
  'settlement',
  'day',
  'as_of',
  'count',
]);

function fieldsOf(schema: TSchema, prefix = ''): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, each] of Object.entries((schema.properties ?? {}) as Record<string, TSchema>)) {
    if (HEADS.has(name)) continue;
    const inner = objectIn(each);
    if (each.description && !inner) fields[`${prefix}${name}`] = each.description;
    if (inner) Object.assign(fields, fieldsOf(inner, `${prefix}${name}.`));
  }
  return fields;
}

/** Returns the object of a schema that is an object, a list of objects, or either of them or null. */
function objectIn(schema: TSchema): TSchema | undefined {
  if (schema.type === 'object' && schema.properties) return schema;
  if (schema.type === 'array') return objectIn(schema.items as TSchema);
  return (schema.anyOf as TSchema[] | undefined)?.map(objectIn).find((each) => each !== undefined);
}
