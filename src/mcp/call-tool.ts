import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Account } from '../access/access.ts';
import { cleaned, cleanLine } from '../clean-text.ts';
import { ClientError } from '../errors.ts';
import { nearestNames } from '../nearest-names.ts';
import { type Operation, PICTURE_TYPE, type Provenance } from '../operations/operation.ts';
import { performInSteps, toolView } from '../operations/perform.ts';
import type { Steps } from '../steps.ts';
import type { McpDeps } from './mcp-deps.ts';
import { columnResourcesOf } from './resources.ts';

/** The property of `AbortSignal` that a call reads. */
export type CancelSignal = Pick<AbortSignal, 'aborted'>;

export interface ToolCall {
  readonly account: Account | undefined;
  readonly name: string;
  readonly args: unknown;
  /** Aborted if the client has canceled the call or disconnected. */
  readonly signal: CancelSignal;
  /** Whether the client accepts resource links in results. */
  readonly linksResources: boolean;
  /** Sends a progress report to the client. Undefined if the client has not asked for progress. */
  readonly onProgress?: (step: ProgressUpdate) => Promise<void>;
}

export interface ProgressUpdate {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/**
 * Calls a tool of the registry. If the tool throws, returns a result with `isError`. Errors other than `ClientError` are also reported to
 * the operator as `tool_failed`. Throws `ProtocolError` if no tool has the name. That error repeats the name, cleaned and cut.
 */
export async function callTool(deps: McpDeps, call: ToolCall): Promise<CallToolResult> {
  const tools = deps.tools();
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
    return await answerOf(tool, deps, call);
  } catch (error) {
    // The error becomes a result and not a protocol error, because the agent reads results and can correct its arguments.
    if (error instanceof ClientError) return errorResult(error.message, error.hint);
    // The scheduler rejects a call whose client no longer waits. In this case the tool itself has not failed.
    if (!call.signal.aborted) deps.observe({ kind: 'tool_failed', tool: tool.name, error });
    return errorResult('The tool could not compute an answer', 'Retry shortly.');
  }
}

async function answerOf(tool: Operation, deps: McpDeps, call: ToolCall): Promise<CallToolResult> {
  const { account, signal } = call;
  const { scheduler, charge, context } = deps;
  const progress = new ProgressReport(call.onProgress);
  const { body, provenance, picture } = await scheduler.run({
    account: account?.id ?? '',
    name: tool.name,
    steps: progress.of(performInSteps(toolView(tool), call.args, context, 'invalid_body')),
    isDropped: () => signal.aborted,
    charge: account && charge && ((tokens) => charge(account, tokens)),
  });
  await progress.flush();
  const cleanBody = cleaned(body);
  const cleanProvenance = provenance && cleaned(provenance);
  return {
    content: [
      { type: 'text', text: JSON.stringify(cleanBody) },
      ...(cleanProvenance ? [{ type: 'text' as const, text: describeProvenance(cleanProvenance) }] : []),
      ...(picture ? [pictureContent(picture)] : []),
      ...(call.linksResources
        ? columnResourcesOf(tool, call.args).map((link) => ({ type: 'resource_link' as const, ...link }))
        : []),
    ],
    structuredContent: cleanBody,
    ...(cleanProvenance && { _meta: { 'zomma/provenance': cleanProvenance } }),
  };
}

function pictureContent(picture: Uint8Array) {
  return { type: 'image' as const, data: picture.toBase64(), mimeType: PICTURE_TYPE };
}

/** Describes the source and the age of the figures as text, because models read the content of a result but not its `_meta`. */
function describeProvenance({ source, as_of, age_s, stale, notes }: Provenance): string {
  return [`Source: "${source}", as of ${as_of}, ${ageOf(age_s)} old${stale ? ', stale' : ''}.`, ...notes].join(' ');
}

/** Formats an age in the largest unit that gives a number of at least 2. */
function ageOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Reports the progress of a call to its client: each step if the call has several, and a long wait before the first step. */
class ProgressReport {
  private readonly calledMs = performance.now();
  private last: Promise<void> | undefined;

  constructor(private readonly onProgress: ToolCall['onProgress']) {}

  *of<Result>(steps: Steps<Result>): Steps<Result> {
    if (performance.now() - this.calledMs > LONG_WAIT_MS) this.report({ progress: 0, message: 'Waited for its turn' });
    for (let progress = 1; ; ) {
      const { value, done } = steps.next();
      if (done) return value;
      // A step without a total belongs to the step that was reported last.
      if (value.total) this.report({ progress: progress++, message: value.message, total: value.total });
      yield value;
    }
  }

  /** Resolves after the client has had time to receive the last report. */
  async flush(): Promise<void> {
    if (!this.last) return;
    await this.last;
    await Bun.sleep(LAST_REPORT_PAUSE_MS);
  }

  private report(step: ProgressUpdate): void {
    // A report that cannot be sent does not stop the call.
    this.last = this.onProgress?.(step).catch(() => {});
  }
}

/** A wait before the first step is reported if it is longer than this, ms. */
const LONG_WAIT_MS = 200;
/**
 * Pause between the last report and the answer, ms. Clients with the first major version of the MCP SDK lose a report that comes just
 * before the answer.
 */
const LAST_REPORT_PAUSE_MS = 5;

function errorResult(message: string, hint: string | undefined): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: cleaned(hint ? `${message}. ${hint}` : message) }] };
}
