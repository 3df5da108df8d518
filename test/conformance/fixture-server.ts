import type { Handler } from '../../src/http/http-server.ts';
import { listen } from '../../src/http/listen.ts';
import { startService } from '../support/service.ts';
import { FIXTURE_PROMPTS } from './fixture-prompts.ts';
import { FIXTURE_RESOURCES } from './fixture-resources.ts';
import { createFixtureTools } from './fixture-tools.ts';

const STOP_DEADLINE_MS = 1_000;

export interface FixtureServer {
  /** The URL of `/mcp`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the fixtures in place of the own tools, resources and prompts of the service, without a rate limit. Sessions use the given revision. */
export async function serveFixtures(revision: string): Promise<FixtureServer> {
  const tools = createFixtureTools(() => service.app.mcp.wake());
  const service = await startService({
    offered: { tools, resources: FIXTURE_RESOURCES, prompts: FIXTURE_PROMPTS },
  });
  const handle = inRevision(revision, withKey(service.key, service.app.handle));
  const server = listen(handle, { host: '127.0.0.1', port: 0, tls: undefined });
  return {
    url: `${server.url}/mcp`,
    async close() {
      await service.app.mcp.close();
      await server.stop(STOP_DEADLINE_MS);
      await service.close();
    },
  };
}

/** The suites cannot send a custom header, so the proxy adds the key. */
function withKey(key: string, handle: Handler): Handler {
  return (request) => {
    request.headers.set('X-API-Key', key);
    return handle(request);
  };
}

/** The suites' client starts every session with its newest revision. The proxy replaces it with the revision under test. */
function inRevision(revision: string, handle: Handler): Handler {
  const said = `"protocolVersion":"${revision}"`;
  return async (request) => {
    if (request.method !== 'POST') return handle(request);
    const body = (await request.text()).replace(/"protocolVersion":"2025-11-25"/, said);
    return handle(new Request(request, { body }));
  };
}
