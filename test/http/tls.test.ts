import { beforeAll, describe, expect, test } from 'bun:test';
import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTls } from '../../src/http/tls.ts';
import { makeCertificate } from '../support/certificate.ts';
import { folderForTests } from '../support/test-folder.ts';

const folder = folderForTests();
const at = (name: string) => join(folder, name);
beforeAll(() => {
  for (const name of ['a', 'b']) makeCertificate(folder, name);
  writeFileSync(at('junk.pem'), 'junk');
  writeFileSync(at('empty.pem'), '');
  writeFileSync(at('damaged.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  writeFileSync(at('damaged.key'), '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n');
  // The first bytes of every PKCS#12 file: version 3, and contents of the type `data`.
  writeFileSync(at('a.p12'), Buffer.from('308204a20201033082046806092a864886f70d010701', 'hex'));
  const locked = { type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' } as const;
  writeFileSync(at('locked.key'), createPrivateKey(readFileSync(at('a.key'))).export(locked));
});

test('a pair has its texts, the names of the certificate and the end of its validity', () => {
  const { cert, key, subject, notAfterMs } = readTls({ cert: at('a.pem'), key: at('a.key') });
  expect(cert).toStartWith('-----BEGIN CERTIFICATE-----');
  expect(key).toContain('PRIVATE KEY');
  expect(subject).toContain('DNS:a');
  expect((notAfterMs - Date.now()) / 86_400_000).toBeWithin(29, 31);
});

describe('a pair that cannot be used', () => {
  test.each([
    ['none.pem', 'a.key', /--tls-cert: cannot read .*none\.pem: ENOENT/],
    ['junk.pem', 'a.key', /--tls-cert: .*junk\.pem is no PEM text, not a certificate/],
    ['empty.pem', 'a.key', /empty\.pem is empty, not a certificate/],
    ['a.key', 'a.pem', /--tls-cert: .*a\.key is a private key, not a certificate/],
    ['a.p12', 'a.key', /a\.p12 is binary \(DER or PKCS#12\), not a certificate/],
    ['damaged.pem', 'a.key', /damaged\.pem holds a damaged certificate/],
    ['a.pem', 'a.pem', /--tls-key: .*a\.pem is a certificate, not a private key/],
    ['a.pem', 'locked.key', /--tls-key: .*locked\.key is encrypted/],
    ['a.pem', 'damaged.key', /damaged\.key holds a damaged key/],
    ['a.pem', 'b.key', /a\.pem does not belong to the key .*b\.key/],
  ])('%s with %s: the message names the file and its fault', (cert, key, message) => {
    expect(() => readTls({ cert: at(cert), key: at(key) })).toThrow(message);
  });
});
