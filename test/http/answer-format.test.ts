import { describe, expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetReadObjects } from 'hyparquet';
import { ClientError } from '../../src/core/errors.ts';
import { type AnswerFormat, acceptedFormat } from '../../src/http/answer-format.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { errorOf } from '../support/thrown.ts';

/** The format of an answer, by the header field Accept and by the argument `format`, and the selection of fields. */
const service = serviceForTests();

const ALL: readonly AnswerFormat[] = ['json', 'columns', 'csv', 'parquet', 'arrow'];
const CHROME = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

test.each([
  [null, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['*', 'json'],
  ['application/json', 'json'],
  ['application/json; charset=utf-8', 'json'],
  ['APPLICATION/JSON', 'json'],
  [CHROME, 'json'],
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'json'],
  ['text/csv', 'csv'],
  ['text/*', 'csv'],
  ['application/*', 'json'],
  ['text/csv, */*', 'csv'],
  ['*/*, text/csv', 'csv'],
  ['text/csv, application/json', 'json'],
  ['text/csv;q=0.5, application/json;q=0.4', 'csv'],
  ['application/json;q=0.5, text/csv;q=0.9', 'csv'],
  ['application/json;q=0, */*', 'columns'],
  ['text/csv;q=0, text/*', 'none'],
  ['text/csv;q=x', 'none'],
  ['application/vnd.apache.parquet', 'parquet'],
  ['application/vnd.apache.arrow.stream, application/json;q=0.1', 'arrow'],
  ['application/xml', 'none'],
  ['*/*;q=0', 'none'],
  [`${'a/b,'.repeat(10_000)}text/csv`, 'none'],
])('Accept: %p is answered with %s', (accept, expected) => {
  if (expected !== 'none') return expect(acceptedFormat(accept, ALL)).toBe(expected as AnswerFormat);
  const { status, message } = errorOf(ClientError, () => acceptedFormat(accept, ALL));
  expect([status, message]).toEqual([
    406,
    'This route offers only: application/json, application/vnd.zomma.columns+json, text/csv, application/vnd.apache.parquet, application/vnd.apache.arrow.stream',
  ]);
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  service.request(method, path, { headers });
const typeOf = (response: Response) => response.headers.get('content-type')?.split(';')[0];
const STRIKES = '/api/v1/nodes/gex/SPY/strikes';

describe('a route with rows', () => {
  test('answers each format under its own tag, which is as stable as that of JSON', async () => {
    const tags = new Set<string>();
    for (const type of [
      'application/json',
      'text/csv',
      'application/vnd.apache.parquet',
      'application/vnd.apache.arrow.stream',
    ]) {
      const first = await ask(STRIKES, { Accept: type });
      const tag = first.headers.get('etag')!;
      expect([typeOf(first), first.headers.get('vary')?.split(', ')[0]]).toEqual([type, 'Accept']);
      expect(first.headers.get('x-data-as-of')).toEndWith('Z');
      const again = await ask(STRIKES, { Accept: type, 'If-None-Match': tag });
      expect([again.status, again.headers.get('etag')]).toEqual([304, tag]);
      const head = await ask(STRIKES, { Accept: type }, 'HEAD');
      expect([head.status, head.headers.get('etag'), typeOf(head)]).toEqual([200, tag, type]);
      tags.add(tag);
    }
    expect(tags.size).toBe(4);
  });

  test('answers the format of the argument, whatever Accept says', async () => {
    expect(typeOf(await ask(`${STRIKES}?format=csv`, { Accept: 'application/json' }))).toBe('text/csv');
    expect(typeOf(await ask(`${STRIKES}?format=json`, { Accept: 'text/csv' }))).toBe('application/json');
    expect(typeOf(await ask(STRIKES, { Accept: 'text/csv' }))).toBe('text/csv');
    expect(typeOf(await ask(STRIKES))).toBe('application/json');
  });

  test('compresses CSV and Arrow, but not Parquet, whose columns are compressed', async () => {
    for (const [format, coding] of [
      ['csv', 'br'],
      ['arrow', 'br'],
      ['parquet', null],
    ]) {
      const response = await ask(`${STRIKES}?format=${format}`, { 'Accept-Encoding': 'br' });
      expect([format, response.headers.get('content-encoding')]).toEqual([format!, coding!]);
      const bytes = Buffer.from(await response.arrayBuffer());
      const plain = Buffer.from(await (await ask(`${STRIKES}?format=${format}`)).arrayBuffer());
      expect((coding ? brotliDecompressSync(bytes) : bytes).equals(plain)).toBe(true);
    }
  });

  test('writes CSV with the digits of the argument, and files with all digits', async () => {
    const exact = await (await ask(`${STRIKES}?digits=17&format=csv`)).text();
    const short = await (await ask(`${STRIKES}?format=csv`)).text();
    expect(short.length).toBeLessThan(exact.length * 0.9);
    const [file, all] = await Promise.all(
      [`${STRIKES}?format=parquet`, `${STRIKES}?format=parquet&digits=17`].map(async (path) =>
        (await ask(path)).arrayBuffer(),
      ),
    );
    expect(Buffer.from(file!).equals(Buffer.from(all!))).toBe(true);
  });

  test('offers a picture only where there is one', async () => {
    const hedging = '/api/v1/nodes/gex/SPY/hedging';
    expect(typeOf(await ask(hedging, { Accept: 'image/png' }))).toBe('image/png');
    expect(typeOf(await ask(`${hedging}?format=image`, { Accept: 'text/csv' }))).toBe('image/png');
    expect(typeOf(await ask(`${hedging}.png`, { Accept: 'application/json' }))).toBe('image/png');
    expect(typeOf(await ask(`${hedging}?format=csv`))).toBe('text/csv');
    expect(typeOf(await ask(`${hedging}?format=table`))).toBe('application/json');
    expect((await ask(STRIKES, { Accept: 'image/png' })).status).toBe(406);
  });
});

test('the route of the API contract has one row, and its JSON stays what it was', async () => {
  const path = '/api/v1/nodes/gex/SPY';
  const [json, csv] = await Promise.all([ask(path), ask(path, { Accept: 'text/csv' })]);
  const answer = (await json.json()) as Record<string, unknown>;
  const { ticker, ...figures } = answer;
  const [header, row] = (await csv.text()).split('\r\n');
  expect(header).toBe(['ticker', 'as_of', ...Object.keys(figures)].join(','));
  expect(row).toBe([ticker, csv.headers.get('x-data-as-of'), ...Object.values(figures)].join(','));
});

describe('a format that is not offered', () => {
  test.each([
    ['GET', '/api/v1/feeds', 'text/csv', 'application/json'],
    ['GET', '/api/v1/feeds?format=csv', '*/*', 'application/json'],
    ['GET', '/api/v1/universe', 'text/csv', 'application/json'],
    [
      'GET',
      '/api/v1/nodes/gex/SPY/view',
      'application/xml',
      'application/json, application/vnd.zomma.columns+json, text/csv',
    ],
    ['POST', '/api/v1/physics/greeks', 'text/csv', 'application/json'],
    ['POST', '/api/v1/tools/get_live_gex_nodes', 'text/csv', 'application/json'],
    [
      'POST',
      '/api/v1/physics/greeks/batch',
      'image/png',
      'application/json, application/vnd.zomma.columns+json, text/csv',
    ],
  ])('%s %s with Accept: %s is refused with the list of what is offered', async (method, path, accept, offered) => {
    const response = await service.request(method, path, {
      headers: { Accept: accept },
      ...(method === 'POST' && { body: { ticker: 'SPY' } }),
    });
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    expect([response.status, typeOf(response), code]).toEqual([406, 'application/problem+json', 'not_acceptable']);
    expect(detail).toStartWith(`This route offers only: ${offered}`);
  });

  test('the routes of columns take the format in the query, and a tool draws what Accept asks', async () => {
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      service.request('POST', path, { body, headers });
    const options = { put_call: 'C', price: [4.2, 2.9], spot: 100, strike: [100, 105], tte: 0.25 };
    expect(typeOf(await post('/api/v1/physics/iv?format=csv', options))).toStartWith('text/csv');
    const unknown = await post('/api/v1/physics/iv?format=xml', options);
    expect([unknown.status, ((await unknown.json()) as { errors: unknown }).errors]).toEqual([
      400,
      [{ pointer: '/format', detail: 'must be one of json, columns, csv, parquet, arrow' }],
    ]);
    const tool = '/api/v1/tools/get_hedging_profile';
    expect(typeOf(await post(tool, { ticker: 'SPY' }, { Accept: 'image/png' }))).toBe('image/png');
    expect(typeOf(await post(tool, { ticker: 'SPY', format: 'table' }, { Accept: 'image/png' }))).toStartWith(
      'application/json',
    );
    expect(typeOf(await ask(`${STRIKES}?f%6Frmat=csv`))).toStartWith('text/csv');
  });

  test('binary columns are refused to a client that does not accept them, except at their own path', async () => {
    const raw = new Blob([Float64Array.of(1, 100, 100, 0.25, 0.2, 0, 0)]).stream();
    const headers = { Accept: 'text/csv', 'Content-Type': 'application/octet-stream' };
    const send = (path: string) => service.request('POST', path, { raw, headers });
    const refused = await send('/api/v1/physics/greeks/batch');
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
      406,
      'This route offers only: application/octet-stream',
    ]);
  });

  test.each([
    ['xml', 'must be one of "json", "columns", "csv", "parquet", "arrow"'],
    ['csv&format=csv', 'must be given once'],
    ['', 'must be one of "json", "columns", "csv", "parquet", "arrow"'],
  ])('format=%s is no format', async (format, expected) => {
    const response = await ask(`${STRIKES}?format=${format}`);
    const { errors } = (await response.json()) as { errors: unknown };
    expect([response.status, errors]).toEqual([400, [{ pointer: '/format', detail: expected }]]);
  });
});

