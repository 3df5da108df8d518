import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createProgram } from '../../src/cli/program.ts';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import { closeOf } from '../../src/market/calendar.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { PORTS, type Ports } from '../../src/server/cli-ports.ts';
import { openData } from '../../src/server/stored-data.ts';
import { writeChain } from '../support/chain-file.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { addMember, PROGRAM, run, startLoaded } from '../support/process.ts';
import { type ProviderServer, startProviderServer } from '../support/provider-server.ts';
import { testFolder } from '../support/test-folder.ts';

/** `zomma ingest`, run as a process. */
const path = testFolder();
let dataDir: string;
beforeEach(() => {
  dataDir = path('data');
});

const ingest = (...args: string[]) => run(PROGRAM, ['ingest', ...args, '--data-dir', dataDir]);
const ingestJson = async (...args: string[]) => JSON.parse((await ingest(...args, '--json')).stdout);

const HEADER = 'executed_at,option_chain_id,price,size,canceled,upstream_condition_detail';
const trade = (at: number, changes: { price?: string; canceled?: string } = {}) => {
  const time = new Date(Date.UTC(2026, 7, 17, 13, 30) + at).toISOString();
  return `${time},TEST260918C00100000,${changes.price ?? '2.5'},500,${changes.canceled ?? 'f'},auto`;
};
const writeTape = (name: string, rows: readonly string[]) =>
  writeFileSync(path(name), `${[HEADER, ...rows].join('\n')}\n`);

const prints = () => {
  using store = openData(dataDir);
  return store.prints('TEST', 0, Date.now(), false, 0);
};

test('stores a tape once, however often and in however many pieces it is loaded', async () => {
  const rows = Array.from({ length: 100 }, (_, i) => trade(i));
  writeTape('morning.csv', [...rows.slice(0, 60), trade(60, { price: 'x' }), trade(61, { price: '0' })]);
  writeTape('day.csv', rows);
  expect(await ingest(path('morning.csv'))).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /morning\.csv: 62 rows: 60 stored, 0 already known, 2 rejected \(bad_price 2\)\n1 file, 62 rows in [\d.]+ s \([\d,]+ rows\/s\): 60 stored, 0 already known, 2 rejected\n$/,
    ),
  });
  expect(await ingestJson(path('day.csv'), path('morning.csv'))).toEqual({
    files: [
      { path: path('day.csv'), rows: 100, kept: 40, known: 60, changed: 0, refused: {}, refusals: [] },
      { path: path('morning.csv'), rows: 62, kept: 0, known: 60, changed: 0, refused: { bad_price: 2 }, refusals: [] },
    ],
    rows: 162,
    kept: 40,
    known: 120,
    changed: 0,
    refused: 2,
    seconds: expect.any(Number),
    rows_per_second: expect.any(Number),
  });
  expect(prints()).toHaveLength(100);
  writeTape('later.csv', [trade(7, { canceled: 't' })]);
  expect(await ingestJson(path('later.csv'))).toMatchObject({ kept: 0, known: 1, changed: 1 });
  expect(prints()).toHaveLength(99);
});

test('shows the first cell of a chain that cannot be read', async () => {
  writeChain(path('chain.csv'));
  writeFileSync(path('chain.csv'), readFileSync(path('chain.csv'), 'utf8').replace(',C,90', ',C,?'));
  expect((await ingest(path('chain.csv'))).stdout).toContain(
    ' 1 rejected (bad_contract 1)\n  row 1, column "strike": "?" is not a strike: 500, 1,250.5\n',
  );
});

