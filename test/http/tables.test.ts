import { beforeAll, describe, expect, test } from 'bun:test';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { closeOf, newYorkDate, previousTradingDay } from '../../src/market/calendar.ts';
import { type TableCell, type TableForm, tableForms } from '../../src/operations/engine/answer-tables.ts';
import { routeView } from '../../src/operations/engine/perform.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { recordLevels } from '../support/record-levels.ts';

/** Answers as tables: CSV, Parquet, Arrow, and JSON with its columns in an object of their own. */
const service = serviceForTests();

beforeAll(async () => {
  const { store } = service.app;
  const chain = store.chain(store.latestChainId('SPY', true)!)!;
  store.saveChain({ ...chain, underlying: 'SPX' });
  // Changes are compared with an earlier day.
  store.saveChain({ ...chain, asOf: closeOf(EARLIER) });
  await recordLevels(store);
});

const get = (path: string, headers: Record<string, string> = {}) => service.request('GET', path, { headers });

/** The trading day before today. The simulated market has quotes of today, at any hour. */
const EARLIER = previousTradingDay(newYorkDate(Date.now()));

/** Arguments with which a route has the tables that the answer to its example lacks. */
const FURTHER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/api/v1/surface/{ticker}': { grid: 'detail=grid', quotes: 'quotes_days=30' },
  '/api/v1/quotes/{ticker}': { quotes: 'expiry=2026-12-04', series: 'expiry=2026-12-04' },
  '/api/v1/nodes/gex/{ticker}/levels': Object.fromEntries(
    ['moved', 'new_contracts', 'gone_contracts', 'expired_contracts'].map((each) => [
      `comparison.${each}`,
      `compare_with=${EARLIER}`,
    ]),
  ),
};

const GETS = OPERATIONS.filter(({ rest }) => rest?.method === 'GET');

/** Every table of every GET route, with the address of an answer that has the table. */
const TABLES = GETS.flatMap((operation) => {
  const { path } = operation.rest!;
  const { ticker, ...others } = operation.example as Record<string, unknown>;
  const forms = tableForms(routeView(operation).output);
  return forms.map((form) => {
    const query = new URLSearchParams(
      Object.entries(others).map(([name, value]): [string, string] => [name, String(value)]),
    );
    for (const [name, value] of new URLSearchParams(FURTHER[path]?.[form.name])) query.set(name, value);
    if (path.endsWith('/levels') && query.has('compare_with')) query.delete('from');
    const takesDigits = 'digits' in routeView(operation).input.properties;
    if (takesDigits) query.set('digits', '17');
    const address = `${path.replace('{ticker}', String(ticker))}?${query}`;
    return [path, form.name, address, forms.length > 1 ? `&table=${form.name}` : '', form] as const;
  });
});

type Columns = Record<string, readonly TableCell[]>;

/** Columns that stand beside the list of their rows. */
const BESIDE = ['greeks_iv', 'straddle_move'];

/** Reads a table out of a JSON answer by the structure of the answer, without the code that writes tables. */
function columnsIn(answer: Record<string, unknown>, { name, columns }: TableForm): Columns {
  const steps = name.split('.').filter((step) => step in answer || step !== 'rows');
  let node: unknown = answer;
  for (const step of steps) node = (node as Record<string, unknown>)[step] ?? node;
  // The answer of the calendar is two lists.
  if (Array.isArray(node) && typeof node[0] === 'string') return { [name]: node };
  const cross = ['values', 'total_variance'].find(
    (key) => name !== 'strikes' && name !== 'series' && !Array.isArray(node) && key in Object(node),
  );
  const own = columns.filter((column) => column.name !== 'ticker' && column.name !== 'as_of');
  if (cross) {
    const { [cross]: lists, ...keys } = node as Record<string, unknown[]>;
    const inner = keys.log_moneyness ? 'log_moneyness' : 'strike';
    return Object.fromEntries(
      own.map(({ name: column }) => [
        column,
        (lists as TableCell[][]).flatMap((list, i) =>
          list.map((value, j) =>
            column === inner
              ? (keys[inner]![j] as TableCell)
              : column in keys
                ? (keys[column]![i] as TableCell)
                : value,
          ),
        ),
      ]),
    );
  }
  const valueIn = (row: unknown, column: string, i: number) =>
    (row as Record<string, TableCell>)[column] ??
    (BESIDE.includes(column) ? (answer[column] as TableCell[])[i] : null) ??
    null;
  // A column that no row of the answer has is not in the table.
  const rows: readonly object[] = Array.isArray(node) ? node : [];
  const has = (column: string) => rows.length === 0 || BESIDE.includes(column) || rows.some((row) => column in row);
  const present = own.filter(({ name: column }) => has(column));
  return Object.fromEntries(
    present.map(({ name: column }) => {
      if (Array.isArray(node)) return [column, node.map((row, i) => valueIn(row, column, i))];
      const found = (node as Record<string, unknown>)[column] as readonly TableCell[] | TableCell;
      return [column, Array.isArray(found) ? found : [found as TableCell]];
    }),
  );
}

