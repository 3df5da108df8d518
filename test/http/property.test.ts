import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ACCOUNT_STATUS } from '../../src/http/account.ts';
import {
  dividendYield,
  ivFromZero,
  optionPrice,
  rate,
  spot,
  strike,
  tteFromZero,
} from '../../src/operations/engine/shared-fields.ts';
import { OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { IS_FULL } from '../support/size.ts';

/** Valid and hostile requests through the whole handler. No request gets a 5xx or a number that is not finite. */
const REQUESTS = IS_FULL ? 20_000 : 3_000;

const BOUNDS = {
  ...{ price: optionPrice, spot, strike, tte: tteFromZero, iv: ivFromZero, rate, dividend: dividendYield },
} as unknown as Record<string, { minimum: number; maximum: number }>;

const COLUMN_ROUTES = OPERATIONS.filter(({ rest }) => rest?.bodyBytesMax !== undefined);

/** Every path with a ticker. */
const TICKER_PATHS = [
  ...OPERATIONS.flatMap(({ rest }) => (rest?.path.includes('{ticker}') ? [rest.path] : [])),
  '/api/v1/stream/gex/{ticker}',
];

/** Fields that may be null by their schema, but not those that are null only if a request asks for it (`on_error`). */
const NULLABLE = new Set(
  [...OPERATIONS.filter(({ name }) => name !== 'compute_greeks_batch').map(({ full }) => full), ACCOUNT_STATUS].flatMap(
    (full) => nullableIn(full as Schema),
  ),
);

const service = serviceForTests();

test(`${REQUESTS} requests: no 5xx, no null or non-finite number`, async () => {
  const seen = new Map<number, number>();
  const answered = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(request(), async ({ method, path, key, payload }) => {
      const headers = { 'X-API-Key': key === 'good' ? service.key : key };
      const response = await service.request(method, path, { headers, ...(payload !== undefined && { raw: payload }) });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      const text = isStream ? '' : await response.text();
      if (isStream) await response.body!.cancel();
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
      if (response.ok) answered.set(path, (answered.get(path) ?? 0) + 1);
      expect(response.status).toBeLessThan(500);
      // The address of the service has the page of the terminal.
      const isPage = text.startsWith('<!doctype html>');
      const isRowwise = payload?.includes('"on_error":"row"');
      if (response.ok && text !== '' && text !== 'Accepted' && !isPage && !isRowwise)
        expect(nullPaths(JSON.parse(text))).toEqual([]);
      if (!response.ok)
        expect(JSON.parse(text)).toMatchObject({ status: response.status, request_id: expect.any(String) });
      if (key !== 'good' && key !== null) expect(text).not.toContain(service.key);
    }),
    { numRuns: REQUESTS, seed: 20261121, endOnFailure: true },
  );
  // The generator is useful only if it reaches the answers and each kind of refusal.
  for (const status of [200, 400, 401, 403, 404, 405, 422])
    expect([status, (seen.get(status) ?? 0) > REQUESTS / 400]).toEqual([status, true]);
  for (const { rest } of COLUMN_ROUTES)
    expect([rest!.path, (answered.get(rest!.path) ?? 0) > REQUESTS / 100]).toEqual([rest!.path, true]);
}, 120_000);

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly payload: string | undefined;
}

function request(): fc.Arbitrary<Sent> {
  return fc.oneof(
    { weight: 6, arbitrary: toolCall() },
    { weight: 6, arbitrary: greeksCall() },
    { weight: 4, arbitrary: columnsCall() },
    { weight: 3, arbitrary: nodesCall() },
    { weight: 3, arbitrary: anything() },
  );
}

const key = (): fc.Arbitrary<string | null> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant('good') },
    fc.constant(null),
    fc.constantFrom('ZOMMA_0000000000000000', 'x', 'ZOMMA_', 'null'),
    fc.stringMatching(/^[!-~]{1,60}$/),
  );

/** Common numbers, numbers at the bounds, and values that are not numbers. */
const hostileNumber = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, -1, 5e-324, 1e-310, 1e308, 1e15, 1e9, 1e-6, 1e-8, 100, 1e-4),
    fc.constantFrom<unknown>(null, '1', true, [], {}, '', 'NaN'),
  );

const price = () =>
  fc.oneof(
    { weight: 4, arbitrary: fc.double({ min: 1, max: 1000, noNaN: true }) },
    { weight: 2, arbitrary: fc.double({ min: 1e-6, max: 1e9, noNaN: true }) },
    { weight: 1, arbitrary: hostileNumber() },
  );

const ticker = () =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('SPY', 'spy', 'AAPL', 'BRK.B', 'VXX', 'TLT') },
    { weight: 1, arbitrary: fc.constantFrom('ZZZZ', '', 'A B', '__proto__', 'constructor', 'SPY\u0000', '../SPY') },
    { weight: 1, arbitrary: fc.string() },
  );

