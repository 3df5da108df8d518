import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openStore } from '../../src/store/sqlite.ts';
import { DAY_MS, keepLevels, MONDAY_MS, recordOf } from '../store/samples.ts';
import { runInTerminal } from '../support/for-tests.ts';
import { PROGRAM, type Run, run, startServer, withFolder } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** `zomma history`, run from source in another folder. */
const dataDir = folderForTests();
beforeAll(() => {
  const store = openStore(join(dataDir, 'zomma.sqlite'), Date.now);
  // Monday to Friday, two snapshots a day. The last snapshot has an unresolved flip and no volatility.
  for (const day of [0, 1, 2, 3, 4]) {
    keepLevels(store, { asOf: MONDAY_MS + day * DAY_MS - 1000, spot: 1 });
    const last = day === 4 ? { flipResolved: false, atmIv30d: null } : {};
    keepLevels(store, { asOf: MONDAY_MS + day * DAY_MS, spot: 6000.25 + day, ...last });
  }
  store.close();
});

const history = (...args: string[]): Promise<Run> => run(PROGRAM, ['history', ...args, '--data-dir', dataDir]);

test('prints the response of the HTTP route as one object', async () => {
  const { code, stdout, stderr } = await history('spx', '--json', '--from', '2026-01-06', '--to', '2026-01-07');
  expect([code, stderr, stdout.trimEnd().split('\n').length]).toEqual([0, '', 1]);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ ticker: 'SPX', per: 'day', count: 2, day: ['2026-01-06', '2026-01-07'], spot: [6001.25, 6002.25] },
    ...{ iv_days: 3, provenance: { simulated: false } },
  });
});

test('prints one table whose numbers can be read back exactly', async () => {
  const { code, stdout } = await history('SPX', '--csv');
  const [header, ...rows] = stdout.trimEnd().split('\n');
  expect([code, rows.length]).toEqual([0, 5]);
  expect(header).toBe(
    'as_of,day,spot,net_gex,gross_gex,sign_margin_pct,gex_flip,flip_resolved,call_wall,put_wall,max_pain,expiry,net_dex,net_vex,net_cex,atm_iv_30d',
  );
  const { netGex, grossGex, gexFlip, dex, vex, cex } = recordOf();
  const cells = rows[0]!.split(',');
  expect(cells.slice(0, 3)).toEqual(['2026-01-05T20:00:00.000Z', '2026-01-05', '6000.25']);
  expect(cells.slice(3, 7).map(Number)).toEqual([netGex, grossGex, (-50 * netGex) / grossGex, gexFlip]);
  expect(cells.slice(7, 12)).toEqual(['true', '6100', '5900', '6000', '2026-01-16']);
  expect(cells.slice(12).map(Number)).toEqual([dex, vex, cex, 0.1625]);
  expect([rows[4]!.split(',')[7], rows[4]!.endsWith(',')]).toEqual(['false', true]);
});

test('prints a readable table and explains its marks', async () => {
  const { stdout } = await history('SPX', '--from', '2026-01-08');
  expect(stdout.split('\n')).toEqual([
    'SPX  2 days  simulated',
    '  30-day IV   none  over 4 days, 16.3 % to 16.3 %',
    '         day      spot  net GEX      flip  call wall  put wall  max pain      IV',
    '  2026-01-08  6,003.25    -1.5B   6,010.5      6,100     5,900     6,000  16.3 %',
    '  2026-01-09  6,004.25    -1.5B  6,010.5?      6,100     5,900     6,000    none',
    '  ?  flip not resolved: the spot at which net GEX is nearest to zero',
    '',
  ]);
});

test('reports on stderr how many rows are left out', async () => {
  const { stdout, stderr } = await history('SPX', '--per', 'snapshot', '--points', '3', '--csv');
  expect(stdout.trimEnd().split('\n')).toHaveLength(4);
  expect(stderr).toContain('3 of 10 rows');
});

describe('a ticker without history', () => {
  test.each([
    [['--json'], '"count":0'],
    [['--plot'], 'No levels of this ticker are stored'],
    [['--csv'], 'as_of,day,spot'],
  ])('is no error if the ticker is tracked: %p', async (flags, message) => {
    const { code, stdout } = await history('SPY', ...flags);
    expect(code).toBe(0);
    expect(stdout).toContain(message);
  });
});

test.each([
  [['ZZZZ'], /not in the universe/],
  [['SPX', '--from', 'soon'], /from must be a date/],
  [['SPX', '--from', '2026-01-09', '--to', '2026-01-08'], /from must not lie after/],
  [['SPX', '--points', 'many'], /points must be an integer/],
  [['SPX', '--per', 'week'], /Allowed choices are snapshot, day/],
  [['SPX', '--csv', '--json'], /--json and --csv exclude each other/],
])('rejects %p with a message and without a stack trace', async (args, message) => {
  const { code, stdout, stderr } = await history(...args);
  expect([code, stdout]).toEqual([args.includes('week') ? 64 : 1, '']);
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('draws into a pipe only with --plot', async () => {
  expect((await history('SPX')).stdout).not.toContain('spot and levels');
  const { stdout } = await history('SPX', '--plot');
  expect(stdout).toContain('SPX  spot and levels, dollars');
  expect(stdout).toContain('spot 6,004.25');
  expect(stdout).toContain('2026-01-09');
  // The flip is not resolved in the last snapshot.
  expect(stdout).not.toContain('flip 6,010.5');
});

test('draws in a terminal within its width', async () => {
  const env = { LC_ALL: 'C.UTF-8', TERM: 'xterm', NO_COLOR: '' };
  const { code, shown } = await runInTerminal(['history', 'SPX', '--data-dir', dataDir], [64, 30], env);
  expect(code).toBe(0);
  expect(shown).toContain('\u001b[1mSPX  net GEX, dollars per 1 % move\u001b[0m');
  const lines = Bun.stripANSI(shown).split('\r\n');
  expect(Math.max(...lines.slice(3).map((each) => each.length))).toBeLessThanOrEqual(64);
  expect(lines.length).toBeLessThanOrEqual(30);
});

test('a running server stores levels, which remain until they are forgotten', () =>
  withFolder(async (folder) => {
    const server = await startServer(PROGRAM, ['start', '--port', '0', '--data-dir', folder]);
    const kept = async () =>
      JSON.parse((await run(PROGRAM, ['history', 'SPY', '--json', '--data-dir', folder])).stdout);
    for (let attempt = 0; attempt < 20 && (await kept()).count === 0; attempt++) await Bun.sleep(100);
    const { stderr } = await server.stop('SIGTERM');
    expect(stderr).not.toContain('levels_failed');
    expect(await kept()).toMatchObject({ count: 1, provenance: { simulated: true } });
    const csv = await run(PROGRAM, ['history', 'SPY', '--csv', '--data-dir', folder]);
    expect([csv.stderr, csv.stdout.split('\n').length]).toEqual(['zomma: these figures are SIMULATED\n', 3]);
    await run(PROGRAM, ['chains', 'forget', '--ticker', 'SPY', '--data-dir', folder]);
    expect((await kept()).count).toBe(0);
  }));