describe('fields', () => {
  test.each([
    [`${STRIKES}?fields=net_gex,strike,ticker`, ['net_gex', 'strike', 'ticker']],
    [`${STRIKES}?fields=strike&fields=count`, ['strike', 'count']],
    ['/api/v1/feeds?fields=healthy', ['healthy']],
    ['/api/v1/feeds?format=json&fields=checked_at,healthy', ['checked_at', 'healthy']],
  ])('selects the fields of JSON: %s', async (path, keys) => {
    const response = await ask(path);
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([200, keys]);
  });

  test.each([
    ['strike,net_gex', 'strike,net_gex'],
    ['ticker,strike', 'ticker,strike'],
    ['strike,strike', 'strike'],
  ])('selects the columns of CSV: %s', async (fields, header) => {
    const text = await (await ask(`${STRIKES}?format=csv&fields=${fields}`)).text();
    expect(text.slice(0, text.indexOf('\r\n'))).toBe(header);
  });

  test.each([
    ['fields=net_gez', 'must name a field of the answer, which "net_gez" is not', 'Nearest: net_gex'],
    ['fields=', 'must name a field of the answer, which "" is not', 'Nearest: '],
    ['format=csv&fields=strike,count', 'must name a column of the table, which "count" is not', 'Nearest: '],
    [`fields=${'x'.repeat(65)}`, 'must be a string of 0 to 64 characters', ''],
    [`fields=${'a,'.repeat(200)}`, 'must be an array of 1 to 100 items', ''],
    [`fields=%22%0A%1B[31m`, 'must name a field of the answer, which """ is not', 'Nearest: '],
  ])('%s is refused', async (query, expected, hinted) => {
    const response = await ask(`${STRIKES}?${query}`);
    const { code, errors, hint } = (await response.json()) as {
      code: string;
      errors: { pointer: string; detail: string }[];
      hint: string;
    };
    expect([response.status, code]).toEqual([400, 'invalid_parameter']);
    expect(errors[0]!.pointer).toStartWith('/fields');
    expect(errors[0]!.detail).toStartWith(expected.slice(0, 40));
    expect(hint).toContain(hinted);
  });
});

