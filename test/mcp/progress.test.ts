import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createCallGate } from '../../src/mcp/call-gate.ts';
import { callTool, type Progress } from '../../src/mcp/call-tool.ts';
import { OFFERED } from '../../src/mcp/offered.ts';
import type { McpParts } from '../../src/mcp/parts.ts';
import { type Served, type Service, startServed } from '../support/service.ts';
import { CLIENT_NAMES, CLIENTS, keyOf } from './connect.ts';

/** Calls in steps: what clients hear of them, that they can be cancelled, and how many may be under way. */
let service: Service;
let server: Served;
let parts: McpParts;
beforeAll(async () => {
  server = await startServed();
  ({ service } = server);
  const { context } = service.app;
  parts = { context, version: '0', observe: () => {}, ...OFFERED, gate: createCallGate(2) };
});
afterAll(() => server.close());

const RADAR = { name: 'run_strategic_omni_radar', args: { ticker: 'SPY' } };

describe.each(CLIENT_NAMES)('%s', (name) => {
  test('hears every step of the radar before its answer, and nothing where it did not ask', async () => {
    const client = await CLIENTS[name](server.url, keyOf(service));
    const heard: unknown[] = [];
    const params = { name: RADAR.name, arguments: RADAR.args };
    const answer = await client.callTool(params, undefined, { onprogress: (step) => heard.push(step) });
    expect(answer.isError).toBeFalsy();
    expect(heard).toEqual(
      ['Reading the chain and its volatilities', 'Levels over all expiries', 'Density of the expiry']
        .concat('Concentration and whipsaw risk')
        .map((message, at) => ({ progress: at + 1, total: 4, message })),
    );
    await client.callTool(params);
    expect(heard).toHaveLength(4);
    await client.close();
  });

  test('cancels a call, and goes on', async () => {
    const client = await CLIENTS[name](server.url, keyOf(service));
    const leaving = new AbortController();
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

test('a call that is cancelled between two steps does no more of them', async () => {
  const leaving = new AbortController();
  const told: Progress[] = [];
  const progressed = async (step: Progress) => {
    told.push(step);
    if (told.length === 2) leaving.abort();
  };
  const call = callTool(parts, {
    ...RADAR,
    account: undefined,
    signal: leaving.signal,
    linksResources: false,
    progressed,
  });
  await call.catch(() => {});
  expect(told).toHaveLength(2);
});

test('others have their turn between two steps', async () => {
  const order: string[] = [];
  const call = (name: string) => {
    const progressed = async ({ progress }: Progress) => void order.push(`${name}${progress}`);
    const { signal } = new AbortController();
    return callTool(parts, { ...RADAR, account: undefined, signal, linksResources: false, progressed });
  };
  await Promise.all([call('a'), call('b')]);
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4', 'b4']);
});

test('more calls under way than an account may have are refused with a result that says so', async () => {
  const call = () =>
    callTool(parts, { ...RADAR, account: undefined, signal: new AbortController().signal, linksResources: false });
  const answers = await Promise.all([call(), call(), call()]);
  expect(answers.map(({ isError }) => isError === true)).toEqual([false, false, true]);
  expect(answers[2]!.content).toEqual([
    { type: 'text', text: 'This account has 2 calls under way. Wait for their answers, then call again.' },
  ]);
  expect((await call()).isError).toBeFalsy();
});
