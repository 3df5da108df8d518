import { expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingError } from '../../src/core/errors.ts';
import { SETTINGS, type Setting, type SettingName } from '../../src/settings/config.ts';
import { readNamedFile, settingKey, settingSources, unknownVariables } from '../../src/settings/setting-sources.ts';
import { readSettingsFile } from '../../src/settings/settings-file.ts';
import { withFolder } from '../support/process.ts';

/** Calls `work` with the path of a file of settings that has some text. */
function withFile<T>(text: string, work: (path: string, folder: string) => T): Promise<T> {
  return withFolder(async (folder) => {
    const path = join(folder, 'zomma.toml');
    writeFileSync(path, text);
    return work(path, folder);
  });
}

test('the key of each setting is its flag', () => {
  for (const [name, { flag }] of Object.entries<Setting>(SETTINGS)) {
    const key = settingKey(name as SettingName);
    expect(flag === undefined ? key.replace(/-file$/, '') : `--${key}`).toBe(
      flag === undefined
        ? SETTINGS[name as SettingName].env.slice(6).toLowerCase().replaceAll('_', '-')
        : flag.split(' ')[0]!,
    );
  }
});

test('the environment comes before the file, and an empty variable is none', () =>
  withFile('port = 9000\nhost = "::1"\naccess-log = true\nallowed-hosts = ["a.example", "b.example"]\n', (path) => {
    const sources = settingSources({ ZOMMA_PORT: '9001', ZOMMA_HOST: '' }, readSettingsFile(path));
    expect(sources.find('port')).toEqual({ text: '9001', origin: 'ZOMMA_PORT' });
    expect(sources.find('host')).toEqual({ text: '::1', origin: `host in ${path}` });
    expect(sources.find('accessLog')!.text).toBe('true');
    expect(sources.find('allowedHosts')!.text).toBe('a.example,b.example');
    expect(sources.find('seed')).toBeUndefined();
  }));

test('a credential comes from the environment, or from a file of its own', () =>
  withFolder(async (folder) => {
    const [secret, empty, config] = ['token', 'empty', 'zomma.toml'].map((name) => join(folder, name));
    writeFileSync(secret!, 'hidden\n', { mode: 0o600 });
    writeFileSync(empty!, '\n', { mode: 0o640 });
    writeFileSync(config!, `tradier-token-file = "${secret}"\n`);
    const find = (env: Record<string, string>, path?: string) =>
      settingSources(env, path ? readSettingsFile(path) : {}).find('tradierToken');
    expect(find({ ZOMMA_TRADIER_TOKEN: 'direct' })!.text).toBe('direct');
    expect(find({ ZOMMA_TRADIER_TOKEN_FILE: secret! })).toEqual({
      text: 'hidden',
      origin: `${secret} (ZOMMA_TRADIER_TOKEN_FILE)`,
    });
    expect(find({}, config)!.text).toBe('hidden');
    expect(find({ ZOMMA_TRADIER_TOKEN: 'direct' }, config)!.text).toBe('direct');
    expect(() => find({ ZOMMA_TRADIER_TOKEN: 'a', ZOMMA_TRADIER_TOKEN_FILE: secret! })).toThrow('are both set');
    expect(() => find({ ZOMMA_TRADIER_TOKEN_FILE: empty! })).toThrow(`the file ${empty} is empty`);
    expect(() => find({ ZOMMA_TRADIER_TOKEN_FILE: `${folder}/missing` })).toThrow(/cannot read .*missing/);
  }));

test.each([
  ['credential', 0o600, true],
  ['credential', 0o640, true],
  ['credential', 0o644, false],
  ['credential', 0o660, false],
  ['credential', 0o602, false],
  ['settings', 0o644, true],
  ['settings', 0o664, false],
  ['settings', 0o646, false],
] as const)('a file of a %s with mode %o is taken: %p', (content, mode, isTaken) =>
  withFolder(async (folder) => {
    const path = join(folder, 'file');
    writeFileSync(path, 'x');
    chmodSync(path, mode);
    const read = () => readNamedFile(path, '--flag', content);
    if (isTaken) expect(read()).toBe('x');
    else expect(read).toThrow(/^--flag: other users of this machine may (?:use|write to) \S+file$/);
    // systemd gives the files of LoadCredential= to the service alone, whatever their mode.
    process.env.CREDENTIALS_DIRECTORY = folder;
    expect(read()).toBe('x');
    process.env.CREDENTIALS_DIRECTORY = `${folder}/other`;
    if (!isTaken) expect(read).toThrow();
    delete process.env.CREDENTIALS_DIRECTORY;
  }),
);

test.each<[string, string, RegExp, RegExp]>([
  ['an unknown key', 'prot = 1', /"prot" is not a setting/, /Did you mean port\?/],
  ['a table', '[server]\nport = 1', /"server" is not a setting/, /config example/],
  ['a credential in the file', 'tradier-token = "hidden"', /"tradier-token" is not a setting/, /tradier-token-file = /],
  ['a date', 'port = 2026-01-01', /port in .*zomma\.toml: the value is not text/, /in quotation marks/],
  ['no TOML', 'host = "a"\nport = = 1', /zomma\.toml, line 2, column 8: /, /port = 8080/],
  ['the same key twice', 'port = 1\nport = 2', /zomma\.toml, line 2/, /port = 8080/],
])('%s in the file is an error with its place', (_what, text, message, hint) =>
  withFile(text, (path) => {
    let error: unknown;
    try {
      readSettingsFile(path);
    } catch (thrown) {
      error = thrown;
    }
    if (!(error instanceof SettingError)) throw error;
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(`${error.message}${error.hint}`).not.toContain('hidden');
  }),
);

test('a file that is not there is an error', () => {
  expect(() => readSettingsFile('/no/such.toml')).toThrow(/--config <file>: cannot read \/no\/such\.toml: ENOENT/);
});

test('a variable that belongs to no setting is named with the nearest one', () => {
  expect(
    unknownVariables({
      ZOMMA_PROT: '1',
      ZOMMA_KEEP_CHAIN: '30',
      ZOMMA_TRADIER_TOKEN_FLIE: 'x',
      ZOMMA_EMPTY: '',
      ZOMMA_PORT: '1',
      ZOMMA_CONFIG: 'x',
      ZOMMA_MASSIVE_KEY_FILE: 'x',
      PORT: '1',
    }),
  ).toEqual([
    { name: 'ZOMMA_PROT', nearest: 'ZOMMA_PORT' },
    { name: 'ZOMMA_KEEP_CHAIN', nearest: 'ZOMMA_KEEP_CHAINS' },
    { name: 'ZOMMA_TRADIER_TOKEN_FLIE', nearest: 'ZOMMA_TRADIER_TOKEN_FILE' },
  ]);
});