test('a tape with times without a zone needs --zone, and prints outside the session have a warning', async () => {
  writeTape(
    'tape.csv',
    Array.from({ length: 25 }, (_, i) => trade(i).replace(/Z,/, ',')),
  );
  const refused = await ingest(path('tape.csv'));
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      / {2}rejected: column executed_at has times without a time zone, first "2026-08-17T13:30:00.000" in row 1\. State the zone: --zone America\/New_York/,
    ),
  });
  expect(prints()).toHaveLength(0);
  const warning =
    '  warning: 100 % of the prints are outside the New York session: is the zone of the times right? See --zone\n';
  const utc = await ingest(path('tape.csv'), '--zone', 'America/New_York');
  expect([utc.code, utc.stdout.includes('warning')]).toEqual([0, false]);
  expect((await ingest(path('tape.csv'), '--zone', 'Asia/Tokyo')).stdout).toContain(warning);
  expect(prints()).toHaveLength(50);
});

test('a tape with decimal commas is refused, and read with a mapping that states them', async () => {
  const rows = [trade(0), trade(1)].map((row) => row.replaceAll(',', ';').replace('2.5', '2,5'));
  writeFileSync(path('tape.csv'), `${[HEADER.replaceAll(',', ';'), ...rows].join('\n')}\n`);
  expect(await ingest(path('tape.csv'))).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      'the numbers have decimal commas, first "2,5" in row 1, column price. State decimal = ","',
    ),
  });
  const draft = await run(PROGRAM, ['map', 'guess', path('tape.csv')]);
  writeFileSync(path('m.toml'), draft.stdout);
  expect(await ingest(path('tape.csv'), '--map', path('m.toml'))).toMatchObject({ code: 0 });
  expect(prints()).toMatchObject([{ price: 2.5 }, { price: 2.5 }]);
});

test('loads tapes, chains, closes and dividends from a folder by their content, and serves them', async () => {
  mkdirSync(path('in/deep'), { recursive: true });
  writeTape('in/deep/tape', [trade(0), trade(1)]);
  writeChain(path('in/chain.txt'));
  writeFileSync(path('in/closes.csv'), 'date,ticker,close\n2026-08-20,TEST,100\n2026-08-21,TEST,x\n');
  writeFileSync(
    path('in/dividends.csv'),
    'ticker,ex_date,amount,known_from\nTEST,2026-09-01,0.5,2026-08-01\nTEST,2099-03-02,0.5,\n',
  );
  writeFileSync(path('in/notes.md'), 'nothing');
  symlinkSync('nowhere', path('in/dead'));
  const { files, ...totals } = await ingestJson(path('in'));
  expect(totals).toMatchObject({ rows: 18 + 2 + 1 + 2, kept: 18 + 2 + 1 + 2, known: 0, refused: 0 });
  expect(files.map((file: { path: string; refusals: string[] }) => [file.path, file.refusals])).toEqual([
    [path('in/dead'), ['cannot be read (ENOENT)']],
    [path('in/chain.txt'), []],
    [path('in/closes.csv'), ['1 of 2 rows are not closes']],
    [path('in/deep/tape'), []],
    [path('in/dividends.csv'), []],
  ]);
  const args = ['call', 'get_whale_prints', '{"ticker":"TEST","target_expiry":"2026-09-18"}', '--data-dir', dataDir];
  const answer = JSON.parse((await run(PROGRAM, args)).stdout);
  expect(answer.call_fiat_paid).toBe(2 * 2.5 * 500 * 100);
  expect(await ingestJson(path('in'))).toMatchObject({ rows: 23, kept: 0, known: 23, refused: 0 });
  writeFileSync(path('in/closes.csv'), 'date,ticker,close\n2026-08-20,TEST,101\n2026-08-19,TEST,100\n');
  const corrected = await ingestJson(path('in'));
  expect(corrected, 'a corrected close and a new one are stored').toMatchObject({ kept: 2, known: 22 });
});

