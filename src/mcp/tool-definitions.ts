import type { Tool } from '@modelcontextprotocol/server';
import type { TObject, TSchema } from '@sinclair/typebox';
import type { Operation } from '../operations/operation.ts';
import { toolView } from '../operations/perform.ts';

/** Tools as `tools/list` names them, in the registry's order. Built once for a registry. */
export function toolDefinitions(tools: readonly Operation[]): Tool[] {
  return definitionsOf(tools).definitions;
}

/** Of a registry: with any other definition, another. */
export function registryVersion(tools: readonly Operation[]): string {
  return definitionsOf(tools).version;
}

const built = new WeakMap<readonly Operation[], { definitions: Tool[]; version: string }>();

function definitionsOf(tools: readonly Operation[]) {
  const known = built.get(tools);
  if (known) return known;
  const definitions = tools.map(definitionOf);
  const version = new Bun.CryptoHasher('sha256').update(JSON.stringify(definitions)).digest('hex').slice(0, 16);
  const fresh = { definitions, version };
  built.set(tools, fresh);
  return fresh;
}

function definitionOf(tool: Operation): Tool {
  const { input, output } = toolView(tool);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: input as Tool['inputSchema'],
    outputSchema: brief(output),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/**
 * What an answer looks like, in the words that a model's context has room for; `perform` holds answers to the whole schema, which
 * OpenAPI shows. A field that may be null says so in its type, and an object within the answer is told by its description, which
 * names its fields with their units.
 */
function brief({ properties }: TObject): NonNullable<Tool['outputSchema']> {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, briefField(schema)])),
  };
}

function briefField(schema: TSchema): object {
  const { type, description, anyOf, items } = schema;
  if (type === 'object') return { type, description };
  if (type === 'array' && items.properties) return { type, description, items: { ...brief(items) } };
  if (anyOf?.length === 2 && anyOf[1].type === 'null') {
    return { ...briefField({ ...anyOf[0], description }), type: [anyOf[0].type, 'null'] };
  }
  return schema;
}
