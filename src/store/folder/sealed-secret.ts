import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';

/** The secret of a data folder, together with the passphrase that encrypts the secret. */
type SealedSecret = Readonly<{ secret: Uint8Array; passphrase: string }>;

const CIPHER = 'aes-256-gcm';
/** The exponent of the cost of a new key. Deriving a key from a passphrase takes about 0.4 s and 128 MiB of memory. */
const COST_LOG2 = 17;

function keyOf(passphrase: string, salt: Uint8Array, cost: number): Buffer {
  return scryptSync(passphrase, salt, 32, { N: cost, r: 8, p: 1, maxmem: 2 * 128 * cost * 8 });
}

/** Encrypts a secret under its passphrase. Returns JSON with all that decrypts it but the passphrase. */
export function sealSecret({ secret, passphrase }: SealedSecret): string {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cost = 2 ** COST_LOG2;
  const cipher = createCipheriv(CIPHER, keyOf(passphrase, salt, cost), iv);
  const data = Buffer.concat([cipher.update(secret), cipher.final()]);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return JSON.stringify({
    ...{ kdf: `scrypt N=${cost} r=8 p=1`, cipher: CIPHER },
    ...{ salt: hex(salt), iv: hex(iv), tag: hex(cipher.getAuthTag()), data: hex(data) },
  });
}

/** Decrypts a secret. `path` is its file. Throws `OperatorError` if the passphrase is missing or wrong, or if the file is damaged. */
export function unsealSecret(text: string, path: string, passphrase: string | undefined): Uint8Array {
  if (passphrase === undefined) {
    throw new OperatorError(
      `${path} is encrypted`,
      'Give the passphrase with --passphrase-file, or remove the file to restore without the secret.',
    );
  }
  try {
    const sealed = JSON.parse(text) as Record<string, string>;
    const part = (name: string) => Buffer.from(sealed[name] ?? '', 'hex');
    // Earlier versions used a lower cost. The bound keeps a foreign file from taking all memory.
    const cost = Number(/^scrypt N=(\d{1,7}) r=8 p=1$/.exec(sealed.kdf ?? '')?.[1]);
    const decipher = createDecipheriv(CIPHER, keyOf(passphrase, part('salt'), Math.min(cost, 2 ** 20)), part('iv'));
    decipher.setAuthTag(part('tag'));
    return Buffer.concat([decipher.update(part('data')), decipher.final()]);
  } catch (error) {
    throw new OperatorError(`the passphrase does not open ${path}`, 'Give the passphrase of this backup.', {
      cause: error,
    });
  }
}
