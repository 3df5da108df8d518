import { describe, expect, test } from 'bun:test';
import { greeks, inMarketUnits } from '../../src/math/black-scholes.ts';
import { impliedVolatility } from '../../src/math/implied-volatility.ts';
import { servedForTests } from '../support/for-tests.ts';

/** Batches whose rows are judged one by one (`on_error=row`), over sockets, as JSON and as binary columns. */
const { server, service } = servedForTests();

const GREEKS = '/api/v1/physics/greeks/batch';
const IV = '/api/v1/physics/iv';
const OUTPUTS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;
const STATUSES = {
  [GREEKS]: [
    ...['ok', 'invalid_put_call', 'invalid_spot', 'invalid_strike', 'invalid_tte', 'invalid_iv', 'invalid_rate'],
    'invalid_dividend',
  ],
  [IV]: [
    ...['ok', 'at_or_below_intrinsic', 'at_or_above_cap', 'expired', 'invalid_put_call', 'invalid_price'],
    ...['invalid_spot', 'invalid_strike', 'invalid_tte', 'invalid_rate', 'invalid_dividend'],
  ],
} as const;
type Path = keyof typeof STATUSES;
type Columns = Readonly<Record<string, readonly unknown[]>>;

interface Answered {
  readonly count: number;
  /** The columns of results by name, with NaN where JSON has null. */
  readonly results: Readonly<Record<string, readonly number[]>>;
  readonly status: readonly string[];
}

const send = (path: string, body: string | Float64Array, query = '') =>
  fetch(`${server.url}${path}${query}`, {
    method: 'POST',
    headers: {
      'X-API-Key': service.key,
      'Content-Type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
    },
    body: body as string,
  });

const resultsOf = (path: Path) => (path === GREEKS ? OUTPUTS : (['iv'] as const));

/** The two forms of a request for the same rows. A column of JSON may hold anything. Binary columns have NaN in its place. */
const FORMS: Readonly<Record<string, (path: Path, columns: Columns, query?: string) => Promise<Answered>>> = {
  async JSON(path, columns) {
    const response = await send(path, JSON.stringify({ ...columns, on_error: 'row' }));
    expect([response.status, response.status === 200 ? '' : await response.clone().text()]).toEqual([200, '']);
    const answer = (await response.json()) as { count: number; status: string[] } & Record<string, (number | null)[]>;
    const results = Object.fromEntries(
      resultsOf(path).map((name) => [name, answer[name]!.map((value) => value ?? Number.NaN)]),
    );
    return { count: answer.count, status: answer.status, results };
  },
  async 'binary columns'(path, columns) {
    const cell = (value: unknown) =>
      value === 'C' ? 1 : value === 'P' ? -1 : typeof value === 'number' ? value : Number.NaN;
    const response = await send(path, Float64Array.from(Object.values(columns).flat(), cell), '?on_error=row');
    expect([response.status, response.status === 200 ? '' : await response.clone().text()]).toEqual([200, '']);
    const values = new Float64Array(await response.arrayBuffer());
    const names = resultsOf(path);
    const count = values.length / (names.length + 1);
    // JSON has no negative zero.
    const part = (i: number) => [...values.subarray(i * count, (i + 1) * count)].map((value) => value + 0);
    return {
      count,
      results: Object.fromEntries(names.map((name, i) => [name, part(i)])),
      status: part(names.length).map((code) => STATUSES[path][code]!),
    };
  },
};

const COUNT = 20_000;
const column = <Value>(value: (row: number) => Value): Value[] => Array.from({ length: COUNT }, (_, row) => value(row));
const OPTIONS = {
  put_call: column((row) => (row % 3 === 0 ? 'P' : 'C')),
  spot: column((row) => 100 + row / 700),
  strike: column((row) => 99.5 + row / 700 + (row % 5) / 4),
  tte: column((row) => 0.01 + row / COUNT),
  iv: column((row) => 0.1 + row / 90_000),
  rate: column(() => 0.04),
  dividend: column((row) => row / 1e6),
};
const PRICES = [
  ...greeks({
    ...{ count: COUNT, callPut: Float64Array.from(OPTIONS.put_call, (side) => (side === 'C' ? 1 : -1)) },
    ...{ spot: Float64Array.from(OPTIONS.spot), strike: Float64Array.from(OPTIONS.strike) },
    ...{ tte: Float64Array.from(OPTIONS.tte), iv: Float64Array.from(OPTIONS.iv) },
    ...{ rate: 0.04, dividend: Float64Array.from(OPTIONS.dividend) },
  }).price,
];
const { put_call, spot, strike, tte, rate, dividend } = OPTIONS;
const TABLES: Readonly<Record<Path, Columns>> = {
  [GREEKS]: OPTIONS,
  [IV]: { put_call, price: PRICES, spot, strike, tte, rate, dividend },
};
/** The rows with other values in some cells. */
const withCells = (columns: Columns, cells: readonly (readonly [field: string, row: number, value: unknown])[]) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, values]) => {
      const changed = [...values];
      for (const [field, row, value] of cells) if (field === name) changed[row] = value;
      return [name, changed];
    }),
  );

