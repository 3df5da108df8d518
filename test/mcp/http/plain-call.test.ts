import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import {
  isPlainInitialized,
  plainCallOf,
  plainInitializeOf,
  plainListOf,
  REVISIONS,
} from '../../../src/mcp/http/plain-call.ts';
import { ACCEPT, INITIALIZE, INITIALIZED } from '../../support/mcp-wire.ts';
import { ROOT } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';

/** Tool calls that do not need the SDK get the same answers as from the SDK. All other messages go to the SDK. */
let service: Service;
let session: Record<string, string>;
beforeAll(async () => {
  service = await startService();
  session = await begin();
});
afterAll(() => service.close());

const HEADERS = { ...ACCEPT, 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25' };
const KELLY = { name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: KELLY };

async function begin(): Promise<Record<string, string>> {
  const response = await service.request('POST', '/mcp', { body: INITIALIZE, headers: ACCEPT });
  const headers = { ...HEADERS, 'Mcp-Session-Id': response.headers.get('mcp-session-id')! };
  await service.request('POST', '/mcp', { body: INITIALIZED, headers });
  return headers;
}

const post = (body: unknown, headers: Record<string, string | null> = {}) =>
  service.request('POST', '/mcp', { body, headers: { ...session, ...headers } });

describe('a call is plain', () => {
  const cases: [what: string, change: object, headers: Record<string, string>, isPlain: boolean][] = [
    ['as clients send it', {}, {}, true],
    ['with a text as its id', { id: 'a' }, {}, true],
    ['without arguments', { params: { name: 'x' } }, {}, true],
    ['as JSON with a charset', {}, { 'Content-Type': 'application/json; charset=utf-8' }, true],
    ['but not with metadata', { params: { ...KELLY, _meta: { progressToken: 1 } } }, {}, false],
    ['but not with an unknown field', { extra: 1 }, {}, false],
    ['but not without an id', { id: undefined }, {}, false],
    ['but not with a fraction as its id', { id: 1.5 }, {}, false],
    ['but not with another version of JSON-RPC', { jsonrpc: '1.0' }, {}, false],
    ['but not with another method', { method: 'tools/list' }, {}, false],
    ['but not with a name that is not text', { params: { name: 1 } }, {}, false],
    ['but not with a list as its arguments', { params: { ...KELLY, arguments: [] } }, {}, false],
    ['but not if events are not accepted', {}, { Accept: 'application/json' }, false],
    ['but not with another content type', {}, { 'Content-Type': 'text/plain' }, false],
    ['but not with an unknown revision', {}, { 'MCP-Protocol-Version': '1999-01-01' }, false],
  ];
  test.each(cases)('%s', (_, change, headers, isPlain) => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: { ...HEADERS, ...headers } });
    expect(plainCallOf(request, { ...CALL, ...change }) !== undefined).toBe(isPlain);
  });
  test.each([[[CALL]], [null], ['text'], [1]])('but not if the body is %j', (body) => {
    expect(plainCallOf(new Request('http://localhost/mcp', { headers: HEADERS }), body)).toBeUndefined();
  });
});

