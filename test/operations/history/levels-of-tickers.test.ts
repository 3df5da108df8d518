import { beforeAll, describe, expect, test } from 'bun:test';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetReadObjects } from 'hyparquet';
import { newYorkInstant, previousTradingDay } from '../../../src/market/calendar.ts';
import { STANDARD_UNIVERSE } from '../../../src/market/universe.ts';
import { keepLevels } from '../../store/samples.ts';
import { serviceForTests } from '../../support/for-tests.ts';

/** The levels of many tickers in one request. */
const service = serviceForTests({ hasAllTickers: true, isEmpty: true, rateLimit: '100000/h' });

const TICKERS = [...STANDARD_UNIVERSE.tickers];
const DAYS = 12;
/** A ticker of the universe without levels. */
const WITHOUT = TICKERS.at(-1)!;
const NEWEST = '2026-11-20';

beforeAll(() => {
  let day = NEWEST;
  for (let i = 0; i < DAYS; i++) {
    for (const [j, underlying] of TICKERS.entries()) {
      if (underlying === WITHOUT) continue;
      const asOf = newYorkInstant(day, '15:30');
      const atmIv30d = (i + j) % 5 === 0 ? null : (i + 1) / 7;
      keepLevels(service.app.store, {
        underlying,
        asOf,
        simulated: true,
        spot: 100 + i / 3 + j,
        netGex: 1e9 / (j + 3),
        atmIv30d,
      });
    }
    day = previousTradingDay(day);
  }
});

type Answer = Record<string, (string | number | boolean | null)[]> & {
  count: number;
  without_data: string[];
  notes: string[];
};

const get = (path: string, headers: Record<string, string> = {}) => service.request('GET', path, { headers });
const json = async (path: string) => (await (await get(path)).json()) as Answer;
const HISTORY = '/api/v1/levels/history';
const ALL = `${HISTORY}?tickers=${TICKERS.join(',')}&per=day&digits=17`;

/** Returns the rows of one ticker, as the route of one ticker names the columns. */
function rowsOf(answer: Answer, ticker: string): Record<string, unknown> {
  const rows = answer.ticker!.flatMap((each, i) => (each === ticker ? [i] : []));
  const columns = Object.entries(answer).filter(([, cells]) => Array.isArray(cells) && cells.length === answer.count);
  return Object.fromEntries(columns.map(([name, cells]) => [name, rows.map((row) => (cells as unknown[])[row])]));
}

describe('the history of all tickers of the universe in one request', () => {
  test('has the rows of the route of each ticker', async () => {
    const answer = await json(ALL);
    expect([answer.count, new Set(answer.ticker).size]).toEqual([(TICKERS.length - 1) * DAYS, TICKERS.length - 1]);
    for (const ticker of ['SPY', TICKERS[7]!, TICKERS.at(-2)!]) {
      const one = await json(`/api/v1/nodes/gex/${ticker}/history?per=day&digits=17`);
      const { ticker: name, ...rows } = rowsOf(answer, ticker);
      expect(new Set(name as string[])).toEqual(new Set([ticker]));
      expect(rows).toEqual(Object.fromEntries(Object.keys(rows).map((key) => [key, one[key]])));
    }
  });

  test('names the tickers that have no rows', async () => {
    const answer = await json(ALL);
    expect(answer.without_data).toEqual([WITHOUT]);
    expect(answer.notes[0]).toBe(`Tickers without levels, which have no rows: ${WITHOUT}.`);
  });

  test('as CSV, Arrow and Parquet has the bits of JSON', async () => {
    const answer = await json(ALL);
    const [csv, arrow, parquet] = await Promise.all(
      ['csv', 'arrow', 'parquet'].map((format) => get(`${ALL}&format=${format}`)),
    );
    const [header, ...rows] = (await csv!.text())
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    expect([header!.slice(0, 2), rows.length]).toEqual([['ticker', 'as_of'], answer.count]);
    const table = tableFromIPC(await arrow!.arrayBuffer());
    const objects = await parquetReadObjects({ file: await parquet!.arrayBuffer() });
    for (const [i, name] of header!.entries()) {
      const cells = answer[name]!;
      expect([name, rows.map((row) => row[i]!)]).toEqual([
        name,
        cells.map((cell) => (cell === null ? '' : String(cell))),
      ]);
      expect([name, [...table.getChild(name)]]).toEqual([name, cells]);
      expect([name, objects.map((row) => row[name])]).toEqual([name, cells]);
    }
  });

  test('has at most as many rows of a ticker as points, and says which tickers have more', async () => {
    const answer = await json(`${HISTORY}?tickers=SPY,QQQ&points=4`);
    const one = await json('/api/v1/nodes/gex/SPY/history?points=4');
    expect(answer.count).toBe(8);
    expect(rowsOf(answer, 'SPY').as_of).toEqual(one.as_of!);
    expect(answer.downsampled).toEqual(['SPY', 'QQQ']);
  });

  test('costs a token for each thousand rows beyond the first', async () => {
    const costOf = async (query: string) =>
      Number(/cost=(\d+)/.exec((await get(`${HISTORY}?${query}`)).headers.get('ratelimit')!)?.[1] ?? 1);
    // A request costs a token, and so do the tickers of a screen.
    expect(await costOf('tickers=SPY&per=day&points=9')).toBe(2);
    expect((TICKERS.length - 1) * DAYS).toBeLessThan(1_000);
    expect(await costOf('per=day&points=10')).toBe(2);
  });
});