test.each([
  ['table=events&format=csv', 200],
  ['table=quotes&format=csv', 400],
  ['table=nothing&format=csv', 400],
  ['table=events', 400],
  ['format=arrow', 200],
])('the surface has several tables: %s', async (query, status) => {
  const response = await ask(`/api/v1/surface/SPY?${query}`);
  expect(response.status).toBe(status);
  if (status === 400)
    expect(((await response.json()) as { errors: { pointer: string }[] }).errors[0]!.pointer).toBe('/table');
});

describe('no rows', () => {
  const EMPTY = '/api/v1/nodes/gex/SPY/history?from=2020-01-01&to=2020-01-02';
  const COLUMNS = 'ticker,as_of,day,spot,net_gex,gross_gex';

  test('are a valid file of each format, with all columns', async () => {
    expect(await (await ask(`${EMPTY}&format=csv`)).text()).toMatch(new RegExp(`^${COLUMNS}[a-z_0-9,]*\r\n$`));
    const arrow = tableFromIPC(await (await ask(`${EMPTY}&format=arrow`)).arrayBuffer());
    expect([arrow.numRows, arrow.names.slice(0, 6).join()]).toEqual([0, COLUMNS]);
    const file = await (await ask(`${EMPTY}&format=parquet`)).arrayBuffer();
    expect(await parquetReadObjects({ file })).toEqual([]);
    const { columns } = (await (await ask(`${EMPTY}&format=columns`)).json()) as { columns: object };
    expect(Object.entries(columns).slice(0, 2)).toEqual([
      ['ticker', []],
      ['as_of', []],
    ]);
  });
});

