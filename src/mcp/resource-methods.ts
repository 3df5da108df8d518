import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { REGISTRY } from '../operations/registry.ts';
import { TICKER_RESOURCES } from './ticker-resources.ts';

/** Names of fields of an answer that no resource shows. */
const LEFT_OUT: ReadonlySet<string> = new Set(['notes', 'provenance', 'grid', 'parameters', 'next_cursor']);

/** The texts about resources by their name in `zomma://methods/{name}`: `read_resource` lists all, and each other states its fields. */
export const RESOURCE_METHODS: ReadonlyMap<string, () => string> = new Map([
  ['read_resource', listText],
  ...Object.entries(TICKER_RESOURCES).map(([which, form]) => [which, () => fieldsText(form)] as const),
]);

type Form = (typeof TICKER_RESOURCES)[keyof typeof TICKER_RESOURCES];

function listText(): string {
  const lines = Object.entries(TICKER_RESOURCES).map(
    ([which, { uriTemplate, description }]) => `- ${uriTemplate}: ${description} Fields: zomma://methods/${which}`,
  );
  return ['## Resources of a ticker', ...lines].join('\n');
}

function fieldsText({ operation, title, uriTemplate, description, ...form }: Form): string {
  const { properties } = (REGISTRY[operation] as { readonly full: TObject }).full;
  const lines = fieldsOf(Type.Object('fields' in form ? form.fields(properties) : properties), '', new Set());
  return [`## ${title} (${uriTemplate})`, '', description, '', ...lines].join('\n');
}

/** Returns a line for each field with a description, also of inner objects. A line that is already told is not repeated. */
function fieldsOf(schema: TSchema, prefix: string, told: Set<string>): string[] {
  const fields: Readonly<Record<string, TSchema>> = propertiesOf(schema);
  return Object.entries(fields)
    .filter(([name]) => prefix !== '' || !LEFT_OUT.has(name))
    .flatMap(([name, field]) => {
      const { description } = field;
      const line = `${name}: ${description}`;
      const isNew = typeof description === 'string' && !told.has(line);
      if (isNew) told.add(line);
      return [...(isNew ? [`- ${prefix}${line}`] : []), ...fieldsOf(field, `${prefix}${name}.`, told)];
    });
}

/** Returns the fields of an object, of the rows of a list, or of an object that may be null. */
function propertiesOf({ properties, items, anyOf }: TSchema): Readonly<Record<string, TSchema>> {
  if (properties) return properties;
  if (items) return propertiesOf(items);
  return (anyOf as TSchema[] | undefined)?.map(propertiesOf).find((each) => Object.keys(each).length > 0) ?? {};
}