test('the newest levels are the last rows of the history', async () => {
  const [newest, history] = await Promise.all([
    json('/api/v1/levels?tickers=QQQ,SPY'),
    json(`${HISTORY}?tickers=QQQ,SPY`),
  ]);
  expect([newest.count, newest.ticker]).toEqual([2, ['QQQ', 'SPY']]);
  for (const ticker of ['QQQ', 'SPY']) {
    const last = Object.entries(rowsOf(history, ticker)).map(([name, cells]) => [name, [(cells as unknown[]).at(-1)]]);
    expect(rowsOf(newest, ticker)).toEqual(Object.fromEntries(last));
  }
});

test('without tickers, all are meant', async () => {
  expect((await json('/api/v1/levels')).count).toBe(TICKERS.length - 1);
});

test('a moment of the past has the levels of that moment', async () => {
  const before = previousTradingDay(NEWEST);
  const answer = await json(`/api/v1/levels?tickers=SPY&at=${before}`);
  expect(answer.day).toEqual([before]);
});

test.each([
  ['an unknown ticker', 'tickers=SPY,NOSUCHX', 400, 'unknown_ticker'],
  ['10,000 tickers', `tickers=${Array.from({ length: 10_000 }, (_, i) => `T${i}`)}`, 400, 'invalid_parameter'],
  ['no ticker', 'tickers=', 400, 'invalid_parameter'],
  ['a range that ends before it begins', 'tickers=SPY&from=2026-02-01&to=2026-01-01', 400, 'invalid_parameter'],
  ['an unknown argument', 'ticker=SPY', 400, 'invalid_parameter'],
])('%s is refused', async (_, query, status, code) => {
  for (const path of [HISTORY, '/api/v1/levels']) {
    if (path !== HISTORY && query.includes('from=')) continue;
    const response = await get(`${path}?${query}`);
    const { code: given, errors } = (await response.json()) as { code: string; errors?: { pointer: string }[] };
    expect([path, response.status, given]).toEqual([path, status, code]);
    if (code === 'invalid_parameter') expect(errors![0]!.pointer).toMatch(/^\/(tickers|from|ticker)/);
  }
});

test('tickers without any levels are an answer without rows', async () => {
  const answer = await json(`${HISTORY}?tickers=${WITHOUT}`);
  expect([answer.count, answer.ticker, answer.without_data]).toEqual([0, [], [WITHOUT]]);
  const csv = await (await get(`${HISTORY}?tickers=${WITHOUT}&format=csv`)).text();
  expect(csv.split('\r\n').length).toBe(2);
});