describe.each(Object.keys(FORMS))('as %s', (form) => {
  const answerOf = FORMS[form]!;

  test.each([GREEKS, IV] as const)('20,000 rows of %s with 3 bad ones: 19,997 numbers and 3 statuses', async (path) => {
    const bad = [
      ['strike', 7, 0],
      ['tte', 10_000, null],
      ['put_call', 19_999, 'X'],
    ] as const;
    const good = await answerOf(path, TABLES[path]);
    expect(new Set(good.status)).toEqual(new Set(['ok']));
    const { count, results, status } = await answerOf(path, withCells(TABLES[path], bad));
    expect([count, status.filter((each) => each === 'ok').length]).toEqual([COUNT, COUNT - 3]);
    expect(bad.map(([, row]) => status[row]!)).toEqual(['invalid_strike', 'invalid_tte', 'invalid_put_call']);
    for (const [name, values] of Object.entries(results)) {
      const expected = good.results[name]!.with(7, Number.NaN).with(10_000, Number.NaN).with(19_999, Number.NaN);
      expect([name, values]).toEqual([name, expected]);
      expect(values.filter((value) => Number.isFinite(value))).toHaveLength(COUNT - 3);
    }
  });

  test.each([GREEKS, IV] as const)('NaN in every cell of %s: each row names its first argument', async (path) => {
    const columns = Object.fromEntries(Object.keys(TABLES[path]).map((name) => [name, [null, null, null]]));
    const { results, status } = await answerOf(path, columns);
    expect(status).toEqual(Array(3).fill('invalid_put_call'));
    for (const values of Object.values(results)) expect(values).toEqual(Array(3).fill(Number.NaN));
  });

  test.each([GREEKS, IV] as const)('%s names each argument', async (path) => {
    const names = Object.keys(TABLES[path]);
    const few = Object.fromEntries(Object.entries(TABLES[path]).map(([name, values]) => [name, values.slice(0, 7)]));
    const { status } = await answerOf(
      path,
      withCells(
        few,
        names.map((name, row) => [name, row, -2e9]),
      ),
    );
    expect(status).toEqual(names.map((name) => `invalid_${name}`));
  });

  test('no rows', async () => {
    const none = Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, []]));
    expect(await answerOf(GREEKS, none)).toMatchObject({ count: 0, status: [] });
  });

  test('the results at all bounds are finite', async () => {
    const bounds = [
      ['C', 'P'],
      [1e-6, 1e9],
      [1e-6, 1e9],
      [0, 5e-324, 100],
      [0, 5e-324, 100],
      [-1, 1],
      [-1, 1],
    ];
    const rows = bounds.reduce<unknown[][]>(
      (all, values) => all.flatMap((row) => values.map((each) => [...row, each])),
      [[]],
    );
    const names = Object.keys(OPTIONS);
    const { results, status } = await answerOf(
      GREEKS,
      Object.fromEntries(names.map((name, i) => [name, rows.map((row) => row[i])])),
    );
    expect(new Set(status)).toEqual(new Set(['ok']));
    for (const values of Object.values(results)) expect(values.every(Number.isFinite)).toBe(true);
  });

  test('a row without a volatility has none, and says why', async () => {
    const { results, status } = await answerOf(IV, {
      ...{ put_call: ['C', 'C', 'C', 'C'], price: [0, 4.2, 101, 4.2], spot: [100, 100, 100, 100] },
      ...{ strike: [100, 100, 100, 100], tte: [0.25, 0.25, 0.25, 0], rate: [0, 0, 0, 0], dividend: [0, 0, 0, 0] },
    });
    expect(status).toEqual(['at_or_below_intrinsic', 'ok', 'at_or_above_cap', 'expired']);
    expect(results.iv!.map(Number.isNaN)).toEqual([true, false, true, true]);
  });

  test('at expiry and without volatility the Greeks are the limits of the kernel', async () => {
    const rows = {
      ...{ put_call: ['C', 'P', 'C', 'C'], spot: [100, 100, 100, 100], strike: [90, 120, 100, 95] },
      ...{ tte: [0, 0, 0, 0.5], iv: [0.2, 0, 0.2, 0], rate: [0.04, 0.04, 0.04, 0.04], dividend: [0, 0, 0, 0] },
    };
    const limits = inMarketUnits(
      greeks({
        ...{ count: 4, callPut: Float64Array.of(1, -1, 1, 1), spot: 100, strike: Float64Array.from(rows.strike) },
        ...{ tte: Float64Array.from(rows.tte), iv: Float64Array.from(rows.iv), rate: 0.04, dividend: 0 },
      }),
    );
    const { results, status } = await answerOf(GREEKS, rows);
    expect(status).toEqual(Array(4).fill('ok'));
    for (const name of OUTPUTS)
      expect([name, results[name]!]).toEqual([name, [...limits[name]].map((each) => each + 0)]);
    expect([results.price!.slice(0, 3), results.delta!.slice(0, 3)]).toEqual([
      [10, 20, 0],
      [1, -1, expect.closeTo(0.5, 15)],
    ]);
  });
});

