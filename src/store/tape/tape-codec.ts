import { picked, type TapeColumns, type TapeContracts } from '../../market/tape-columns.ts';
import { BY_CONTRACT, CELL, type TapeSums } from '../../market/tape-sums.ts';
import { ColumnReader, ColumnWriter, decimalDigitsOf, sealed, unsealed, wholes } from '../column-codec.ts';
import type { TapeEntries } from './tape-entries.ts';

/**
 * Encodes entries as two blobs. Each blob takes about 8 bytes per print. The digests of the ids have a separate blob, because digests
 * cannot be compressed and are rarely read.
 *
 *     "ZTP1" | CRC-32 | zstd of: JSON of the head | columns
 *     "ZTI1" | CRC-32 | ids
 *
 * A bid is stored as the difference from the previous bid of the contract. The ask and the price are stored as differences from the bid. If
 * there is no bid, the ask itself is stored, and the price is stored as the difference from the previous price of the contract.
 */
export function encodeEntries(entries: TapeEntries): { columns: Uint8Array; ids: Uint8Array } {
  const { count, contract, at, price, size, multiplier, bid, ask, delta, flags } = entries;
  const writer = new ColumnWriter();
  const { contracts, numbers } = usedContracts(entries);
  const quote = decimalDigitsOf(bid, ask);
  const paid = quote === undefined ? undefined : decimalDigitsOf(price, bid, ask);
  const from = at[0] ?? 0;
  writer.text(
    JSON.stringify({ count, from, contracts: contracts.strike.length, quote, paid, series: contracts.series }),
  );
  writeContracts(writer, contracts);
  const renumbered = picked(numbers, contract, new Uint32Array(count));
  writer.decimals(new Float64Array(renumbered));
  writer.decimals(differences(at, from));
  if (quote !== undefined && paid !== undefined) {
    const { bids, asks, prices } = quoteDifferences(renumbered, contracts.strike.length, {
      bids: wholes(bid, quote),
      asks: wholes(ask, quote),
      prices: wholes(price, paid),
      times: 10 ** (paid - quote),
    });
    writer.decimals(bids);
    writer.decimals(asks);
    writer.decimals(prices);
  } else for (const column of [bid, ask, price]) writer.numbers(column);
  for (const column of [size, multiplier, delta]) writer.numbers(column);
  writer.decimals(new Float64Array(flags));
  const ids = new Uint8Array(entries.ids.buffer, entries.ids.byteOffset, entries.ids.byteLength);
  return { columns: writer.sealed(MAGIC.columns), ids: sealed(MAGIC.ids, ids) };
}

/** Decodes the columns of all entries. Throws `OperatorError` if the blob is damaged. `name` identifies the blob in the error. */
export function decodeColumns(blob: Uint8Array, name: string): TapeColumns {
  const reader = ColumnReader.unsealed(blob, MAGIC.columns, name);
  const { count, from, contracts: contractCount, quote, paid, series } = JSON.parse(reader.text()) as Head;
  const contracts = readContracts(reader, contractCount, series);
  const contract = new Uint32Array(reader.numbers(count));
  const at = sums(reader.numbers(count), from);
  let [bid, ask, price] = [reader.numbers(count), reader.numbers(count), reader.numbers(count)];
  if (quote !== undefined && paid !== undefined) {
    ({ bid, ask, price } = quotesFrom(contract, contractCount, { bid, ask, price, quote, paid }));
  }
  const [size, multiplier, delta] = [reader.numbers(count), reader.numbers(count), reader.numbers(count)];
  const flags = new Uint8Array(reader.numbers(count));
  return { count, contracts, contract, at, price, size, multiplier, bid, ask, delta, flags };
}

/** Decodes the digests of ids, two words of 32 bits each. Throws `OperatorError` with `name` if the blob is damaged. */
export function decodeIds(blob: Uint8Array, name: string): Uint32Array {
  const content = unsealed(blob, MAGIC.ids, name);
  return new Uint32Array(content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength));
}