function field(name: string): fc.Arbitrary<unknown> {
  if (name.includes('ticker')) return ticker();
  if (name === 'put_call') return fc.constantFrom<unknown>('C', 'P', 'C', 'P', 'c', 1);
  if (name === 'units') return fc.constantFrom<unknown>('market', 'raw', 'raw', 'RAW', null);
  if (name === 'on_error') return fc.constantFrom<unknown>('row', 'reject', 'rows', null);
  if (name === 'without_iv') return fc.constantFrom<unknown>('null', 'zero', 'nil', null);
  if (name === 'target_expiry') return fc.constantFrom('2026-12-18', '2027-01-15', '2026-02-30', 'soon', '1999-01-01');
  if (/^(tte|iv|current_iv|iv_ceiling)$/.test(name)) {
    return fc.oneof({ weight: 4, arbitrary: fc.double({ min: 1e-8, max: 100, noNaN: true }) }, hostileNumber());
  }
  if (/^(rate|dividend|win_prob|fractional_kelly|stag_prob)$/.test(name)) {
    return fc.oneof({ weight: 4, arbitrary: fc.double({ min: -0.2, max: 1, noNaN: true }) }, hostileNumber());
  }
  if (name === 'limit') return fc.constantFrom<unknown>(undefined, 1, 3, 100, 0, 101, 1.5, '3', null);
  if (name === 'cursor') {
    return fc.constantFrom<unknown>(undefined, undefined, 'SPY~1~1', 'SPY~9999999999999~999999', '~~', '', 7, null);
  }
  if (/days|dte/.test(name)) return fc.oneof(fc.integer({ min: 0, max: 3650 }), fc.integer(), hostileNumber());
  return price();
}

/** Arguments by the fields of a schema: mostly all of them, sometimes some, sometimes one too many. */
function argumentsOf(names: readonly string[], value = field): fc.Arbitrary<string> {
  const fields = Object.fromEntries(names.map((name) => [name, value(name)]));
  const all = fc.record(fields);
  const some = fc.record(fields, { requiredKeys: [] });
  const more = fc.tuple(all, fc.string(), fc.jsonValue()).map(([args, name, value]) => ({ ...args, [name]: value }));
  return fc.oneof(
    { weight: 6, arbitrary: all.map((each) => JSON.stringify(each)) },
    { weight: 2, arbitrary: some.map((each) => JSON.stringify(each)) },
    { weight: 1, arbitrary: more.map((each) => JSON.stringify(each)) },
    {
      weight: 1,
      arbitrary: fc.oneof(fc.json(), fc.string(), fc.constantFrom('', '[[[[', '{"spot":1e999}', '{"a":NaN}')),
    },
  );
}

function toolCall(): fc.Arbitrary<Sent> {
  return fc.constantFrom(...TOOLS).chain((tool) =>
    fc.record({
      method: fc.constant('POST'),
      path: fc
        .constantFrom('', '', '?extended=true', '?extended=no')
        .map((query) => `/api/v1/tools/${tool.name}${query}`),
      key: key(),
      payload: argumentsOf(Object.keys(tool.input.properties)),
    }),
  );
}

function greeksCall(): fc.Arbitrary<Sent> {
  return fc.record({
    method: fc.constant('POST'),
    path: fc.constant('/api/v1/physics/greeks'),
    key: key(),
    payload: argumentsOf(['put_call', 'spot', 'strike', 'tte', 'iv', 'rate', 'dividend']),
  });
}

/** Columns: mostly the same count of valid items in each; sometimes another count, one hostile item, or one value for all rows. */
function columnsCall(): fc.Arbitrary<Sent> {
  return fc.tuple(fc.constantFrom(...COLUMN_ROUTES), fc.integer({ min: 0, max: 5 })).chain(([operation, rows]) => {
    const items = (name: string, length: number) =>
      fc.array(fc.oneof({ weight: 30, arbitrary: honestItem(name) }, { weight: 1, arbitrary: field(name) }), {
        minLength: length,
        maxLength: length,
      });
    const value = (name: string) =>
      CHOICES[name]
        ? fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...CHOICES[name]) }, field(name))
        : fc.oneof(
            { weight: 20, arbitrary: items(name, rows) },
            { weight: 10, arbitrary: honestItem(name) },
            { weight: 1, arbitrary: items(name, rows + 1) },
            { weight: 1, arbitrary: field(name) },
          );
    return fc.record({
      method: fc.constant('POST'),
      path: fc.constant(operation.rest!.path),
      key: key(),
      payload: argumentsOf(Object.keys(operation.input.properties), value),
    });
  });
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  units: ['market', 'raw'],
  on_error: ['reject', 'reject', 'row'],
  without_iv: ['null', 'zero'],
};

