import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { readMarketFile } from '../../src/feeds/files/read-market-file.ts';
import { restView } from '../../src/operations/engine/perform.ts';
import { satisfies } from '../../src/operations/engine/validate.ts';
import { findOperation, OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import type { Ports } from '../../src/server/cli-ports.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { decodePng } from '../picture/decode-png.ts';
import { writeChain } from '../support/chain-file.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { runInTerminal } from '../support/for-tests.ts';
import { PROGRAM, type Run, run } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** The command line, run from source in another folder. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';

const folder = folderForTests();
let dataDir: string;
let chain: string;
beforeAll(() => {
  dataDir = join(folder, 'data');
  chain = join(folder, 'chain.csv');
  writeChain(chain);
});

const zomma = (...args: string[]): Promise<Run> => run(PROGRAM, args);

const COMMANDS = await createProgram({} as Ports, undefined);
const namesOf = ({ commands }: Pick<Command, 'commands'>): string[] => [
  '',
  ...commands.flatMap((each) => namesOf(each).map((name) => `${each.name()} ${name}`.trim())),
];

describe('help', () => {
  test.each(namesOf(COMMANDS))('zomma %s --help shows examples or commands', async (command) => {
    const { code, stdout } = await zomma(...command.split(' ').filter(Boolean), '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/Examples?:|Commands:/);
  });

  test.each(['serve', 'check', 'members add', 'feeds', 'gex', 'call', 'ingest', 'mcp', 'migrate'])(
    'zomma %s --help names the variables of the password for a Postgres database',
    async (command) => {
      const { stdout } = await zomma(...command.split(' '), '--help');
      expect(stdout).toMatch(/\bZOMMA_STORE_PASSWORD\b/);
      expect(stdout).toMatch(/\bPGPASSFILE\b/);
    },
  );
});

describe('gex FILE', () => {
  test('prints one JSON object with the contract’s fields at the top level, without a data folder', async () => {
    const { code, stdout } = await zomma('gex', chain, '--json', '--data-dir', join(folder, 'none'));
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ticker: 'TEST',
      spot_price: 100,
      expiry: '2026-09-18',
      whale_expiry: '2026-09-18',
      call_wall: 105,
      put_wall: 95,
      max_pain: expect.any(Number),
      gex_flip: expect.any(Number),
      net_gex_mil: expect.any(Number),
      flip_resolved: expect.any(Boolean),
      simulated: false,
      as_of: '2026-08-21T20:00:00.000Z',
    });
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  test('prints a readable table by default', async () => {
    const { code, stdout } = await zomma('gex', chain);
    expect(code).toBe(0);
    expect(stdout).toContain('call wall   105');
    const { regime, sign_margin_pct } = JSON.parse((await zomma('gex', chain, '--json')).stdout);
    expect(stdout).toMatch(new RegExp(`net GEX .*\\(${regime.replace('_', ' ')}\\)\n`));
    expect(stdout).toContain(`\n  sign margin ${sign_margin_pct.toFixed(1)} % of gross gamma\n`);
    const names = stdout.split('\n').map((line) => line.slice(0, 13).trim());
    expect(names.filter((name, i) => name !== '' && name !== 'note' && names.indexOf(name) < i)).toEqual([]);
  });

  const tables: [flags: string[], header: string, rows: number][] = [
    [['--csv'], 'strike,call_gex,put_gex,net_gex,sign_margin_pct,call_oi,put_oi', 9],
    [
      ['--csv', 'strikes', '--weight', 'volume'],
      'strike,call_gex,put_gex,net_gex,sign_margin_pct,call_volume,put_volume',
      9,
    ],
    [['--csv', 'profile'], 'spot,net_gex', 161],
  ];
  test.each(tables)('prints one table: %p', async (flags, header, rows) => {
    const { code, stdout } = await zomma('gex', chain, ...flags);
    const [first, ...rest] = stdout.trimEnd().split('\n');
    expect({ code, first, rows: rest.length }).toEqual({ code: 0, first: header, rows });
    for (const cell of rest.flatMap((row) => row.split(','))) expect(cell).toMatch(/^-?\d+(\.\d+)?(e[+-]\d+)?$/);
  });

  test('the strikes and the profile at spot both equal the net GEX', async () => {
    const { net_gex_mil, sign_margin_pct } = JSON.parse((await zomma('gex', chain, '--json')).stdout);
    const table = async (...flags: string[]) =>
      (await zomma('gex', chain, '--csv', ...flags)).stdout
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((row) => row.split(',').map(Number));
    const strikes = await table();
    const net = strikes.reduce((sum, [, , , each]) => sum + each!, 0);
    expect(net / 1e6).toBeCloseTo(net_gex_mil, 9);
    const gross = strikes.reduce((sum, [, call, put]) => sum + call! - put!, 0);
    expect((50 * Math.abs(net)) / gross).toBeCloseTo(sign_margin_pct, 9);
    for (const [, call, put, each, margin] of strikes) {
      expect(call! + put!).toBe(each!);
      expect(margin).toBeCloseTo((50 * Math.abs(each!)) / (call! - put!), 9);
    }
    expect(strikes.find(([strike]) => strike === 105)!.slice(5)).toEqual([5000, 100]);
    const atSpot = (await table('profile')).find(([spot]) => spot === 100)!;
    expect(atSpot[1]! / 1e6).toBeCloseTo(net_gex_mil, 9);
  });

  const drawn: [name: string, flags: string[], env: Record<string, string>, message: string][] = [
    ['colours and block characters', [], { LC_ALL: 'C.UTF-8', TERM: 'xterm', NO_COLOR: '' }, '\u001b[32m██'],
    ['block characters', [], { LC_ALL: 'C.UTF-8', TERM: 'xterm', NO_COLOR: '1' }, '│██'],
    ['ASCII', [], { LC_ALL: 'C', TERM: 'dumb' }, '|##'],
    ['no plot', ['--no-plot'], { LC_ALL: 'C.UTF-8', TERM: 'xterm' }, 'interpolated'],
  ];
  test.each(drawn)('draws %s below the levels in a terminal, within its width', async (_name, flags, env, message) => {
    const { code, shown } = await runInTerminal(['gex', chain, ...flags], [64, 40], env);
    expect(code).toBe(0);
    expect(shown).toContain(message);
    expect(shown.includes('gamma profile')).toBe(!flags.includes('--no-plot'));
    const lines = Bun.stripANSI(shown).split('\r\n');
    const plot = lines.slice(lines.findLastIndex((line) => /^ {2}(contracts|note)/.test(line)) + 1);
    expect(Math.max(0, ...plot.map((line) => line.length))).toBeLessThanOrEqual(64);
    if (env.NO_COLOR === '1' || env.TERM === 'dumb') expect(shown).not.toContain('\u001b[');
  });

  test('draws into a pipe only with --plot', async () => {
    expect((await zomma('gex', chain)).stdout).not.toContain('net GEX by strike');
    expect((await zomma('gex', chain, '--plot')).stdout).toContain('TEST  net GEX by strike');
  });

  const options: [name: string, flags: string[], expected: Record<string, unknown>][] = [
    [
      'a flat forward',
      ['--forward', 'flat', '--rate', '0', '--dividend', '0'],
      { series: [expect.objectContaining({ forward: 100 })] },
    ],
    [
      'each contract’s own volatility',
      ['--iv', 'own'],
      { contracts: expect.objectContaining({ iv: expect.objectContaining({ taken: 18 }) }) },
    ],
    ['the feed’s gamma, which this chain lacks', ['--gamma', 'feed'], { net_gex_mil: 0 }],
    ['weight by volume', ['--weight', 'volume'], { gross_gex_mil: expect.any(Number) }],
    ['one expiry date', ['--expiries', '2026-09-18'], { expiry: '2026-09-18' }],
    ['the expiries of the next days', ['--expiries', 'next:30'], { expiry: '2026-09-18' }],
  ];
  test.each(options)('takes %s', async (_name, flags, expected) => {
    const { code, stdout } = await zomma('gex', chain, '--json', ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(expected);
  });

  describe('with a tape', () => {
    let tape: string;
    beforeAll(() => {
      tape = join(folder, 'tape.csv');
      const header = 'id,executed_at,option_chain_id,side,price,size,nbbo_bid,nbbo_ask,canceled';
      const rows = [
        'a,2026-08-20T15:00:00Z,TEST260918C00100000,ask,3,60,2.9,3,f',
        'b,2026-08-20T15:01:00Z,TEST260918P00095000,,1,40,1,1.2,f',
        'c,2026-08-20T15:02:00Z,TEST260918C00105000,bid,1,90,1,1.1,f',
        'c,2026-08-20T15:09:00Z,TEST260918C00105000,bid,1,90,1,1.1,t',
        'd,2026-08-21T20:30:00Z,TEST260918C00105000,ask,1,70,1,1.1,f',
        'e,2026-08-20T15:00:00Z,OTHER260918C00105000,ask,1,70,1,1.1,f',
      ];
      writeFileSync(tape, `${[header, ...rows].join('\n')}\n`);
    });

    test('shows the levels by flow beside those by convention', async () => {
      const { by_flow, net_gex_mil } = JSON.parse((await zomma('gex', chain, '--prints', tape, '--json')).stdout);
      expect(by_flow).toMatchObject({ contracts_signed: 2, prints: { feed: 1, quote: 1, tick: 0, unknown: 0 } });
      // Customers bought 60 calls, so dealers are short. Customers sold 40 puts, so dealers are long. The open interest
      // is 11,600.
      expect(by_flow.signed_share_pct).toBeCloseTo(100 / 116, 9);
      expect(net_gex_mil).not.toBe(by_flow.net_gex_mil);
      const { stdout } = await zomma('gex', chain, '--prints', tape);
      expect(stdout).toMatch(
        /by flow {5}-?[\d.]+ million per 1 %, sign margin [\d.]+ %, flip .*\n.*covers 0\.9 % of open interest/,
      );
    });

    test('--sign flow replaces the levels by convention', async () => {
      const { by_flow, ...report } = JSON.parse(
        (await zomma('gex', chain, '--prints', tape, '--sign', 'flow', '--json')).stdout,
      );
      expect([report.net_gex_mil, report.gex_flip]).toEqual([by_flow.net_gex_mil, by_flow.gex_flip]);
      expect(report.options.sign).toBe('flow');
      const csv = (await zomma('gex', chain, '--prints', tape, '--sign', 'flow', '--csv')).stdout;
      const held = csv.split('\n').filter((row) => /^(100|95),/.test(row));
      expect(held.map((row) => Math.sign(Number(row.split(',')[3])))).toEqual([1, -1]);
    });
  });

  test('reports an invalid file, flag or selection in two lines without a stack trace', async () => {
    const junk = join(folder, 'junk.txt');
    writeFileSync(junk, 'hello');
    const faults: [args: string[], message: RegExp, code?: number][] = [
      [['gex', junk], /has no option chain/],
      [['gex', chain, '--ticker', 'none'], /has no chain of NONE\n.* --ticker: TEST\./],
      [['gex', chain, '--rate', 'four'], /not a rate/],
      [['gex', chain, '--csv', '--json'], /--json and --csv exclude each other/],
      [['gex', chain, '--plot', '--json'], /--json and --plot exclude each other/],
      [['gex', '--csv', chain], /Put the file before --csv/, 64],
      [['gex', chain, '--expiries', 'soon'], /--expiries soon/],
      [['gex', chain, '--expiries', '0dte'], /is not a listed expiry/],
      [['gex', chain, '--sign', 'flow'], /no prints of unsettled contracts of TEST/],
      [['gex', chain, '--prints', 'none.csv'], /there is no file none\.csv/],
      [['gex', chain, '--prints', chain], /has no usable print of TEST/],
      [['gex', 'NONE', '--data-dir', dataDir], /not in the universe/],
      [['gex', 'missing.csv', '--data-dir', dataDir], /no file missing\.csv/],
    ];
    for (const [args, message, expected = 1] of faults) {
      const { code, stdout, stderr } = await zomma(...args);
      expect([args, code]).toEqual([args, expected]);
      expect(stdout).toBe('');
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });
});

describe('call', () => {
  test('answers a tool call, plain and extended', async () => {
    const args = ['calculate_kelly_sizing', '{"win_prob":0.6}', '--data-dir', dataDir];
    const plain = JSON.parse((await zomma('call', ...args)).stdout);
    expect(plain).toEqual({
      win_probability: 0.6,
      recommended_portfolio_allocation_pct: expect.closeTo(23.333333333333332, 9),
    });
    const extended = JSON.parse((await zomma('call', ...args, '--extended')).stdout);
    expect(extended).toMatchObject({ ...plain, full_kelly_pct: expect.closeTo(46.666666666666664, 9) });
  });

  test('answers any other operation as its REST route, and with every field', async () => {
    const own = join(folder, 'called');
    await zomma('ingest', chain, '--data-dir', own);
    const called = async (name: string, args: object, ...flags: string[]) =>
      JSON.parse((await zomma('call', name, JSON.stringify(args), ...flags, '--data-dir', own)).stdout);
    const at = '2026-08-21';
    const strikes = await called('get_gex_by_strike', { ticker: 'TEST', at });
    const view = restView(findOperation('get_gex_by_strike')!);
    expect(satisfies(view.output, strikes)).toBe(true);
    expect(strikes).toMatchObject({ ticker: 'TEST', spot_price: 100, count: 9, strike: expect.arrayContaining([105]) });
    const extended = await called('get_gex_by_strike', { ticker: 'TEST', at }, '--extended');
    const { as_of, ...fields } = strikes;
    expect(extended).toEqual({ ...fields, provenance: expect.objectContaining({ source: 'files:chain.csv', as_of }) });
    expect(await called('get_target_universe', {})).toMatchObject({ status: 'success', total_tracked: 8 });
    expect(await called('get_feed_status', { limit: 1 })).toMatchObject({
      feeds: [],
      session: { half_day: expect.any(Boolean) },
    });
    expect(
      await called('compute_greeks_batch', { put_call: 'C', spot: 100, strike: [95, 105], tte: 0.25, iv: 0.2 }),
    ).toMatchObject({
      count: 2,
    });
  });

  describe('format image', () => {
    const args = ['get_hedging_profile', '{"ticker":"TEST","format":"image","at":"2026-08-21"}'];
    let own: string;
    beforeAll(async () => {
      own = join(folder, 'drawn');
      await zomma('ingest', chain, '--data-dir', own);
    });

    test('writes a PNG into a file', async () => {
      const path = join(folder, 'picture.png');
      const child = Bun.spawn([...PROGRAM, 'call', ...args, '--data-dir', own], { stdout: Bun.file(path) });
      expect(await child.exited).toBe(0);
      expect(decodePng(readFileSync(path)).width).toBe(960);
    });

    test('writes nothing to a terminal, and says what to do', async () => {
      const { code, shown } = await runInTerminal(['call', ...args, '--data-dir', own], [200, 40]);
      expect(code).toBe(1);
      expect(shown).toContain('Redirect it to a file: > picture.png');
      expect(shown).not.toContain('PNG');
    });
  });

  test('the help lists every operation, the tools first', async () => {
    const { stdout } = await zomma('call', '--help');
    const listed = stdout.slice(stdout.indexOf('\nTools:'), stdout.indexOf('\nExamples:'));
    expect([...listed.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name!)).toEqual(
      OPERATIONS.map(({ name }) => name),
    );
    expect(listed.indexOf('Other operations:')).toBeGreaterThan(listed.indexOf(TOOLS.at(-1)!.name));
  });

  test.each([
    ['an unknown operation', ['no_such', '{}'], /Tool 'no_such' is not registered/],
    [
      'a wrong argument of an operation',
      ['get_gex_by_strike', '{"ticker":"SPY","weight":"x"}'],
      /\/weight must be one of/,
    ],
    ['invalid JSON', ['calculate_kelly_sizing', '{'], /not JSON/],
    ['a missing field', ['calculate_kelly_sizing', '{}'], /win_prob/],
  ])('rejects %s', async (_name, args, message) => {
    const { code, stderr } = await zomma('call', ...args, '--data-dir', dataDir);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });
});

test('`chains` lists the stored chains and forgets one', async () => {
  const own = join(folder, 'stored');
  mkdirSync(own);
  const kept = openStore(join(own, 'zomma.sqlite'), Date.now);
  for (const delivery of runToCompletion(readMarketFile(readFileSync(chain), { origin: 'chain.csv' }))) {
    if (delivery.kind === 'chain') kept.saveChain(delivery.chain);
  }
  kept.close();
  const list = async () => JSON.parse((await zomma('chains', 'list', '--json', '--data-dir', own)).stdout).chains;
  const as_of = '2026-08-21T20:00:00.000Z';
  expect(await list()).toEqual([{ ticker: 'TEST', as_of, source: 'files:chain.csv', simulated: false }]);
  const forget = () => zomma('chains', 'forget', '--ticker', 'test', '--as-of', as_of, '--data-dir', own);
  expect(await forget()).toMatchObject({ code: 0, stdout: 'snapshots removed: 1\n' });
  expect(await list()).toEqual([]);
  expect(await forget()).toMatchObject({ code: 1, stderr: expect.stringContaining('no such snapshot') });
});

describe('members', () => {
  beforeAll(() => void makeDataFolder(dataDir));
  const members = (...args: string[]) => zomma('members', ...args, '--data-dir', dataDir);

  test('adds a member and prints the same key every time', async () => {
    const first = await members('add', '--uuid', UUID, '--json');
    const again = await members('add', '--uuid', UUID.toUpperCase(), '--json');
    expect(JSON.parse(first.stdout)).toEqual({
      uuid: UUID,
      api_key: expect.stringMatching(/^ZOMMA_[0-9A-HJKMNP-TV-Z]{16}$/),
      tier: 'member',
      status: 'active',
    });
    expect(again.stdout).toBe(first.stdout);
    expect(statSync(join(dataDir, 'secret')).mode & 0o777).toBe(0o600);
  });

  test('replaces the key of a member, and the keys of all', async () => {
    const json = async (...args: string[]) =>
      JSON.parse((await zomma(...args, '--json', '--data-dir', dataDir)).stdout);
    const [added, replaced] = [
      await json('members', 'add', '--uuid', UUID),
      await json('members', 'rekey', '--uuid', UUID),
    ];
    expect(replaced).toEqual({ ...added, api_key: expect.stringMatching(/^ZOMMA_[0-9A-HJKMNP-TV-Z]{16}$/) });
    expect(replaced.api_key).not.toBe(added.api_key);
    expect(await json('secret', 'rotate')).toEqual({ members: 1, old_keys_until: null });
    const { members: count, old_keys_until: until } = await json('secret', 'rotate', '--grace', '7d');
    expect([count, Math.round((Date.parse(until) - Date.now()) / 3_600_000)]).toEqual([1, 168]);
    const { stdout } = await zomma('secret', 'rotate', '--grace', '1h', '--data-dir', dataDir);
    expect(stdout).toMatch(/^1 member has a new key\. The old keys work until \S+Z\.\n$/);
    expect(await zomma('secret', 'rotate', '--grace', 'week', '--data-dir', dataDir)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('--grace "week" is not a time') },
    });
    rmSync(join(dataDir, 'secret'));
    expect((await zomma('members', 'rekey', '--uuid', UUID, '--data-dir', dataDir)).stderr).toContain(
      'zomma secret rotate',
    );
    expect(await json('secret', 'rotate')).toEqual({ members: 1, old_keys_until: null });
    expect((await json('members', 'rekey', '--uuid', UUID)).status).toBe('active');
    expect((await zomma('audit', '--json', '--data-dir', dataDir)).stdout).toContain('secret_rotated');
  });

  test('lists, revokes and links members', async () => {
    expect((await members('link', '--uuid', UUID, '--telegram', '5551234567')).code).toBe(0);
    expect((await members('revoke', '--uuid', UUID)).code).toBe(0);
    const { stdout } = await members('list', '--json');
    expect(JSON.parse(stdout)).toEqual({
      members: [{ uuid: UUID, tier: 'member', status: 'revoked', expires_at: null }],
    });
  });

  test.each(['add', 'rekey', 'revoke', 'link'])(
    '`members %s --uuid -` reads the UUID from standard input',
    async (command) => {
      const uuid = UUID.replace('7b', '8c');
      await members('add', '--uuid', uuid);
      const more = command === 'link' ? ['--telegram', '5551234567'] : [];
      const args = ['members', command, '--uuid', '-', ...more, '--data-dir', dataDir];
      expect(await run(PROGRAM, args, `  ${uuid.toUpperCase()}\r\nanother line\n`)).toMatchObject({
        code: 0,
        stderr: '',
      });
      expect(await run(PROGRAM, args, uuid)).toMatchObject({ code: 0, stderr: '' });
      for (const [input, message] of [
        ['', /standard input has no UUID/],
        ['not-a-uuid\n', /uuid is not a UUID/],
      ] as const) {
        const { code, stderr } = await run(PROGRAM, args, input);
        expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
        expect(stderr).not.toContain('not-a-uuid');
      }
    },
  );

  test.each([
    ['a bad uuid', ['--uuid', 'abc'], /UUID/, 1],
    ['a bad tier', ['--uuid', UUID, '--tier', 'gold'], /tier/, 64],
    ['a bad expiry', ['--uuid', UUID, '--expires', 'never'], /--expires/, 1],
    ['no uuid', [], /--uuid/, 64],
  ])('rejects %s', async (_name, args, message, expected) => {
    const { code, stderr } = await members('add', ...args);
    expect(code).toBe(expected);
    expect(stderr).toMatch(message);
  });

  test('adds nobody to a folder that no server has made, and makes none', async () => {
    const other = join(folder, 'other');
    const { code, stderr } = await zomma('members', 'add', '--uuid', UUID, '--data-dir', other);
    expect(code).toBe(1);
    expect(stderr).toContain(`${other} has no data of Zomma`);
    expect(existsSync(other)).toBe(false);
  });
});

test('an environment switch set to `false` is off', async () => {
  const args = ['serve', '--host', '0.0.0.0', '--port', '0', '--data-dir', dataDir];
  const { code, stderr } = await run(PROGRAM, args, undefined, { ZOMMA_BEHIND_PROXY: 'false' });
  expect(code).toBe(78);
  expect(stderr).toContain('in the clear');
});

describe('serve rejects', () => {
  test.each([
    ['an unknown feed', ['--feed', 'magic'], /not a feed/],
    ['a missing folder', ['--feed', 'files:/no/such'], /not a folder/],
    ['a missing universe file', ['--universe', 'no.json'], /no such file.*no\.json/],
    ['an invalid port', ['--port', '70000'], /not a port/],
    ['an invalid rate limit', ['--rate-limit', 'fast'], /not a rate limit/],
    ['plain HTTP on a network address', ['--host', '0.0.0.0'], /in the clear/],
    ['a certificate without its key', ['--tls-cert', 'c.pem'], /must be given together/],
    ['a missing certificate file', ['--tls-cert', 'no.pem', '--tls-key', 'no.pem'], /cannot read no\.pem/],
  ])('%s', async (_name, args, message) => {
    const { code, stdout, stderr } = await zomma('serve', '--port', '0', '--data-dir', dataDir, ...args);
    expect(code).toBe(78);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
  });
});
