import { beforeAll, describe, expect, test } from 'bun:test';
import { TOOLS } from '../../src/operations/registry.ts';
import { servedForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  CLIENT_NAMES,
  CLIENTS,
  type ClientName,
  keyOf,
  LISTED,
  listed,
  type McpClient,
  READER,
  VALID,
} from './connect.ts';

const PROMPTS = ['ticker_brief', 'squeeze_comparison', 'spread_check', 'pre_open_brief', 'data_check'];

/** The official clients of both generations over real sockets. The server behaves the same for each of them. */
const { server, service } = servedForTests({ hasAllTickers: true });
beforeAll(() => computeLevels(service));

describe.each(CLIENT_NAMES.filter((name) => !name.includes('SSE')))('%s without a key', (name) => {
  test('gets 401 and starts no sign-in, because the server offers none', async () => {
    const paths: string[] = [];
    const front = Bun.serve({
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url);
        paths.push(pathname);
        return fetch(new URL(pathname, server.url), {
          method: request.method,
          headers: request.headers,
          body: request.body,
        });
      },
    });
    const refusal = await CLIENTS[name](String(front.url), {}).catch((error: unknown) => error);
    await front.stop(true);
    expect(String(refusal)).toMatch(/401|[Uu]nauthori[sz]ed/);
    expect([...new Set(paths)]).toEqual(['/mcp']);
    // With the key as a bearer token, as the challenge says.
    const client = await CLIENTS[name](server.url, { Authorization: `Bearer ${service.key}` });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(LISTED);
    await client.close();
  });
});

