import { beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newYorkInstant, previousTradingDay } from '../src/market/calendar.ts';
import { STANDARD_UNIVERSE } from '../src/market/universe.ts';
import { keepLevels } from './store/samples.ts';
import { servedForTests } from './support/for-tests.ts';
import { testNeeding } from './support/needs.ts';
import { ROOT } from './support/process.ts';

/** The examples of the page "Python, Excel, Sheets" against a running service, in the order of the page. */
const { server, service } = servedForTests({ rateLimit: '100000/h' });

const PAGE = readFileSync(join(ROOT, 'docs/python-excel-sheets.md'), 'utf8');
const blocksOf = (language: string) =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text!);

const python = process.env.ZOMMA_PYTHON ?? Bun.which('python3') ?? undefined;
const canImport = (modules: string) =>
  python !== undefined && Bun.spawnSync([python, '-c', `import ${modules}`], { stderr: 'ignore' }).success;

beforeAll(() => {
  let day = '2026-11-20';
  for (let i = 0; i < 3; i++) {
    for (const [j, underlying] of [...STANDARD_UNIVERSE.tickers].entries()) {
      const asOf = newYorkInstant(day, '15:30');
      const atmIv30d = j % 7 === 0 ? null : (i + 1) / 7;
      keepLevels(service.app.store, {
        ...{ underlying, asOf, simulated: true, spot: 100 + i / 3 + j, netGex: 1e10 / (j + 3), atmIv30d },
      });
    }
    day = previousTradingDay(day);
  }
});

async function run(blocks: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-python-'));
  try {
    const child = Bun.spawn([python!, '-'], {
      cwd: folder,
      env: { ...process.env, ZOMMA_URL: server.url, ZOMMA_KEY: service.key },
      stdin: Buffer.from(blocks.join('\n')),
      stderr: 'pipe',
    });
    const [out, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(errors);
    return out;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Compares the history of all tickers, as each reader has read it, with JSON: every number bit by bit. */
const COMPARE = `
import math, struct
answer = json.loads(fetch("/levels/history?digits=17&tickers=" + ",".join(TICKERS)))
def bits(value):
    if value is None or (isinstance(value, float) and math.isnan(value)): return None
    if isinstance(value, (bool, str)) or type(value).__name__ == "bool_": return str(value)
    return struct.pack("<d", float(value))
def same(name, columns):
    for key in columns:
        read, sent = [bits(each) for each in columns[key]], [bits(each) for each in answer[key]]
        assert read == sent, (name, key)
    print(name, len(columns), len(read))
address = "/levels/history?digits=17&tickers=" + ",".join(TICKERS) + "&format="
`;

testNeeding(canImport('pandas'), 'not installed: pandas for python3')('the examples with pandas run', async () => {
  const blocks = blocksOf('python').filter((block) => !/pyarrow|polars|duckdb/.test(block));
  expect(blocks.length).toBe(4);
  const tickers = `TICKERS = ${JSON.stringify([...STANDARD_UNIVERSE.tickers])}\n`;
  const fetch = blocksOf('python')
    .join('')
    .match(/def fetch[\s\S]*?read\(\)\n/)![0];
  const csv = `
frame = pd.read_csv(URL + address + "csv", storage_options=HEADERS, float_precision="round_trip")
same("csv", {key: list(frame[key]) for key in frame.columns})
`;
  const out = await run([...blocks, tickers, fetch, COMPARE, csv]);
  expect(out).toContain(`csv 17 ${3 * STANDARD_UNIVERSE.tickers.size}`);
});

// Debian has no packages of pyarrow, polars and duckdb, so a machine without them skips this test, also with `CI=true`.
test.skipIf(!canImport('pandas, pyarrow, polars, duckdb'))(
  'all examples run, and every reader has the bits of JSON',
  async () => {
    const tickers = `TICKERS = ${JSON.stringify([...STANDARD_UNIVERSE.tickers])}\n`;
    const readers = `
arrow = pa.ipc.open_stream(fetch(address + "arrow")).read_all()
same("arrow", arrow.to_pydict())
same("polars", pl.read_ipc_stream(fetch(address + "arrow")).to_dict(as_series=False))
with open("all.parquet", "wb") as file: file.write(fetch(address + "parquet"))
frame = pd.read_parquet("all.parquet")
same("pandas", {key: list(frame[key]) for key in frame.columns})
frame = duckdb.sql("SELECT * FROM 'all.parquet'").df()
same("duckdb", {key: list(frame[key]) for key in frame.columns})
empty = fetch("/nodes/gex/SPY/history?from=2020-01-01&to=2020-01-02&format=arrow")
print("empty", pa.ipc.open_stream(empty).read_all().num_rows)
`;
    const out = await run([...blocksOf('python'), tickers, COMPARE, readers]);
    const rows = 3 * STANDARD_UNIVERSE.tickers.size;
    for (const reader of ['arrow', 'polars', 'pandas', 'duckdb']) expect(out).toContain(`${reader} 17 ${rows}`);
    expect(out).toContain('empty 0');
  },
);

test('the addresses of Excel and of Sheets answer with CSV', async () => {
  const [query] = blocksOf('powerquery');
  const path = /RelativePath = "([^"]+)"/.exec(query!)![1];
  const given = [...query!.matchAll(/(\w+) = "([^"]+)"/g)].filter(([, name]) => /^(?:per|format|tickers)$/.test(name!));
  const parameters = new URLSearchParams(given.map(([, name, value]): [string, string] => [name!, value!]));
  const sheet = /=ZOMMA\("([^"]+)"\)/.exec(PAGE)![1]!;
  const headers = { 'X-API-Key': service.key };
  for (const [address, accept] of [
    [`/${path}?${parameters}`, '*/*'],
    [`/api/v1/${sheet}`, 'text/csv'],
  ]) {
    const response = await fetch(server.url + address!, { headers: { ...headers, Accept: accept! } });
    const [header, ...rows] = (await response.text()).trimEnd().split('\r\n');
    expect([response.status, header!.split(',')[0]]).toEqual([200, 'ticker']);
    expect(rows.length).toBeGreaterThanOrEqual(2);
  }
});
