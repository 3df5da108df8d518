import { OperatorError } from '../core/errors.ts';
import { recordOf } from '../core/record-of.ts';
import { CHAIN_COLUMNS, type Chain, isPriced, type Series } from '../market/chain.ts';
import { ColumnReader, ColumnWriter, isSealed, SEAL_BYTES, sealed } from './column-codec.ts';

/** The fields of a chain that are stored in the blob. All other fields are columns of the table `snapshots`. */
export type ChainColumns = Omit<Chain, 'underlying' | 'asOf' | 'spot' | 'source' | 'simulated'>;

/** The part of a blob that is read without the columns. */
export interface ChainHeader {
  readonly series: readonly Series[];
  readonly refused: Readonly<Record<string, number>>;
  readonly count: number;
  /** See `isPriced`. */
  readonly priced: boolean;
}

/**
 * Encodes the contracts of a chain as one blob of about 17 bytes per contract, with this layout:
 *
 *     magic number, 4 bytes | CRC-32 of the rest, 4 bytes | length of the next part, u32 | zstd of the header | zstd of the columns
 *
 * The header is JSON. The columns are those of CHAIN_COLUMNS in their order, written by `ColumnWriter`, whose planes of bytes compress
 * better than rows of float64. From the second column on, the rows of calls come before the other rows, because the values of successive
 * calls are similar. All numbers are little-endian. Decoding restores the same bits for every number, but -0 becomes 0.
 */
export function encodeChain(chain: ChainColumns): Uint8Array {
  const { series, refused, count, callPut } = chain;
  const header: ChainHeader = { series, refused, count, priced: isPriced(chain) };
  const writer = new ColumnWriter();
  writer.numbers(callPut);
  const rows = rowsByCallPut(callPut);
  const ordered = new Float64Array(count);
  for (const name of CHAIN_COLUMNS) {
    const column = chain[name];
    if (column.length !== count)
      throw new RangeError(`a column has ${column.length} values, but the chain has ${count} contracts`);
    if (name === 'callPut') continue;
    for (let i = 0; i < count; i++) ordered[i] = column[rows[i]!]!;
    writer.numbers(ordered);
  }
  const packedHeader = Bun.zstdCompressSync(JSON.stringify(header), { level: HEADER_ZSTD_LEVEL });
  const length = new Uint8Array(Uint32Array.of(packedHeader.length).buffer);
  return sealed(MAGIC, Buffer.concat([length, packedHeader, writer.packed()]));
}

/** Decodes a blob of `encodeChain` of any version. Throws `OperatorError` with `name` if the blob is damaged. */
export function decodeChain(blob: Uint8Array, name: string): ChainColumns {
  const { header, content } = partsOf(blob, name);
  return chainOf(header, Bun.zstdDecompressSync(content));
}

/** Decodes the header of a blob. Of a blob of an earlier version of the program, decodes the columns too. Throws like `decodeChain`. */
export function decodeHeader(blob: Uint8Array, name: string): ChainHeader {
  const { header } = partsOf(blob, name);
  if (header) return headerOf(header);
  const chain = decodeChain(blob, name);
  const { series, refused, count } = chain;
  return { series, refused, count, priced: isPriced(chain) };
}

/** Returns the compressed parts of a blob. The first format has no header. Throws `OperatorError` if the blob is damaged. */
function partsOf(blob: Uint8Array, name: string): { readonly header?: Compressed; readonly content: Compressed } {
  if (!isIntact(blob)) {
    throw new OperatorError(
      `${name} is damaged`,
      'Check the disk, and restore the database from a backup. Later snapshots are not affected.',
    );
  }
  const rest = blob.subarray(SEAL_BYTES) as Compressed;
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  if (view.getUint32(0, true) === FIRST_MAGIC) return { content: rest };
  const end = LENGTH_BYTES + view.getUint32(SEAL_BYTES, true);
  return { header: rest.subarray(LENGTH_BYTES, end), content: rest.subarray(end) };
}

type Compressed = Uint8Array<ArrayBuffer>;

/** Returns whether the magic number and the checksum of a blob are right. */
export function isIntact(blob: Uint8Array): boolean {
  return isSealed(blob, MAGIC) || isSealed(blob, FIRST_MAGIC);
}

function headerOf(packed: Compressed): ChainHeader {
  return JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(packed)));
}

/** The decompressed bytes need no checks, because a correct checksum shows that `encodeChain` wrote the bytes. */
function chainOf(packedHeader: Compressed | undefined, content: Uint8Array): ChainColumns {
  if (packedHeader === undefined) return chainOfFirstFormat(content);
  const { series, refused, count } = headerOf(packedHeader);
  const reader = new ColumnReader(content);
  const callPut = reader.numbers(count);
  const rows = rowsByCallPut(callPut);
  const columns = recordOf(CHAIN_COLUMNS, (name) => {
    if (name === 'callPut') return callPut;
    const ordered = reader.numbers(count);
    const column = new Float64Array(count);
    for (let i = 0; i < count; i++) column[rows[i]!] = ordered[i]!;
    return column;
  });
  const seriesIndex = new Uint16Array(count);
  for (const [index, { start, end }] of series.entries()) seriesIndex.fill(index, start, end);
  return { count, series, refused, seriesIndex, ...columns };
}

/** Reads the first format: header bytes, u32 | contracts, u32 | header as JSON | the columns as float64 | the series index as u16. */
function chainOfFirstFormat(payload: Uint8Array): ChainColumns {
  // A copy is aligned for views of 8-byte numbers.
  const { buffer } = new Uint8Array(payload);
  const [headerBytes = 0, count = 0] = new Uint32Array(buffer, 0, 2);
  const header: Pick<ChainHeader, 'series' | 'refused'> = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, 8, headerBytes)),
  );
  const columnAt = (index: number) => new Float64Array(buffer, 8 + headerBytes + index * count * 8, count);
  const columns = recordOf(CHAIN_COLUMNS, (name) => columnAt(CHAIN_COLUMNS.indexOf(name)));
  const seriesIndex = new Uint16Array(buffer, 8 + headerBytes + CHAIN_COLUMNS.length * count * 8, count);
  return { count, ...header, seriesIndex, ...columns };
}

/** The magic number of the format: the text "ZCH2", read as a little-endian number. A later format must use another magic number. */
const MAGIC = 0x3248435a;
/** The magic number of the format of versions up to 0.2.0: the text "ZCH1". */
const FIRST_MAGIC = 0x3148435a;
const LENGTH_BYTES = 4;
const HEADER_ZSTD_LEVEL = 3;

/** Returns the rows of calls, and then the other rows. */
function rowsByCallPut(callPut: Float64Array): Uint32Array {
  const rows = new Uint32Array(callPut.length);
  let next = 0;
  for (let row = 0; row < callPut.length; row++) if (callPut[row]! > 0) rows[next++] = row;
  for (let row = 0; row < callPut.length; row++) if (!(callPut[row]! > 0)) rows[next++] = row;
  return rows;
}
