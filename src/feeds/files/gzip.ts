import { createGunzip } from 'node:zlib';
import { unreadable } from '../refused.ts';
import type { Content } from './opened-file.ts';

/** Text of figures packs to a tenth, of rows that are all alike to a hundredth: what unpacks to more is made to fill a machine. */
export const INFLATION_MAX = 200;
/** Below this nothing is filled: a short file of rows that are all alike may pack better. */
export const INFLATED_BYTES_FREE = 1024 * 1024;

/** By its first bytes. */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * What a gzip file unpacks to, piece by piece; `reached` hears of the packed bytes read so far. Throws a Failure where it is damaged, cut
 * or unpacks to too much, and what the file system throws.
 */
export async function* inflated(
  content: Content,
  reached: (bytes: number) => void = () => {},
): AsyncGenerator<Buffer, void> {
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
        throw unreadable(`it unpacks to more than ${INFLATION_MAX} times its size`);
      }
      reached(packedBytes);
      yield piece;
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw code.startsWith('Z_') ? unreadable(`the gzip file is cut or damaged (${code})`) : error;
  } finally {
    gunzip.destroy();
    await feeding;
  }
}
