import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { callTool, type ProgressUpdate } from '../../src/mcp/call-tool.ts';
import { catalogOf } from '../../src/mcp/catalog.ts';
import type { McpDeps } from '../../src/mcp/mcp-deps.ts';
import type { Operation } from '../../src/operations/engine/operation.ts';
import { createScheduler } from '../../src/operations/engine/scheduler.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { servedForTests } from '../support/for-tests.ts';
import { CLIENT_NAMES, CLIENTS, keyOf, type McpClient } from './connect.ts';

/** Calls in steps: their progress reports, their cancellation, and the limit of calls under way. */
let deps: McpDeps;
const { server, service } = servedForTests();
beforeAll(async () => {
  const { context } = service.app;
  deps = {
    context,
    version: '0',
    observe: () => {},
    ...catalogOf('all'),
    tools: () => [SLOW],
    scheduler: createScheduler({ accountJobsMax: 2 }),
  };
});

/** A tool of four steps. Each step takes longer than one turn. */
const SLOW: Operation = {
  ...TOOLS.find(({ name }) => name === 'calculate_kelly_sizing')!,
  name: 'slow',
  *run() {
    for (let step = 1; step <= 4; step++) {
      yield { message: `Step ${step}`, total: 4 };
      for (const until = performance.now() + 10; performance.now() < until; );
    }
    return { result: { win_probability: 0.5, recommended_portfolio_allocation_pct: 1 } };
  },
};
const slowCall = (more: Partial<Parameters<typeof callTool>[1]> = {}) =>
  callTool(deps, {
    ...{ name: 'slow', args: { win_prob: 0.5 }, account: undefined, linksResources: false },
    ...{ signal: new AbortController().signal, ...more },
  });

const RADAR = { name: 'run_strategic_omni_radar', args: { ticker: 'SPY' } };

/** Stores a newer snapshot of the radar's ticker. Its analysis is not cached, so the answer does not arrive together with the first step. */
function storeNewSnapshot(): void {
  const { store } = service.app;
  const chain = store.chain(store.latestChainId(RADAR.args.ticker, true)!)!;
  store.saveChain({ ...chain, asOf: chain.asOf + 1_000 });
}

/** Returns the parameters of all progress reports that a client receives, in their order on the wire. The array grows. */
function progressMessages(client: McpClient): unknown[] {
  const { transport } = client as unknown as Pick<Client, 'transport'>;
  const received: unknown[] = [];
  const handle = transport!.onmessage!;
  transport!.onmessage = (message, extra) => {
    if ('method' in message && message.method === 'notifications/progress') received.push(message.params);
    handle(message, extra);
  };
  return received;
}

describe.each(CLIENT_NAMES)('%s', (name) => {
  test('gets every step of the radar before its answer if it asks for progress, otherwise none', async () => {
    const client = await CLIENTS[name](server.url, keyOf(service));
    const received = progressMessages(client);
    const handled: unknown[] = [];
    const params = { name: RADAR.name, arguments: RADAR.args };
    // A cached answer has no steps.
    storeNewSnapshot();
    const answer = await client.callTool(params, undefined, { onprogress: (step) => handled.push(step) });
    expect(answer.isError).toBeFalsy();
    expect(received).toEqual(
      ['Reading the chain and its volatilities', 'Levels over all expiries', 'Density of the expiry']
        .concat('Concentration and whipsaw risk')
        .map((message, i) => expect.objectContaining({ progress: i + 1, total: 4, message })),
    );
    // Under load, the last report and the answer can arrive together. Clients with MCP SDK version 1 then drop the last report.
    expect(handled.length).toBeGreaterThanOrEqual(3);
    await client.callTool(params);
    expect(received).toHaveLength(4);
    await client.close();
  });

  test('cancels a call and continues to work', async () => {
    const client = await CLIENTS[name](server.url, keyOf(service));
    const leaving = new AbortController();
    storeNewSnapshot();
    const call = client.callTool({ name: RADAR.name, arguments: RADAR.args }, undefined, {
      signal: leaving.signal,
      onprogress: () => leaving.abort('enough'),
    });
    await expect(call).rejects.toThrow();
    const after = await client.callTool({ name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } });
    expect(after.isError).toBeFalsy();
    await client.close();
  });
});

test('a call that is canceled between two steps stops there', async () => {
  const leaving = new AbortController();
  const updates: ProgressUpdate[] = [];
  const onProgress = async (step: ProgressUpdate) => {
    updates.push(step);
    if (updates.length === 2) leaving.abort();
  };
  await slowCall({ signal: leaving.signal, onProgress }).catch(() => {});
  expect(updates).toHaveLength(2);
});

test('other calls run between two steps', async () => {
  const order: string[] = [];
  const call = (name: string) =>
    slowCall({ onProgress: async ({ progress }) => void order.push(`${name}${progress}`) });
  await Promise.all([call('a'), call('b')]);
  expect(order.toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4']);
  expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a4'));
});

test("refuses calls above the account's limit of calls under way, with a result that says so", async () => {
  const answers = await Promise.all([slowCall(), slowCall(), slowCall()]);
  expect(answers.map(({ isError }) => isError === true)).toEqual([false, false, true]);
  expect(answers[2]!.content).toEqual([
    {
      type: 'text',
      text: 'This account has 2 requests in progress, which is its limit. Wait for their answers, then retry.',
    },
  ]);
  expect((await slowCall()).isError).toBeFalsy();
});
