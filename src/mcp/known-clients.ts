import type { Implementation } from '@modelcontextprotocol/server';

/**
 * Clients that give their model tools to read resources by itself. MCP has no capability for this. In all other clients, only the user can
 * attach a resource, or resources are not supported.
 */
const READERS = /^(?:claude-code|codex)\b/i;

/** Whether the model behind a client can read resources by itself. */
export function readsResources(client: Pick<Implementation, 'name'> | undefined): boolean {
  return READERS.test(client?.name ?? '');
}
