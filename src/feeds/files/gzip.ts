import { createGunzip } from 'node:zlib';
import { errorCode } from '../../core/errors.ts';
import { unreadable } from '../rejections.ts';
import type { Content } from './opened-file.ts';

/** Maximum ratio of the unpacked to the packed size. Equal rows have a ratio of 100. More was made to exhaust the memory or the disk. */
export const INFLATION_MAX = 200;
/** The unpacked size above which the ratio is checked. Smaller files are harmless, whatever their ratio. */
export const INFLATED_BYTES_FREE = 1024 * 1024;

/** Returns whether a file that begins with `head` is a gzip file. */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * Unpacks a gzip file piece by piece. Calls `onProgress` with the number of packed bytes so far. Throws a `ClientError` if the file is damaged,
 * truncated or inflated beyond INFLATION_MAX. Throws errors of the file system.
 */
export async function* inflated(content: Content, onProgress = (_bytes: number) => {}): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip();
  let packedBytes = 0;
  const closed = new Promise<void>((resolve) => gunzip.once('close', resolve));
  const feeding = (async () => {
    for await (const piece of content.pieces()) {
      if (gunzip.destroyed) return;
      packedBytes += piece.length;
      const unpacked = new Promise<void>((resolve) => gunzip.write(piece, () => resolve()));
      await Promise.race([unpacked, closed]);
    }
    gunzip.end();
  })().catch((error) => void gunzip.destroy(error));
  let bytes = 0;
  try {
    for await (const piece of gunzip) {
      bytes += piece.length;
      if (bytes > INFLATED_BYTES_FREE && bytes > INFLATION_MAX * content.facts.size) {
        throw unreadable(`the file unpacks to more than ${INFLATION_MAX} times its size`);
      }
      onProgress(packedBytes);
      yield piece;
    }
  } catch (error) {
    const code = errorCode(error) ?? '';
    throw code.startsWith('Z_') ? unreadable(`the gzip file is truncated or damaged (${code})`) : error;
  } finally {
    gunzip.destroy();
    await feeding;
  }
}
