import { describe, expect, test } from 'bun:test';
import { createMyKeyPolicy } from '../../src/http/my-key-policy.ts';

const TOKEN = 'a-token-of-the-operator-terminal';
const codeOf = (policy: ReturnType<typeof createMyKeyPolicy>, address: string, authorization: string | null) => {
  try {
    policy.check(address, authorization);
    return 'admitted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const [LOOPBACK, ANY] = [{ myKey: 'loopback' }, { myKey: 'any' }] as const;

test.each([
  ['127.0.0.1', 'admitted', 'admitted'],
  ['127.0.0.9', 'admitted', 'admitted'],
  ['::1', 'admitted', 'admitted'],
  ['10.1.2.3', 'client_foreign', 'admitted'],
  ['unknown', 'client_foreign', 'admitted'],
])('without a named terminal, %s is %s, and with --my-key any %s', (address, byDefault, open) => {
  const codes = [LOOPBACK, ANY].map((who) =>
    codeOf(createMyKeyPolicy({ ...who, myKeyFrom: undefined, myKeyToken: undefined }), address, null),
  );
  expect(codes).toEqual([byDefault, open]);
});

test('--my-key any and --my-key-from exclude each other', () => {
  expect(() => createMyKeyPolicy({ ...ANY, myKeyFrom: ['10.0.0.0/8'], myKeyToken: undefined })).toThrow(
    'exclude each other',
  );
});

test.each([
  ['10.1.2.3', 'admitted'],
  ['2001:db8::7', 'admitted'],
  ['10.2.0.1', 'client_foreign'],
  ['2001:db9::7', 'client_foreign'],
  ['unknown', 'client_foreign'],
])('by networks, %s is %s', (address, expected) => {
  const policy = createMyKeyPolicy({ ...LOOPBACK, myKeyFrom: ['10.1.0.0/16', '2001:db8::/32'], myKeyToken: undefined });
  expect(codeOf(policy, address, `Bearer ${TOKEN}`)).toBe(expected);
});

test('an empty list of networks admits nobody', () => {
  expect(codeOf(createMyKeyPolicy({ ...LOOPBACK, myKeyFrom: [], myKeyToken: undefined }), '127.0.0.1', null)).toBe(
    'client_foreign',
  );
});

describe('by token', () => {
  const policy = createMyKeyPolicy({ ...LOOPBACK, myKeyFrom: undefined, myKeyToken: TOKEN });
  test.each([
    [`Bearer ${TOKEN}`, 'admitted'],
    [`bearer  ${TOKEN}`, 'admitted'],
    [null, 'token_refused'],
    ['', 'token_refused'],
    ['Bearer', 'token_refused'],
    [`Basic ${TOKEN}`, 'token_refused'],
    [`Bearer ${TOKEN}x`, 'token_refused'],
    [`Bearer ${TOKEN.slice(0, -1)}`, 'token_refused'],
    [`Bearer x, Bearer ${TOKEN}`, 'token_refused'],
  ])('%j is %s', (authorization, expected) => expect(codeOf(policy, '203.0.113.9', authorization)).toBe(expected));
});
