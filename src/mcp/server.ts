import { ProtocolError, ProtocolErrorCode, type RequestMeta, Server } from '@modelcontextprotocol/server';
import type { Account } from '../access/access.ts';
import { cleanLine } from '../clean-text.ts';
import { Failure } from '../errors.ts';
import type { Steps } from '../steps.ts';
import { callTool } from './call-tool.ts';
import { complete } from './completion.ts';
import type { McpParts, McpSession } from './parts.ts';
import { takesResourceLinks } from './resource-links.ts';
import { registryVersion, toolDefinitions } from './tool-definitions.ts';

/** An MCP server over the registry, for one session, or for one request where there are no sessions. */
export function createMcpServer(parts: McpParts, { account, followed, takesLinks }: McpSession): Server {
  const { context, version, tools, resources } = parts;
  const server = new WordedServer(
    { name: 'zomma', title: 'Zomma', version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        experimental: { 'zomma/registry': { version: registryVersion(tools()) } },
      },
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
    },
  );
  server.failed = (method, error) => parts.observe({ kind: 'tool_failed', tool: method, error });
  server.setRequestHandler('tools/list', () => ({
    tools: toolDefinitions(tools()),
    _meta: { 'zomma/registry': registryVersion(tools()) },
  }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq: { signal, notify } }) => {
    const { progressToken } = (params._meta ?? {}) as RequestMeta;
    const { name, arguments: args = {} } = params;
    return callTool(parts, {
      ...{ account, name, args, signal },
      linksResources:
        takesLinks ?? takesResourceLinks(server.getNegotiatedProtocolVersion(), server.getClientVersion()),
      ...(progressToken !== undefined && {
        progressed: (step) => notify({ method: 'notifications/progress', params: { progressToken, ...step } }),
      }),
    });
  });
  server.setRequestHandler('resources/list', ({ params }) => ({ ...resources.list(context, params?.cursor) }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: resources.templates }));
  server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
    inSteps(parts, account, signal, resources.read(params.uri, context)),
  );
  server.setRequestHandler('completion/complete', ({ params }) => complete(params, context));
  if (followed) takeSubscriptions(server, followed, parts);
  return server;
}

/** Computes in turn with the work of others. Throws `ProtocolError` for what the scheduler refuses. */
async function inSteps<Result>(
  { scheduler, charge }: McpParts,
  account: Account | undefined,
  signal: AbortSignal,
  steps: Steps<Result>,
): Promise<Result> {
  try {
    return await scheduler.run({
      account: account?.id ?? '',
      name: 'resources/read',
      steps,
      isDropped: () => signal.aborted,
      charge: account && charge && ((tokens) => charge(account, tokens)),
    });
  } catch (error) {
    if (error instanceof Failure) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    throw error;
  }
}

const INSTRUCTIONS =
  'Options-market analytics. Every field says its unit. Start with run_strategic_omni_radar for a ticker, or ' +
  'get_live_gex_nodes for its levels alone. Whole columns and definitions are resources (zomma://gex/{ticker}, zomma://methods). ' +
  'Answers from a simulated market say so.';

/** What is listed changes with a release, and is told then; what is read, with each snapshot. */
const CACHE_HINTS = {
  'server/discover': { ttlMs: 3_600_000, cacheScope: 'private' },
  'tools/list': { ttlMs: 3_600_000, cacheScope: 'private' },
  'resources/templates/list': { ttlMs: 3_600_000, cacheScope: 'private' },
  'resources/list': { ttlMs: 60_000, cacheScope: 'private' },
  'resources/read': { ttlMs: 1_000, cacheScope: 'private' },
} as const;

/** What a client follows is kept under the one spelling by which its changes are told. */
function takeSubscriptions(server: Server, followed: Set<string>, { resources, context }: McpParts): void {
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    const uri = resources.canonical(params.uri, context);
    if (followed.size >= FOLLOWED_MAX && !followed.has(uri)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `At most ${FOLLOWED_MAX} resources can be followed in a session`,
      );
    }
    try {
      followed.add(uri);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    }
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    followed.delete(resources.canonical(params.uri, context));
    return {};
  });
}

/** Resources that one session may follow: each is a text that is kept for it. */
export const FOLLOWED_MAX = 1_000;

/**
 * Says what is wrong with a request's parameters in words: the engine gives its validator's notes, of `initialize` even as a defect. And a
 * defect of ours is told to the operator; the client hears no more than that there was one.
 */
class WordedServer extends Server {
  failed: (method: string, error: unknown) => void = () => {};

  protected override _wrapHandler(...[method, handler]: Parameters<Server['_wrapHandler']>) {
    const wrapped = super._wrapHandler(method, handler);
    return async (...given: Parameters<typeof wrapped>) => {
      try {
        return await wrapped(...given);
      } catch (error) {
        const fault = faultOf(error);
        if (fault) throw fault;
        if (!given[1].mcpReq.signal.aborted) this.failed(method, error);
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'The request could not be answered. Retry shortly.');
      }
    };
  }
}

/** What the client can mend; undefined where it is a defect. */
function faultOf(error: unknown): ProtocolError | undefined {
  const [, notes] =
    /^(?:Invalid [\w/]+ request: )?(\[\s*\{.*\])$/s.exec(error instanceof Error ? error.message : '') ?? [];
  if (notes === undefined) return error instanceof ProtocolError ? error : undefined;
  const [issue] = JSON.parse(notes) as { path: string[]; message: string }[];
  const fault = `Invalid params: ${issue?.path.join('.') || 'params'}: ${issue?.message ?? 'not understood'}`;
  // A path may hold names that the caller chose.
  return new ProtocolError(ProtocolErrorCode.InvalidParams, cleanLine(fault));
}
