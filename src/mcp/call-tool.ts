import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import { type Performed, perform, toolView } from '../operations/perform.ts';
import { cleaned } from './clean-text.ts';
import { nearestNames } from './nearest-names.ts';
import type { McpParts } from './parts.ts';
import { columnsOf } from './resources.ts';

export interface ToolCall {
  readonly account: Account | undefined;
  readonly name: string;
  readonly args: unknown;
  /** Aborted where the client has cancelled the call, or is gone. */
  readonly signal: AbortSignal;
  /** Whether the client knows links to resources. */
  readonly linksResources: boolean;
  /** Tells the client how far the call is; undefined where it did not ask. */
  readonly progressed?: (step: Progress) => Promise<void>;
}

export interface Progress {
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

/** Calls a tool of the registry. What an agent can mend is a result that is an error; a name that is none breaks the call. */
export async function callTool(parts: McpParts, call: ToolCall): Promise<CallToolResult> {
  const tools = parts.tools();
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    const nearest = nearestNames(
      call.name,
      tools.map(({ name }) => name),
    );
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool '${call.name}' is not registered`, { nearest });
  }
  const { gate, observe } = parts;
  try {
    const answer = await gate.pass(call.account?.id ?? '', () => answerOf(tool, parts, call));
    if (answer) return answer;
    return refused(`This account has ${gate.callsMax} calls under way`, 'Wait for their answers, then call again.');
  } catch (error) {
    // The agent reads it and can correct itself: a result that is an error, not a broken call.
    if (error instanceof Failure) return refused(error.message, error.hint);
    observe({ kind: 'tool_failed', tool: tool.name, error });
    return refused('The tool could not compute an answer', 'Retry shortly.');
  }
}

async function answerOf(tool: Operation, { context }: McpParts, call: ToolCall): Promise<CallToolResult> {
  // Others have their turn before each call, and a cancellation that came with it is heard.
  await new Promise(setImmediate);
  call.signal.throwIfAborted();
  const { body, provenance }: Performed = perform(toolView(tool), call.args, context, 'invalid_body');
  const said = cleaned(body);
  return {
    content: [
      { type: 'text', text: JSON.stringify(said) },
      ...(call.linksResources
        ? columnsOf(tool, call.args).map((link) => ({ type: 'resource_link' as const, ...link }))
        : []),
    ],
    structuredContent: said,
    ...(provenance && { _meta: { 'zomma/provenance': cleaned(provenance) } }),
  };
}

function refused(message: string, hint: string | undefined): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: cleaned(hint ? `${message}. ${hint}` : message) }] };
}
