import { describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { SettingError } from '../../src/core/errors.ts';
import { testFolder } from '../support/test-folder.ts';
import { errorOf } from '../support/thrown.ts';

const at = testFolder();
const parse = (text: string, env: Readonly<Record<string, string>> = {}) => parseStoreUrl(text, env);

/** Writes a file that only its owner may read. */
function secretFile(name: string, text: string): string {
  const path = at(name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

describe('the hosts', () => {
  test.each([
    ['db1', [['db1', 5432, 'db1:5432']]],
    ['db1:6000', [['db1', 6000, 'db1:6000']]],
    [
      'db1:6000,db2',
      [
        ['db1', 6000, 'db1:6000'],
        ['db2', 5432, 'db2:5432'],
      ],
    ],
    [
      '10.0.0.1,[fd00::1]:6432',
      [
        ['10.0.0.1', 5432, '10.0.0.1:5432'],
        ['fd00::1', 6432, '[fd00::1]:6432'],
      ],
    ],
    ['%2Frun%2Fpostgresql', [['/run/postgresql', 5432, '/run/postgresql:5432']]],
  ] as const)('of %s', (authority, hosts) => {
    for (const scheme of ['postgres', 'postgresql'])
      expect(parse(`${scheme}://u@${authority}/d`).hosts).toEqual(
        hosts.map(([host, port, text]) => ({ host, port, text })),
      );
  });

  test('are folders of sockets in the query', () => {
    const url = parse('postgres:///d?host=/run/postgresql:6000,/tmp');
    expect(url.hosts.map(({ text }) => text)).toEqual(['/run/postgresql:6000', '/tmp:5432']);
    expect(parse(url.text).hosts).toEqual(url.hosts);
  });
});

test('the user, the database and the modes', () => {
  expect(
    parse('postgres://u%40x@h/d%2F1?sslmode=verify-full&channel_binding=require&target_session_attrs=read-write'),
  ).toMatchObject({
    user: 'u@x',
    database: 'd/1',
    tls: 'verify-full',
    channelBinding: 'require',
    text: 'postgres://u%40x@h:5432/d%2F1?sslmode=verify-full',
  });
  expect(parse('postgres://h/d')).toMatchObject({
    user: userInfo().username,
    tls: 'prefer',
    channelBinding: 'disable',
  });
  expect(parse('postgres://h/d', { PGUSER: 'from-env' }).user).toBe('from-env');
});

test.each([
  ['mysql://u:hidden@h/d', 'nor a URL of Postgres', '--store postgres://'],
  ['u:hidden@h/d', 'nor a URL of Postgres', '--store postgres://'],
  ['sqlite', 'is not a URL of Postgres', 'Use postgres://'],
  ['postgres://u:hidden@h/d', 'has a password', 'a file that only this user may read'],
  ['postgres://u:@h/d', 'has a password', 'a file that only this user may read'],
  ['postgres://u:hid#den@h/d', 'is not a URL of Postgres', '%XX'],
  ['postgres://hid@h', 'names no database', 'Use postgres://'],
  ['postgres://hid@/d', 'names no host', '?host='],
  ['postgres://hid@h/d?host=/run', 'hosts in two places', 'in one'],
  ['postgres://hid@h:0/d', 'has a port', 'Use postgres://'],
  ['postgres://hid@h:70000/d', 'has a port', 'Use postgres://'],
  ['postgres://hid@h:x/d', 'neither a name nor an address', 'Use postgres://'],
  ['postgres://hid@h1,,h2/d', 'neither a name nor an address', 'Use postgres://'],
  ['postgres://hid@fd00::1/d', 'neither a name nor an address', 'Use postgres://'],
  ['postgres://hid%zz@h/d', 'a % that is not', '%25'],
  ['postgres://hid@h/d?sslmod=require', 'unknown parameter', 'Perhaps sslmode.'],
  ['postgres://hid@h/d?password=hidden', 'unknown parameter', 'to a file'],
  ['postgres://hid@h/d?sslmode=allow', 'sslmode is not known', 'disable, prefer, require'],
  ['postgres://hid@h/d?target_session_attrs=standby', 'target_session_attrs is not known', 'read-write'],
  ['postgres://hid@h/d?sslrootcert=/ca.pem', 'checks no certificate', 'sslmode=verify-full'],
  ['postgres://hid@h/d?sslmode=require&sslcert=/c.pem', 'only one of sslcert and sslkey', 'both'],
  ['postgres://hid@h/d?sslcert=/c.pem&sslkey=/c.key', 'does not require TLS', 'sslmode=verify-full'],
  ['postgres://hid@h/d?sslmode=verify-full&sslrootcert=/no/ca.pem', 'cannot read /no/ca.pem', 'Check the path'],
])('%s is refused without its password', (text, message, hint) => {
  const error = errorOf(SettingError, () => parse(text));
  expect(error.message).toContain(message);
  expect(error.hint).toContain(hint);
  expect(Bun.inspect(error.message + error.hint)).not.toContain('hid');
});

describe('the password', () => {
  const passwordOf = (text: string, env: Readonly<Record<string, string>> = {}) => {
    const url = parse(text, env);
    return url.credentials(url.hosts[0]!).password;
  };

  test('comes from PGPASSWORD, else from PGPASSFILE', () => {
    const PGPASSFILE = secretFile('pgpass', 'h:5432:d:u:of the list\n');
    expect(passwordOf('postgres://u@h/d', { PGPASSWORD: 'of the variable', PGPASSFILE })).toBe('of the variable');
    expect(passwordOf('postgres://u@h/d', { PGPASSFILE })).toBe('of the list');
    expect(passwordOf('postgres://u@other/d', { PGPASSFILE })).toBe('');
    expect(passwordOf('postgres://u@h/d')).toBe('');
  });

  test('of a file is read anew each time', () => {
    const url = parse('postgres://u@h/d', { PGPASSFILE: secretFile('pgpass', '*:*:*:*:old') });
    secretFile('pgpass', '*:*:*:*:new');
    expect(url.credentials(url.hosts[0]!).password).toBe('new');
  });

  test.each(['pgpass', 'key'])('in a file that others may read is refused: %s', (name) => {
    const path = secretFile(name, 'hidden');
    writeFileSync(at('c.pem'), '');
    const env: Record<string, string> = name === 'pgpass' ? { PGPASSFILE: path } : {};
    const text = `postgres://u@h/d?sslmode=require${name === 'key' ? `&sslcert=${at('c.pem')}&sslkey=${path}` : ''}`;
    expect(parse(text, env).user).toBe('u');
    chmodSync(path, 0o644);
    expect(() => parse(text, env)).toThrow(/^(?:PGPASSFILE|sslkey): other users of this machine may use/);
  });
});
