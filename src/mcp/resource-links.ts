import type { Implementation } from '@modelcontextprotocol/server';

/**
 * Whether a client takes links to resources in an answer. They came with 2025-06-18: clients of older revisions refuse content that they do
 * not know, and so does the 1.0 of LangChain's adapters, which agrees on a newer one and throws the whole answer away (1.1 takes them).
 */
export function takesResourceLinks(revision: string | undefined, client: Implementation | undefined): boolean {
  if (client?.name === '@langchain/mcp-adapters' && client.version.startsWith('1.0.')) return false;
  return revision !== undefined && revision >= '2025-06-18';
}