/** A value anywhere within the bounds of its schema, more often at the bounds. */
function honestItem(name: string): fc.Arbitrary<unknown> {
  if (name === 'put_call') return fc.constantFrom('C', 'P');
  const { minimum: min, maximum: max } = BOUNDS[name]!;
  return fc.oneof(
    fc.double({ min, max, noNaN: true }),
    fc.constantFrom(min, max),
    fc.double({ min, max: 1, noNaN: true }),
  );
}

/** A segment of a path. `fc.webSegment` and its like list all code points in memory, which the process keeps. */
function segment(): fc.Arbitrary<string> {
  const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code).toWellFormed());
  return fc.string({ unit: fc.oneof(fc.constantFrom(..."aZ09-._~!$&'()*+,;=:@"), codePoint.map(encodeURIComponent)) });
}

/** A segment with a percent escape that is malformed, incomplete or not UTF-8. */
function malformedSegment(): fc.Arbitrary<string> {
  const malformed = fc.constantFrom(
    '%',
    '%Q',
    '%QQ',
    '%2',
    '%ff',
    '%c3',
    '%E0%A4%A',
    '%u0041',
    '%%',
    '%C0%80',
    '%ED%A0%80',
  );
  return fc.tuple(fc.constantFrom('', 'SPY', 'SPY,'), malformed, segment()).map((parts) => parts.join(''));
}

function nodesCall(): fc.Arbitrary<Sent> {
  const encoded = fc.oneof(ticker(), segment()).map((each) => encodeURIComponent(each.toWellFormed()));
  const nodes = fc
    .tuple(encoded, fc.oneof(fc.constant(''), historyQuery()))
    .map(([segment, view]) => `/api/v1/nodes/gex/${segment}${view}`);
  const ofTicker = fc
    .tuple(fc.constantFrom(...TICKER_PATHS), fc.oneof(encoded, malformedSegment()))
    .map(([path, segment]) => path.replace('{ticker}', () => segment));
  return fc.record({
    method: fc.constant('GET'),
    path: fc.oneof({ weight: 2, arbitrary: nodes }, { weight: 1, arbitrary: ofTicker }),
    key: key(),
    payload: fc.constant(undefined),
  });
}

/** Ranges up to the bounds of a date, and texts that are not dates. */
function historyQuery(): fc.Arbitrary<string> {
  const moment = fc.oneof(
    fc.date({ noInvalidDate: true }).map((each) => each.toISOString()),
    fc.date({ noInvalidDate: true }).map((each) => each.toISOString().slice(0, 10)),
    fc.constantFrom('0001-01-01', '9999-12-31', '2026-02-30', '2026-02-30T00:00:00Z', '2026-11-01T01:30:00-05:00', ''),
    fc.string(),
  );
  return fc
    .record(
      {
        from: moment,
        to: moment,
        per: fc.constantFrom('day', 'snapshot', 'year'),
        points: fc.oneof(fc.integer({ min: 1, max: 5_000 }), hostileNumber()).map(String),
      },
      { requiredKeys: [] },
    )
    .map((query) => {
      const said = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) said.set(name, value.toWellFormed());
      return `/history?${said}`;
    });
}

const PATHS = ['/health', '/ready', '/openapi.json', '/api/v1/universe', '/sse', '/messages', '/messages?sessionId=x'];

function anything(): fc.Arbitrary<Sent> {
  return fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    path: fc.oneof(
      fc.constantFrom(
        ...PATHS,
        '/api/v1/auth/my-key',
        '/api/v1/auth/telegram-status?uuid=x',
        '/api/v1/nodes/gex/%E0%A4%A',
      ),
      fc
        .array(fc.oneof({ weight: 4, arbitrary: segment() }, malformedSegment()), { maxLength: 4 })
        .map((segments) => `/${segments.join('/')}`),
      fc.tuple(fc.constantFrom(...PATHS), segment()).map(([path, query]) => `${path}?${query}`),
    ),
    key: key(),
    payload: fc.constant(undefined),
  });
}

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
}

function nullableIn({ properties = {}, items = {}, anyOf = [] }: Schema): string[] {
  const isNullable = ({ anyOf, items }: Schema): boolean =>
    anyOf?.some(({ type }) => type === 'null') ?? (items !== undefined && isNullable(items));
  const own = Object.entries(properties).filter(([, its]) => isNullable(its));
  return [
    ...own.map(([name]) => name),
    ...[...Object.values(properties), ...anyOf].flatMap(nullableIn),
    ...(items.properties ? nullableIn(items) : []),
  ];
}

function nullPaths(value: unknown, path = ''): string[] {
  if (value === null) return NULLABLE.has(path.split('.').findLast((part) => !/^\d+$/.test(part))!) ? [] : [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, each]) => nullPaths(each, `${path}.${name}`));
}
