import { ProtocolError, type RequestMeta, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import { cleanLine } from '../core/clean-text.ts';
import { ClientError } from '../core/errors.ts';
import { callTool } from './call-tool.ts';
import { complete } from './completion.ts';
import { readsResources as canRead } from './known-clients.ts';
import { type McpDeps, type McpSession, SUBSCRIPTIONS_MAX } from './mcp-deps.ts';
import { getPrompt, promptDefinitions } from './prompts.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, McpError, UnknownResource } from './protocol-errors.ts';
import { readResource } from './read-resource.ts';
import { identityOf } from './server-identity.ts';
import { textForModel } from './text-for-model.ts';
import { listedTools } from './tool-definitions.ts';

/** Creates an SDK server with the tools, resources and prompts. The SDK server serves a whole connection, or the requests of one POST. */
export function createMcpServer(deps: McpDeps, { account, subscribed, readsResources }: McpSession): Server {
  const { context, tools, resources, prompts = [] } = deps;
  const names = () => tools().map(({ name }) => name);
  const { serverInfo, ...options } = identityOf(deps);
  const server = new ReadableErrorServer(serverInfo, { ...options, cacheHints: CACHE_HINTS });
  server.onInternalError = (method, error) => deps.observe({ kind: 'tool_failed', tool: method, error });
  server.setRequestHandler('tools/list', () => listedTools(deps));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq: { signal, notify } }) => {
    const { progressToken, [LINKS_META]: wantsLinks } = (params._meta ?? {}) as RequestMeta;
    const { name, arguments: args = {} } = params;
    return callTool(deps, {
      ...{ account, name, args, signal },
      linksResources: wantsLinks === true || (readsResources ?? canRead(server.getClientVersion())),
      ...(progressToken !== undefined && {
        onProgress: (step) => notify({ method: 'notifications/progress', params: { progressToken, ...step } }),
      }),
    });
  });
  server.setRequestHandler('resources/list', ({ params }) => ({ ...resources.list(context, params?.cursor) }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: resources.templates }));
  server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
    readResource(deps, { account, signal }, params.uri),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts: promptDefinitions(prompts, names()) }));
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(prompts, names(), params.name, params.arguments));
  server.setRequestHandler('completion/complete', ({ params }) => complete(params, context));
  if (subscribed) handleSubscriptions(server, subscribed, deps);
  return server;
}

/** The key in a call's `_meta` by which a client asks for links to resources with the full data. */
const LINKS_META = 'zomma/links';

/** Cache hints. Tools, templates and prompts change only with a release. Resources change with each snapshot. */
const CACHE_HINTS = {
  'server/discover': { ttlMs: 3_600_000, cacheScope: 'private' },
  'tools/list': { ttlMs: 3_600_000, cacheScope: 'private' },
  'resources/templates/list': { ttlMs: 3_600_000, cacheScope: 'private' },
  'prompts/list': { ttlMs: 3_600_000, cacheScope: 'private' },
  'resources/list': { ttlMs: 60_000, cacheScope: 'private' },
  'resources/read': { ttlMs: 1_000, cacheScope: 'private' },
} as const;

/** Handles subscriptions. Stores URIs in their canonical form, because notifications use this form. */
function handleSubscriptions(server: Server, subscribed: Set<string>, { resources, context }: McpDeps): void {
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    const uri = resources.canonical(params.uri, context);
    if (subscribed.size >= SUBSCRIPTIONS_MAX && !subscribed.has(uri)) {
      throw new McpError(INVALID_PARAMS, `A session can subscribe to at most ${SUBSCRIPTIONS_MAX} resources`);
    }
    try {
      subscribed.add(uri);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      throw new McpError(INTERNAL_ERROR, textForModel(error));
    }
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(resources.canonical(params.uri, context));
    return {};
  });
}

/**
 * An SDK server with readable errors. The SDK sends the issues of its validator as JSON, or an internal error for an invalid `initialize`.
 * This class sends -32602 and words. An internal error is reported to the operator, and the client gets no details of it.
 */
class ReadableErrorServer extends Server {
  onInternalError: (method: string, error: unknown) => void = () => {};

  protected override _wrapHandler(...[method, handler]: Parameters<Server['_wrapHandler']>) {
    const wrapped = super._wrapHandler(method, handler);
    return async (...given: Parameters<typeof wrapped>) => {
      const [request, context] = given;
      try {
        return await wrapped(method === 'tools/call' ? withArguments(request) : request, context);
      } catch (error) {
        const protocolError = protocolErrorOf(error);
        if (protocolError) throw protocolError;
        if (!context.mcpReq.signal.aborted) this.onInternalError(method, error);
        throw new ProtocolError(INTERNAL_ERROR, 'The request could not be answered. Retry shortly.');
      }
    };
  }
}

/** Returns a tool call with empty arguments in place of null, which some hosts send and the SDK refuses. */
function withArguments<Call extends { readonly params?: Record<string, unknown> | undefined }>(call: Call): Call {
  return call.params?.arguments === null ? { ...call, params: { ...call.params, arguments: {} } } : call;
}

/** Returns the error to send if the client can correct the request. Returns `undefined` for an internal error. */
function protocolErrorOf(error: unknown): ProtocolError | undefined {
  if (error instanceof UnknownResource) return new ResourceNotFoundError(error.uri, error.message);
  if (error instanceof McpError) return new ProtocolError(error.code, error.message, error.data);
  const [, issues] =
    /^(?:Invalid [\w/]+ request: )?(\[\s*\{.*\])$/s.exec(error instanceof Error ? error.message : '') ?? [];
  if (issues === undefined) return error instanceof ProtocolError ? error : undefined;
  const [issue] = JSON.parse(issues) as { path: string[]; message: string }[];
  const message = `Invalid params: ${issue?.path.join('.') || 'params'}: ${issue?.message ?? 'not understood'}`;
  // The path in the error may contain names from the client.
  return new ProtocolError(INVALID_PARAMS, cleanLine(message));
}