test('a mapping for a folder leaves the files of others to their own readers, and names the files that nothing fits', async () => {
  mkdirSync(path('in'));
  const head = 'Sym,When,Exp,T,K,Bid,Ask,Open';
  const rows = ['ABC,2026-08-21,2026-09-18,C,100,3,3.2,10', 'ABC,2026-08-21,2026-09-18,P,100,2.5,2.7,20'];
  const columns =
    'underlying = "Sym"\nas_of = "When"\nexpiry = "Exp"\nput_call = "T"\nstrike = "K"\nopen_interest = "Open"';
  writeFileSync(path('m.toml'), `[columns]\n${columns}\n`);
  writeFileSync(path('in/mapped.csv'), `${[head, ...rows].join('\n')}\n`);
  writeFileSync(path('in/renamed.csv'), `${[head.replace('Open', 'Offen'), ...rows].join('\n')}\n`);
  writeFileSync(path('in/notes.txt'), 'Bought, sold, held.\nNothing more.\n');
  writeChain(path('in/plain.csv'));
  writeTape('in/tape.csv', [trade(0)]);
  const load = async (...args: string[]) => {
    const { code, stdout } = await ingest(...args, '--json');
    type File = { path: string; kept: number; refusals: string[]; notices?: string[] };
    const { files } = JSON.parse(stdout) as { files: File[] };
    return [
      code,
      ...files.map((file) => [
        file.path.replace(path('in/'), ''),
        file.kept,
        ...file.refusals,
        ...(file.notices ?? []).filter((notice: string) => !notice.includes('one expiry only')),
      ]),
    ];
  };
  const refusal = 'the table has no column Open (nearest: offen, when), which mapping m.toml names';
  expect(await load(path('in'), '--map', path('m.toml'))).toEqual([
    0,
    ['mapped.csv', 2],
    ['plain.csv', 18, expect.stringContaining('read without the mapping: the table has no column Sym (nearest: ')],
    ['renamed.csv', 0, refusal],
    ['tape.csv', 1, expect.stringContaining('read without the mapping: ')],
  ]);
  // The mapping of one file must fit it.
  const [code, file] = await load(path('in/plain.csv'), '--map', path('m.toml'));
  expect([code, String(file)]).toEqual([1, expect.stringContaining('no column Sym (nearest:')]);
});

test('lists each file that looks like market data, second files by their use, and how many files are stored', async () => {
  mkdirSync(path('in'));
  const contract = (right: string) => `ABC,2026-09-18,100.000,${right},2026-08-21T16:00:00.000`;
  const quotes = ['CALL', 'PUT'].map((right) => `${contract(right)},2,2.2`);
  writeFileSync(path('in/q.csv'), `symbol,expiration,strike,right,timestamp,bid,ask\n${quotes.join('\n')}\n`);
  const interest = ['CALL', 'PUT'].map((right) => `${contract(right)},7`);
  const second = `symbol,expiration,strike,right,timestamp,open_interest\n${interest.join('\n')}\n`;
  writeFileSync(path('in/a_open_interest.csv'), second);
  mkdirSync(path('in/b'));
  writeFileSync(path('in/b/open_interest.csv'), second);
  writeFileSync(path('in/meta.csv'), 'Instrument;Maturity;C/P;K;Bid Px;Offer Px;OIx\nABC;18/09/2026;C;100;1;2;3\n');
  writeFileSync(path('in/conf.json'), '{"a": 1}');
  writeFileSync(path('in/notes.txt'), 'Bought.\n');
  const { code, stdout } = await ingest(path('in'), '--as-of', '2026-08-20');
  expect(code).toBe(0);
  const lines = stdout.replaceAll(path('in/'), '').trimEnd().split('\n');
  expect(lines).toEqual([
    'a_open_interest.csv: used as the second file of q.csv',
    'b/open_interest.csv: a second file, which no table beside it uses',
    'conf.json: 0 rows: 0 stored, 0 already known, 0 rejected',
    '  rejected: contains no market data of a known format',
    'meta.csv: 0 rows: 0 stored, 0 already known, 0 rejected',
    expect.stringMatching(/^ {2}rejected: the columns instrument, maturity, c\/p, k, .* are no known table/),
    'q.csv: 2 rows: 2 stored, 0 already known, 0 rejected',
    '  the file has times of its own, which count instead of --as-of',
    expect.stringContaining('one expiry only'),
    expect.stringMatching(/^5 files, 2 rows in /),
    '1 of 3 files stored; 2 refused',
  ]);
});

