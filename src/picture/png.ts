import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BITS_PER_PIXEL = 8;
/** The colour type of pixels that are indices of a palette. */
const INDEXED = 3;

/**
 * Encodes pixels as PNG (ISO 15948). `pixels` has the index of each pixel's colour in `palette`, row by row from the top. `palette` has the
 * samples red, green and blue (sRGB) of at most 256 colours. Throws RangeError if a length is wrong.
 */
export function encodePng(width: number, height: number, pixels: Uint8Array, palette: Uint8Array): Uint8Array {
  if (pixels.length !== width * height) throw new RangeError(`${pixels.length} pixels are not ${width} by ${height}`);
  if (palette.length % 3 !== 0 || palette.length > 3 * 256) throw new RangeError('A palette has at most 256 colours');
  // Each line begins with its filter. The filter 0 leaves the line unchanged, which suits indices.
  const lines = new Uint8Array((width + 1) * height);
  for (let row = 0; row < height; row++) {
    lines.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([BITS_PER_PIXEL, INDEXED], 8);
  return Buffer.concat([
    SIGNATURE,
    chunkOf('IHDR', head),
    chunkOf('sRGB', Uint8Array.of(0)),
    chunkOf('PLTE', palette),
    chunkOf('IDAT', deflateSync(lines)),
    chunkOf('IEND', new Uint8Array(0)),
  ]);
}

/** Returns a chunk: the length of its data, its type, its data, and the CRC of type and data. */
function chunkOf(type: string, data: Uint8Array): Uint8Array {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return chunk;
}
