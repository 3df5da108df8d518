import type { CallToolResult, ReadResourceResult, Tool } from '@modelcontextprotocol/server';
import { ClientError } from '../core/errors.ts';
import { isRecord } from '../core/json-shape.ts';
import { type McpDeps, type Requester, runJob } from './mcp-deps.ts';
import { INTERNAL_ERROR, McpError } from './protocol-errors.ts';
import { RESOURCE_JSON_TYPE } from './resources.ts';
import { textForModel } from './text-for-model.ts';

/** The tool that reads resources. Most clients have no other way, or show their models only the listed resources, and no templates. */
export const READ_RESOURCE: Tool = {
  name: 'read_resource',
  title: 'Read a resource',
  description:
    'Reads texts and tables (page.next): zomma://universe, zomma://methods/{tool or read_resource}, zomma://gex/{ticker} (levels, vanna, ' +
    'charm), with expiries (GEX by expiry), strikes/{expiry or all}, interest/all?since=DATE (where open interest built), ' +
    'quotes/{expiry}, matrix, profile, surface, flow (bought, sold), prints (trades), history, record (did levels hold). ' +
    'Queries: ?near=5 (nearest spot), ?columns=a,b, ?sign=flow (by prints).',
  inputSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** Reads a resource. Throws `McpError` if no resource has the URI or if the scheduler rejects the work. */
export async function readResource(deps: McpDeps, reader: Requester, uri: string): Promise<ReadResourceResult> {
  try {
    return await runJob(deps, reader, 'resources/read', deps.resources.read(uri, deps.context));
  } catch (error) {
    if (error instanceof ClientError) throw new McpError(INTERNAL_ERROR, textForModel(error));
    throw error;
  }
}

/** Answers a call of `READ_RESOURCE`. Throws `ClientError` if the arguments are invalid or if the resource cannot be read. */
export async function readResourceAsTool(deps: McpDeps, reader: Requester, args: unknown): Promise<CallToolResult> {
  if (!isRecord(args) || typeof args.uri !== 'string') {
    throw new ClientError('invalid_body', '/uri must be a string, e.g. zomma://universe');
  }
  try {
    const { contents } = await readResource(deps, reader, args.uri);
    const [content] = contents;
    const { mimeType, text } = content as { readonly mimeType: string; readonly text: string };
    return {
      content: [{ type: 'text', text }],
      // Some hosts show their models only this field.
      structuredContent: mimeType === RESOURCE_JSON_TYPE ? JSON.parse(text) : { text },
    };
  } catch (error) {
    if (error instanceof McpError) throw new ClientError('not_found', error.message);
    throw error;
  }
}
