import type { CallToolResult } from '@modelcontextprotocol/server';
import { cleaned, cleanLine } from '../core/clean-text.ts';
import { ClientError } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import type { Steps } from '../core/steps.ts';
import { keyOfArguments } from '../operations/engine/answer-cache.ts';
import { type Operation, PICTURE_TYPE, type Provenance } from '../operations/engine/operation.ts';
import { perform, toolView } from '../operations/engine/perform.ts';
import { aging } from '../operations/reading/market-reading.ts';
import { pngOf } from '../picture/render-png.ts';
import { type McpDeps, type Requester, runJob } from './mcp-deps.ts';
import { INVALID_PARAMS, McpError } from './protocol-errors.ts';
import { READ_RESOURCE, readResourceAsTool } from './read-resource.ts';
import { repairArguments } from './repair-arguments.ts';
import { columnResourcesOf } from './resources.ts';
import { textForModel } from './text-for-model.ts';
import { figuresForModel, PROVENANCE_KEY, provenanceForModel } from './tool-answer.ts';

export interface ToolCall extends Requester {
  readonly name: string;
  readonly args: unknown;
  /** True if the result links to resources, because the model can read resources or because the client asks for links. */
  readonly linksResources: boolean;
  /** Sends a progress report to the client. Undefined if the client does not want reports. */
  readonly onProgress?: (step: ProgressUpdate) => Promise<void>;
}

export interface ProgressUpdate {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Calls a tool. An error of the tool becomes a result with `isError`. Throws `McpError` if the registry has no tool with this name. */
export async function callTool(deps: McpDeps, call: ToolCall): Promise<CallToolResult> {
  const tools = deps.tools();
  const tool = tools.find(({ name }) => name === call.name);
  const isReader = deps.hasReader && call.name === READ_RESOURCE.name;
  if (!tool && !isReader) {
    const nearest = nearestNames(
      call.name,
      tools.map(({ name }) => name),
    );
    throw new McpError(INVALID_PARAMS, `Tool '${cleanLine(call.name)}' is not registered`, {
      nearest,
    });
  }
  try {
    return tool ? await answerOf(tool, deps, call) : await readResourceAsTool(deps, call, call.args);
  } catch (error) {
    // The error becomes a result, because agents read results and can correct their arguments. Agents do not read protocol errors.
    if (error instanceof ClientError) return errorResult(textForModel(error));
    // The scheduler rejects a call whose client no longer waits. Such a rejection is not a failure of the tool.
    if (!call.signal.aborted) deps.observe({ kind: 'tool_failed', tool: call.name, error });
    return errorResult('The tool could not compute an answer. Retry shortly.');
  }
}

/** A cached answer of a tool. */
interface CachedAnswer {
  readonly tool: Operation;
  /** Returns the result with its present age. Returns the same object while the age stays the same. */
  present(): CallToolResult;
}

async function answerOf(tool: Operation, deps: McpDeps, call: ToolCall): Promise<CallToolResult> {
  const { answers } = deps;
  const ofArguments = answers && !tool.ofNow && keyOfArguments(call.args);
  const key = ofArguments && `mcp ${call.linksResources} ${tool.name} ${ofArguments}`;
  const cached = key ? answers.get<CachedAnswer>(key) : undefined;
  if (cached?.tool === tool) return cached.present();
  const recording = key ? answers.record(key) : undefined;
  const context = recording?.context ?? deps.context;
  const progress = new ProgressReport(call.onProgress);
  const run = <Result>(steps: Steps<Result>) => runJob(deps, call, tool.name, steps);
  const { args, note } = repairArguments(toolView(tool).input, call.args, context.nowMs);
  const performed = await run(progress.of(perform(toolView(tool), args, context, 'invalid_body')));
  const picture = performed.picture && (await pngOf(performed.picture, run));
  await progress.flush();
  const { echoes, provenance } = performed;
  const notes = [note, picture && PICTURE_NOTE].filter((each) => typeof each === 'string');
  const further: CallToolResult['content'] = [
    ...(picture ? [pictureContent(picture)] : []),
    ...(call.linksResources
      ? columnResourcesOf(tool, args, context).map((link) => ({ type: 'resource_link' as const, ...link }))
      : []),
  ];
  const figures = figuresForModel(performed);
  const resultAt = (now: Provenance | undefined): CallToolResult => {
    const answer = { ...figures, [PROVENANCE_KEY]: provenanceForModel({ echoes, provenance: now }, notes) };
    return {
      content: [{ type: 'text', text: JSON.stringify(answer) }, ...further],
      structuredContent: answer,
      ...(now && { _meta: { [PROVENANCE_META]: cleaned(now) } }),
    };
  };
  const result = resultAt(provenance);
  if (recording) {
    const provenanceNow = provenance && !('at' in echoes) ? aging(provenance, deps.context) : () => provenance;
    let last = { provenance, result };
    const present = () => {
      const now = provenanceNow();
      if (now !== last.provenance) last = { provenance: now, result: resultAt(now) };
      return last.result;
    };
    // An answer is in memory as an object, as its text, and in the text of the whole result.
    recording.add({ tool, present } satisfies CachedAnswer, 4 * JSON.stringify(result.content).length);
  }
  return result;
}

const PICTURE_NOTE = 'The chart is an image beside this answer. Hosts that show no images leave it out.';

/**
 * The key of the provenance in a result's `_meta`. In `_meta`, the provenance has the same format as over REST, with the age in seconds.
 */
const PROVENANCE_META = 'zomma/provenance';

function pictureContent(picture: Uint8Array) {
  return { type: 'image' as const, data: picture.toBase64(), mimeType: PICTURE_TYPE };
}

/** Reports the progress of a call to its client: each step of a call with several steps, and a long wait before the first step. */
class ProgressReport {
  private readonly calledMs = performance.now();
  private last: Promise<void> | undefined;

  constructor(private readonly onProgress: ToolCall['onProgress']) {}

  *of<Result>(steps: Steps<Result>): Steps<Result> {
    if (performance.now() - this.calledMs > LONG_WAIT_MS) this.report({ progress: 0, message: 'Waited for its turn' });
    for (let progress = 1; ; ) {
      const { value, done } = steps.next();
      if (done) return value;
      // A step without a total is not reported, because such a step is part of the last reported step.
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
    // If a report cannot be sent, the call continues.
    this.last = this.onProgress?.(step).catch(() => {});
  }
}

/** The shortest reported wait before the first step, ms. */
const LONG_WAIT_MS = 200;
/** Pause between the last report and the answer, ms. Clients with MCP SDK version 1 lose a report that comes right before the answer. */
const LAST_REPORT_PAUSE_MS = 5;

function errorResult(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: cleaned(text) }] };
}
