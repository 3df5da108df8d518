import { describe, expect, test } from 'bun:test';
import { indented, MCP_REVISION, mcpCurl, mcpRequest, readResponse, toolOutcome } from '../../../web/data/mcp-call.ts';

const KEY = 'ZOMMA_ABCDEFGH12345678';
const REQUEST = mcpRequest('tools/call', { name: 'calculate_kelly_sizing', arguments: { win_prob: 0.5 } }, 7);

test('a request needs no session: it names its revision in the header and in _meta', () => {
  expect(REQUEST.headers).toEqual({
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': MCP_REVISION,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'calculate_kelly_sizing',
  });
  expect(JSON.parse(REQUEST.body)).toMatchObject({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: {
      arguments: { win_prob: 0.5 },
      _meta: { 'io.modelcontextprotocol/protocolVersion': MCP_REVISION },
    },
  });
  expect(mcpRequest('tools/list', {}, 1).headers).not.toHaveProperty('Mcp-Name');
});

test('no text has the key', () => {
  for (const text of [indented(REQUEST.body), mcpCurl(REQUEST, 'http://127.0.0.1:8080')])
    expect(text).not.toContain('ABCDEFGH');
});

test('the request as a shell command, run by sh, sends the same header fields and body', async () => {
  const request = mcpRequest('tools/call', { name: 'x', arguments: { a: 'it\'s $HOME "q"' } }, 1);
  const command = mcpCurl(request, 'http://h').replace(/^curl/, 'printf "%s\\n"');
  const { stdout } = Bun.spawnSync(['sh', '-c', command], { env: { ZOMMA_KEY: KEY } });
  const lines = stdout.toString().trimEnd().split('\n');
  expect(lines[0]).toBe('http://h/mcp');
  expect(lines).toContain(`X-API-Key: ${KEY}`);
  for (const [name, value] of Object.entries(request.headers)) expect(lines).toContain(`${name}: ${value}`);
  expect(lines.at(-1)).toBe(request.body);
});

describe('responses', () => {
  test.each([
    ['a result', '{"jsonrpc":"2.0","id":1,"result":{"a":1}}', 200, { result: { a: 1 } }],
    [
      'an error of the protocol',
      '{"error":{"code":-32602,"message":"Tool \'x\' is not registered"}}',
      200,
      { problem: "Tool 'x' is not registered" },
    ],
    ['a problem of HTTP', '{"detail":"Too many requests","hint":"Wait"}', 429, { problem: 'Too many requests. Wait' }],
    ['no JSON', '<html>', 502, { problem: 'The server answered with status 502 and no JSON.' }],
    ['nothing known', '{}', 500, { problem: 'The server answered with status 500.' }],
  ])('%s', (_, text, status, expected) => {
    expect(readResponse(text, status) as object).toEqual(expected);
  });

  const exchange = { request: REQUEST, status: 200, response: '{"a":[1]}', took: 12.4 };

  test('of tools: an answer with its provenance, or the sentence of the error', () => {
    const content = [{ type: 'text', text: '{}' }, { type: 'text', text: 'Source: "x".' }, { type: 'resource_link' }];
    expect(toolOutcome({ exchange, result: { structuredContent: { p: 1 }, content } })).toEqual({
      exchange,
      answer: { p: 1 },
      provenance: 'Source: "x".',
    });
    expect(toolOutcome({ exchange, result: { isError: true, content: [{ text: '/a must be b' }] } })).toEqual({
      exchange,
      provenance: '',
      problem: '/a must be b',
    });
    expect(toolOutcome({ exchange, problem: 'no' })).toEqual({ exchange, provenance: '', problem: 'no' });
  });

  test('as text have status, time and indented JSON', () => {
    expect(indented(exchange.response)).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(indented('x')).toBe('x');
  });
});