describe('gets the same answer as from the SDK', () => {
  const calls: [what: string, params: { name: string; arguments?: object }][] = [
    ['a tool', KELLY],
    ['a tool of the market', { name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } }],
    ['a tool in steps', { name: 'run_strategic_omni_radar', arguments: { ticker: 'SPY' } }],
    ['invalid arguments', { name: 'calculate_kelly_sizing', arguments: { win_prob: 2 } }],
    ['no arguments', { name: 'calculate_kelly_sizing' }],
    ['an unregistered tool', { name: 'calculate_kelly' }],
  ];
  test.each(calls)('%s', async (_, params) => {
    const plain = await post({ ...CALL, params });
    // The SDK answers a call with metadata, even with empty metadata.
    const sdk = await post({ ...CALL, params: { ...params, _meta: {} } });
    expect(plain.status).toBe(sdk.status);
    for (const name of ['content-type', 'mcp-session-id', 'cache-control', 'x-content-type-options']) {
      expect([name, plain.headers.get(name)]).toEqual([name, sdk.headers.get(name)]);
    }
    // The age of the data depends on the time of each answer.
    const answerOf = async (response: Response) =>
      JSON.parse(
        (await response.text())
          .replaceAll(/\d+ (?:s|min|h|days) old/g, 'old')
          .replaceAll(/(age_s\\?":)\d+/g, '$10')
          .replaceAll(/("age\\?":\\?")[^"\\]*/g, '$1'),
      );
    expect(await answerOf(plain)).toEqual(await answerOf(sdk));
  });

  test.each([undefined, {}])('the list of tools, with the parameters %j', async (params) => {
    const list = { jsonrpc: '2.0', id: 'a', method: 'tools/list', params };
    const plain = await post(list);
    const sdk = await post({ ...list, params: { _meta: {} } });
    for (const name of ['content-type', 'mcp-session-id', 'cache-control']) {
      expect([name, plain.headers.get(name)]).toEqual([name, sdk.headers.get(name)]);
    }
    expect(plainListOf(new Request('http://localhost/mcp', { headers: HEADERS }), list)).toBe('a');
    // The order of the two fields `result` and `id` does not matter. Everything within them is equal byte by byte.
    const [ofPlain, ofSdk] = [await plain.json(), await sdk.json()] as { id: string; result: object }[];
    expect(JSON.stringify(ofPlain!.result)).toBe(JSON.stringify(ofSdk!.result));
    expect(ofPlain!.id).toBe('a');
  });

  test.each([
    ['a cursor', { params: { cursor: 'x' } }],
    ['metadata', { params: { _meta: {} } }],
    ['parameters that are a list', { params: [] }],
    ['no id', { id: undefined }],
  ])('but not a list of tools with %s', (_, change) => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', ...change };
    expect(plainListOf(new Request('http://localhost/mcp', { headers: HEADERS }), list)).toBeUndefined();
  });

  test('accepts a canceled call and sends no answer', async () => {
    const slow = { ...CALL, id: 77, params: { name: 'run_strategic_omni_radar', arguments: { ticker: 'QQQ' } } };
    const called = post(slow);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } };
    expect((await post(cancel)).status).toBe(202);
    const response = await called;
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  test('only in a session, and only for the account that opened the session', async () => {
    const { apiKey } = await service.app.access.addMember({ uuid: '66666666-6666-4666-8666-666666666666' });
    const codeOf = async (headers: Record<string, string | null>) => {
      const response = await post(CALL, headers);
      return [response.status, ((await response.json()) as { code: string }).code];
    };
    expect(await codeOf({ 'X-API-Key': apiKey })).toEqual([403, 'session_foreign']);
    expect(await codeOf({ 'Mcp-Session-Id': 'none' })).toEqual([404, 'not_found']);
    expect(await codeOf({ 'Mcp-Session-Id': null })).toEqual([400, 'invalid_parameter']);
  });
});

