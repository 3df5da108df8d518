import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';

/** 256 bits: the full strength of the HMAC-SHA-256 it keys. */
export const SECRET_BYTES = 32;

/** Windows keeps access lists instead of mode bits and reports every file as open to all. */
const HAS_MODES = process.platform !== 'win32';

/**
 * Whether the group of a data folder may write to it, as on a volume of a container. Who may write there can put a database of their own
 * members in the place of the one there is.
 *
 * @throws OperatorError if every user of the machine may.
 */
export function isOpenToGroup(dataDir: string): boolean {
  const { mode } = statSync(dataDir);
  if (!HAS_MODES) return false;
  if ((mode & 0o002) !== 0) {
    throw new OperatorError(
      `every user of this machine may write to ${dataDir}`,
      `run: chmod 700 ${dataDir}; or name a folder within it as --data-dir, which is made for this user alone`,
    );
  }
  return (mode & 0o020) !== 0;
}

/**
 * The server's secret, from the file `secret` in the data folder; made (32 random bytes, mode 0600, in a folder of mode 0700)
 * where there is none yet. Processes that race to make it all return the one that won.
 *
 * @throws OperatorError if the file is too short, is readable by others than its owner, belongs to another user than this process or the
 * data folder, or cannot be read or made.
 */
export function loadSecret(dataDir: string): Uint8Array {
  const path = join(dataDir, 'secret');
  try {
    return read(dataDir, path) ?? create(dataDir, path);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read or create ${path}`, 'check that this user may write to the data folder', {
      cause: error,
    });
  }
}

function read(dataDir: string, path: string): Uint8Array | undefined {
  const fd = openIfPresent(path);
  if (fd === undefined) return undefined;
  try {
    if (HAS_MODES) {
      const { mode, uid } = fstatSync(fd);
      if ((mode & 0o077) !== 0) {
        throw new OperatorError(`${path} is open to other users of this machine`, `run: chmod 600 ${path}`);
      }
      // An administrator may run a command on the service's folder; nobody else's secret belongs there.
      if (uid !== process.geteuid?.() && uid !== statSync(dataDir).uid) {
        throw new OperatorError(
          `${path} belongs to another user than its folder`,
          'if you trust what it holds, give it the owner of the folder with chown; else restore it from a backup',
        );
      }
    }
    const secret = readFileSync(fd);
    if (secret.length < SECRET_BYTES) {
      throw new OperatorError(
        `${path} holds ${secret.length} bytes; at least ${SECRET_BYTES} are needed`,
        'restore it from a backup, or remove it for a new one: every member then needs a new key',
      );
    }
    return secret;
  } finally {
    closeSync(fd);
  }
}

/**
 * A link appears whole or not at all and never replaces a file: no reader meets a secret half written, and of two processes
 * the second finds the name taken and reads what the first wrote.
 */
function create(dataDir: string, path: string): Uint8Array {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${crypto.randomUUID()}`;
  writeDurably(draft, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  const secret = read(dataDir, path);
  if (secret === undefined) throw new Error('the secret was removed while it was being made');
  return secret;
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function openIfPresent(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
