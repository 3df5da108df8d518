import { expect, test } from 'bun:test';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { askExample, OPENAPI_EXAMPLES, openapiExamples, withExampleMarket } from '../../scripts/openapi-examples.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { eventsOf } from '../support/event-stream.ts';
import type { OpenapiDocument } from '../support/openapi-calls.ts';

/** What the document says of answers is true of answers: schemas with formats and words, header fields, examples, events. */
test('answers, examples and their header fields are as the document says', async () => {
  await withExampleMarket(async (service, document, calls) => {
    const { faultsOf } = validatorOf(document);
    const faults: unknown[] = [];
    for (const call of calls) {
      const { operationId, method, path, address, described } = call;
      const { content = {}, headers = {} } = described.responses[200]!;
      const example = content['application/json']?.example;
      if (content['application/json'] && example === undefined) faults.push([operationId, 'has no example']);
      const asked = path.startsWith('/api/v1/tools/') ? ['extended=true'] : (FURTHER[operationId] ?? []);
      const addresses = [address, ...asked.map((query) => `${address.split('?')[0]}?${query}`)];
      for (const each of addresses) {
        const response = await askExample(service, { ...call, address: each });
        expect([each, response.status]).toEqual([each, 200]);
        const type = response.headers.get('content-type')!.split(';')[0]!;
        faults.push(...headerFaults(`${method} ${each}`, response.headers, Object.keys(headers)));
        if (type !== 'application/json') {
          expect([each, Object.keys(content)]).toEqual([each, [type]]);
          continue;
        }
        const schema = content[type]!.schema;
        faults.push(
          ...faultsOf(each, schema, await response.json()),
          ...faultsOf(`example of ${each}`, schema, example),
        );
      }
      if (described.responses[304] === undefined) continue;
      const tag = (await askExample(service, call)).headers.get('etag')!;
      const none = await askExample(service, call, { 'If-None-Match': tag });
      expect([address, none.status]).toEqual([address, 304]);
      faults.push(...headerFaults(`304 of ${address}`, none.headers, Object.keys(described.responses[304].headers!)));
    }
    expect(faults).toEqual([]);
    expect(calls.length).toBeGreaterThan(35);
  });
}, 60_000);

test('the data of a live event is as the document says', async () => {
  await withExampleMarket(async (service, document) => {
    const response = await service.request('GET', '/api/v1/stream/gex/SPY');
    const event = await eventsOf(response.body!).next();
    const content = document.paths['/api/v1/stream/gex/{ticker}']!.get!.responses[200]!.content!;
    const { schema, 'x-event-schemas': byName } = content['text/event-stream']! as Record<string, unknown>;
    expect(schema).toEqual({ $ref: '#/components/schemas/LevelsEvent' });
    const { faultsOf } = validatorOf(document);
    const data = JSON.parse(event!.data);
    expect(faultsOf('event', schema, data)).toEqual([]);
    const crossings = [
      { on: 'flip_cross', direction: 'up', price: 600 },
      { on: 'wall_break', direction: 'down', wall: 'put_wall', price: 590 },
      { on: 'regime', from: 'positive_gamma', to: 'undetermined' },
    ];
    expect(faultsOf('crossings', schema, { ...data, crossed: crossings })).toEqual([]);
    expect(faultsOf('crossings', schema, { ...data, crossed: [{ on: 'flip_cross' }] })).not.toEqual([]);
    const ofCrossings = await service.request('GET', '/api/v1/stream/gex/SPY?on=regime');
    const start = await eventsOf(ofCrossings.body!).next();
    expect(start!.event).toBe('start');
    expect(faultsOf('start', (byName as Record<string, unknown>).start, JSON.parse(start!.data))).toEqual([]);
  });
}, 60_000);

test('the examples are those of a simulated market at a fixed moment (bun run gen)', async () => {
  expect(await Bun.file(OPENAPI_EXAMPLES).text()).toBe(await openapiExamples());
}, 60_000);

test('every operation with a picture has it at a path of its own, and the JSON route has one media type', async () => {
  await withExampleMarket(async (service, document) => {
    const pictured = OPERATIONS.filter(({ picture, rest }) => picture && rest);
    expect(pictured.length).toBeGreaterThan(0);
    for (const { rest } of pictured) {
      const path = rest!.path.replace('{ticker}', 'SPY');
      const [own, argument] = [
        await service.request('GET', `${path}.png`),
        await service.request('GET', `${path}?format=image`),
      ];
      expect([own.status, own.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(await own.bytes()).toEqual(await argument.bytes());
      expect(Object.keys(document.paths[rest!.path]!.get!.responses[200]!.content!)).toEqual(['application/json']);
      expect(Object.keys(document.paths[`${rest!.path}.png`]!.get!.responses[200]!.content!)).toEqual(['image/png']);
      for (const query of ['moves=200', 'format=image', 'fields=rows', 'digits=12'])
        expect([query, (await service.request('GET', `${path}.png?${query}`)).status]).toEqual([query, 400]);
    }
  });
}, 60_000);

/** Queries whose answers have other words and dates than the example. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  get_hedging_profile: ['expiry=0dte', 'expiry=2026-12-18'],
  get_option_quotes: ['expiry=0dte', 'expiry=2026-12-18'],
  get_volatility_surface: ['detail=grid&quotes_days=30', 'detail=parameters'],
  get_levels_history: ['compare_with=previous_close', 'from=2026-11-18&to=2026-11-19T21:30:00Z'],
  get_gex_history: ['from=2026-11-18', 'per=snapshot'],
  get_gex_view: ['sign=flow&expiries=next:30'],
  get_live_gex_nodes: ['at=2026-11-19'],
  get_exchange_calendar: ['from_year=1990&to_year=2030'],
};

/** The declared fields that an answer may lack: without caveats, or too short to be compressed. */
const OPTIONAL = ['X-Data-Notes', 'Vary'];
/** The fields of every answer, which protect browsers, and those of the connection. */
const UNDECLARED = /^(?:content-|x-content-type|referrer-policy|cache-control|date|transfer-encoding|connection)/;

function headerFaults(of: string, sent: Headers, declared: readonly string[]): string[] {
  const missing = declared.filter((name) => !sent.has(name) && !OPTIONAL.includes(name));
  const known = new Set(declared.map((name) => name.toLowerCase()));
  const others = [...sent.keys()].filter((name) => !known.has(name) && !UNDECLARED.test(name));
  return [...missing.map((name) => `${of} lacks ${name}`), ...others.map((name) => `${of} has ${name}`)];
}

/** Returns a validator of values by schemas of the document, with their formats. */
function validatorOf(document: OpenapiDocument) {
  const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addSchema({ $id: 'document', ...document });
  const faultsOf = (of: string, schema: unknown, value: unknown): string[] => {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'));
    ajv.validate(absolute, value);
    return (ajv.errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${of} ${instancePath} ${message}`);
  };
  return { faultsOf };
}
