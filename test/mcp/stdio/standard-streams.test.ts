import { describe, expect, test } from 'bun:test';
import { until } from '../../support/until.ts';
import { lineClient } from './line-client.ts';

const CALL = { id: 1, method: 'tools/call' };
const CANCEL = { method: 'notifications/cancelled', params: { requestId: 1 } };

describe('an input that has ended', () => {
  test.each([
    ['no message', []],
    ['a notification', [{ method: 'notifications/initialized' }]],
    ['a subscription', [{ id: 'listen:0', method: 'subscriptions/listen' }]],
    ['a canceled call', [CALL, CANCEL]],
  ])('closes the streams at once after %s', async (_name, messages) => {
    const { streams, say, input } = await started();
    say(...messages);
    input.end();
    await streams.closed;
    expect(input.destroyed).toBe(true);
  });

  test.each([
    ['an answer', (client: Started) => client.streams.send({ jsonrpc: '2.0', id: 1, result: {} })],
    ['a cancellation', (client: Started) => client.streams.onmessage?.({ jsonrpc: '2.0', ...CANCEL })],
    ['a signal', (client: Started) => client.streams.close()],
  ])('waits with a call under way until %s', async (_name, end) => {
    const client = await started();
    const { streams, say, input, taken } = client;
    say(CALL, { id: 2, method: 'ping' });
    input.end();
    await until(() => taken.length === 2);
    await streams.send({ jsonrpc: '2.0', id: 2, result: {} });
    let isClosed = false;
    void streams.closed.then(() => {
      isClosed = true;
    });
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    await end(client);
    await streams.closed;
  });

  test('waits for a call only up to its time limit', async () => {
    const { streams, say, input } = await started(10);
    say(CALL);
    input.end();
    await streams.closed;
    await expect(streams.send({ jsonrpc: '2.0', id: 1, result: {} })).rejects.toThrow(/closed/);
  });
});

test('a wait for the last answers ends when the streams are closed', async () => {
  const { streams, say, taken } = await started();
  say(CALL);
  await until(() => taken.length === 1);
  const waited = streams.waitForAnswers(60_000);
  await streams.close();
  await waited;
});

test.each([
  ['a line that is too long', ({ input }: Started) => input.write('x'.repeat(11 * 1024 * 1024))],
  ['an output that has closed', ({ output }: Started) => output.destroy(new Error('EPIPE'))],
])('%s closes the streams and releases the input', async (_name, end) => {
  const client = await started();
  end(client);
  await client.streams.closed;
  await until(() => client.input.destroyed);
});

type Started = Awaited<ReturnType<typeof started>>;

async function started(lastAnswersMs?: number) {
  const client = lineClient(lastAnswersMs);
  const taken: unknown[] = [];
  client.streams.onmessage = (message) => taken.push(message);
  await client.streams.start();
  return { ...client, taken };
}
