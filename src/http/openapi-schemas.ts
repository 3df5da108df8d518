import { memoizeByObject } from '../core/cache.ts';
import { announceStep } from '../core/event-loop-watchdog.ts';
import { DOCUMENTED, type Documented } from '../operations/engine/schemas.ts';

type Json = { readonly [key: string]: unknown };

/**
 * Returns a document of JSON in which the keywords of `documented` are keywords like others, and in which named schemas, and object schemas
 * that occur several times, are components: every place refers to the component. Equal schemas are one component, whatever their
 * descriptions. A place whose description differs from that of the component keeps it. Rejects with `Error` if a name
 * stands for two schemas. Other work can run between the three passes, each of which takes some ms in a new process.
 */
export async function withComponents(document: Json): Promise<Json> {
  const plain = plainCopy(document, new Map());
  await new Promise(setImmediate);
  announceStep('openapi document');
  const found = new Map<string, Found>();
  count(plain.value, plain.names, found);
  const byName = new Map<string, string>();
  for (const [key, each] of found) {
    if (each.name === undefined && each.times < 2) continue;
    each.name ??= `Shared${byName.size}`;
    if (byName.has(each.name)) throw new Error(`Two schemas have the name ${each.name}`);
    byName.set(each.name, key);
  }
  const schemas = new Map<string, unknown>();
  const referring = (value: unknown, name = ''): unknown => {
    if (typeof value !== 'object' || value === null || isExample(name)) return value;
    if (Array.isArray(value)) return value.map((each) => referring(each));
    const own = plain.names.has(value) || isObjectSchema(value) ? found.get(keyOf(value as Json)) : undefined;
    const inner = () => {
      const referred: Record<string, unknown> = {};
      for (const key of Object.keys(value)) referred[key] = referring((value as Json)[key], key);
      return referred;
    };
    if (own?.name === undefined) return inner();
    const { description } = value as Json;
    const shared = own.description;
    if (!schemas.has(own.name)) {
      schemas.set(own.name, undefined);
      schemas.set(own.name, { ...inner(), description: shared });
    }
    const ref = { $ref: `#/components/schemas/${own.name}` };
    return description === undefined || description === shared ? ref : { ...ref, description };
  };
  await new Promise(setImmediate);
  announceStep('openapi document');
  const { components, ...rest } = plain.value as { components: Json };
  const withRefs = referring(rest) as Json;
  const others = referring(components) as Json;
  const sorted = [...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...withRefs, components: { ...others, schemas: Object.fromEntries(sorted) } };
}

/** A schema of the document, by its text without the description. */
interface Found {
  name: string | undefined;
  times: number;
  /** The description of the component: that of its places, if all have the same. */
  description: string | undefined;
}

/** Counts the schemas that may become components. What is within a repeated schema counts once. */
function count(value: unknown, names: Names, found: Map<string, Found>, name = ''): void {
  if (typeof value !== 'object' || value === null || isExample(name)) return;
  const named = names.get(value);
  const isObject = isObjectSchema(value);
  if (named !== undefined || isObject) {
    const key = keyOf(value as Json);
    const known = found.get(key);
    const { description } = value as { readonly description?: string };
    if (known) {
      known.times++;
      known.name ??= named;
      if (known.description !== description) known.description = undefined;
      return;
    }
    found.set(key, { name: named, times: 1, description });
  }
  for (const key of Object.keys(value)) count((value as Json)[key], names, found, key);
}

const keyOf = memoizeByObject(({ description: _, ...schema }: Json) => JSON.stringify(schema));

/** Whether the values of a key are examples, which may look like schemas. */
function isExample(key: string): boolean {
  return key.startsWith('example');
}

function isObjectSchema(value: object): boolean {
  return 'properties' in value && 'type' in value && value.type === 'object';
}

/** The names of copied schemas. */
type Names = WeakMap<object, string>;

/** Copies a document with the keywords of `documented`. Returns the copy, and the names of its schemas. */
function plainCopy(document: Json, copies: Map<object, unknown>) {
  const names: Names = new WeakMap();
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(copy);
    const known = copies.get(value);
    if (known !== undefined) return known;
    const { name, ...keywords } = (value as { [DOCUMENTED]?: Documented })[DOCUMENTED] ?? {};
    // Generators read an alternative without a type as any value.
    const anyOf = keywords.anyOf?.map((each) => ({ type: (value as Json).type, ...each }));
    const given: Json = { ...value, ...keywords, ...(anyOf && { anyOf }) };
    const copied: Record<string, unknown> = {};
    for (const key of Object.keys(given))
      if (given[key] !== undefined) copied[key] = isExample(key) ? given[key] : copy(given[key]);
    if (name !== undefined) names.set(copied, name);
    copies.set(value, copied);
    return copied;
  };
  return { value: copy(document), names };
}
