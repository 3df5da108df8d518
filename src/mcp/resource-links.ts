import type { Implementation } from '@modelcontextprotocol/server';

/**
 * Whether a client takes links to resources in an answer. They came with 2025-06-18: clients of older revisions refuse content that they do
 * not know, and so do LangChain's adapters before 1.1 (1.0.0 calls itself 0.6.0), which agree on a newer one and throw the whole answer away.
 */
export function takesResourceLinks(revision: string | undefined, client: Implementation | undefined): boolean {
  if (client?.name === '@langchain/mcp-adapters' && Number.parseFloat(client.version) < 1.1) return false;
  return revision !== undefined && revision >= '2025-06-18';
}