test('applies the feed’s rules to chains', async () => {
  writeChain(path('good.csv'));
  writeChain(path('ahead.csv'), 'TEST', '2999-08-21T16:00:00-04:00');
  const { code, stdout, stderr } = await ingest(path('good.csv'), path('ahead.csv'));
  expect(code).toBe(1);
  expect(stdout).toContain('good.csv: 18 rows: 18 stored');
  const history = await run(PROGRAM, ['history', 'TEST', '--data-dir', dataDir]);
  expect(history.stdout).toMatch(
    /levels of 1 snapshot are not computed yet.*\n {2}A running server computes them\. `zomma serve --feed files:DIR`/,
  );
  expect(stdout).toMatch(/ahead\.csv: 18 rows: 0 stored, 0 already known, 18 rejected\n {2}rejected: TEST: .*2999/);
  expect(stderr).toContain('ahead.csv: there is no usable market data');
  using store = openData(dataDir);
  expect(store.snapshots('TEST')).toHaveLength(1);
});

describe('reports in two lines', () => {
  test.each([
    ['a path that does not exist', ['missing.csv'], /no file or folder .*missing\.csv/],
    ['a file that is not market data', ['notes.md'], /notes\.md: there is no usable market data/],
    ['a folder without market data', ['empty'], /empty: there is no usable market data/],
    ['a file of which every row is rejected', ['bad.csv'], /bad\.csv: there is no usable market data/],
    ['a tape that lacks a column', ['cut.csv'], /cut\.csv: there is no usable market data/],
  ])('%s', async (_name, names, message) => {
    writeFileSync(path('notes.md'), 'nothing');
    writeTape('bad.csv', [trade(0, { price: 'x' })]);
    writeFileSync(path('cut.csv'), 'executed_at,option_chain_id,pri');
    mkdirSync(path('empty'));
    const { code, stderr } = await ingest(...names.map((name) => path(name)));
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
  });

  test('a missing path: the other paths are not loaded either', async () => {
    writeTape('tape.csv', [trade(0)]);
    expect(await ingest(path('tape.csv'), path('missing.csv'))).toMatchObject({ code: 1, stdout: '' });
    expect(prints()).toEqual([]);
  });
});

test('accepts a tape without rows', async () => {
  writeTape('tape.csv', []);
  expect(await ingest(path('tape.csv'))).toMatchObject({ code: 0, stderr: '' });
});

test('a running server sees data that another process loads', async () => {
  mkdirSync(path('feed'));
  writeChain(path('feed/chain.csv'));
  makeDataFolder(dataDir);
  const key = await addMember(PROGRAM, dataDir, '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90');
  await using server = await startLoaded(PROGRAM, [
    ...['serve', '--port', '0', '--feed', `files:${path('feed')}`, '--data-dir', dataDir],
  ]);
  const paid = async () => {
    const response = await fetch(`${server.url}/api/v1/tools/get_whale_prints`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: '{"ticker":"TEST","target_expiry":"2026-09-18"}',
    });
    return ((await response.json()) as { call_fiat_paid: number }).call_fiat_paid;
  };
  const before = await paid();
  writeTape('tape.csv', [trade(0)]);
  expect(await ingest(path('tape.csv'))).toMatchObject({ code: 0 });
  expect([before === 125_000, await paid()]).toEqual([false, 125_000]);
});

test('an interrupted run leaves the committed rows and can be repeated', async () => {
  const rows = Array.from({ length: 150_000 }, (_, i) => trade(i));
  writeTape('tape.csv', rows);
  const isPartly = () => {
    const count = prints().length;
    return count > 0 && count < rows.length;
  };
  makeDataFolder(dataDir);
  const command = [...PROGRAM, 'ingest', path('tape.csv'), '--data-dir', dataDir];
  const child = Bun.spawn(command, { cwd: path(), stderr: 'pipe' });
  while (!isPartly() && child.exitCode === null) await Bun.sleep(5);
  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
  expect(await new Response(child.stderr).text()).toMatch(/^zomma: interrupted after [\d,]+ rows\. Stored rows stay/);
  expect(isPartly()).toBe(true);

  expect(await ingest(path('tape.csv'))).toMatchObject({ code: 0 });
  expect(prints()).toHaveLength(rows.length);
}, 120_000);

