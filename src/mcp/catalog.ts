import { CONTRACT_TOOLS, TOOLS } from '../operations/registry.ts';
import type { ToolSelection } from '../settings/setting-values.ts';
import type { Catalog } from './mcp-deps.ts';
import { PROMPTS } from './prompts.ts';
import { RESOURCES } from './resources.ts';

/** Returns all tools and a tool that reads resources, or only the API contract's tools. A prompt is offered only with all its tools. */
export function catalogOf(selection: ToolSelection): Catalog {
  const isContract = selection === 'contract';
  const tools = isContract ? CONTRACT_TOOLS : TOOLS;
  return { tools: () => tools, resources: RESOURCES, hasReader: !isContract, prompts: PROMPTS };
}
