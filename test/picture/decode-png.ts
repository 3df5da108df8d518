import { inflateSync } from 'node:zlib';

/** A decoded PNG. */
export interface DecodedPng {
  readonly width: number;
  readonly height: number;
  /** The colour of a pixel as `#rrggbb`. */
  at(x: number, y: number): string;
}

/** Decodes an opaque PNG of 8 bits a sample without interlacing, independently of the renderer. Throws if it has another form. */
export function decodePng(png: Uint8Array): DecodedPng {
  const bytes = Buffer.from(png);
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('no signature');
  const parts: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (bytes.toString('hex', 24, 29) !== '0806000000') throw new Error(`other form: ${bytes.toString('hex', 24, 29)}`);
  const pixels = unfiltered(inflateSync(Buffer.concat(parts)), 4 * width, height);
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== 255) throw new Error(`pixel ${i >> 2} is not opaque`);
  return {
    width,
    height,
    at: (x, y) => `#${pixels.toString('hex', 4 * (y * width + x), 4 * (y * width + x) + 3)}`,
  };
}

/** Undoes the filters of lines of 4 bytes a pixel (ISO 15948, section 9). */
function unfiltered(lines: Buffer, length: number, height: number): Buffer {
  if (lines.length !== (length + 1) * height) throw new Error(`${lines.length} bytes of lines`);
  const pixels = Buffer.alloc(length * height);
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (length + 1)]!;
    for (let x = 0; x < length; x++) {
      const at = y * length + x;
      const left = x < 4 ? 0 : pixels[at - 4]!;
      const up = y === 0 ? 0 : pixels[at - length]!;
      const diagonal = x < 4 || y === 0 ? 0 : pixels[at - length - 4]!;
      const predicted = [0, left, up, (left + up) >> 1, nearestOf(left, up, diagonal)][filter]!;
      pixels[at] = lines[y * (length + 1) + 1 + x]! + predicted;
    }
  }
  return pixels;
}

/** The predictor of Paeth: whichever of the three is nearest to left + up - diagonal. */
function nearestOf(left: number, up: number, diagonal: number): number {
  const [toLeft, toUp, toDiagonal] = [up - diagonal, left - diagonal, left + up - 2 * diagonal].map(Math.abs);
  if (toLeft! <= toUp! && toLeft! <= toDiagonal!) return left;
  return toUp! <= toDiagonal! ? up : diagonal;
}
