import { beforeAll, describe, expect, test } from 'bun:test';
import type { Operation } from '../../src/operations/engine/operation.ts';
import { restView } from '../../src/operations/engine/perform.ts';
import { DOCUMENTED } from '../../src/operations/engine/schemas.ts';
import { OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import { dayBefore, performRoute } from '../operations/small-market.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';

/** The answers of market data state the moment of the data, and the options that differ from the defaults. */
const service = serviceForTests();
beforeAll(async () => {
  const { store, context } = service.app;
  for (const ticker of ['SPY', 'QQQ']) store.saveChain(dayBefore(context.market.chain(ticker)));
  await computeLevels(service);
});

const ROUTES = OPERATIONS.filter(({ ofMarket, rest }) => ofMarket && rest?.method === 'GET');
const FURTHER = ROUTES.filter(({ rest }) => !rest!.isContract);
const named = (operations: readonly Operation[]) => operations.map((each) => [each.name, each] as const);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Arguments with which every route answers on the simulated market. */
const WITH: Record<string, string> = { get_gex_combined: 'with=QQQ' };

type Body = Record<string, unknown> & { as_of?: unknown; options?: unknown };

async function get(operation: Operation, query = ''): Promise<{ body: Body; headers: Headers; text: string }> {
  const path = operation.rest!.path.replace('{ticker}', 'SPY');
  const all = [WITH[operation.name], query].filter(Boolean).join('&');
  const response = await service.request('GET', `${path}?${all}`.replace(/\?$/, ''));
  const text = await response.text();
  expect([path, response.status, response.ok ? '' : text]).toEqual([path, 200, '']);
  return { body: JSON.parse(text), headers: response.headers, text };
}

describe.each(named(FURTHER))('the answer of %s', (_name, operation) => {
  test('states its moment, and so does its schema', async () => {
    const { body, headers } = await get(operation);
    const { output } = restView(operation);
    expect(output.required).toContain('as_of');
    if (Array.isArray(body.as_of)) {
      expect(body.as_of.length).toBeGreaterThan(0);
      for (const each of body.as_of) expect(each).toMatch(INSTANT);
      return;
    }
    expect(body.as_of).toMatch(INSTANT);
    expect(body.as_of).toBe(headers.get('x-data-as-of'));
    const { anyOf: [schema] = [output.properties.as_of] } = output.properties.as_of!;
    expect({ ...schema, ...schema[DOCUMENTED] }).toMatchObject({ type: 'string', format: 'date-time' });
  });

  test('does not depend on the clock, so its ETag stays the same while the data ages', () => {
    const { context } = service.app;
    const args = {
      ...(operation.input.properties.ticker && { ticker: 'SPY' }),
      ...(WITH[operation.name] && { with: 'QQQ' }),
    };
    const at = (nowMs: number) =>
      JSON.stringify(performRoute(operation, args, { ...context, nowMs: () => nowMs }).body);
    const nowMs = Date.now();
    expect(at(nowMs + 5_000)).toBe(at(nowMs));
  });
});

/** Options, each with a value that is not the default. */
const OPTIONS: Record<string, string | number> = {
  forward: 'flat',
  rate: 0.03,
  dividend: 0.01,
  gamma: 'feed',
  iv: 'own',
  weight: 'volume',
  expiries: 'next:60',
};
const takes = (operation: Operation, option: string) => option in restView(operation).input.properties;

describe.each(named(FURTHER.filter((each) => takes(each, 'expiries'))))('the options of %s', (_name, operation) => {
  test('are absent if all are the defaults', async () => {
    const given = Object.entries(restView(operation).input.properties).flatMap(([name, { default: value }]) =>
      name in OPTIONS ? [`${name}=${value}`] : [],
    );
    expect('options' in (await get(operation)).body).toBe(false);
    expect('options' in (await get(operation, given.join('&'))).body).toBe(false);
  });

  test('are stated one by one and together', async () => {
    const own = Object.entries(OPTIONS).filter(([option]) => takes(operation, option));
    for (const [option, value] of own)
      expect((await get(operation, `${option}=${value}`)).body.options).toEqual({ [option]: value });
    const query = own.map((each) => each.join('=')).join('&');
    expect((await get(operation, query)).body.options).toEqual(Object.fromEntries(own));
  });
});

test('the answers of the API contract stay as they are', async () => {
  const contract = ROUTES.filter(({ rest }) => rest!.isContract);
  expect(contract.map(({ name }) => name)).toEqual(['get_live_gex_nodes']);
  const { body } = await get(contract[0]!, 'weight=volume&expiries=next:60');
  expect(Object.keys(body)).toEqual([...contract[0]!.rest!.answers!]);
});

describe.each(named(TOOLS.filter(({ ofMarket }) => ofMarket)))('the extended answer of %s', (name, tool) => {
  const ask = async (args: object) => {
    const body = { ...tool.example, ...args };
    const response = await service.request('POST', `/api/v1/tools/${name}?extended=true`, { body });
    return (await response.json()) as Body & { provenance?: { as_of: string } };
  };

  test('has its moment in the provenance, and states an expiry', async () => {
    const { expiry } = service.app.context.market.chain('SPY').series.at(-1)!;
    const known = {
      ...('ticker' in tool.input.properties && { ticker: 'SPY' }),
      ...('target_expiry' in tool.input.properties && { target_expiry: expiry }),
    };
    const plain = await ask(known);
    expect(plain.provenance!.as_of).toMatch(INSTANT);
    expect('options' in plain).toBe(false);
    if (!('expiry' in tool.input.properties)) return;
    expect((await ask({ ...known, expiry })).options).toEqual({ expiry });
  });
});