describe('a table that is posted', () => {
  const path = '/api/v1/physics/greeks/batch';
  const strike = Array.from({ length: 2_000 }, (_, i) => 80 + i / 50);
  const body = { put_call: 'C', spot: 100, strike, tte: 0.5, iv: 0.3 };
  const post = (headers: Record<string, string>) => service.request('POST', path, { body, headers });

  test('is answered in each format with the same numbers', async () => {
    const { delta } = (await (await post({})).json()) as { delta: number[] };
    const csv = await (await post({ Accept: 'text/csv' })).text();
    const [header, ...rows] = csv
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    expect(rows.map((row) => Number(row[header!.indexOf('delta')]))).toEqual(delta);
    const arrow = tableFromIPC(await (await post({ Accept: 'application/vnd.apache.arrow.stream' })).arrayBuffer());
    expect([...arrow.getChild('delta')]).toEqual(delta);
    const parquet = await (await post({ Accept: 'application/vnd.apache.parquet' })).arrayBuffer();
    expect((await parquetReadObjects({ file: parquet })).map((row) => row.delta)).toEqual(delta);
  });

  test('has no figures in a row that is not valid, and its status, in each format', async () => {
    const rowwise = { ...body, strike: [100, 0], on_error: 'row' };
    const ask = (Accept: string) => service.request('POST', path, { body: rowwise, headers: { Accept } });
    const { delta, status } = (await (await ask('application/json')).json()) as { delta: unknown[]; status: unknown[] };
    expect([delta, status]).toEqual([
      [expect.any(Number), null],
      ['ok', 'invalid_strike'],
    ]);
    expect((await (await ask('text/csv')).text()).split('\r\n')[2]).toBe(',,,,,,,,,invalid_strike');
    const arrow = tableFromIPC(await (await ask('application/vnd.apache.arrow.stream')).arrayBuffer());
    expect([arrow.getChild('delta'), arrow.getChild('status')].map((column) => [...column])).toEqual([delta, status]);
    const parquet = await (await ask('application/vnd.apache.parquet')).arrayBuffer();
    const rows = await parquetReadObjects({ file: parquet });
    expect([rows.map((row) => row.delta), rows.map((row) => row.status)]).toEqual([delta, status]);
  });

  test.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
  ])('is answered compressed if the client accepts %s', async (accepted, coding, decode) => {
    const plain = await (await post({})).text();
    const response = await post({ 'Accept-Encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(coding);
    expect(response.headers.get('vary')).toContain('Accept-Encoding');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(decode(bytes).toString()).toBe(plain);
    expect(bytes.length).toBeLessThan(plain.length * 0.6);
  });
});
