import type { Implementation } from '@modelcontextprotocol/server';

/**
 * Whether a client accepts resource links in an answer. The links came with protocol revision 2025-06-18. Clients of older revisions reject
 * content of an unknown type. LangChain's adapters before 1.1 (1.0.0 calls itself 0.6.0) negotiate revision 2025-06-18 or later, but
 * discard an answer with links.
 */
export function acceptsResourceLinks(revision: string | undefined, client: Implementation | undefined): boolean {
  if (client?.name === '@langchain/mcp-adapters' && Number.parseFloat(client.version) < 1.1) return false;
  return revision !== undefined && revision >= '2025-06-18';
}
