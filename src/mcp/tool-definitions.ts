import type { Tool } from '@modelcontextprotocol/server';
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
    outputSchema: output as Tool['outputSchema'] & {},
    annotations: {
      title: tool.title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  };
}
