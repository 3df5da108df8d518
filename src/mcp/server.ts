import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { Failure } from '../errors.ts';
import type { Observe } from '../events.ts';
import type { Context } from '../operations/operation.ts';
import { perform, toolView } from '../operations/perform.ts';
import { findTool, TOOLS } from '../operations/registry.ts';

export interface McpParts {
  readonly context: Context;
  readonly version: string;
  readonly observe: Observe;
}

/** An MCP server over the registry's tools, for one session. */
export function createMcpServer({ context, version, observe }: McpParts): Server {
  const server = new Server(
    { name: 'zomma', title: 'Zomma', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOL_LIST }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(params.name, params.arguments ?? {}, context, observe),
  );
  return server;
}

const INSTRUCTIONS =
  'Options-market analytics. Every field says its unit. Start with run_strategic_omni_radar for a ticker, or ' +
  'get_live_gex_nodes for its levels alone. Answers from a simulated market say so in _meta.';

const TOOL_LIST: Tool[] = TOOLS.map((tool) => {
  const { input, output } = toolView(tool);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: input as Tool['inputSchema'],
    outputSchema: output as Tool['outputSchema'],
    annotations: {
      title: tool.title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  };
});

function callTool(name: string, args: unknown, context: Context, observe: Observe) {
  const tool = findTool(name);
  // A plain error: the SDK's own class would put a prefix before the contract's message.
  if (!tool) throw Object.assign(new Error(`Tool '${name}' is not registered`), { code: ErrorCode.InvalidParams });
  try {
    const { body, provenance } = perform(toolView(tool), args, context, 'invalid_body');
    return {
      content: [{ type: 'text' as const, text: JSON.stringify(body) }],
      structuredContent: body,
      ...(provenance && { _meta: { 'zomma/provenance': provenance } }),
    };
  } catch (error) {
    // The agent reads it and can correct itself: a result that is an error, not a broken call.
    if (error instanceof Failure) return refused(error.message, error.hint);
    observe({ kind: 'tool_failed', tool: name, error });
    return refused('The tool could not compute an answer', 'Retry shortly.');
  }
}

function refused(message: string, hint: string | undefined) {
  return { isError: true, content: [{ type: 'text' as const, text: hint ? `${message}. ${hint}` : message }] };
}
