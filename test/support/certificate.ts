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
