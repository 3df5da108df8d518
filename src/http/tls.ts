import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ownership } from '../access/data-owner.ts';
import { errorCode, SettingError } from '../core/errors.ts';

/** The certificates and the private key of a TLS listener, as PEM texts. */
export interface PemPair {
  readonly cert: string;
  readonly key: string;
  /** The certificates of the authorities that sign client certificates. Undefined if clients need no certificate. */
  readonly clientCa?: string | undefined;
}

/** A checked certificate chain with its checked private key. */
export interface TlsPair extends PemPair {
  /** The subject of the chain's first certificate, and the time at which this certificate expires, ms since the epoch. */
  readonly subject: string;
  /** SHA-256 of the certificate, hex with colons. */
  readonly sha256: string;
  readonly notAfterMs: number;
}

/** The paths of the TLS files: the certificate chain, the private key and, for mutual TLS, the client authorities. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string | undefined;
}

/**
 * Cipher suites for TLS 1.2 with authenticated encryption (AEAD) and forward secrecy, as all suites of TLS 1.3 have. Every client since
 * 2014 supports one of them. Without this list, the runtime also offers CBC suites and static RSA.
 */
export const CIPHERS = ['ECDHE-ECDSA', 'ECDHE-RSA']
  .flatMap((exchange) =>
    ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((suite) => `${exchange}-${suite}`),
  )
  .join(':');

/**
 * Reads a certificate chain, its private key and the client authorities. Throws a `SettingError` that names the file and its problem: the
 * file is unreadable, is not PEM, has a key instead of a certificate, has an encrypted key, has the key of another certificate, or has an
 * ordinary certificate as client authority.
 */
export function readTls({ cert: certFile, key: keyFile, clientCa: caFile }: TlsFiles): TlsPair {
  const [cert, key] = [readPem(certFile, '--tls-cert'), readPem(keyFile, '--tls-key')];
  const certificate = certificateOf(cert, certFile, '--tls-cert');
  if (!certificate.checkPrivateKey(privateKeyOf(key, keyFile))) {
    throw new SettingError(
      `the certificate ${certFile} does not belong to the key ${keyFile}`,
      'Give the certificate and the key of one pair.',
    );
  }
  return {
    cert,
    key,
    clientCa: caFile === undefined ? undefined : authoritiesIn(caFile),
    subject: certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', '),
    sha256: certificate.fingerprint256,
    notAfterMs: Date.parse(certificate.validTo),
  };
}

/** Returns a text that changes when one of the files changes. Returns an empty text while a file is missing. */
export function versionOfFiles({ cert, key, clientCa }: TlsFiles): string {
  const versions = [cert, key, ...(clientCa === undefined ? [] : [clientCa])].map((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && `${found.mtimeMs} ${found.size} ${found.ino}`;
  });
  return versions.every(Boolean) ? versions.join(' ') : '';
}

/** Reads the client authorities. The check is needed because the runtime accepts the public authorities if a text has no certificate. */
function authoritiesIn(file: string): string {
  const pem = readPem(file, '--tls-client-ca');
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [pem];
  for (const each of certificates) {
    if (certificateOf(each, file, '--tls-client-ca').ca) continue;
    throw new SettingError(
      `--tls-client-ca: ${file} holds a certificate that is not of an authority`,
      'Give the certificate of the authority that signs the certificates of the clients.',
    );
  }
  return certificates.join('\n');
}

function certificateOf(pem: string, file: string, flag: '--tls-cert' | '--tls-client-ca'): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new SettingError(
      `${flag}: ${file} is ${kindOf(pem)}, not a certificate in PEM form`,
      flag === '--tls-cert'
        ? 'Give the file with the certificate chain, for example fullchain.pem.'
        : 'Give the file with the certificate of the authority, for example ca.pem.',
    );
  }
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new SettingError(`${flag}: ${file} holds a damaged certificate`, 'Get the certificate again.', {
      cause: error,
    });
  }
}

function privateKeyOf(pem: string, file: string): KeyObject {
  if (/ENCRYPTED/.test(pem)) {
    throw new SettingError(
      `--tls-key: ${file} is encrypted`,
      `Decrypt it into a file that this user alone may read: openssl pkey -in ${file} -out key.pem`,
    );
  }
  if (!/-----BEGIN (?:EC |RSA )?PRIVATE KEY-----/.test(pem)) {
    throw new SettingError(
      `--tls-key: ${file} is ${kindOf(pem)}, not a private key in PEM form`,
      'Give the file with the private key, for example privkey.pem.',
    );
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new SettingError(`--tls-key: ${file} holds a damaged key`, 'Restore the key, or get a new certificate.', {
      cause: error,
    });
  }
}

function kindOf(text: string): string {
  if (text.trim() === '') return 'empty';
  const [, label] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? [];
  if (label?.includes('PRIVATE KEY')) return 'a private key';
  if (label === 'CERTIFICATE') return 'a certificate';
  if (label !== undefined) return `a ${label.toLowerCase()}`;
  // A DER file begins with the tag of a sequence (0x30). A PKCS#12 file is also DER.
  return text.charCodeAt(0) === 0x30 ? 'binary (DER or PKCS#12)' : 'no PEM text';
}

function readPem(file: string, flag: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    const reason = [errorCode(error), ownership(file)].filter(Boolean).join('; ');
    throw new SettingError(`${flag}: cannot read ${file}: ${reason}`, 'Give a PEM file that this user may read.', {
      cause: error,
    });
  }
}
