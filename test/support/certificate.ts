import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, Extensions, id_ce_extKeyUsage, id_ce_nameConstraints } from '@peculiar/asn1-x509';
import { type IssuedPair, issueServerCertificate, makeLocalAuthority } from '../../src/http/local-authority.ts';

/** From a minute ago for 30 days. */
const period = () => ({ fromMs: Date.now() - 60_000, untilMs: Date.now() + 30 * 86_400_000 });

/**
 * Makes a certificate for this machine, under a name, in a folder, signed by an authority of its own. Returns the paths of its PEM files,
 * NAME.pem and NAME.key.
 */
export function makeCertificate(folder: string, name = 'localhost') {
  const authority = makeLocalAuthority(`authority of ${name}`, [name], period());
  return write(folder, name, issueServerCertificate(authority, name, [name, '127.0.0.1'], period()));
}

/** Makes a certificate authority under a name, in a folder: NAME.pem and NAME.key. */
export function makeAuthority(folder: string, name: string): void {
  write(folder, name, makeLocalAuthority(name, ['localhost'], period()));
}

/** Makes a certificate for a client or for this machine, signed by an authority of the folder: NAME.pem and NAME.key. */
export function makeSigned(folder: string, name: string, authority: string): void {
  const [cert, key] = ['pem', 'key'].map((kind) => readFileSync(join(folder, `${authority}.${kind}`), 'utf8'));
  const issued = issueServerCertificate({ cert: cert!, key: key! }, name, ['localhost', '127.0.0.1'], period());
  // Without the purpose "server", a client may use the certificate too.
  write(folder, name, { cert: without(id_ce_extKeyUsage, issued.cert, key!), key: issued.key });
}

/** Makes an authority that may sign every name, as version 0.2.0 made it: NAME.pem and NAME.key. */
export function makeUnconstrainedAuthority(folder: string, name: string): void {
  const { cert, key } = makeLocalAuthority(name, ['localhost'], period());
  write(folder, name, { cert: without(id_ce_nameConstraints, cert, key), key });
}

/** Removes an extension from a certificate, which its authority then signs again. */
function without(extension: string, cert: string, authorityKey: string): string {
  const certificate = AsnConvert.parse(new X509Certificate(cert).raw, Certificate);
  const { tbsCertificate } = certificate;
  tbsCertificate.extensions = new Extensions(tbsCertificate.extensions!.filter(({ extnID }) => extnID !== extension));
  const signed = sign('sha256', new Uint8Array(AsnConvert.serialize(tbsCertificate)), createPrivateKey(authorityKey));
  certificate.signatureValue = new Uint8Array(signed).buffer;
  return new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString();
}

function write(folder: string, name: string, pair: IssuedPair) {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  writeFileSync(files.cert, pair.cert);
  writeFileSync(files.key, pair.key);
  return files;
}