/** Reads CSV by RFC 4180. An empty cell without quotes is null. */
function csvIn(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? null : plain!));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const textOf = (cell: TableCell) => (cell === null ? null : typeof cell === 'string' ? cell : JSON.stringify(cell));

/** The cells as a table in a file has them: a column of numbers and texts has texts. */
function asInFile(columns: Columns, { columns: forms }: TableForm): Columns {
  const isMixed = (name: string) => forms.find((form) => form.name === name)?.kind === 'mixed';
  return Object.fromEntries(
    Object.entries(columns).map(([name, cells]) => [name, isMixed(name) ? cells.map(textOf) : cells]),
  );
}

/** The metadata of a file are the answer without its tables: every plain value, also in the objects that have tables. */
function expectRest(metadata: Readonly<Record<string, string>>, answer: Record<string, unknown>, form: TableForm) {
  const rest = Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, JSON.parse(text) as unknown]));
  const { provenance: _, options: _options, ...own } = rest;
  expect(answer).toMatchObject(own);
  const isPlain = ([, value]: readonly [string, unknown]) => typeof value !== 'object' || value === null;
  if (form.path.length > 0 || !form.keys.some((key) => key in answer && isPlain(['', answer[key]])))
    expect(rest).toMatchObject(Object.fromEntries(Object.entries(answer).filter(isPlain)));
  const holder = (each: Record<string, unknown>) => form.path.reduce((node, key) => (node?.[key] ?? {}) as never, each);
  const plainOf = (each: Record<string, unknown>) => Object.entries(each).filter(isPlain);
  if (form.path.length > 0) expect(holder(rest)).toMatchObject(Object.fromEntries(plainOf(holder(answer))));
}

describe.each(TABLES)('%s, table %s', (_path, _name, address, selection, form) => {
  let answer: Record<string, unknown>;
  let expected: Columns;
  const read = (format: string) => get(`${address}${selection}&format=${format}`);

  beforeAll(async () => {
    const response = await get(address);
    expect(response.status).toBe(200);
    answer = (await response.json()) as Record<string, unknown>;
    expected = columnsIn(answer, form);
  });

  test('as JSON has its columns in an object of their own, of the ticker and the moment first', async () => {
    const response = await read('columns');
    const { columns, count, ...others } = (await response.json()) as { columns: Columns; count: number };
    expect(response.headers.get('content-type')).toBe('application/vnd.zomma.columns+json');
    const { ticker, as_of, ...own } = columns;
    const { ticker: _ticker, as_of: _asOf, ...figures } = expected;
    expect(own).toEqual(figures);
    expect(Object.values(columns).every((cells) => cells.length === count)).toBe(true);
    if (address.includes('/calendar')) return;
    expect(Object.keys(columns).slice(0, 2)).toEqual(['ticker', 'as_of']);
    expect(Object.keys(others)).toContain('provenance');
  });

  test('as CSV has the numbers as JSON writes them', async () => {
    const response = await read('csv');
    expect(response.headers.get('content-type')).toBe('text/csv;charset=utf-8;header=present');
    const [header, ...rows] = csvIn(await response.text());
    for (const [column, cells] of Object.entries(expected)) {
      const position = header!.indexOf(column);
      expect([column, rows.map((row) => row[position]!)]).toEqual([column, cells.map(textOf)] as never);
    }
    expect(header!.length).toBe(new Set(header).size);
  });

  test('as Parquet has the same values', async () => {
    const response = await read('parquet');
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const file = await response.arrayBuffer();
    const rows = await parquetReadObjects({ file });
    for (const [column, cells] of Object.entries(asInFile(expected, form)))
      expect([column, rows.map((row) => row[column] ?? null)]).toEqual([column, [...cells]]);
    const { key_value_metadata = [], num_rows } = parquetMetadata(file);
    expect(Number(num_rows)).toBe(Object.values(expected)[0]?.length ?? 0);
    expectRest(Object.fromEntries(key_value_metadata.map(({ key, value }) => [key, value!])), answer, form);
  });

  test('as Arrow has the same values', async () => {
    const response = await read('arrow');
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
    const table = tableFromIPC(await response.arrayBuffer());
    for (const [column, cells] of Object.entries(asInFile(expected, form)))
      expect([column, [...table.getChild(column)]]).toEqual([column, [...cells]]);
    expectRest(Object.fromEntries(table.schema.metadata ?? []), answer, form);
  });
});

