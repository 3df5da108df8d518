import type { Implementation } from '@modelcontextprotocol/server';

/** Clients whose model can read linked resources, which no capability announces. Some other clients discard an answer with links. */
const READERS = /^(?:claude-code|codex)\b/i;

/** Returns whether a client's model can follow links to resources. */
export function readsResources(client: Pick<Implementation, 'name'> | undefined): boolean {
  return READERS.test(client?.name ?? '');
}
