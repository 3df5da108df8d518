import { expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { OperatorError, SettingError } from '../../src/core/errors.ts';
import { parseSetting, SETTINGS, type Setting, type SettingName } from '../../src/settings/config.ts';
import { parseWritten } from '../../src/settings/setting-sources.ts';
import { parseSettings } from '../support/parse-settings.ts';
import { errorOf } from '../support/thrown.ts';

const VALID: readonly (readonly [SettingName, text: string, value: unknown])[] = [
  ['rateLimit', '600/min', { burst: 600, windowS: 60 }],
  ['rateLimit', '10/s', { burst: 10, windowS: 1 }],
  ['rateLimit', '1000/h', { burst: 1000, windowS: 3600 }],
  ['rateLimit', '1/s', { burst: 1, windowS: 1 }],
  ['rateLimit', 'off', 'off'],
  ['dataMax', '20GB', 20e9],
  ['dataMax', '0.025GB', 25e6],
  ['dataMax', '3 mb', 3e6],
  ['dataMax', '1.5TB', 1.5e12],
  ['port', '0', 0],
  ['port', '65535', 65_535],
  ['feedRate', '60', 60],
  ['feedEvery', '7', 7],
  ['feedHours', 'always', 'always'],
  ['behindProxy', 'Yes', true],
  ['behindProxy', '0', false],
  ['allowedHosts', ' zomma.example, Alt.Example,', ['zomma.example', 'alt.example']],
  ['allowedOrigins', 'https://agents.example', ['https://agents.example']],
  ['myKey', 'any', 'any'],
  ['myKeyFrom', '10.0.0.5, 2001:db8::/32', ['10.0.0.5', '2001:db8::/32']],
  ['myKeyToken', 'abcdefghijklmnop', 'abcdefghijklmnop'],
  ['tls', 'internal', 'internal'],
  ['largePrintMin', '1e5', 100_000],
  ['contagionMin', '0', 0],
  ['staleAfter', '0.5', 30_000],
  ['store', 'postgres://zomma@db1:5432,db2/zomma', 'postgres://zomma@db1:5432,db2/zomma'],
  ['replica', 'zomma-1.example', 'zomma-1.example'],
  ['trustMembers', '15m', 900_000],
  ['synchronous', 'off', 'off'],
  ['keepChains', '1', 1],
  ['tools', 'contract', 'contract'],
  ['keepPrints', '31', 31],
  ['logLevel', 'debug', 'debug'],
  ['seed', '0', 0],
  ['dataDir', './data', './data'],
  ['trustedProxies', '10.0.0.5, 10.1.0.0/16', ['10.0.0.5', '10.1.0.0/16']],
  ['accessLog', 'yes', true],
  ['slowStep', '40', 40],
  ['basePath', '/zomma', '/zomma'],
  ['ops', '127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
  ['keepIntraday', '5', 5],
  ['keepLevels', '400', 400],
  ['simClock', 'real', 'real'],
  ['past', 'off', false],
  ['keepFiles', '3', 3],
];

test.each(VALID)('%s %j has the value %j', (name, text, value) => {
  expect(parseSetting(name, text)).toEqual(value as never);
});

const INVALID: readonly (readonly [SettingName, texts: readonly string[], message: string])[] = [
  [
    'rateLimit',
    ['', '600', '0/s', '-1/s', '1.5/s', '600/day', '600 / min', '/s', '10/S', 'OFF', '99999999/s', '10/s\n', '1e3/s'],
    'not a rate limit',
  ],
  ['dataMax', ['20', '20 bananas', '-1GB', '0GB', 'GB', ''], 'not a size'],
  ['port', ['70000', '-1', '8080x', ''], 'not a port'],
  ['feedRate', ['0'], 'must be 1 or more'],
  ['feedRate', ['1.5', ''], 'must be a whole number'],
  ['feedEvery', ['0'], '--feed-every must be 1 or more'],
  ['feedHours', ['night'], '--feed-hours "night" is not known'],
  ['behindProxy', ['maybe', ''], 'neither on nor off'],
  ['allowedHosts', ['zomma.example:8443', 'https://zomma.example', '*'], 'not the name of a host'],
  ['allowedOrigins', ['https://a.example/', 'a.example', 'https://b.example,*'], 'not an origin'],
  ['myKey', ['none', ''], '--my-key "'],
  ['myKeyFrom', ['10.0.0.0/33', 'terminal', '10.0.0.1/8/8'], 'is not a network'],
  ['myKeyToken', ['', 'short', 'with a blank in it', 'ünïcödé-characters'], 'ZOMMA_MY_KEY_TOKEN is not a token'],
  ['tls', ['', 'on', 'Internal'], 'is not known'],
  ['tools', ['nine', '', 'ALL'], 'is not known'],
  ['largePrintMin', ['', '-1', 'ten', 'Infinity'], '--large-print-min must be an amount of dollars, at least 0'],
  ['contagionMin', ['-1'], '--contagion-min must be an amount of dollars, at least 0'],
  ['staleAfter', ['0', '', 'NaN'], 'must be a number of minutes above 0'],
  ['store', ['mysql://a/b', 'zomma.sqlite', ''], 'neither "sqlite" nor a URL of Postgres'],
  ['store', ['postgres://zomma:word@db1/zomma', 'postgresql://a:@b/c'], 'which every user of the machine could see'],
  ['replica', ['', 'a b', 'x'.repeat(51)], 'is not a name'],
  ['trustMembers', ['0', '15', '1.5h'], 'is not a time'],
  ['synchronous', ['yes', ''], 'is not known'],
  ['keepChains', ['0', '1.5', '100000'], '--keep-chains must be a whole number of days, at least 1'],
  ['keepPrints', ['30'], '--keep-prints must be a whole number of days, at least 31'],
  ['logLevel', ['loud', 'Info'], 'not a log level'],
  ['seed', ['-1', '1.5', ''], '--seed must be a whole number'],
  ['trustedProxies', ['10.0.0.0/33', 'proxy'], 'is not a network'],
  ['trustedProxies', ['0.0.0.0/0', '10.0.0.1,::/0'], 'trusts every client'],
  ['accessLog', ['maybe'], '--access-log is neither on nor off'],
  ['slowStep', ['0', 'slow'], '--slow-step'],
  ['basePath', ['zomma', '/a b', 'https://a'], '--base-path'],
  ['ops', ['9464', 'host', ':1'], '--ops'],
  ['keepIntraday', ['0', '1.5'], '--keep-intraday must be a whole number of days, at least 1'],
  ['keepLevels', ['0', ''], '--keep-levels must be a whole number of days'],
  ['simClock', ['fast'], '--sim-clock "fast" is not known'],
  ['past', ['maybe'], '--past is neither on nor off'],
  ['keepFiles', ['0'], '--keep-files must be a whole number of days, at least 1'],
];

test('each setting that is parsed has a valid text and an invalid one here', () => {
  const parsed = Object.entries<Setting>(SETTINGS).flatMap(([name, { parse }]) => (parse ? [name] : []));
  const lacking = (rows: readonly (readonly [string, ...unknown[]])[]) =>
    parsed.filter((name) => !rows.some(([each]) => each === name));
  expect({ valid: lacking(VALID), invalid: lacking(INVALID) }).toEqual({ valid: [], invalid: [] });
});

test('code outside of src/settings names each setting', async () => {
  const src = resolve(import.meta.dir, '../../src');
  const paths = [...new Bun.Glob('**/*.ts').scanSync(src)].filter((path) => !path.startsWith('settings/'));
  const words = new Set(
    (await Promise.all(paths.map((path) => Bun.file(join(src, path)).text()))).join('\n').match(/\w+/g),
  );
  expect(Object.keys(SETTINGS).filter((name) => !words.has(name))).toEqual([]);
});

test.each(INVALID)('%s rejects %j', (name, texts, message) => {
  for (const text of texts) {
    expect(() => parseSetting(name, text)).toThrow(OperatorError);
    expect(() => parseSetting(name, text)).toThrow(message);
  }
});

test.each(INVALID)('%s names its origin once in the error for %j', (name, [text]) => {
  const { flag, env }: Setting = SETTINGS[name];
  const own = flag?.split(' ')[0] ?? env;
  for (const origin of [own, env, `key in /etc/zomma.toml`]) {
    const { message } = errorOf(SettingError, () => parseWritten(name, { text: text!, origin }));
    expect(message).toStartWith(origin);
    expect(message.slice(origin.length)).not.toContain(own);
  }
});

test('every default is valid, and a setting without default is undefined', () => {
  const values = parseSettings({});
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    expect([name, values[name as SettingName] === undefined]).toEqual([name, setting.default === undefined]);
  }
  expect(values).toMatchObject({ port: 8080, seed: 1, behindProxy: false, staleAfter: 1_800_000 });
});
