import { expect, test } from 'bun:test';
import { serviceForTests } from '../support/for-tests.ts';

/** Columns of float64 in requests and answers. They equal the JSON columns bit by bit. */
const service = serviceForTests();

const PATH = '/api/v1/physics/greeks/batch';
const INPUTS = ['put_call', 'spot', 'strike', 'tte', 'iv', 'rate', 'dividend'] as const;
const ANSWERS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;
type Columns = Record<(typeof INPUTS)[number], number[]>;

const columnsOf = (rows: number): Columns => ({
  put_call: Array.from({ length: rows }, (_, row) => (row % 3 ? 1 : -1)),
  spot: Array.from({ length: rows }, (_, row) => 100 + row / 7),
  strike: Array.from({ length: rows }, (_, row) => 90 + row / 3),
  tte: Array.from({ length: rows }, (_, row) => 0.01 + row / 1000),
  iv: Array.from({ length: rows }, (_, row) => 0.1 + row / 900),
  rate: Array(rows).fill(0.04),
  dividend: Array.from({ length: rows }, (_, row) => row / 1e6),
});
const bytesOf = (columns: Columns) => new Uint8Array(Float64Array.from(INPUTS.flatMap((name) => columns[name])).buffer);

const post = (bytes: Uint8Array, query = '', contentType = 'application/octet-stream') =>
  service.app.handle(
    new Request(`http://localhost${PATH}${query}`, {
      method: 'POST',
      headers: { 'X-API-Key': service.key, 'Content-Type': contentType, 'Content-Length': String(bytes.length) },
      body: bytes as Uint8Array<ArrayBuffer>,
    }),
  );

test.each([
  [0, ''],
  [1, ''],
  [257, '?units=raw'],
  [4_096, '?units=market'],
  [20_000, ''],
])('%d rows%s: the answer equals the JSON answer bit by bit', async (rows, query) => {
  const columns = columnsOf(rows);
  const response = await post(bytesOf(columns), query);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  const answer = new Float64Array(await response.arrayBuffer());
  expect(answer.length).toBe(ANSWERS.length * rows);
  const units = /units=(\w+)/.exec(query)?.[1];
  const body = {
    ...columns,
    put_call: columns.put_call.map((side) => (side === 1 ? 'C' : 'P')),
    ...(units && { units }),
  };
  const json = (await (await service.request('POST', PATH, { body })).json()) as Record<string, number[]>;
  for (const [i, name] of ANSWERS.entries()) {
    // JSON has no negative zero.
    expect(Array.from(answer.subarray(i * rows, (i + 1) * rows), (value) => value + 0)).toEqual(json[name]!);
  }
});

const bad: [what: string, field: keyof Columns, row: number, value: number][] = [
  ['an invalid side', 'put_call', 2, 0],
  ['NaN', 'spot', 0, Number.NaN],
  ['an infinity', 'strike', 1, Number.POSITIVE_INFINITY],
  ['a value below its bound', 'tte', 3, -1e-9],
  ['a value above its bound', 'rate', 3, 4],
];
test.each(bad)('refuses %s and names the column and row', async (_, field, row, value) => {
  const columns = columnsOf(4);
  columns[field][row] = value;
  const response = await post(bytesOf(columns));
  const { code, errors } = (await response.json()) as { code: string; errors: { pointer: string }[] };
  expect([response.status, code, errors[0]!.pointer]).toEqual([422, 'invalid_body', `/${field}/${row}`]);
});

test.each([
  ['a missing row', (bytes: Uint8Array) => bytes.slice(8), '', 422],
  ['an extra byte', (bytes: Uint8Array) => new Uint8Array([...bytes, 0]), '', 422],
  ['too many rows', () => bytesOf(columnsOf(20_001)), '', 422],
  ['a body above the limit', () => new Uint8Array(5 * 1024 * 1024), '', 413],
  ['unknown units', (bytes: Uint8Array) => bytes, '?units=bips', 400],
])('refuses %s', async (_, change, query, status) => {
  expect((await post(change(bytesOf(columnsOf(4))), query)).status).toBe(status);
});

test.each(['application/octet-stream', 'application/json', null])(
  'the path of binary columns takes them with the content type %s',
  async (type) => {
    const raw = bytesOf(columnsOf(3)) as Uint8Array<ArrayBuffer>;
    const own = await service.request('POST', `${PATH}.f64?units=raw`, { raw, headers: { 'Content-Type': type } });
    expect([own.status, own.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(await own.bytes()).toEqual(await (await post(raw, '?units=raw')).bytes());
  },
);

test('bytes with the content type of JSON are refused as invalid JSON', async () => {
  expect((await post(bytesOf(columnsOf(4)), '', 'application/json')).status).toBe(422);
});
