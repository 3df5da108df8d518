import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode, OperatorError } from '../core/errors.ts';

/** Length of the secret, bytes. HMAC-SHA-256 has its full strength with a secret of 32 bytes. */
export const SECRET_BYTES = 32;

/** Whether files have mode bits on this system. Windows has access lists instead, and reports every file as accessible to all users. */
const HAS_MODES = process.platform !== 'win32';

/**
 * Returns whether the group of a data folder may write to it, as on some container volumes, and thus replace the database and its members.
 * Throws `OperatorError` if every user of the machine may write to the folder.
 */
export function isOpenToGroup(dataDir: string): boolean {
  const { mode } = statSync(dataDir);
  if (!HAS_MODES) return false;
  if ((mode & 0o002) !== 0) {
    throw new OperatorError(
      `every user of this machine may write to ${dataDir}`,
      `Run \`chmod 700 ${dataDir}\`, or give --data-dir a folder within it, which is created for this user alone.`,
    );
  }
  return (mode & 0o020) !== 0;
}

/**
 * Returns the server's secret from the file `secret` in the data folder. If the file is missing and there are no members, creates it with
 * 32 random bytes and mode 0600, and calls `onCreate`. Several processes that create it at once return the same secret. Throws
 * `OperatorError` if there are members and no file, or if the file is too short, is accessible to other users, belongs neither to the user
 * of this process nor to the owner of the folder, or cannot be read or created.
 */
export function loadSecret(dataDir: string, members = 0, onCreate: () => void = () => {}): Uint8Array {
  const path = join(dataDir, 'secret');
  try {
    const secret = read(dataDir, path);
    if (secret) return secret;
    if (members === 0) return create(dataDir, path, onCreate);
    throw new OperatorError(
      `${path} is missing, and ${members === 1 ? 'the key of a member depends' : `the keys of ${members} members depend`} on it`,
      'Restore the file from a backup, or run `zomma secret rotate`, which gives every member a new key.',
    );
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read or create ${path}`, 'Make sure that this user may write to the data folder.', {
      cause: error,
    });
  }
}

/** The secret of a data folder, and the new secret while a rotation is incomplete. */
export type SecretFile = ReturnType<typeof createSecretFile>;

/**
 * Returns the functions that read and rotate the secret of a data folder. The new secret of a rotation is in the file `secret.next` until
 * the members have their new digests. `members` returns the number of members. See `loadSecret` for `onCreate`.
 */
export function createSecretFile(dataDir: string, members: () => number, onCreate: () => void) {
  const path = join(dataDir, 'secret');
  const next = `${path}.next`;
  return {
    /** Returns the new secret of an incomplete rotation, or undefined. */
    readNext: () => read(dataDir, next),
    /** Returns the secret, and the new secret if a rotation is incomplete. Throws what `loadSecret` throws. */
    read(): readonly [secret: Uint8Array, next?: Uint8Array] {
      // The new secret is read first. If another process completes its rotation meanwhile, both elements are the new secret.
      const pending = read(dataDir, next);
      const secret = loadSecret(dataDir, members(), onCreate);
      return pending === undefined ? [secret] : [secret, pending];
    },
    /** Writes a new random secret beside the secret, and returns it. A file of an earlier, incomplete rotation is replaced. */
    writeNext(): Uint8Array {
      rmSync(next, { force: true });
      const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
      writeDurably(next, secret);
      syncFolder(dataDir);
      return secret;
    },
    adoptNext() {
      try {
        renameSync(next, path);
      } catch (error) {
        // Another process has completed the rotation.
        if (errorCode(error) !== 'ENOENT') throw error;
      }
      syncFolder(dataDir);
    },
    removeNext: () => rmSync(next, { force: true }),
  };
}

function syncFolder(folder: string): void {
  if (!HAS_MODES) return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function read(dataDir: string, path: string): Uint8Array | undefined {
  const fd = openIfPresent(path);
  if (fd === undefined) return undefined;
  try {
    if (HAS_MODES) {
      const { mode, uid } = fstatSync(fd);
      if ((mode & 0o077) !== 0) {
        throw new OperatorError(`${path} is open to other users of this machine`, `Run \`chmod 600 ${path}\`.`);
      }
      // The owner of the folder is also accepted, because an administrator may run a command on the folder of the service.
      if (uid !== process.geteuid?.() && uid !== statSync(dataDir).uid) {
        throw new OperatorError(
          `${path} belongs to another user than its folder`,
          'If you trust the file, give it the owner of its folder with chown. Otherwise restore it from a backup.',
        );
      }
    }
    const secret = readFileSync(fd);
    if (secret.length < SECRET_BYTES) {
      throw new OperatorError(
        `${path} holds ${secret.length} bytes, but at least ${SECRET_BYTES} bytes are needed`,
        'Restore the file from a backup, or remove it and run `zomma secret rotate`, which gives every member a new key.',
      );
    }
    return secret;
  } finally {
    closeSync(fd);
  }
}

/** Stores the secret of a restored backup. Throws an error if the data folder already has a secret. */
export function storeSecret(dataDir: string, secret: Uint8Array): void {
  writeDurably(join(dataDir, 'secret'), secret);
}

/**
 * Writes the secret to a temporary file, and links the file to its path, so that no process reads a partial secret. A link replaces no
 * file: of two processes that create a secret, the second reads the secret of the first.
 */
function create(dataDir: string, path: string, onCreate: () => void): Uint8Array {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${crypto.randomUUID()}`;
  writeDurably(draft, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  try {
    linkSync(draft, path);
    onCreate();
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  const secret = read(dataDir, path);
  if (secret === undefined) throw new Error('the secret was removed while it was being created');
  return secret;
}

function writeDurably(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o600, flush: true });
}

function openIfPresent(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
