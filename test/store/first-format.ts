import { recordOf } from '../../src/core/record-of.ts';
import { CHAIN_COLUMNS } from '../../src/market/chain.ts';
import type { ChainColumns } from '../../src/store/chain-codec.ts';

/** Encodes a chain as versions up to 0.2.0 did: JSON, then the columns as float64, then the series index, in one block of zstd. */
export function encodeFirstFormat(chain: ChainColumns): Uint8Array {
  const { series, refused, count } = chain;
  const header = new TextEncoder().encode(JSON.stringify({ series, refused }));
  const headerBytes = Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(8 + headerBytes + count * (CHAIN_COLUMNS.length * 8 + 2)).fill(0x20, 0, 8 + headerBytes);
  bytes.set(header, 8);
  new Uint32Array(bytes.buffer, 0, 2).set([headerBytes, count]);
  const columnAt = (index: number) => new Float64Array(bytes.buffer, 8 + headerBytes + index * count * 8, count);
  const columns = recordOf(CHAIN_COLUMNS, (name) => columnAt(CHAIN_COLUMNS.indexOf(name)));
  for (const name of CHAIN_COLUMNS) columns[name].set(chain[name]);
  const indexAt = 8 + headerBytes + CHAIN_COLUMNS.length * count * 8;
  new Uint16Array(bytes.buffer, indexAt, count).set(chain.seriesIndex);
  const packed = Bun.zstdCompressSync(bytes, { level: 3 });
  const blob = new Uint8Array(8 + packed.length);
  blob.set(packed, 8);
  new Uint32Array(blob.buffer, 0, 2).set([0x3148435a, Bun.hash.crc32(packed)]);
  return blob;
}
