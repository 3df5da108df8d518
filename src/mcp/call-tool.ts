import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Account } from '../access/access.ts';
import { cleaned, cleanLine } from '../clean-text.ts';
import { Failure } from '../errors.ts';
import type { Operation, Provenance } from '../operations/operation.ts';
import { performInSteps, toolView } from '../operations/perform.ts';
import type { Steps } from '../steps.ts';
import { nearestNames } from './nearest-names.ts';
import type { McpParts } from './parts.ts';
import { columnsOf } from './resources.ts';

/** As much of an `AbortSignal` as a call asks for. */
export type CancelSignal = Pick<AbortSignal, 'aborted'>;

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
  try {
    return await answerOf(tool, parts, call);
  } catch (error) {
    // The agent reads it and can correct itself: a result that is an error, not a broken call.
    if (error instanceof Failure) return refused(error.message, error.hint);
    // A dropped call has not failed.
    if (!call.signal.aborted) parts.observe({ kind: 'tool_failed', tool: tool.name, error });
    return refused('The tool could not compute an answer', 'Retry shortly.');
  }
}

async function answerOf(tool: Operation, parts: McpParts, call: ToolCall): Promise<CallToolResult> {
  const { account, signal } = call;
  const { scheduler, charge, context } = parts;
  const progress = new ProgressReport(call.progressed);
  const { body, provenance } = await scheduler.run({
    account: account?.id ?? '',
    name: tool.name,
    steps: progress.of(performInSteps(toolView(tool), call.args, context, 'invalid_body')),
    isDropped: () => signal.aborted,
    charge: account && charge && ((tokens) => charge(account, tokens)),
  });
  await progress.sent();
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

/** Tells the client of each step of a call that has several, and of a call that begins long after it was asked for. */
class ProgressReport {
  private readonly askedAt = performance.now();
  private last: Promise<void> | undefined;

  constructor(private readonly progressed: ToolCall['progressed']) {}

  *of<Result>(steps: Steps<Result>): Steps<Result> {
    if (performance.now() - this.askedAt > LONG_MS) this.tell({ progress: 0, message: 'Waited for its turn' });
    for (let progress = 1; ; ) {
      const { value, done } = steps.next();
      if (done) return value;
      // Steps without a number of steps are parts of one that was told.
      if (value.total) this.tell({ progress: progress++, message: value.message, total: value.total });
      yield value;
    }
  }

  /** Once the client can have heard of the last step. */
  async sent(): Promise<void> {
    if (!this.last) return;
    await this.last;
    await Bun.sleep(LAST_WORD_MS);
  }

  private tell(step: Progress): void {
    // The call goes on, whether or not the client is there to hear of it.
    this.last = this.progressed?.(step).catch(() => {});
  }
}

/** What takes longer has its client wonder. */
const LONG_MS = 200;
/** Clients of the first generation lose what is said of progress just before the answer, unless it comes before it by so much. */
const LAST_WORD_MS = 5;

function refused(message: string, hint: string | undefined): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: cleaned(hint ? `${message}. ${hint}` : message) }] };
}
