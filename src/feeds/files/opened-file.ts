import { constants, read, readlinkSync } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { errorCode } from '../../core/errors.ts';
import type { FileFacts } from './format.ts';

/** Size of a piece, bytes: some hundred rows of a tape, which take two milliseconds. Requests run between two pieces. */
const PIECE_BYTES = 64 * 1024;

export interface ContentFacts extends FileFacts {
  /** Length of the file, bytes. */
  readonly size: number;
}

/** An open file that is read by position. The path of an open file is not used again, because it may lead to another file later. */
export class Content {
  constructor(
    readonly fd: number,
    readonly facts: ContentFacts,
  ) {}

  /** Returns the bytes from `from` to `to`. Returns fewer bytes if the file ends before `to`. */
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

  /** Yields the bytes from `from` up to `to`, or up to the end of the file. A piece is valid until the next piece is requested. */
  async *pieces(from = 0, to = this.facts.size): AsyncGenerator<Buffer> {
    const piece = Buffer.allocUnsafe(Math.max(0, Math.min(PIECE_BYTES, to - from)));
    for (let position = from; position < to; ) {
      const count = await readInto(this.fd, piece.subarray(0, Math.min(piece.length, to - position)), 0, position);
      if (count === 0) return;
      yield piece.subarray(0, count);
      position += count;
    }
  }
}

function readInto(fd: number, bytes: Buffer, offset: number, position: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  read(fd, bytes, offset, bytes.length - offset, position, (error, count) => (error ? reject(error) : resolve(count)));
  return promise;
}

export interface OpenedFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly content: Content;
}

/** With these flags, `open` does not wait for the writer of a FIFO and does not follow a link. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file of a folder or a link to one, if it is still a regular file within. `root` has no links. Throws errors of the file system.
 */
export async function openWithin(root: string, origin: string): Promise<OpenedFile | undefined> {
  const path = join(root, origin);
  let handle: FileHandle | undefined;
  try {
    // The code opens the link's target by a path without links.
    handle = await open(path, OPEN_FLAGS).catch(async (error: unknown) => {
      if (errorCode(error) !== 'ELOOP') throw error;
      return open(await realpath(path), OPEN_FLAGS);
    });
    const stats = await handle.stat();
    if (stats.isFile() && (await isWithin(root, handle, path))) return openedFile(handle, origin, path, stats);
  } catch (error) {
    if (!PATH_CHANGED.has(errorCode(error) ?? '')) {
      await handle?.close();
      throw error;
    }
  }
  await handle?.close();
  return undefined;
}

/** Opens a file that a person named, also by a link. Returns `undefined` if it is not a regular file. Throws errors of the file system. */
export async function openNamed(path: string, origin: string): Promise<OpenedFile | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return openedFile(handle, origin, resolve(path), stats);
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** The error codes for a path that has changed since the folder was scanned. A path that has become a socket causes ENXIO. */
const PATH_CHANGED: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

function openedFile(
  handle: FileHandle,
  origin: string,
  path: string,
  { size }: Pick<ContentFacts, 'size'>,
): OpenedFile {
  const facts = { origin, path, size };
  return { handle, content: new Content(handle.fd, facts), [Symbol.asyncDispose]: () => handle.close() };
}

/** Returns whether the open file is in the folder `root`. A folder on the path may have become a link to a place outside `root`. */
async function isWithin(root: string, handle: FileHandle, path: string): Promise<boolean> {
  const known = pathOf(handle.fd);
  if (known !== undefined) return known.startsWith(root + sep);
  // If the system does not report the path of an open file, the code checks that the path still leads to the same file.
  const real = await realpath(path);
  const [atPath, opened] = [await lstat(real), await handle.stat()];
  return real.startsWith(root + sep) && atPath.dev === opened.dev && atPath.ino === opened.ino;
}

/** Returns the path of an open file or folder, or `undefined` if the system does not report the path. */
export function pathOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
