import { join } from 'node:path';
import { run } from './process.ts';

/** Makes a certificate for NAME.zomma.test with its key: NAME.pem and NAME.key in the folder. */
export async function makeCertificate(folder: string, name: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const { code, stderr } = await run(
    ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'],
    [
      ...['-keyout', key, '-out', cert, '-subj', `/CN=${name}.zomma.test`],
      ...['-addext', `subjectAltName=DNS:${name}.zomma.test,IP:127.0.0.1`],
    ],
  );
  if (code !== 0) throw new Error(stderr);
  return { cert, key };
}
