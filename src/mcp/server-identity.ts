import { ICONS } from './icons.ts';
import { instructionsFor } from './instructions.ts';
import type { McpDeps } from './mcp-deps.ts';
import { registryVersion } from './tool-definitions.ts';

/** Returns what the answer to `initialize` says of the server. */
export function identityOf({ version, tools }: McpDeps) {
  return {
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      experimental: { 'zomma/registry': { version: registryVersion(tools()) } },
    },
    serverInfo: { name: 'zomma', title: 'Zomma', version, icons: ICONS },
    instructions: instructionsFor(tools()),
  };
}