describe('a new session', () => {
  const { params } = INITIALIZE;
  const withParams = (change: object) => ({ ...INITIALIZE, params: { ...params, ...change } });
  const withCapabilities = (capabilities: unknown) => withParams({ capabilities });
  const begins = (body: unknown, headers: Record<string, string | null> = {}) =>
    service.request('POST', '/mcp', { body, headers: { ...ACCEPT, ...headers } });

  const cases: [what: string, body: object, headers: Record<string, string>, isPlain: boolean][] = [
    ['as clients ask for it', INITIALIZE, {}, true],
    ['of an older revision', withParams({ protocolVersion: '2024-11-05' }), {}, true],
    ['of a client with a title', withParams({ clientInfo: { name: 'a', title: 'A', version: '1' } }), {}, true],
    ['of a client with roots', withCapabilities({ roots: { listChanged: true } }), {}, true],
    ['of a client with forms', withCapabilities({ elicitation: { form: {} }, sampling: {} }), {}, true],
    ['but not of a future revision', withParams({ protocolVersion: '2999-01-01' }), {}, false],
    ['but not with metadata', withParams({ _meta: {} }), {}, false],
    ['but not without capabilities', withParams({ capabilities: undefined }), {}, false],
    ['but not with a capability that is not an object', withCapabilities({ sampling: true }), {}, false],
    ['but not with a wrong field of roots', withCapabilities({ roots: { listChanged: {} } }), {}, false],
    ['but not with a wrong field of sampling', withCapabilities({ sampling: { tools: true } }), {}, false],
    ['but not with settings of forms', withCapabilities({ elicitation: { form: { applyDefaults: 1 } } }), {}, false],
    ['but not of a client without a version', withParams({ clientInfo: { name: 'a' } }), {}, false],
    ['but not of a client with icons', withParams({ clientInfo: { name: 'a', version: '1', icons: [] } }), {}, false],
    ['but not without an id', { ...INITIALIZE, id: undefined }, {}, false],
    ['but not in a session', INITIALIZE, { 'Mcp-Session-Id': 'a' }, false],
    ['but not with a revision in the headers', INITIALIZE, { 'MCP-Protocol-Version': '2025-11-25' }, false],
  ];
  test.each(cases)('is plain %s', (_, body, headers, isPlain) => {
    const all = { ...ACCEPT, 'Content-Type': 'application/json', ...headers };
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: all });
    expect(plainInitializeOf(request, body) !== undefined).toBe(isPlain);
  });

  test.each(['2025-11-25', '2025-06-18', '2024-11-05'])(
    'of revision %s gets the answer of the SDK',
    async (protocolVersion) => {
      const body = withParams({ protocolVersion });
      const plain = await begins(body);
      // The SDK answers a message with metadata, even with empty metadata.
      const sdk = await begins({ ...body, params: { ...body.params, _meta: {} } });
      expect(plain.status).toBe(sdk.status);
      for (const name of ['content-type', 'cache-control', 'x-content-type-options']) {
        expect([name, plain.headers.get(name)]).toEqual([name, sdk.headers.get(name)]);
      }
      expect(plain.headers.get('mcp-session-id')).toMatch(/^[\w-]{22}$/);
      const [ofPlain, ofSdk] = [await plain.json(), await sdk.json()] as { id: number; result: object }[];
      expect(JSON.stringify(ofPlain!.result)).toBe(JSON.stringify(ofSdk!.result));
      expect(ofPlain!.id).toBe(1);
    },
  );

  test('begins without the modules of the SDK', async () => {
    const loaded = `Object.keys(require.cache).filter((path) => path.includes('@modelcontextprotocol'))`;
    const modules = ['http/transports', 'catalog'].map((name) => `await import('./src/mcp/${name}.ts');`).join('');
    const child = Bun.spawn([process.execPath, '-e', `${modules} console.log(${loaded}.length)`], { cwd: ROOT });
    expect(await child.stdout.text()).toBe('0\n');
  });

  test('has the revisions of the SDK', () => {
    expect(REVISIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });

  test('accepts the notification that the client is ready as the SDK does', async () => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: HEADERS });
    expect(isPlainInitialized(request, INITIALIZED)).toBe(true);
    const withMeta = { ...INITIALIZED, params: { _meta: {} } };
    expect(isPlainInitialized(request, withMeta)).toBe(false);
    expect(isPlainInitialized(request, { ...INITIALIZED, id: 1 })).toBe(false);
    const [plain, sdk] = [await post(INITIALIZED), await post(withMeta)];
    expect([plain.status, await plain.text()]).toEqual([sdk.status, await sdk.text()]);
    for (const name of ['content-type', 'mcp-session-id', 'cache-control']) {
      expect([name, plain.headers.get(name)]).toEqual([name, sdk.headers.get(name)]);
    }
  });
});