test.each([
  [true, ['[=====               ]  25 %  1.0 MB, 2,000 rows, 1,000 rows/s', '']],
  [false, []],
])('shows progress only if stderr is a terminal (%p)', async (isTTY, expected) => {
  const clock = spyOn(performance, 'now').mockReturnValue(0);
  const written = spyOn(process.stderr, 'write').mockReturnValue(true);
  const answered = spyOn(process.stdout, 'write').mockReturnValue(true);
  const before = process.stderr.isTTY;
  process.stderr.isTTY = isTTY;
  try {
    const load: Ports['load'] = async (_settings, _paths, _stated, onProgress) => {
      onProgress(0, 4e6, 0);
      clock.mockReturnValue(2000);
      onProgress(1e6, 4e6, 2000);
      return [[{ path: 'tape.csv', rows: 8000, kept: 8000, known: 0, changed: 0, refused: {}, refusals: [] }]];
    };
    await (await createProgram({ load, stated: PORTS.stated } as Ports, 'ingest')).parseAsync(['ingest', 'tape.csv'], {
      from: 'user',
    });
    expect(written.mock.calls.map(([text]) => String(text).replace('\r\x1b[K', ''))).toEqual(expected);
    expect(answered.mock.calls.join('')).toContain('8,000 rows in 2 s (4,000 rows/s)');
  } finally {
    process.stderr.isTTY = before;
    for (const spy of [clock, written, answered]) spy.mockRestore();
  }
});