describe.each(CLIENT_NAMES)('%s', (name) => {
  test('lists exactly the registered tools, with units, schemas and annotations', async () => {
    await using client = await connected(name);
    const { tools, _meta } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(LISTED);
    expect(_meta?.['zomma/registry']).toMatch(/^[0-9a-f]{16}$/);
    for (const tool of tools.slice(0, -1)) {
      expect(tool.title).toBeString();
      expect(tool.annotations).toMatchObject({ readOnlyHint: true });
      for (const schema of [tool.inputSchema, tool.outputSchema!]) {
        for (const [field, property] of Object.entries(schema.properties!)) {
          const { description } = property as { description?: string };
          expect([tool.name, field, typeof description]).toEqual([tool.name, field, 'string']);
        }
      }
    }
    const greeks = tools[0]!.inputSchema as { required?: string[] };
    expect(greeks.required?.toSorted()).toEqual(['iv', 'put_call', 'rate', 'spot', 'strike', 'tte']);
  });

  test.each(Object.keys(VALID))('calls %s with valid and with invalid arguments', async (toolName) => {
    await using client = await connected(name);
    // The client checks structured content against the output schema only after it has listed the tools.
    await client.listTools();
    const answer = await client.callTool({ name: toolName, arguments: listed(VALID[toolName]!, service) });
    expect(answer.isError).toBeFalsy();
    expect(JSON.parse(textOf(answer))).toEqual(answer.structuredContent);
    const tool = TOOLS.find((each) => each.name === toolName)!;
    const { answers, onDemand = [] } = tool.tool!;
    const keys = Object.keys(answer.structuredContent as object);
    expect(keys.filter((key) => !onDemand.includes(key))).toEqual([...answers, 'provenance']);
    const { required = [] } = tool.input;
    for (const bad of [...(required.length > 0 ? [{}] : []), { ...VALID[toolName], extra: 1 }]) {
      const refusal = await client.callTool({ name: toolName, arguments: bad });
      expect(refusal.isError).toBe(true);
      expect(textOf(refusal)).toContain('Fields:');
    }
  });

  test('gets the contract’s message for an unknown tool, and the nearest real names', async () => {
    await using client = await connected(name);
    const refusal = await client.callTool({ name: 'get_gex_nodes', arguments: {} }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^(MCP error -32602: )?Tool 'get_gex_nodes' is not registered$/),
      data: { nearest: expect.arrayContaining(['get_live_gex_nodes']) },
    });
  });

  test('gets provenance within answers from market data, and in the metadata as REST has it', async () => {
    await using client = await connected(name);
    const answer = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'spy' } });
    expect((answer.structuredContent as { provenance: object }).provenance).toMatchObject({
      ...{ simulated: true, source: 'simulated', stale: expect.any(Boolean) },
      as_of: expect.stringMatching(/^20\d\d-.*Z$/),
      age: expect.stringMatching(/^\d+ (?:s|min|h|days)$/),
      market: expect.stringMatching(/^(?:open until|closed since) \w{3} 20\d\d-/),
      notes: expect.arrayContaining(['Simulated market: no real quotes.']),
    });
    expect(answer._meta).toMatchObject({ 'zomma/provenance': { simulated: true, age_s: expect.any(Number) } });
  });

  test('gets links to the columns behind an answer if its model follows links, or if it asks for them', async () => {
    const call = { name: 'get_live_gex_nodes', arguments: { ticker: 'spy' } };
    const linksOf = (answer: object) =>
      (answer as { content: { type: string; uri?: string }[] }).content.filter(({ type }) => type === 'resource_link');
    await using client = await connected(name);
    expect(linksOf(await client.callTool(call))).toEqual([]);
    const links = linksOf(await client.callTool({ ...call, _meta: { 'zomma/links': true } }));
    expect(links.map(({ uri }) => uri)).toEqual(['zomma://gex/SPY/profile', 'zomma://gex/SPY/strikes/all']);
    for (const { uri } of links) {
      const [content] = (await client.readResource({ uri: uri! })).contents;
      expect(JSON.parse((content as { text: string }).text)).toMatchObject({
        ticker: 'SPY',
        count: expect.any(Number),
      });
    }
    await using reader = await connected(name, READER);
    // Also a client with tools for listed resources gets the tool, because it lists neither templates nor queries.
    expect((await reader.listTools()).tools.map((tool) => tool.name)).toEqual(LISTED);
    expect(linksOf(await reader.callTool(call))).toHaveLength(2);
  });

  test('reads resources with a tool, and gets an error with a way on', async () => {
    await using client = await connected(name);
    const read = (uri: unknown) => client.callTool({ name: 'read_resource', arguments: { uri } });
    for (const uri of [
      ...['zomma://universe', 'zomma://methods/get_live_gex_nodes', 'zomma://methods/read_resource'],
      ...['record', 'expiries', 'flow', 'prints', 'surface', 'history'].map((each) => `zomma://gex/SPY/${each}`),
    ]) {
      const [content] = (await client.readResource({ uri })).contents;
      // The ages may differ by a second, and the moment of a page by milliseconds.
      const withoutAges = (text: string) => text.replace(/"\d+ s"|~\d{13}~/g, '');
      const answer = await read(uri);
      expect(withoutAges(textOf(answer))).toBe(withoutAges((content as { text: string }).text));
      // Some hosts show their models only the structured content.
      const { structuredContent } = answer as { structuredContent?: unknown };
      const whole = uri.includes('methods') ? { text: textOf(answer) } : JSON.parse(textOf(answer));
      expect(structuredContent).toEqual(whole);
    }
    for (const [uri, message] of [
      ['zomma://nothing', /^There is no such resource\. Resources: zomma:\/\/universe/],
      ['zomma://gex/NOPE', /Nearest with data: /],
      [7, /^\/uri must be a string/],
    ] as const) {
      const refusal = await read(uri);
      expect([refusal.isError, textOf(refusal)]).toEqual([true, expect.stringMatching(message)]);
    }
  });

  test('lists five prompts, and gets each of them with its arguments', async () => {
    await using client = await connected(name);
    const { prompts } = await client.listPrompts();
    expect(prompts.map((prompt) => prompt.name)).toEqual(PROMPTS);
    for (const prompt of prompts) {
      const args = Object.fromEntries((prompt.arguments ?? []).map((each) => [each.name, `«${each.name}»`]));
      const { messages } = await client.getPrompt({ name: prompt.name, arguments: args });
      const text = messages.map(({ content }) => (content as { text: string }).text).join();
      for (const given of Object.values(args)) expect(text).toContain(given);
      // Each name of a tool in the text is a tool that the server offers.
      for (const [tool] of text.matchAll(/\b(?:get|run|screen|detect|calculate|compute|evaluate)_\w+/g))
        expect(LISTED).toContain(tool);
    }
    const refusal = await client.getPrompt({ name: 'ticker_brief', arguments: {} }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: -32602, message: expect.stringContaining('ticker (Ticker, e.g. SPY)') });
  });

  test('reads every listed resource, and gets an error for an unknown one', async () => {
    await using client = await connected(name);
    const { resources } = await client.listResources();
    expect(resources).toHaveLength(63);
    for (const { uri, mimeType } of [...resources.slice(0, 4), resources.at(-1)!]) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType, text: expect.any(String) }]);
    }
    for (const uri of ['zomma://nothing', 'zomma://gex/NOPE', 'zomma://gex/SPY/strikes/never', 'file:///etc/passwd']) {
      const refusal = await client.readResource({ uri }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: -32602, data: { uri } });
    }
  });

  test('completes tickers, and the expiries of a ticker', async () => {
    await using client = await connected(name);
    const completed = async (uri: string, argument: { name: string; value: string }, filled = {}) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument, context: { arguments: filled } }))
        .completion.values;
    expect(await completed('zomma://gex/{ticker}', { name: 'ticker', value: 'sp' })).toEqual(['SPX', 'SPY']);
    const strikes = 'zomma://gex/{ticker}/strikes/{expiry}';
    const expiries = await completed(strikes, { name: 'expiry', value: '20' }, { ticker: 'spy' });
    expect(expiries.length).toBeGreaterThan(3);
    expect(expiries.every((each) => /^20\d\d-\d\d-\d\d$/.test(each))).toBe(true);
    expect(await completed(strikes, { name: 'expiry', value: 'a' }, { ticker: 'SPY' })).toEqual(['all']);
    expect(await completed(strikes, { name: 'expiry', value: '' })).toEqual([]);
  });

  test('is refused without a valid key', async () => {
    for (const key of ['OTHER_0123456789ABCDEF', 'ZOMMA_0000000000000000']) {
      await expect(CLIENTS[name](server.url, { 'X-API-Key': key })).rejects.toThrow(/Invalid Subscriber Key|403/);
    }
    await expect(CLIENTS[name](server.url, {})).rejects.toThrow();
  });

  test('works in fifty sessions at once, and each session gets its own answers', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => CLIENTS[name](server.url, keyOf(service))));
    try {
      const answers = await Promise.all(
        clients.map((client, i) =>
          client.callTool({ name: 'calculate_kelly_sizing', arguments: { win_prob: i / 50 } }),
        ),
      );
      expect(
        answers.map((answer) => (answer.structuredContent as { win_probability: number }).win_probability),
      ).toEqual(clients.map((_, i) => i / 50));
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
    await until(() => service.app.mcp.loaded!.sse.size === 0);
  });
});

function textOf(answer: object): string {
  return (answer as { content: { text: string }[] }).content[0]!.text;
}

/** A client that is closed at the end of its scope. */
async function connected(name: ClientName, who?: string): Promise<McpClient & AsyncDisposable> {
  const client = await CLIENTS[name](server.url, keyOf(service), who);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
