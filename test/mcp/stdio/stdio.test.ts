import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { listen } from '../../../src/http/listen.ts';
import { TOOLS } from '../../../src/operations/registry.ts';
import { writeChain } from '../../support/chain-file.ts';
import { PROGRAM, run, withFolder } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { LISTED } from '../connect.ts';

/** `zomma mcp` as clients start it: a process that a client reaches over its standard streams. */
const WHO = { name: 'test', version: '1' };

const CLIENTS = {
  v1: async (args: readonly string[]) => {
    const client = new Client(WHO);
    await client.connect(new StdioClientTransport(processOf(args)));
    return client;
  },
  'v2 as in 2025': (args: readonly string[]) => connectNew('legacy', args),
  'v2 as in 2026': (args: readonly string[]) => connectNew('auto', args),
};
const NAMES = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];

describe('without a server', () => {
  test.each(NAMES)('%s gets the simulated market if nothing is stored, and no data folder is made', async (name) => {
    await withFolder(async (folder) => {
      const client = await CLIENTS[name](['--data-dir', join(folder, 'data')]);
      expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(LISTED);
      const answer = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } });
      expect(answer._meta).toMatchObject({ 'zomma/provenance': { simulated: true } });
      const repaired = await client.callTool({ name: 'screen_tickers', arguments: { tickers: 'SPY', at: null } });
      expect(repaired.structuredContent).toMatchObject({
        provenance: { notes: expect.arrayContaining(['Arguments were repaired: tickers is ["SPY"], at is left out.']) },
      });
      const refusal = await client.callTool({ name: 'no_such_tool', arguments: {} }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ message: expect.stringContaining("Tool 'no_such_tool' is not registered") });
      await client.close();
      expect(existsSync(join(folder, 'data'))).toBe(false);
    });
  });

  test.each(NAMES)(
    'stores a requested feed, and reports changes that %s follows, whichever process stores them',
    async (name) => {
      await withFolder(async (folder) => {
        const [chains, dataDir] = [join(folder, 'chains'), join(folder, 'data')];
        mkdirSync(chains);
        writeChain(join(chains, 'a.csv'), 'TEST');
        const client = await CLIENTS[name](['--data-dir', dataDir, '--feed', `files:${chains}`]);
        const uri = 'zomma://gex/OTHER';
        const { notified } = await follow(client, uri);
        writeChain(join(folder, 'b.csv'), 'OTHER');
        expect((await run(PROGRAM, ['ingest', join(folder, 'b.csv'), '--data-dir', dataDir])).code).toBe(0);
        expect(await notified).toBe(uri);
        await client.close();
        // Its stored data answers the next process, without the feed.
        const again = await CLIENTS.v1(['--data-dir', dataDir]);
        const answer = await again.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'OTHER' } });
        expect(answer.structuredContent).toMatchObject({ ticker: 'OTHER', call_wall: 105 });
        expect(answer._meta).toMatchObject({ 'zomma/provenance': { simulated: false } });
        await again.close();
      });
    },
  );
});

