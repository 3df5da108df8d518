import { listen } from '../../src/http/listen.ts';
import type { Handler } from '../../src/http/server.ts';
import { startService } from '../support/service.ts';
import { FIXTURE_RESOURCES } from './fixture-resources.ts';
import { createFixtureTools } from './fixture-tools.ts';

const STOP_DEADLINE_MS = 1_000;

export interface FixtureServer {
  /** Of `/mcp`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The service over the fixtures in place of its own tools and resources, without its rate limit; sessions are in that revision. */
export async function serveFixtures(revision: string): Promise<FixtureServer> {
  const tools = createFixtureTools(() => service.app.mcp.wake());
  const service = await startService({ offered: { tools, resources: FIXTURE_RESOURCES } });
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

/** The suites can send no header of their own: the key is added on the way in. */
function withKey(key: string, handle: Handler): Handler {
  return (request) => {
    request.headers.set('X-API-Key', key);
    return handle(request);
  };
}

/** The suites' client begins every session with its newest revision, whichever is tested: it gets to say the one that is. */
function inRevision(revision: string, handle: Handler): Handler {
  const said = `"protocolVersion":"${revision}"`;
  return async (request) => {
    if (request.method !== 'POST') return handle(request);
    const body = (await request.text()).replace(/"protocolVersion":"2025-11-25"/, said);
    return handle(new Request(request, { body }));
  };
}