describe('what a table does not show', () => {
  const csvOf = async (path: string) => {
    const response = await get(`${path}${path.includes('?') ? '&' : '?'}format=csv`);
    const [header, ...rows] = csvIn(await response.text());
    return { notes: decodeURIComponent(response.headers.get('x-data-notes') ?? ''), header: header!, rows };
  };

  test.each([
    ['/api/v1/quotes/SPY?expiry=2026-12-04&limit=3', 3, / More rows follow, with cursor=SPY~\d+~3~\w+\.$/],
    ['/api/v1/screen?limit=1', 1, / The table has 1 of \d+ rows\.$/],
    ['/api/v1/flow/SPY/prints?limit=2', 2, / The table has 2 of \d+ rows\.$/],
    ['/api/v1/nodes/gex/SPY/history?points=1', 1, / The table has 1 of 2 rows\.$/],
    [
      '/api/v1/levels/history?tickers=SPY&from=2020-01-01&to=2020-02-01',
      0,
      /^Tickers without levels, which have no rows: SPY\.$/,
    ],
    ['/api/v1/levels?at=2020-01-01', 0, /\w/],
    ['/api/v1/changes?at=2020-01-01', 0, /^No levels of these tickers are stored up to this moment\./],
  ])('%s: %d rows, and a note', async (path, count, note) => {
    const { notes, rows } = await csvOf(path);
    expect([rows.length, notes]).toEqual([count, expect.stringMatching(note)]);
  });

  test('a whole table has no note on its rows', async () => {
    const { notes } = await csvOf('/api/v1/nodes/gex/SPY/strikes');
    expect(notes).not.toMatch(/rows/);
  });

  test('a column that the answer does not have is in the table only if `fields` names it, or without rows', async () => {
    const columns = async (path: string) => (await csvOf(path)).header;
    expect(await columns('/api/v1/screen')).not.toContain('age_s');
    expect(await columns('/api/v1/screen?where=age_s%3E0')).toContain('age_s');
    expect(await columns('/api/v1/screen?fields=ticker,stale')).toEqual(['ticker', 'stale']);
    const body = { put_call: 'C', spot: 100, strike: [100, 0], tte: 0.1, iv: 0.2, on_error: 'row' };
    const batch = async (given: object) => {
      const options = { body: given, headers: { Accept: 'text/csv' } };
      const response = await service.request('POST', '/api/v1/physics/greeks/batch', options);
      return csvIn(await response.text());
    };
    const [withStatus, first, second] = await batch(body);
    const at = withStatus!.indexOf('status');
    expect([first![at], second![at]]).toEqual(['ok', 'invalid_strike']);
    const { on_error: _, ...plain } = { ...body, strike: [100, 90] };
    expect((await batch(plain))[0]).not.toContain('status');
  });
});

test('a file of the levels has the options, which the answer of the API contract does not state', async () => {
  const response = await get('/api/v1/nodes/gex/SPY?expiries=next:120&format=columns');
  expect(((await response.json()) as { options: unknown }).options).toEqual({ expiries: 'next:120' });
});

test('a number among texts has the digits of JSON', async () => {
  const path = `/api/v1/nodes/gex/SPY/levels?compare_with=${EARLIER}`;
  const { comparison } = (await (await get(path)).json()) as { comparison: { moved: { before: TableCell }[] } };
  const csv = csvIn(await (await get(`${path}&table=comparison.moved&format=csv`)).text());
  const before = csv[0]!.indexOf('before');
  expect(csv.slice(1).map((row) => row[before]!)).toEqual(comparison.moved.map((row) => textOf(row.before)) as never);
});