/** Encodes sums as one blob: "ZTS1" | CRC-32 | zstd of the columns. */
export function encodeSums({ contracts, byContract, cells }: TapeSums): Uint8Array {
  const writer = new ColumnWriter();
  const count = contracts.strike.length;
  const all = [cells.values, ...(cells.lost ? [cells.lost] : [])];
  const columns = all.flatMap((figures) =>
    Array.from({ length: CELL.width }, (_, field) => fieldOf(figures, field, CELL.width)),
  );
  const fields = [...columns.keys()].filter((field) => columns[field]!.some((value) => value !== 0));
  writer.text(JSON.stringify({ count, cells: cells.count, fields, series: contracts.series }));
  writeContracts(writer, contracts);
  for (let field = 0; field < BY_CONTRACT.width; field++) writer.numbers(fieldOf(byContract, field, BY_CONTRACT.width));
  writer.decimals(differences(Float64Array.from(cells.contract, (each, cell) => 4 * each + cells.manner[cell]!)));
  for (const field of fields) writer.numbers(columns[field]!);
  return writer.sealed(MAGIC.sums);
}

/** Decodes a blob of `encodeSums`. Throws `OperatorError` if the blob is damaged. `name` identifies the blob in the error. */
export function decodeSums(blob: Uint8Array, name: string): TapeSums {
  const reader = ColumnReader.unsealed(blob, MAGIC.sums, name);
  const head = JSON.parse(reader.text()) as SumsHead;
  const contracts = readContracts(reader, head.count, head.series);
  const byContract = new Float64Array(head.count * BY_CONTRACT.width);
  for (let field = 0; field < BY_CONTRACT.width; field++) {
    putField(byContract, reader.numbers(head.count), field, BY_CONTRACT.width);
  }
  const keys = sums(reader.numbers(head.cells));
  const values = new Float64Array(head.cells * CELL.width);
  let lost: Float64Array | undefined;
  for (const field of head.fields) {
    if (field >= CELL.width) lost ??= new Float64Array(values.length);
    putField(lost ?? values, reader.numbers(head.cells), field % CELL.width, CELL.width);
  }
  const contract = new Uint32Array(head.cells);
  const manner = new Uint8Array(head.cells);
  for (let cell = 0; cell < head.cells; cell++) {
    contract[cell] = keys[cell]! >> 2;
    manner[cell] = keys[cell]! & 3;
  }
  return { contracts, byContract, cells: { count: head.cells, contract, manner, values, lost } };
}

interface Head {
  readonly count: number;
  /** Time of the first entry, ms since the epoch. */
  readonly from: number;
  /** Number of contracts. */
  readonly contracts: number;
  /** The number of decimals in quotes. If `quote` or `paid` is absent, bids, asks and prices are stored unchanged. */
  readonly quote?: number;
  /** The number of decimals in prices. */
  readonly paid?: number;
  readonly series: TapeContracts['series'];
}

interface SumsHead {
  /** Number of contracts. */
  readonly count: number;
  /** Number of cells. */
  readonly cells: number;
  /**
   * The stored cell columns: numbers of fields, and CELL.width plus the number of a field for its rounding errors. Zeros are not stored.
   */
  readonly fields: readonly number[];
  readonly series: TapeContracts['series'];
}

/** The magic numbers of the formats: "ZTP1", "ZTI1" and "ZTS1", read as little-endian. A later format must use a new magic number. */
const MAGIC = { columns: 0x3150545a, ids: 0x3149545a, sums: 0x3153545a };

/** Returns the contracts with an entry, with new `numbers`: 0 for the most traded contract, because small numbers compress best. */
function usedContracts({ count, contract, contracts }: TapeColumns) {
  const prints = new Uint32Array(contracts.strike.length);
  for (let row = 0; row < count; row++) prints[contract[row]!]!++;
  const order = Uint32Array.from(prints.keys())
    .filter((each) => prints[each]! > 0)
    .sort((a, b) => prints[b]! - prints[a]!);
  const numbers = new Uint32Array(prints.length);
  for (const [number, each] of order.entries()) numbers[each] = number;
  const seriesUsed = [...new Set(order.map((each) => contracts.seriesIndex[each]!))];
  const seriesNumbers = new Map(seriesUsed.map((each, number) => [each, number]));
  return {
    numbers,
    contracts: {
      series: seriesUsed.map((each) => contracts.series[each]!),
      seriesIndex: order.map((each) => seriesNumbers.get(contracts.seriesIndex[each]!)!),
      strike: Float64Array.from(order, (each) => contracts.strike[each]!),
    },
  };
}

