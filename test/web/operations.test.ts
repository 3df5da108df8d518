import { describe, expect, test } from 'bun:test';
import { OPERATIONS } from '../../src/operations/registry.ts';
import {
  commandOf,
  curlOf,
  mcpOf,
  NOT_ON_PAGE,
  requestOf,
  WEB_OPERATIONS,
  type WebOperation,
} from '../../web/operations.ts';

const ORIGIN = 'http://127.0.0.1:8080';

describe('the operations of the page', () => {
  test('every operation of the registry has a place on the page or a reason for having none', () => {
    const named = [...Object.keys(WEB_OPERATIONS), ...Object.keys(NOT_ON_PAGE)];
    expect(named.toSorted()).toEqual(OPERATIONS.map(({ name }) => name).toSorted());
  });

  test.each(Object.entries(WEB_OPERATIONS) as [string, WebOperation][])(
    '%s has the address of the registry',
    (name, web) => {
      const operation = OPERATIONS.find((each) => each.name === name)!;
      const path = operation.rest?.path ?? `/api/v1/tools/${name}?extended=true`;
      expect([web.method, web.path]).toEqual([operation.rest?.method ?? 'POST', path]);
      expect([web.isTool, web.ofMarket]).toEqual([operation.tool !== undefined, operation.ofMarket === true]);
      expect(web.title).toBe(operation.title);
    },
  );
});

const AT = '2026-11-20T21:00:00.000Z';

describe('the same call elsewhere', () => {
  test('arguments of the path and of the query', () => {
    const call = { operation: 'get_gex_by_strike', args: { ticker: '^SPX', weight: 'volume', at: AT } } as const;
    expect(requestOf(call)).toEqual({
      method: 'GET',
      path: '/api/v1/nodes/gex/%5ESPX/strikes?weight=volume&at=2026-11-20T21%3A00%3A00.000Z',
    });
    expect(curlOf(call, ORIGIN)).toBe(
      `curl -H "X-API-Key: $ZOMMA_KEY" '${ORIGIN}/api/v1/nodes/gex/%5ESPX/strikes?weight=volume&at=2026-11-20T21%3A00%3A00.000Z'`,
    );
    expect(commandOf(call)).toBe(`zomma call get_gex_by_strike '{"ticker":"^SPX","weight":"volume","at":"${AT}"}'`);
  });

  test('a tool is a POST with its arguments as JSON', () => {
    const call = { operation: 'detect_lethal_nodes', args: { ticker: 'SPY', at: AT } } as const;
    expect(requestOf(call)).toEqual({
      method: 'POST',
      path: '/api/v1/tools/detect_lethal_nodes?extended=true',
      body: `{"ticker":"SPY","at":"${AT}"}`,
    });
    expect(JSON.parse(mcpOf(call)!)).toEqual({
      method: 'tools/call',
      params: { name: 'detect_lethal_nodes', arguments: { ticker: 'SPY', at: AT } },
    });
    expect(commandOf(call)).toBe(`zomma call detect_lethal_nodes '{"ticker":"SPY","at":"${AT}"}' --extended`);
  });

  test('a text with a quote stays one word of the shell', async () => {
    const call = { operation: 'get_gex_by_strike', args: { ticker: "A'B" } } as const;
    const echoed = await new Response(
      Bun.spawn(['sh', '-c', `printf %s ${commandOf(call).slice('zomma call get_gex_by_strike '.length)}`]).stdout,
    ).text();
    expect(JSON.parse(echoed)).toEqual({ ticker: "A'B" });
  });

  test('an operation that MCP lacks has no message', () => {
    expect(mcpOf({ operation: 'get_gex_history', args: { ticker: 'SPY' } })).toBeUndefined();
  });
});
