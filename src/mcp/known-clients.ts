import type { Implementation } from '@modelcontextprotocol/server';

/**
 * Clients whose model can read resources by itself: they offer it tools of their own for that. MCP has no capability by which a client says
 * so. In all other clients, only the user can attach a resource, or nobody can.
 */
const READERS = /^(?:claude-code|codex)\b/i;

/** Whether the model behind a client can read resources by itself. */
export function readsResources(client: Pick<Implementation, 'name'> | undefined): boolean {
  return READERS.test(client?.name ?? '');
}
