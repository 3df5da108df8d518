import { OperatorError } from '../core/errors.ts';
import { recordOf } from '../core/record-of.ts';
import { CHAIN_COLUMNS, type Chain, type Series } from '../market/chain.ts';

/** The fields of a chain that are stored in the blob. All other fields are columns of the table `snapshots`. */
export type ChainColumns = Omit<Chain, 'underlying' | 'asOf' | 'spot' | 'source' | 'simulated'>;

/**
 * Encodes the contracts of a chain as one blob of about 20 bytes per contract, with this layout:
 *
 *     magic number, 4 bytes | CRC-32 of the rest, 4 bytes | zstd of: header bytes, u32 | contracts, u32 | header | columns
 *
 * The header is JSON with the series and the counts of rejected rows. The header is padded with spaces to a multiple of 8 bytes. The
 * columns follow in the order of CHAIN_COLUMNS, as float64. The last column is the series index, as uint16. All numbers are little-endian.
 * Decoding restores the same bits for every number. NaN stays NaN.
 */
export function encodeChain(chain: ChainColumns): Uint8Array {
  const header = new TextEncoder().encode(JSON.stringify({ series: chain.series, refused: chain.refused }));
  const columnsOffset = aligned(PRELUDE_BYTES + header.length);
  const bytes = new Uint8Array(payloadBytes(columnsOffset, chain.count)).fill(SPACE, 0, columnsOffset);
  bytes.set(header, PRELUDE_BYTES);
  new Uint32Array(bytes.buffer, 0, 2).set([columnsOffset - PRELUDE_BYTES, chain.count]);
  const { columns, seriesIndex } = viewsOf(bytes.buffer, columnsOffset, chain.count);
  for (const name of CHAIN_COLUMNS) columns[name].set(checkedColumn(chain[name], chain.count));
  seriesIndex.set(checkedColumn(chain.seriesIndex, chain.count));

  const packed = Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL });
  const blob = new Uint8Array(ENVELOPE_BYTES + packed.length);
  blob.set(packed, ENVELOPE_BYTES);
  new Uint32Array(blob.buffer, 0, 2).set([MAGIC, Bun.hash.crc32(packed)]);
  return blob;
}

/**
 * Decodes a blob of `encodeChain`. The columns of the result are views of one buffer. `name` identifies the blob in an error.
 *
 * Throws `OperatorError` if the magic number or the checksum of the blob is wrong.
 */
export function decodeChain(blob: Uint8Array, name: string): ChainColumns {
  return chainOf(Bun.zstdDecompressSync(compressedOf(blob, name)));
}

/**
 * Decodes a blob like `decodeChain`. The decompression runs on another thread. For a chain of 190,000 contracts, `decodeChainAsync` blocks
 * the event loop for 10 ms less than `decodeChain`.
 */
export async function decodeChainAsync(blob: Uint8Array, name: string): Promise<ChainColumns> {
  return chainOf(await Bun.zstdDecompress(compressedOf(blob, name)));
}

/** Returns the compressed part of a blob. Throws `OperatorError` if the magic number or the checksum of the blob is wrong. */
function compressedOf(blob: Uint8Array, name: string): Uint8Array<ArrayBuffer> {
  if (!isIntact(blob)) {
    throw new OperatorError(
      `${name} is damaged`,
      'Check the disk, and restore the database from a backup. Later snapshots are not affected.',
    );
  }
  return blob.subarray(ENVELOPE_BYTES) as Uint8Array<ArrayBuffer>;
}

/** Returns whether the magic number and the checksum of a blob are right. */
export function isIntact(blob: Uint8Array): boolean {
  if (blob.byteLength < ENVELOPE_BYTES) return false;
  const envelope = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  return (
    envelope.getUint32(0, true) === MAGIC &&
    envelope.getUint32(4, true) === Bun.hash.crc32(blob.subarray(ENVELOPE_BYTES))
  );
}

/**
 * Reads the fields of a chain from decompressed bytes. The bytes need no checks, because a correct checksum shows that `encodeChain` wrote
 * the bytes.
 */
function chainOf(payload: Uint8Array): ChainColumns {
  const buffer = alignedBuffer(payload);
  const [headerBytes = 0, count = 0] = new Uint32Array(buffer, 0, 2);
  const header: ChainHeader = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, PRELUDE_BYTES, headerBytes)));
  const { columns, seriesIndex } = viewsOf(buffer, PRELUDE_BYTES + headerBytes, count);
  return { count, ...header, seriesIndex, ...columns };
}

interface ChainHeader {
  readonly series: Series[];
  readonly refused: Record<string, number>;
}

/** The magic number of the format: the text "ZCH1", read as a little-endian number. A later format must use another magic number. */
const MAGIC = 0x3148435a;
/** Length of the magic number and the checksum, bytes. */
const ENVELOPE_BYTES = 8;
/** Length of the two numbers before the header, bytes. */
const PRELUDE_BYTES = 8;
const SPACE = 0x20;

/**
 * The compression level. Level 3 compresses a chain of 30,000 contracts (2.64 MB) to 0.56 MB in 6 ms, and decompresses the chain in 2 ms.
 * Level 1 compresses the same chain to 0.69 MB in 5 ms, and decompresses the chain in 5 ms.
 */
const ZSTD_LEVEL = 3;

function viewsOf(buffer: ArrayBuffer, offset: number, count: number) {
  const columnAt = (index: number) => new Float64Array(buffer, offset + index * count * 8, count);
  const columns = recordOf(CHAIN_COLUMNS, (name) => columnAt(CHAIN_COLUMNS.indexOf(name)));
  return { columns, seriesIndex: new Uint16Array(buffer, offset + CHAIN_COLUMNS.length * count * 8, count) };
}

function payloadBytes(columnsOffset: number, count: number): number {
  return columnsOffset + count * (CHAIN_COLUMNS.length * 8 + 2);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/**
 * Returns a buffer that begins with the given bytes, because views of 8-byte numbers need an aligned offset. If the buffer of the given
 * bytes begins with other bytes, copies the given bytes.
 */
function alignedBuffer(bytes: Uint8Array): ArrayBuffer {
  const isAligned = bytes.byteOffset === 0 && bytes.buffer instanceof ArrayBuffer;
  return isAligned ? bytes.buffer : new Uint8Array(bytes).buffer;
}

/** Returns the column. Throws `RangeError` if the length of the column is not the number of contracts. */
function checkedColumn<T extends Float64Array | Uint16Array>(column: T, count: number): T {
  if (column.length !== count)
    throw new RangeError(`a column has ${column.length} values, but the chain has ${count} contracts`);
  return column;
}