function writeContracts(writer: ColumnWriter, { seriesIndex, strike }: TapeContracts): void {
  writer.decimals(Float64Array.from(seriesIndex));
  writer.numbers(strike);
}

function readContracts(reader: ColumnReader, count: number, series: TapeContracts['series']): TapeContracts {
  return { series, seriesIndex: Uint32Array.from(reader.numbers(count)), strike: reader.numbers(count) };
}

/** Returns the difference between each value and the previous value. For the first value, `from` is the previous value. */
function differences(values: Float64Array, from = 0): Float64Array {
  const out = new Float64Array(values.length);
  for (let row = 0, last = from; row < out.length; row++) {
    out[row] = values[row]! - last;
    last = values[row]!;
  }
  return out;
}

/** Turns the result of `differences` back into the original values. The function changes the given array. */
function sums(values: Float64Array, from = 0): Float64Array {
  let sum = from;
  for (let row = 0; row < values.length; row++) {
    sum += values[row]!;
    values[row] = sum;
  }
  return values;
}

/** Quotes and prices as whole numbers, in units of the last decimal place. */
interface Quotes {
  readonly bids: Float64Array;
  readonly asks: Float64Array;
  readonly prices: Float64Array;
  /** The number of price units in a quote unit: `10 ** n`, if prices have `n` decimals more than quotes. */
  readonly times: number;
}

/** Returns the differences that are stored instead of quotes and prices. */
function quoteDifferences(contract: Uint32Array, contracts: number, { bids, asks, prices, times }: Quotes) {
  const [lastBid, lastPrice] = [new Float64Array(contracts), new Float64Array(contracts)];
  const out = { bids: bids.slice(), asks: asks.slice(), prices: prices.slice() };
  for (let row = 0; row < contract.length; row++) {
    const number = contract[row]!;
    const bid = bids[row]!;
    const isKnown = !Number.isNaN(bid);
    out.bids[row] = bid - lastBid[number]!;
    out.asks[row] = asks[row]! - (isKnown ? bid : 0);
    out.prices[row] = prices[row]! - (isKnown ? bid * times : lastPrice[number]!);
    if (isKnown) lastBid[number] = bid;
    lastPrice[number] = prices[row]!;
  }
  return out;
}

interface StoredQuotes {
  readonly bid: Float64Array;
  readonly ask: Float64Array;
  readonly price: Float64Array;
  readonly quote: number;
  readonly paid: number;
}

/** Replaces the differences of `quoteDifferences` by quotes and prices in dollars. The function changes the given arrays. */
function quotesFrom(contract: Uint32Array, contracts: number, { bid, ask, price, quote, paid }: StoredQuotes) {
  const [lastBid, lastPrice] = [new Float64Array(contracts), new Float64Array(contracts)];
  const [times, overQuote, overPaid] = [10 ** (paid - quote), 10 ** quote, 10 ** paid];
  for (let row = 0; row < contract.length; row++) {
    const number = contract[row]!;
    const bids = bid[row]! + lastBid[number]!;
    const isKnown = !Number.isNaN(bids);
    const asks = ask[row]! + (isKnown ? bids : 0);
    const prices = price[row]! + (isKnown ? bids * times : lastPrice[number]!);
    if (isKnown) lastBid[number] = bids;
    lastPrice[number] = prices;
    bid[row] = bids / overQuote;
    ask[row] = asks / overQuote;
    price[row] = prices / overPaid;
  }
  return { bid, ask, price };
}

/** Returns the values of one field in all rows. Each row of `values` has `width` fields. */
function fieldOf(values: Float64Array, field: number, width: number): Float64Array {
  const column = new Float64Array(values.length / width);
  for (let row = 0; row < column.length; row++) column[row] = values[row * width + field]!;
  return column;
}

/** Writes the values of one field in all rows. Each row of `values` has `width` fields. */
function putField(values: Float64Array, column: Float64Array, field: number, width: number): void {
  for (let row = 0; row < column.length; row++) values[row * width + field] = column[row]!;
}
