import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { decodePng } from '../picture/decode-png.ts';
import { servedForTests } from '../support/for-tests.ts';
import { CLIENT_NAMES, CLIENTS, keyOf, type McpClient } from './connect.ts';

/** Answers that are also drawn, with the official clients over real sockets. */
const { server } = servedForTests();

describe.each(CLIENT_NAMES)('%s', (name) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await CLIENTS[name](server.url, keyOf(server.service));
    await client.listTools();
  });
  afterAll(() => client.close());

  const ask = async (args: object) => {
    const answer = await client.callTool({ name: 'get_hedging_profile', arguments: { ticker: 'SPY', ...args } });
    const content = answer.content as { type: string; text?: string; data?: string; mimeType?: string }[];
    return { answer, content, images: content.filter(({ type }) => type === 'image') };
  };

  test('the format image adds a PNG to the same answer', async () => {
    const { answer, content, images } = await ask({ moves: [-1, 1], format: 'image' });
    expect(answer.isError ?? false).toBe(false);
    expect(images).toEqual([{ type: 'image', data: expect.any(String), mimeType: 'image/png' }]);
    expect(decodePng(Buffer.from(images[0]!.data!, 'base64')).height).toBe(560);
    expect(JSON.parse(content[0]!.text!)).toEqual(answer.structuredContent);
    expect((answer.structuredContent as { rows: object[] }).rows).toHaveLength(2);
  });

  test.each([[{}], [{ format: 'table' }]])('no picture with %p', async (args) => {
    expect((await ask(args)).images).toEqual([]);
  });

  test('a refused call has no picture', async () => {
    const { answer, images } = await ask({ moves: [], format: 'image' });
    expect([answer.isError, images]).toEqual([true, []]);
  });
});
