import { constants, read, readlinkSync } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Some hundred rows of a tape, which are read in two or three milliseconds: requests have their turn between two pieces. */
const PIECE_BYTES = 64 * 1024;

/** What is known of a file beside its content. */
export interface ContentFacts {
  /** Path inside the drop folder, with forward slashes. */
  readonly origin: string;
  readonly size: number;
  /** When the file last changed, ms since the epoch. */
  readonly modifiedMs: number;
}

/** An open file, read by position: never by its path again, behind which another file may lie meanwhile. */
export class Content {
  constructor(
    readonly fd: number,
    readonly facts: ContentFacts,
  ) {}

  /** So many bytes at a place, fewer where the file ends. */
  async slice(from: number, to: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
    let filled = 0;
    while (filled < bytes.length) {
      const count = await readInto(this.fd, bytes, filled, from + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  /** Ends early where the file does. Each piece is good until the next is asked for. */
  async *pieces(from = 0, to = this.facts.size): AsyncGenerator<Buffer> {
    const piece = Buffer.allocUnsafe(Math.max(0, Math.min(PIECE_BYTES, to - from)));
    for (let at = from; at < to; ) {
      const count = await readInto(this.fd, piece.subarray(0, Math.min(piece.length, to - at)), 0, at);
      if (count === 0) return;
      yield piece.subarray(0, count);
      at += count;
    }
  }
}

function readInto(fd: number, bytes: Buffer, offset: number, position: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  read(fd, bytes, offset, bytes.length - offset, position, (error, count) => (error ? reject(error) : resolve(count)));
  return promise;
}

/** A regular file that is open. */
export interface OpenedFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly content: Content;
}

/** Never waits for a writer, as a FIFO does, and takes no link for the file. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file of a folder; undefined where there is no regular file within the folder any more, whatever is there instead. A link to a
 * regular file within the folder is that file. Throws what the file system throws.
 *
 * @param root the folder's path without links.
 */
export async function openWithin(root: string, origin: string): Promise<OpenedFile | undefined> {
  const path = join(root, origin);
  let handle: FileHandle | undefined;
  try {
    // Of a link the target is opened, which is no link itself.
    handle = await open(path, OPEN_FLAGS).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ELOOP') throw error;
      return open(await realpath(path), OPEN_FLAGS);
    });
    const stats = await handle.stat();
    if (stats.isFile() && (await isWithin(root, handle, path))) return opened(handle, origin, stats);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!GONE.has(code)) {
      await handle?.close();
      throw error;
    }
  }
  await handle?.close();
  return undefined;
}

/** Opens a file that somebody has named, be it by a link; undefined where it is no regular file. Throws what the file system throws. */
export async function openNamed(path: string, origin: string): Promise<OpenedFile | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return opened(handle, origin, stats);
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Something else has come in its place: it will be found, or not, at the next look. ENXIO is a socket's. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

function opened(handle: FileHandle, origin: string, stats: { size: number; mtimeMs: number }): OpenedFile {
  const facts = { origin, size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
  return { handle, content: new Content(handle.fd, facts), [Symbol.asyncDispose]: () => handle.close() };
}

/** Whether what is open lies in the folder: a folder on the way may have become a link. */
async function isWithin(root: string, handle: FileHandle, path: string): Promise<boolean> {
  const known = pathOf(handle.fd);
  if (known !== undefined) return known.startsWith(root + sep);
  // Systems that do not tell where an open file lies: what lies there now has to be this very file.
  const real = await realpath(path);
  const [there, own] = [await lstat(real), await handle.stat()];
  return real.startsWith(root + sep) && there.dev === own.dev && there.ino === own.ino;
}

/** Where an open file or folder lies; undefined where the system does not tell. */
export function pathOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