describe('in front of a running server', () => {
  test.each(NAMES)('%s has the same tools and answers', async (name) => {
    await withServer(async ({ service, url }) => {
      const client = await CLIENTS[name](['--url', url, '--key', service.key]);
      expect((await client.listTools()).tools).toHaveLength(LISTED.length);
      const answer = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } });
      expect(answer.structuredContent).toMatchObject({ ticker: 'SPY' });
      const refusal = await client.callTool({ name: 'no_such_tool', arguments: {} }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ message: expect.stringContaining("Tool 'no_such_tool' is not registered") });
      await client.close();
    });
  });

  test.each(NAMES)(
    '%s continues after a restart of the server, and learns that the tools may have changed',
    async (name) => {
      await withServer(async (started) => {
        const client = await CLIENTS[name](['--url', started.url, '--key', started.service.key]);
        const { notified } = await followTools(client);
        const call = () => client.callTool({ name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } });
        expect((await call()).isError).toBeFalsy();
        await started.restart();
        expect((await call()).isError).toBeFalsy();
        expect((await client.listTools()).tools).toHaveLength(LISTED.length - 1);
        await notified;
        await followTools(client);
        await client.close();
      });
    },
  );

  test('input that is piped in all at once waits for the session to begin', async () => {
    await withServer(async ({ service, url }) => {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: WHO };
      const call = { name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } };
      const requests = [
        { id: 0, method: 'initialize', params },
        { method: 'notifications/initialized' },
        { id: 1, method: 'tools/call', params: call },
      ].map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`);
      const { stdout } = await run(PROGRAM, ['mcp', '--url', url, '--key', service.key], requests.join(''));
      const answers = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(answers.map(({ id, result }) => [id, result !== undefined])).toEqual([
        [0, true],
        [1, true],
      ]);
    });
  });

  test('names the error: an invalid key, no server', async () => {
    await withServer(async ({ service, url }) => {
      await expect(CLIENTS.v1(['--url', url, '--key', 'ZOMMA_0000000000000000'])).rejects.toThrow(
        /Invalid Subscriber Key\. Fetch your current key/,
      );
      await expect(CLIENTS.v1(['--url', 'http://127.0.0.1:1', '--key', service.key])).rejects.toThrow(
        /No server answers at http:\/\/127\.0\.0\.1:1\. Check that the server is running\./,
      );
    });
  });

  test.each([
    ['an invalid address', ['--url', 'zomma'], 1, /not the address of a server/],
    ['no key', ['--url', 'http://127.0.0.1:1'], 78, /ZOMMA_KEY/],
    ['a key without a server', ['--key', 'ZOMMA_0000000000000000'], 1, /--url/],
  ])('%s is refused', async (_name, args, exitCode, message) => {
    const { code, stderr } = await run(PROGRAM, ['mcp', ...args], '');
    expect([code, message.test(stderr)]).toEqual([exitCode, true]);
  });
});

function processOf(args: readonly string[]) {
  const [command, ...before] = PROGRAM;
  return { command: command!, args: [...before, 'mcp', ...args] };
}

async function connectNew(mode: 'legacy' | 'auto', args: readonly string[]) {
  const client = new NewClient(WHO, { versionNegotiation: { mode } });
  await client.connect(new NewStdio(processOf(args)));
  return client;
}

type AnyClient = Awaited<ReturnType<(typeof CLIENTS)[keyof typeof CLIENTS]>>;

/** Follows a resource. `notified` resolves with the address of the first notification. */
async function follow(client: AnyClient, uri: string): Promise<{ notified: Promise<string> }> {
  const { promise: notified, resolve } = Promise.withResolvers<string>();
  if (client instanceof Client) {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
  } else {
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
  }
  if (client instanceof NewClient && client.getProtocolEra() === 'modern') {
    await client.listen({ resourceSubscriptions: [uri] });
  } else await client.subscribeResource({ uri });
  return { notified };
}

/** Follows the tools. `notified` resolves when the client is notified of changed tools, or, without a session, when its subscription ends. */
async function followTools(client: AnyClient): Promise<{ notified: Promise<unknown> }> {
  const { promise: notified, resolve } = Promise.withResolvers<void>();
  if (client instanceof Client) client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  else if (client.getProtocolEra() === 'modern')
    return { notified: (await client.listen({ toolsListChanged: true })).closed };
  else client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
  return { notified };
}

interface Started {
  readonly service: Service;
  readonly url: string;
  /** Restarts the server on the same port, without knowledge of sessions, and with one tool less. */
  restart(): Promise<void>;
}

async function withServer(use: (started: Started) => Promise<void>): Promise<void> {
  await using service = await startService();
  let server = listen(service.app.handle, { host: '127.0.0.1', port: 0, tls: undefined });
  const { url } = server;
  await use({
    service,
    url,
    async restart() {
      await service.app.mcp.close();
      await server.stop(1_000);
      await service.reopen(TOOLS.slice(1));
      server = listen(service.app.handle, { host: '127.0.0.1', port: Number(new URL(url).port), tls: undefined });
    },
  });
  await service.app.mcp.close();
  await server.stop(1_000);
}
