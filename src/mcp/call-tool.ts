import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Account } from '../access/access.ts';
import { cleaned, cleanLine } from '../clean-text.ts';
import { Failure } from '../errors.ts';
import type { Operation, Provenance, Steps } from '../operations/operation.ts';
import { performInSteps, toolView } from '../operations/perform.ts';
import { nearestNames } from './nearest-names.ts';
import type { McpParts } from './parts.ts';
import { columnsOf } from './resources.ts';
import type { Turns } from './turns.ts';

/** As much of an `AbortSignal` as a call asks for. */
export type CancelSignal = Pick<AbortSignal, 'aborted' | 'throwIfAborted'>;

export interface ToolCall {
  readonly account: Account | undefined;
  readonly name: string;
  readonly args: unknown;
  /** Aborted where the client has cancelled the call, or is gone. */
  readonly signal: CancelSignal;
  /** Whether the client knows links to resources. */
  readonly linksResources: boolean;
  /** Tells the client how far the call is; undefined where it did not ask. */
  readonly progressed?: (step: Progress) => Promise<void>;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
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
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool '${cleanLine(call.name)}' is not registered`, {
      nearest,
    });
  }
  const { gate, observe } = parts;
  try {
    const answer = await gate.pass(call.account?.id ?? '', () => answerOf(tool, parts, call));
    if (answer) return answer;
    return refused(`This account has ${gate.callsMax} calls under way`, 'Wait for their answers, then call again.');
  } catch (error) {
    // The agent reads it and can correct itself: a result that is an error, not a broken call.
    if (error instanceof Failure) return refused(error.message, error.hint);
    // What nobody waits for any more has not failed.
    if (!call.signal.aborted) observe({ kind: 'tool_failed', tool: tool.name, error });
    return refused('The tool could not compute an answer', 'Retry shortly.');
  }
}

async function answerOf(tool: Operation, { context, gate }: McpParts, call: ToolCall): Promise<CallToolResult> {
  const steps = performInSteps(toolView(tool), call.args, context, 'invalid_body');
  const { body, provenance } = await inTurns(steps, gate, call);
  const said = cleaned(body);
  const from = provenance && cleaned(provenance);
  return {
    content: [
      { type: 'text', text: JSON.stringify(said) },
      ...(from ? [{ type: 'text' as const, text: wordsOf(from) }] : []),
      ...(call.linksResources
        ? columnsOf(tool, call.args).map((link) => ({ type: 'resource_link' as const, ...link }))
        : []),
    ],
    structuredContent: said,
    ...(from && { _meta: { 'zomma/provenance': from } }),
  };
}

/** A model reads the content and not what is beside it: where figures come from, and how old they are, belongs there too. */
function wordsOf({ source, as_of, age_s, stale, notes }: Provenance): string {
  return [`Source: "${source}", as of ${as_of}, ${ageOf(age_s)} old${stale ? ', stale' : ''}.`, ...notes].join(' ');
}

/** In the unit that one would say it in. */
function ageOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/**
 * Works step by step: others have their turn before each, and a cancellation is heard. The client is told of each step of an operation
 * that has several, and of whatever begins long after it was asked for.
 */
async function inTurns<Result>(
  steps: Steps<Result>,
  turns: Turns,
  { account, signal, progressed }: ToolCall,
): Promise<Result> {
  const askedAt = performance.now();
  let hasTold = false;
  const tell = async (told: Progress): Promise<void> => {
    hasTold = true;
    await progressed?.(told);
  };
  for (let progress = 0; ; progress++) {
    const { value, done } = await turns.take(account?.id ?? '', () => {
      signal.throwIfAborted();
      if (progress === 0 && performance.now() - askedAt > LONG_MS) {
        // It begins at once, whether or not the client is there to hear so.
        void tell({ progress, message: 'Waited for its turn' }).catch(() => {});
      }
      return steps.next();
    });
    if (done && hasTold && progressed) await Bun.sleep(LAST_WORD_MS);
    if (done) return value;
    await tell({ progress: progress + 1, ...value });
  }
}

/** What takes longer has its client wonder. */
const LONG_MS = 200;
/** Clients of the first generation lose what is said of progress just before the answer, unless it comes before it by so much. */
const LAST_WORD_MS = 5;

function refused(message: string, hint: string | undefined): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: cleaned(hint ? `${message}. ${hint}` : message) }] };
}
