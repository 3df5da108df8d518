import { expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { SETTINGS, type Setting } from '../../src/settings/config.ts';
import { ALL_TICKERS, PROGRAM, run, startServer, withFolder } from '../support/process.ts';

const zomma = (args: readonly string[], env?: Readonly<Record<string, string>>) => run(PROGRAM, args, undefined, env);

test('the example names every setting, and without its comment signs it is valid and changes nothing', () =>
  withFolder(async (folder) => {
    const { stdout } = await zomma(['config', 'example']);
    expect(parse(stdout)).toEqual({});
    const lines = stdout.split('\n').filter((line) => /^# [a-z-]+ = /.test(line));
    expect(lines).toHaveLength(Object.values<Setting>(SETTINGS).filter(({ group }) => group !== 'client').length);
    const path = join(folder, 'zomma.toml');
    const byDefault = Object.values<Setting>(SETTINGS).filter((each) => each.default !== undefined && each.flag);
    const keys = byDefault.map(({ flag }) => flag!.split(' ')[0]!.slice(2));
    const kept = lines.map((line) => line.slice(2)).filter((line) => keys.includes(line.split(' ')[0]!));
    writeFileSync(path, kept.join('\n'));
    expect(await zomma(['config', 'check', '--config', path], ALL_TICKERS)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${keys.length} of ${lines.length} are set`),
    });
    const shown = async (args: readonly string[]) => {
      const { settings } = JSON.parse((await zomma(['config', 'show', '--json', ...args])).stdout);
      return (settings as { setting: string; value: string | null }[]).map(({ setting, value }) => [setting, value]);
    };
    expect(await shown(['--config', path])).toEqual(await shown([]));
  }));

test('`config show` names the origin of each value, and hides credentials', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'zomma.toml');
    writeFileSync(path, 'port = 9000\nhost = "127.0.0.2"\n');
    const env = { ZOMMA_CONFIG: path, ZOMMA_HOST: '127.0.0.3', ZOMMA_TRADIER_TOKEN: 'hidden' };
    const { stdout } = await zomma(['config', 'show', '--seed', '7', '--access-log'], env);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows).toContainEqual(['port', '9000', `port in ${path}`]);
    expect(rows).toContainEqual(['host', '127.0.0.3', 'ZOMMA_HOST']);
    expect(rows).toContainEqual(['seed', '7', '--seed']);
    expect(rows).toContainEqual(['access-log', 'true', '--access-log']);
    expect(rows).toContainEqual(['stale-after', '30', 'default']);
    expect(rows).toContainEqual(['tradier-token-file', '(hidden)', 'ZOMMA_TRADIER_TOKEN']);
    expect(rows).toContainEqual(['tls-cert', 'not set']);
    expect(stdout).not.toContain('hidden,');
    expect(stdout.replaceAll('(hidden)', '')).not.toContain('hidden');
  }));

test('`config check` tells every problem at once, and exits with 78', async () => {
  const env = { ZOMMA_PROT: '1', ZOMMA_PORT: 'eighty', ZOMMA_SEED: '', ZOMMA_KEEP_PRINTS: '1' };
  const { code, stdout } = await zomma(['config', 'check', '--log-level', 'loud'], env);
  expect(code).toBe(78);
  expect(stdout.split('\n').filter((line) => /^\S/.test(line))).toEqual([
    'ZOMMA_PROT is not a setting',
    expect.stringContaining('ZOMMA_PORT: "eighty" is not a port'),
    expect.stringContaining('ZOMMA_KEEP_PRINTS must be'),
    expect.stringContaining('--log-level: "loud" is not a log level'),
  ]);
  const { problems, valid } = JSON.parse((await zomma(['config', 'check', '--json'], env)).stdout);
  expect([valid, problems.length]).toEqual([false, 3]);
});

test.each<[string, readonly string[], readonly RegExp[]]>([
  ['an open address without TLS', ['--host', '0.0.0.0'], [/^API keys would cross the network in the clear/]],
  ['a certificate without its key', ['--tls-cert', 'cert.pem'], [/^--tls-cert and --tls-key must be given together/]],
  [
    'two ways to TLS, a bad key, a missing folder and a missing token',
    ['--tls', 'internal', '--tls-cert', 'c', '--tls-key', 'k', '--port', 'x', '--feed', 'files:./nope,tradier'],
    [
      /^--port: "x" is not a port/,
      /^".\/nope" is not a folder/,
      /^ZOMMA_TRADIER_TOKEN is not set/,
      /^--tls internal and --tls-cert exclude each other/,
    ],
  ],
  ['certificates that are missing', ['--tls-cert', '/no/c', '--tls-key', '/no/k'], [/^--tls-cert: cannot read/]],
  ['a missing universe', ['--universe', '/no/such.json'], [/^--universe: \/no\/such.json: /]],
  ['my-key for some and for all', ['--my-key', 'any', '--my-key-from', '::1'], [/^--my-key any and --my-key-from/]],
])('`config check`, `check` and `serve` refuse %s, all at once', (_, args, problems) =>
  withFolder(async (folder) => {
    const data = ['--data-dir', join(folder, 'data')];
    const [checked, examined, served] = await Promise.all([
      zomma(['config', 'check', ...args]),
      zomma(['check', '--json', ...args, ...data]),
      zomma(['serve', ...args, ...data]),
    ]);
    expect([checked.code, examined.code, served.code]).toEqual([78, 2, 78]);
    const { checks } = JSON.parse(examined.stdout) as { checks: { state: string; message: string }[] };
    const told = [
      checked.stdout.split('\n').filter((line) => /^\S/.test(line)),
      checks.filter(({ state }) => state === 'failure').map(({ message }) => message),
      served.stderr
        .split('\n')
        .filter((line) => line.startsWith('zomma: '))
        .map((line) => line.slice('zomma: '.length)),
    ];
    for (const each of told) expect(each).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    expect(existsSync(join(folder, 'data'))).toBe(false);
  }),
);

test('the server takes a file of settings, and warns of variables that belong to no setting', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'zomma.toml');
    const drop = join(folder, 'drop');
    await Bun.write(join(drop, '.keep'), '');
    writeFileSync(path, `port = 0\ndata-dir = "${folder}/data"\nfeed = "files:${drop}"\nlog-level = "info"\n`);
    const server = await startServer(PROGRAM, ['serve', '--config', path]);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect((await server.stop('SIGTERM')).code).toBe(0);
    const list = await run(PROGRAM, ['members', 'list', '--config', path]);
    expect(list.stdout).toContain('No members yet');
    const env = { ZOMMA_CONFIG: path, ZOMMA_PROT: '1', ZOMMA_SEED: '' };
    const { code, stderr } = await zomma(['serve', '--feed', 'nyse'], env);
    expect(code).toBe(78);
    expect(stderr).toStartWith(
      'zomma: ZOMMA_PROT is not a setting\n  Did you mean ZOMMA_PORT?\nzomma: "nyse" is not a feed\n',
    );
    await using warned = await startServer(PROGRAM, ['serve'], env);
    expect(warned.log()).toContain('"variable":"ZOMMA_PROT","nearest":"ZOMMA_PORT"');
  }));

test.each<[string, readonly string[], number]>([
  ['the version', ['--version'], 0],
  ['help', ['serve', '--help'], 0],
  ['an unknown flag', ['serve', '--prot', '1'], 64],
  ['an unknown command', ['server'], 64],
  ['a setting', ['serve', '--port', 'eighty'], 78],
  ['a failure', ['chains', 'list', '--data-dir', '/no/such'], 1],
])('%s ends with its exit code', async (_what, args, code) => {
  expect((await zomma(args)).code).toBe(code);
});

test('--version names the version, the commit and the schema', async () => {
  expect((await zomma(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+ \((?:[0-9a-f]{9}|source), schema \d+\)\n$/);
});

test('an invalid variable does not keep the help from being shown', async () => {
  expect(await zomma(['serve', '--help'], { ZOMMA_SEED: 'x', ZOMMA_PORT: '' })).toMatchObject({ code: 0, stderr: '' });
});
