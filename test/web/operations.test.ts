import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PAGE_OPERATIONS, pageOperations } from '../../scripts/page-operations.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { commandOf, curlOf, mcpOf, requestOf } from '../../web/operations.ts';
import { VIEWS } from '../../web/state/address.ts';

const ORIGIN = 'http://127.0.0.1:8080';

const WEB = resolve(import.meta.dir, '../../web');

/** Returns the text of a file of the page and of the files that it imports. The table of the views is left out, and so are types. */
function textFrom(entry: string): string {
  const seen = new Map<string, string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !/\.tsx?$/.test(file) || file.endsWith('/views.ts')) return;
    const text = readFileSync(file, 'utf8');
    seen.set(file, text);
    const { imports } = new Bun.Transpiler({ loader: 'tsx', trimUnusedImports: true }).scan(text);
    for (const { path } of imports) if (path.startsWith('.')) visit(resolve(dirname(file), path));
  };
  visit(resolve(WEB, entry));
  return [...seen.values()].join('\n');
}

const EVERYWHERE = textFrom('main.tsx');
const VIEW_TABLE = readFileSync(resolve(WEB, 'view/views.ts'), 'utf8');
const TEXTS = Object.fromEntries(VIEWS.map((view) => [view, EVERYWHERE + textFrom(fileOf(view))]));

/** Returns the file of the component of a view, from the table of the views. Only Ticker is not a chunk. */
function fileOf(view: string): string {
  const path = new RegExp(`^  ${view}: .*import\\('\\./(.+?)'\\)`, 'm').exec(VIEW_TABLE)?.[1];
  return `view/${path ?? /TickerView \} from '\.\/(.+)'/.exec(VIEW_TABLE)![1]}`;
}

describe('the operations of the page', () => {
  test('web/operations.json matches the registry (bun run gen)', () => {
    expect(readFileSync(PAGE_OPERATIONS, 'utf8'), 'bun run gen').toBe(pageOperations());
  });

  test.each(OPERATIONS.map(({ name, page, tool }) => [name, page, tool !== undefined] as const))(
    '%s is where `page` of its definition says',
    (name, page, isTool) => {
      const asking = VIEWS.filter((view) => TEXTS[view]!.includes(`'${name}'`));
      if (typeof page !== 'string') {
        expect(page.absent, `${name} lacks the reason why it is on no view`).toMatch(/^[A-Z].*\.$/);
        expect(asking, `${name} says that no view asks for it`).toEqual([]);
      } else {
        expect([...VIEWS] as string[], `${name} names a view`).toContain(page);
        const isForm = page === 'house' && isTool;
        if (!isForm)
          expect(
            asking as string[],
            `${name} says that the view ${page} asks for it (each tool has a form in house)`,
          ).toContain(page);
      }
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
      Bun.spawn(['sh', '-c', `printf %s ${commandOf(call)!.slice('zomma call get_gex_by_strike '.length)}`]).stdout,
    ).text();
    expect(JSON.parse(echoed)).toEqual({ ticker: "A'B" });
  });

  test('an operation with a resource is read at the moment of the page', () => {
    const params = (args: { ticker: string; at?: string }) =>
      JSON.parse(mcpOf({ operation: 'get_gex_by_strike', args })!).params;
    expect(params({ ticker: '^SPX', at: AT })).toEqual({ uri: `zomma://gex/%5ESPX/strikes/all?at=${AT}` });
    expect(params({ ticker: 'SPY' })).toEqual({ uri: 'zomma://gex/SPY/strikes/all' });
  });

  test('MCP tools and commands of tools have all expiries and no options', () => {
    const levels = (args: object) => ({ operation: 'get_live_gex_nodes', args: { ticker: 'SPY', ...args } }) as const;
    const moves = (args: object) => ({ operation: 'get_hedging_profile', args: { moves: '-1,1', ...args } }) as const;
    expect(JSON.parse(mcpOf(levels({ expiries: 'all' }))!).params.arguments).toEqual({ ticker: 'SPY' });
    expect(JSON.parse(mcpOf(moves({ expiries: 'all' }))!).params.arguments).toEqual({ moves: '-1,1' });
    expect(commandOf(levels({ expiries: 'all' }))).toBe(`zomma call get_live_gex_nodes '{"ticker":"SPY"}' --extended`);
    expect(commandOf(levels({ expiries: 'next:35' }))).toBe(
      `zomma call get_gex_view '{"ticker":"SPY","expiries":"next:35"}'`,
    );
    expect(JSON.parse(mcpOf(moves({ expiries: '0dte' }))!).params.arguments).toEqual({ moves: '-1,1', expiry: '0dte' });
    expect(mcpOf({ operation: 'get_gex_by_strike', args: { ticker: 'SPY', expiries: '0dte' } })).toBeUndefined();
    for (const options of [{ expiries: 'next:35' }, { expiries: 'all', weight: 'volume' }]) {
      expect([mcpOf(levels(options)), mcpOf(moves(options)), commandOf(moves(options))]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
    }
  });

  test('an operation that MCP lacks has no message', () => {
    expect(mcpOf({ operation: 'get_gex_view', args: { ticker: 'SPY' } })).toBeUndefined();
  });
});