describe('thetadata', () => {
  const [CHPT] = instrumentsOf({ seed: 1, universe: loadUniverse('{"themes":{"few":["CHPT"]}}'), clock: 'real' });
  const chainOf = (ticker: string, day?: string) =>
    ticker === 'CHPT' && day !== undefined ? simulatedChain(CHPT!, closeOf(day)) : undefined;
  const week = ['--ticker', 'chpt', '--from', '2026-08-14', '--to', '2026-08-18'];
  let terminal: ProviderServer;
  beforeEach(async () => {
    terminal = await startProviderServer({ chainOf });
  });
  afterEach(() => terminal.close());
  const load = (...args: string[]) => ingest('thetadata', ...args, '--thetadata-url', terminal.url);

  test('stores past days, and a server answers with their levels', async () => {
    terminal.behaviour = (path) => (path.includes('20260817') ? { kind: 'status', status: 472 } : undefined);
    expect(await load(...week)).toEqual({
      code: 0,
      stdout: 'CHPT: 2 stored, 0 already known, 1 without data, 0 rejected\n',
      stderr: '',
    });
    terminal.behaviour = () => undefined;
    expect(JSON.parse((await load(...week, '--json')).stdout)).toEqual({
      ticker: 'CHPT',
      days: [
        { day: '2026-08-14', state: 'known', contracts: 0 },
        { day: '2026-08-17', state: 'stored', contracts: chainOf('CHPT', '2026-08-17')!.count },
        { day: '2026-08-18', state: 'known', contracts: 0 },
      ],
      ...{ stored: 1, known: 2, no_data: 0, rejected: 0 },
    });
    const key = await addMember(PROGRAM, dataDir, '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90');
    mkdirSync(path('feed'));
    await using server = await startLoaded(PROGRAM, [
      ...['serve', '--port', '0', '--feed', `files:${path('feed')}`, '--data-dir', dataDir],
    ]);
    const days = async () => {
      const url = `${server.url}/api/v1/nodes/gex/CHPT/history?from=2026-08-14&to=2026-08-18`;
      const response = await fetch(url, { headers: { 'X-API-Key': key } });
      return ((await response.json()) as { as_of?: string[] }).as_of ?? [];
    };
    while ((await days()).length < 3) await Bun.sleep(10);
    expect(await days()).toEqual(['14', '17', '18'].map((day) => `2026-08-${day}T20:00:00.000Z`));
  });

  test('takes its settings from a file and from flags before its name', async () => {
    writeFileSync(path('zomma.toml'), `thetadata-url = "${terminal.url}"\ndata-dir = "/nowhere"\n`);
    const flags = ['--config', path('zomma.toml'), '--data-dir', dataDir, '--json'];
    const { stdout } = await run(PROGRAM, ['ingest', ...flags, 'thetadata', ...week]);
    expect(JSON.parse(stdout)).toMatchObject({ stored: 3 });
    using store = openData(dataDir);
    expect(store.snapshots('CHPT')).toHaveLength(3);
  });

  test('an interrupted run keeps the days that are stored, and can be repeated', async () => {
    const hung = Promise.withResolvers<void>();
    terminal.behaviour = (path) => {
      if (!path.includes('20260818')) return undefined;
      hung.resolve();
      return { kind: 'hang' };
    };
    const command = [
      ...PROGRAM,
      'ingest',
      'thetadata',
      ...week,
      '--thetadata-url',
      terminal.url,
      '--data-dir',
      dataDir,
    ];
    const child = Bun.spawn(command, { cwd: path(), stderr: 'pipe' });
    await hung.promise;
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    expect(await child.stderr.text()).toBe(
      'zomma: interrupted after 2 days. Stored days stay in the store, and another run skips them.\n',
    );
    terminal.behaviour = () => undefined;
    expect((await load(...week)).stdout).toContain('1 stored, 2 already known');
  });

  test.each<[string, string[], number, RegExp]>([
    ['no ticker', ['--from', '2026-08-14'], 64, /required option '--ticker/],
    ['no start', ['--ticker', 'CHPT'], 64, /required option '--from/],
    ['an impossible ticker', ['--ticker', '7?', '--from', '2026-08-14'], 1, /--ticker is not a ticker/],
    ['an impossible day', ['--ticker', 'CHPT', '--from', '2026-02-30'], 1, /--from or --to is not a date/],
    ['another form of day', ['--ticker', 'CHPT', '--from', '08/14/2026'], 1, /--from or --to is not a date/],
    ['a day without trading', ['--ticker', 'CHPT', '--from', '2026-08-15', '--to', '2026-08-16'], 1, /no trading day/],
    ['a ticker without data', ['--ticker', 'NONE', '--from', '2026-08-14', '--to', '2026-08-14'], 1, /no day of NONE/],
  ])('%s is an error', async (_what, args, code, message) => {
    const result = await load(...args);
    expect([result.code, terminal.asked.length]).toEqual([code, message.source.includes('NONE') ? 1 : 0]);
    expect(result.stderr).toMatch(message);
  });

  test('shows progress only if stderr is a terminal', async () => {
    const written = spyOn(process.stderr, 'write').mockReturnValue(true);
    const answered = spyOn(process.stdout, 'write').mockReturnValue(true);
    const before = process.stderr.isTTY;
    try {
      for (const isTTY of [true, false]) {
        process.stderr.isTTY = isTTY;
        const loadHistory: Ports['loadHistory'] = async (_settings, _request, onDay) => {
          const days = [{ day: '2026-08-14', state: 'stored', contracts: 7 }] as const;
          onDay(days, 252);
          return [...days];
        };
        const program = await createProgram({ loadHistory } as Ports, 'ingest');
        await program.parseAsync(['ingest', 'thetadata', ...week], { from: 'user' });
      }
      expect(written.mock.calls.map(([text]) => String(text).replace('\r\x1b[K', ''))).toEqual([
        '2026-08-14: day 1 of 252: 1 stored, 0 already known, 0 without data, 0 rejected',
        '',
      ]);
    } finally {
      process.stderr.isTTY = before;
      for (const spy of [written, answered]) spy.mockRestore();
    }
  });
});
