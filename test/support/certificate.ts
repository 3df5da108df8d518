import { join } from 'node:path';
import { run } from './process.ts';

/** Whether this machine can make certificates. If CI is set, a test that needs one fails instead of being skipped. */
export const OPENSSL = Bun.which('openssl') !== null || process.env.CI !== undefined;

/**
 * Makes a certificate for this machine, under a name, in a folder. Returns the paths of its PEM files, NAME.pem and NAME.key. The key is
 * small, so that handshakes take little time.
 */
export async function makeCertificate(
  folder: string,
  name = 'localhost',
): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`];
  const { code, stderr } = await run(['openssl'], [...kind, ...names, '-keyout', key, '-out', cert]);
  if (code !== 0) throw new Error(`openssl: ${stderr}`);
  return { cert, key };
}

/** Makes a certificate authority under a name, in a folder: NAME.pem and NAME.key. */
export async function makeAuthority(folder: string, name: string): Promise<void> {
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  await openssl(folder, [...kind, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.pem`]);
}

/** Makes a certificate for a client or for this machine, signed by an authority of the folder: NAME.pem and NAME.key. */
export async function makeSigned(folder: string, name: string, authority: string): Promise<void> {
  const kind = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  await openssl(folder, [...kind, ...names, '-keyout', `${name}.key`, '-out', `${name}.csr`]);
  const signer = [
    '-CA',
    `${authority}.pem`,
    '-CAkey',
    `${authority}.key`,
    '-CAcreateserial',
    '-copy_extensions',
    'copy',
  ];
  await openssl(folder, ['x509', '-req', '-in', `${name}.csr`, ...signer, '-days', '30', '-out', `${name}.pem`]);
}

async function openssl(folder: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(['env', '-C', folder, 'openssl'], args);
  if (code !== 0) throw new Error(`openssl: ${stderr}`);
}
