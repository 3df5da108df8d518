import type { Implementation } from '@modelcontextprotocol/server';

/**
 * Clients whose model has tools for reading resources. MCP has no capability that announces such tools. In all other clients, only the user
 * can attach a resource, or resources are not supported.
 */
const READERS = /^(?:claude-code|codex)\b/i;

/** Returns whether a client's model itself can read resources. */
export function readsResources(client: Pick<Implementation, 'name'> | undefined): boolean {
  return READERS.test(client?.name ?? '');
}
