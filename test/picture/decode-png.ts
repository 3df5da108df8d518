import { inflateSync } from 'node:zlib';

/** A decoded PNG with a palette. */
export interface DecodedPng {
  readonly width: number;
  readonly height: number;
  readonly colours: number;
  /** The types of the chunks, in their order. */
  readonly chunks: readonly string[];
  /** Red, green and blue of a pixel. */
  at(x: number, y: number): [number, number, number];
  /** The colour of a pixel as one number, 0xRRGGBB. */
  value(x: number, y: number): number;
}

/** Decodes a PNG with a palette of 8 bits and without filters, independently of the encoder. Throws if a CRC or a length is wrong. */
export function decodePng(png: Uint8Array): DecodedPng {
  const bytes = Buffer.from(png);
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('no signature');
  const data = new Map<string, Buffer>();
  const chunks: string[] = [];
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (bytes.readUInt32BE(at + 8 + length) !== crcOf(bytes.subarray(at + 4, at + 8 + length))) {
      throw new Error(`wrong CRC of ${type}`);
    }
    chunks.push(type);
    data.set(type, bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const head = data.get('IHDR')!;
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  if (head.toString('hex', 8) !== '0803000000') throw new Error(`other form: ${head.toString('hex', 8)}`);
  const palette = data.get('PLTE')!;
  const lines = inflateSync(data.get('IDAT')!);
  if (lines.length !== (width + 1) * height) throw new Error(`${lines.length} bytes of lines`);
  for (let y = 0; y < height; y++) if (lines[y * (width + 1)] !== 0) throw new Error(`line ${y} has a filter`);
  const value = (x: number, y: number) => palette.readUIntBE(3 * lines[y * (width + 1) + 1 + x]!, 3);
  const at = (x: number, y: number): [number, number, number] => {
    const colour = value(x, y);
    return [colour >> 16, (colour >> 8) & 255, colour & 255];
  };
  return { width, height, colours: palette.length / 3, chunks, at, value };
}

/** The CRC of ISO 3309, bit by bit. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
