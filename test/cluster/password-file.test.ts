import { expect, test } from 'bun:test';
import { passwordIn } from '../../src/cluster/password-file.ts';

const LOGIN = { host: 'db1', port: 5432, database: 'd', user: 'u' };

test.each<[string, string, Partial<typeof LOGIN>, string | undefined]>([
  ['a line of the login', 'db1:5432:d:u:pw', {}, 'pw'],
  ['the first line that matches', 'db2:5432:d:u:a\ndb1:*:*:*:b\n*:*:*:*:c', {}, 'b'],
  ['lines of Windows', 'db1:5432:d:u:pw\r\n', {}, 'pw'],
  ['a password with colons', 'db1:5432:d:u:a:b', {}, 'a:b'],
  ['a password with a backslash', String.raw`db1:5432:d:u:a\:b\\c`, {}, String.raw`a:b\c`],
  ['a host with colons', String.raw`fd00\:\:1:5432:d:u:pw`, { host: 'fd00::1' }, 'pw'],
  ['a socket by its folder', '/run/pg:5432:d:u:pw', { host: '/run/pg' }, 'pw'],
  ['a socket as localhost', 'localhost:5432:d:u:pw', { host: '/run/pg' }, 'pw'],
  ['a comment', '#db1:5432:d:u:a\ndb1:5432:d:u:b', {}, 'b'],
  ['an empty password', 'db1:5432:d:u:\n*:*:*:*:b', {}, ''],
  ['a line with too few fields', 'db1:5432:d:pw', {}, undefined],
  ['another port', 'db1:5433:d:u:pw', {}, undefined],
  ['another database', 'db1:5432:e:u:pw', {}, undefined],
  ['another user', 'db1:5432:d:v:pw', {}, undefined],
  ['a star within a name', 'db*:5432:d:u:pw', {}, undefined],
  ['nothing', '', {}, undefined],
])('%s', (_, text, login, password) => {
  expect(passwordIn(text, { ...LOGIN, ...login })).toBe(password as string);
});
