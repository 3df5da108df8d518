import { createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import * as x509 from '@peculiar/asn1-x509';
import type { PemPair } from './tls.ts';

/** A certificate and its private key, as PEM texts. */
export type IssuedPair = Pick<PemPair, 'cert' | 'key'>;

interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';

/**
 * Creates a certificate authority for host names and the names below them. The authority can sign server certificates, but not certificates
 * of other authorities, and clients reject its certificates for further names. Addresses are not constrained, because BoringSSL (in
 * Bun) rejects every certificate of an authority whose addresses are constrained.
 */
export function makeLocalAuthority(commonName: string, names: readonly string[], period: Period): IssuedPair {
  const own = newKey();
  const permitted = names.filter((name) => isIP(name) === 0).map((dNSName) => new x509.GeneralName({ dNSName }));
  const permittedSubtrees = new x509.GeneralSubtrees(permitted.map((base) => new x509.GeneralSubtree({ base })));
  const subject = nameOf(commonName);
  const extensions = [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
    extension(
      x509.id_ce_keyUsage,
      new x509.KeyUsage(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign),
      true,
    ),
    extension(x509.id_ce_nameConstraints, new x509.NameConstraints({ permittedSubtrees }), true),
    extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(own.id)),
  ];
  return { cert: certify({ subject, issuer: subject, period, own, extensions, signer: own.pem }), key: own.pem };
}

/** Returns the host names that an authority may sign, from its certificate as PEM text. Returns null if it may sign every name. */
export function permittedNames(cert: string): readonly string[] | null {
  const { extensions = [] } = AsnConvert.parse(new X509Certificate(cert).raw, x509.Certificate).tbsCertificate;
  const constraints = extensions.find(({ extnID }) => extnID === x509.id_ce_nameConstraints);
  if (!constraints) return null;
  const { permittedSubtrees = [] } = AsnConvert.parse(constraints.extnValue, x509.NameConstraints);
  return permittedSubtrees.flatMap(({ base }) => base.dNSName ?? []);
}

/** Creates a server certificate for host names and addresses, signed by an authority that `makeLocalAuthority` created. */
export function issueServerCertificate(
  authority: IssuedPair,
  commonName: string,
  names: readonly string[],
  period: Period,
): IssuedPair {
  const own = newKey();
  const signer = AsnConvert.parse(new X509Certificate(authority.cert).raw, x509.Certificate).tbsCertificate;
  const alternatives = names.map(
    (name) => new x509.GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }),
  );
  const keyIdentifier = new x509.KeyIdentifier(keyIdOf(signer.subjectPublicKeyInfo));
  const extensions = [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: false }), true),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature), true),
    extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth])),
    extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(alternatives)),
    extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(own.id)),
    extension(x509.id_ce_authorityKeyIdentifier, new x509.AuthorityKeyIdentifier({ keyIdentifier })),
  ];
  const subject = nameOf(commonName);
  return {
    cert: certify({ subject, issuer: signer.subject, period, own, extensions, signer: authority.key }),
    key: own.pem,
  };
}

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const info = AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), x509.SubjectPublicKeyInfo);
  return { pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), info, id: keyIdOf(info) };
}

/** Returns the identifier of a public key: the first 160 bits of a SHA-256 (RFC 7093, method 1). */
function keyIdOf({ subjectPublicKey }: x509.SubjectPublicKeyInfo): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(subjectPublicKey).digest().subarray(0, 20);
}

interface Contents {
  readonly subject: x509.Name;
  readonly issuer: x509.Name;
  readonly period: Period;
  readonly own: ReturnType<typeof newKey>;
  readonly extensions: readonly x509.Extension[];
  /** The private key of the signer, as PEM text. */
  readonly signer: string;
}

function certify({ subject, issuer, period, own, extensions, signer }: Contents): string {
  const signatureAlgorithm = new x509.AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const serialNumber = crypto.getRandomValues(new Uint8Array(16));
  // A serial number must be positive and have no leading zeros. With a first byte from 64 to 127, the number is positive and has no leading
  // zeros.
  serialNumber[0] = (serialNumber[0]! & 0x3f) | 0x40;
  const tbsCertificate = new x509.TBSCertificate({
    ...{ version: x509.Version.v3, serialNumber: serialNumber.buffer, signature: signatureAlgorithm },
    ...{ issuer, subject, subjectPublicKeyInfo: own.info, extensions: new x509.Extensions([...extensions]) },
    validity: new x509.Validity({ notBefore: new Date(period.fromMs), notAfter: new Date(period.untilMs) }),
  });
  const signature = sign('sha256', new Uint8Array(AsnConvert.serialize(tbsCertificate)), createPrivateKey(signer));
  const signatureValue = new Uint8Array(signature).buffer;
  const der = AsnConvert.serialize(new x509.Certificate({ tbsCertificate, signatureAlgorithm, signatureValue }));
  const lines = Buffer.from(der)
    .toString('base64')
    .match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function nameOf(commonName: string): x509.Name {
  const value = new x509.AttributeValue({ utf8String: commonName });
  return new x509.Name([
    new x509.RelativeDistinguishedName([new x509.AttributeTypeAndValue({ type: COMMON_NAME, value })]),
  ]);
}

function extension(extnID: string, value: object, critical = false): x509.Extension {
  return new x509.Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}
