/**
 * Generates src/http/openapi-examples.json: an answer of each operation of the OpenAPI document, from a simulated market at a fixed moment.
 * Lists have two items, and figures a few digits.
 */
import { join } from 'node:path';
import { type ExampleCall, exampleCallsOf, type OpenapiDocument } from '../test/support/openapi-calls.ts';
import { computeLevels, type Service, startService } from '../test/support/service.ts';

export const OPENAPI_EXAMPLES = join(import.meta.dir, '../src/http/openapi-examples.json');

/** The moments of the snapshots: two closes, and an hour of the third session. The last is the present moment of the examples. */
const MOMENTS = ['2026-11-18T21:00:00Z', '2026-11-19T21:00:00Z', '2026-11-20T19:30:00Z'].map(Date.parse);
const UNIVERSE = join(import.meta.dir, '../test/fixtures/example-universe.json');
const DIGITS = 6;
const ITEMS = 2;

/** A service with three snapshots of a small simulated market at a fixed moment, and the calls of its document's examples. */
export async function withExampleMarket<Result>(
  use: (service: Service, document: OpenapiDocument, calls: readonly ExampleCall[]) => Promise<Result>,
): Promise<Result> {
  const { now } = Date;
  let present = MOMENTS[0]!;
  Date.now = () => present;
  try {
    await using service = await startService({ universe: UNIVERSE, rateLimit: '1000/min' });
    for (const moment of MOMENTS.slice(1)) {
      present = moment;
      await service.load();
    }
    await computeLevels(service);
    const document = (await (await service.request('GET', '/openapi.json')).json()) as OpenapiDocument;
    return await use(service, document, exampleCallsOf(document));
  } finally {
    Date.now = now;
  }
}

export async function openapiExamples(): Promise<string> {
  return withExampleMarket(async (service, _document, calls) => {
    const answers: [string, unknown][] = [];
    for (const call of calls) {
      const response = await askExample(service, withRows(call));
      if (response.status !== 200) throw new Error(`${call.operationId}: ${response.status} ${await response.text()}`);
      if (response.headers.get('content-type')!.startsWith('application/json'))
        answers.push([call.operationId, shortened(await response.json())]);
    }
    return `${JSON.stringify(Object.fromEntries(answers), null, 1)}\n`;
  });
}

export function askExample(
  service: Service,
  { method, address, body, columns }: ExampleCall,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const type = columns && { 'Content-Type': 'application/octet-stream' };
  return service.request(method, address, {
    headers: { ...headers, ...type },
    ...(columns && { raw: columns }),
    ...(body !== undefined && { body }),
  });
}

/** Removes the conditions of a screen, which no ticker of the small market meets. */
function withRows({ address, body, ...call }: ExampleCall): ExampleCall {
  const { where: _, ...others } = (body ?? {}) as { readonly where?: unknown };
  return { ...call, address: address.replace(/where=[^&]*&?/, ''), body: body && others };
}

function shortened(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
  if (Array.isArray(value)) return value.slice(0, ITEMS).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each)]));
}