test('binary volatilities are those of the kernel, and of JSON, bit for bit', async () => {
  const response = await send(IV, Float64Array.from(Object.values(withSides(TABLES[IV])).flat() as number[]));
  const values = new Float64Array(await response.arrayBuffer());
  const callPut = Float64Array.from(withSides(TABLES[IV]).put_call as number[]);
  const expected = impliedVolatility({
    ...{ count: COUNT, callPut, price: Float64Array.from(PRICES), rate: 0.04 },
    ...{ spot: Float64Array.from(spot), strike: Float64Array.from(strike), tte: Float64Array.from(tte) },
    dividend: Float64Array.from(dividend),
  });
  expect([...values.subarray(0, COUNT)]).toEqual([...expected]);
  expect(values.subarray(COUNT).every((code) => code === 0)).toBe(true);
  const { iv } = (await (await send(IV, JSON.stringify(TABLES[IV]))).json()) as { iv: number[] };
  expect(iv).toEqual([...expected]);
});

const withSides = (columns: Columns): Columns => ({
  ...columns,
  put_call: columns.put_call!.map((side) => (side === 'C' ? 1 : -1)),
});

const ROW = { put_call: 'C', spot: 100, strike: [100, 0], tte: 0.25 };
const bytes = Float64Array.of(1, 100, 100, 0.25, 0.2, 0.04, 0);

test.each([
  ['a bad row without on_error', GREEKS, { ...ROW, iv: 0.2 }, '', 422, '/strike/1'],
  ['a bad row without on_error', IV, { ...ROW, price: 4 }, '', 422, '/strike/1'],
  ['a bad value for all rows', GREEKS, { ...ROW, iv: -1, on_error: 'row' }, '', 422, '/iv'],
  ['columns of different lengths', GREEKS, { ...ROW, iv: [0.2], on_error: 'row' }, '', 422, '/iv'],
  ['an unknown on_error', GREEKS, { ...ROW, iv: 0.2, on_error: 'rows' }, '', 422, '/strike/1'],
  ['too many rows', GREEKS, { ...ROW, iv: 0.2, strike: Array(20_001).fill(1), on_error: 'row' }, '', 422, '/strike'],
  ['an unknown parameter of binary columns', GREEKS, bytes, '?unit=raw', 400, '/unit'],
  ['a repeated parameter', GREEKS, bytes, '?on_error=row&on_error=row', 400, '/on_error'],
  ['an unknown value', IV, bytes, '?on_error=rows', 400, '/on_error'],
  ['the old form in binary columns', IV, bytes, '?without_iv=zero', 400, '/without_iv'],
] as const)('refuses %s: %s', async (_what, path, body, query, status, pointer) => {
  const response = await send(path, body instanceof Float64Array ? body : JSON.stringify(body), query);
  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  expect([response.status, errors[0]!.pointer]).toEqual([status, pointer]);
});

test('the documentation has the number of each status', async () => {
  const page = await Bun.file(new URL('../../docs/rest.md', import.meta.url)).text();
  const rows = [...page.matchAll(/^\| (\d+) \| (?:`(\w+)`)? ?\| `(\w+)` \|$/gm)];
  const column = (place: number) => rows.map((row) => row[place]).filter((name) => name !== undefined);
  expect(rows.map(([, number]) => Number(number))).toEqual(rows.map((_, i) => i));
  expect([column(2), column(3)]).toEqual([[...STATUSES[GREEKS]], [...STATUSES[IV]]]);
});

test('an infinity in JSON is an invalid value of its row', async () => {
  const response = await send(
    GREEKS,
    '{"put_call":"C","spot":[100,1e999],"strike":100,"tte":1,"iv":0.2,"on_error":"row"}',
  );
  expect(((await response.json()) as { status: string[] }).status).toEqual(['ok', 'invalid_spot']);
});

test('without_iv=zero has 0 where the answer else has null', async () => {
  const body = { ...ROW, strike: 100, price: [4.2, 0] };
  const ivOf = async (more: object) =>
    ((await (await send(IV, JSON.stringify({ ...body, ...more }))).json()) as { iv: unknown[] }).iv;
  const [solved, none] = await ivOf({});
  expect([typeof solved, none]).toEqual(['number', null]);
  expect(await ivOf({ without_iv: 'zero' })).toEqual([solved, 0]);
});
