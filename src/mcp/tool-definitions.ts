import type { Tool } from '@modelcontextprotocol/server';
import type { TObject, TSchema } from '@sinclair/typebox';
import { memoizeByObject } from '../core/cache.ts';
import type { Operation } from '../operations/engine/operation.ts';
import { toolView } from '../operations/engine/perform.ts';
import type { Catalog } from './mcp-deps.ts';
import { READ_RESOURCE } from './read-resource.ts';
import { describeProvenanceOf, PROVENANCE_KEY } from './tool-answer.ts';

/** Returns the definitions of the tools for `tools/list`, in the registry's order. Builds the definitions once for each registry. */
export function toolDefinitions(tools: readonly Operation[]): Tool[] {
  return definitionsOf(tools).definitions;
}

/** Returns the version of a registry. Any change to a definition changes the version. */
export function registryVersion(tools: readonly Operation[]): string {
  return definitionsOf(tools).version;
}

/** Returns the answer to `tools/list`. With `hasReader`, the list also has the tool that reads resources. */
export function listedTools({ tools, hasReader = false }: Pick<Catalog, 'tools' | 'hasReader'>) {
  const { definitions, version } = definitionsOf(tools());
  return { tools: [...definitions, ...(hasReader ? [READ_RESOURCE] : [])], _meta: { 'zomma/registry': version } };
}

/** Returns the answer to `tools/list` as JSON text. The text is written once for each registry. */
export function listedToolsText(catalog: Pick<Catalog, 'tools' | 'hasReader'>): string {
  const { texts } = definitionsOf(catalog.tools());
  return texts.getOrInsertComputed(catalog.hasReader ?? false, () => JSON.stringify(listedTools(catalog)));
}

const definitionsOf = memoizeByObject((tools: readonly Operation[]) => {
  const definitions = tools.map(definitionOf);
  const version = new Bun.CryptoHasher('sha256').update(JSON.stringify(definitions)).digest('hex').slice(0, 16);
  return { definitions, version, texts: new Map<boolean, string>() };
});

const EXAMPLE_META = 'zomma/example';

function definitionOf(tool: Operation): Tool {
  const { input, output } = toolView(tool);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: input as Tool['inputSchema'],
    outputSchema: withProvenance(brief(output), describeProvenanceOf(tool)),
    // Hosts do not show the content of `_meta` to a model. The web terminal shows the example in its forms.
    _meta: { [EXAMPLE_META]: tool.example },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** Adds the key `provenance`, which exists only in answers over MCP. */
function withProvenance(
  schema: NonNullable<Tool['outputSchema']>,
  description: string,
): NonNullable<Tool['outputSchema']> {
  const properties = schema.properties as Record<string, object>;
  return { ...schema, properties: { ...properties, [PROVENANCE_KEY]: { type: 'object', description } } };
}

/** Shortens an output schema to few tokens. An inner object, or a list whose description names all fields, keeps its description. */
function brief({ properties }: TObject): NonNullable<Tool['outputSchema']> {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, briefField(schema)])),
  };
}

function briefField(schema: TSchema): object {
  const { type, description, anyOf, items } = schema;
  if (type === 'object') return { type, description };
  if (type === 'array' && items.properties) {
    const namesAll = Object.keys(items.properties).every((name) => description?.includes(name));
    return { type, description, items: namesAll ? { type: 'object' } : brief(items) };
  }
  if (anyOf?.length === 2 && anyOf[1].type === 'null') {
    return { ...briefField({ ...anyOf[0], description }), type: [anyOf[0].type, 'null'] };
  }
  return schema;
}
