import { ClientError } from '../../core/errors.ts';
import { memoizeBytes } from '../../core/memoize-bytes.ts';
import { recordOf } from '../../core/record-of.ts';
import type { Steps } from '../../core/steps.ts';
import { buildChain } from '../../market/build-chain.ts';
import { assertWholeNumbers } from '../../market/chain-checks.ts';
import { ContractBatch } from '../../market/contract-batch.ts';
import type { Delivery } from '../../market/feed.ts';
import { type OptionSymbol, optionSymbolIn, parseCallPut } from '../../market/option-symbol.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { spotOf } from '../implied-spot.ts';
import { cellNumber, numberOf, numbersOf } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { TwinColumns } from '../vendors/twin-columns.ts';
import { type BadRow, badCell, isStrike } from './bad-cell.ts';
import { type Table, tableFormat } from './cells.ts';
import { DecimalCommas } from './decimal-commas.ts';
import { instantIn, STATE_THE_TIME, timeOfFile } from './file-time.ts';
import { type FileFacts, type MarketFile, READING, sourceOf } from './format.ts';
import { assertWhole } from './fragments.ts';
import { seriesOf, tickerOf } from './roots.ts';
import { straysOf } from './strays.ts';

/** The format of Zomma's own chain table. */
export const chainCsv = tableFormat(isChainHeader, /put_call|underlying/, chainsOf);

/**
 * Reads Zomma's own chain table, with the columns of COLUMNS in any order, and others, which are ignored. `underlying`, `open_interest`, and
 * `symbol` or all of `expiry`, `put_call` and `strike` are required. Rows with the same underlying and time are one chain. Without `as_of`,
 * the time is that of `timeOfFile`. Without `spot`, the quotes imply it. Throws a `ClientError` if no row can be read, if no time is stated, if the
 * numbers have decimal commas, or if two columns of one meaning differ.
 */
function* chainsOf({ header, rows }: Table, file: MarketFile): Steps<Delivery[]> {
  const tickers = new Set<string>();
  const at = columnsOf(header);
  const snapshots = new Map<string, Snapshot>();
  /** The unreadable rows before the first readable one. */
  const before: Faults = { refused: {} };
  let latest: Snapshot | undefined;
  using contracts = new ContractBatch();
  const contractOf = contractReader(at);
  const asOfIn = memoizeBytes(CELLS_CACHED_MAX, (text) => (text === '' ? timeOfFile(file) : instantIn(text)));
  // Most rows have the spot of the previous row.
  const spotIn = memoizeBytes(CELLS_CACHED_MAX, cellNumber);
  let count = 0;
  const badCellOf = (reason: BadRow, row: RowScanner) =>
    file.badCell ? file.badCell() : badCell(reason, row, count, header);
  let block: RowScanner | undefined;
  /** Number of rows in the earlier blocks. */
  let rowsBefore = 0;
  /** The rows of the block whose contracts have been added. */
  let added: number[] = [];
  const commas = new DecimalCommas();
  const twins = new TwinColumns(header, at);
  const addNumbers = () => {
    if (block === undefined) return;
    const { length } = added;
    const first = contracts.series.length - length;
    const row = block;
    for (const [column, field] of NUMBERS) {
      const note = (text: string) => commas.add(text, rowsBefore + row.row + 1, field);
      numbersOf(row, at[field], added, contracts.columns[column].subarray(first), note, field === 'open_interest');
    }
    added = [];
    rowsBefore = count;
  };
  for (const row of rows) {
    if (row === undefined) {
      addNumbers();
      yield READING;
      continue;
    }
    block = row;
    count++;
    if (twins.isAny) twins.add(row);
    const contract = row.isWhole(header.length) ? contractOf(row) : 'malformed_row';
    const asOf = asOfIn(row.bytes, row.start(at.as_of), row.end(at.as_of));
    if (typeof contract === 'string' || asOf === undefined) {
      // Tables list one chain after the other. So an unreadable row counts towards the chain of the previous row.
      const faults = latest ?? before;
      const reason = typeof contract === 'string' ? contract : 'bad_as_of';
      countRejected(faults.refused, reason);
      if (latest !== undefined && reason !== 'malformed_row' && isElsewhere(row.text(at.underlying), latest))
        latest.elsewhere++;
      faults.badCell ??= badCellOf(reason, row);
      continue;
    }
    const { series, callPut, strike } = contract;
    const { underlying } = series;
    if (latest?.underlying !== underlying || latest.asOf !== asOf) {
      const key = `${underlying} ${asOf}`;
      latest = snapshots.get(key) ?? { underlying, asOf, spots: [], rows: [], refused: {}, elsewhere: 0 };
      snapshots.set(key, latest);
      tickers.add(underlying);
      assertAtMost(tickers.size, TICKERS_MAX, 'underlyings');
      assertAtMost(snapshots.size, SNAPSHOTS_MAX, 'snapshots');
    }
    const spot = spotIn(row.bytes, row.start(at.spot), row.end(at.spot));
    if (spot > 0 && Number.isFinite(spot)) latest.spots.push(spot);
    if (strike === Number.POSITIVE_INFINITY) commas.add(row.text(at.strike), count, 'strike');
    // The chain counts the row.
    if (!isStrike(strike)) latest.badCell ??= badCellOf('bad_contract', row);
    latest.rows.push(contracts.add(series, callPut, strike));
    added.push(row.row);
  }
  const [first] = snapshots.values();
  if (first === undefined && at.as_of < 0 && timeOfFile(file) === undefined)
    throw unreadable(`the table states no time of its quotes. ${STATE_THE_TIME}`);
  if (first === undefined)
    throw unreadable(`none of ${count} rows can be read: ${JSON.stringify(before.refused)}${sentence(before.badCell)}`);
  addNumbers();
  commas.assertFew(count);
  twins.assertEqual();
  for (const [reason, rows] of Object.entries(before.refused)) countRejected(first.refused, reason, rows);
  first.badCell = before.badCell ?? first.badCell;
  const deliveries: Delivery[] = [];
  const kept = withoutStrays([...snapshots.values()]);
  const { series, columns } = contracts;
  if (kept.length > 1)
    assertWhole(kept.map((snapshot) => ({ ...snapshot, ...columns, seriesOf: (row: number) => series[row]! })));
  for (const snapshot of kept) {
    yield READING;
    deliveries.push(yield* deliver(snapshot, contracts, file));
  }
  return deliveries;
}

/** Maximum number of underlyings in a file. A table with FILE_ROWS_MAX rows can have only a few hundred whole chains. */
const TICKERS_MAX = 1_000;
/** Maximum number of snapshots in a file: FILE_ROWS_MAX divided by 25, which is the number of rows in the smallest chains. */
const SNAPSHOTS_MAX = 10_000;

function assertAtMost(count: number, max: number, what: string): void {
  if (count > max) throw unreadable(`the file has more than the maximum of ${max} ${what}`);
}

/** Returns whether a line is the header of Zomma's chain table: plain column names alone, and not those of other option tables. */
export function isChainHeader(cells: readonly string[]): boolean {
  const has = (name: string) => cells.includes(name);
  // A table of options with other names of the expiry and the side is read by its usual names.
  const isOther = has('strike') && !has('symbol') && !has('expiry');
  const isNamed = has('symbol') || has('strike') || has('open_interest');
  const isOfZomma = has('put_call') || (has('underlying') && isNamed && !isOther);
  return isOfZomma && cells.every((name) => /^[\w .%/()-]*$/.test(name));
}

/** The rows of a snapshot that could not be read, by reason, and the first of their cells that could not be read. */
interface Faults {
  readonly refused: Record<string, number>;
  badCell?: string | undefined;
}

interface Snapshot extends Faults {
  readonly underlying: string;
  readonly asOf: number;
  readonly spots: number[];
  /** The number of unreadable rows that state another underlying. */
  elsewhere: number;
  /** The indices of the contracts. */
  readonly rows: number[];
}

/** Returns whether a row states another underlying than that of the snapshot. A mark such as `?` states none. */
function isElsewhere(text: string, { underlying }: Snapshot): boolean {
  const stated = tickerOf(text);
  return /\w/.test(stated) && stated !== underlying;
}

/** Removes stray snapshots, and counts their rows as rejected. */
function withoutStrays(snapshots: readonly Snapshot[]): Snapshot[] {
  const strays = straysOf(snapshots.map((snapshot) => ({ ...snapshot, count: snapshot.rows.length, snapshot })));
  for (const [stray, neighbour] of strays) countRejected(neighbour.refused, 'stray_as_of', stray.count);
  const removed = new Set([...strays.keys()].map(({ snapshot }) => snapshot));
  return snapshots.filter((snapshot) => !removed.has(snapshot));
}

const COLUMNS = [
  ...['underlying', 'as_of', 'spot', 'symbol', 'expiry', 'put_call', 'strike', 'open_interest'],
  ...['bid', 'ask', 'last', 'volume', 'iv', 'delta', 'gamma', 'multiplier'],
] as const;
/** The index of each column. The index of a missing column is -1. */
type Columns = Readonly<Record<(typeof COLUMNS)[number], number>>;

/** Finds the columns. Throws a `ClientError` if a required column is missing, or if two columns have the same name. */
function columnsOf(header: readonly string[]): Columns {
  const missing = ['underlying', 'open_interest'].filter((name) => !header.includes(name));
  if (!header.includes('symbol')) missing.push(...CONTRACT_COLUMNS.filter((name) => !header.includes(name)));
  if (missing.length > 0) throw unreadable(`the table has no column ${missing.join(', ')}`);
  const repeated = header.filter((name, i) => name !== '' && header.indexOf(name) !== i);
  if (repeated.length > 0) throw unreadable(`column ${repeated.join(', ')} is named twice`);
  return recordOf(COLUMNS, (name) => header.indexOf(name));
}

const CONTRACT_COLUMNS = ['expiry', 'put_call', 'strike'];

/** The columns of a chain that are read from cells as numbers. */
const NUMBERS = [
  ...([
    ['bid', 'bid'],
    ['ask', 'ask'],
    ['last', 'last'],
    ['volume', 'volume'],
    ['openInterest', 'open_interest'],
  ] as const),
  ...([
    ['iv', 'iv'],
    ['delta', 'delta'],
    ['gamma', 'gamma'],
    ['multiplier', 'multiplier'],
  ] as const),
];

interface Contract extends Pick<OptionSymbol, 'callPut' | 'strike'> {
  readonly series: Pick<OptionSymbol, 'root' | 'underlying' | 'expiry'>;
}

/** Returns a function that reads the contract of a row, from its symbol if it has one, or returns why it cannot be read. */
function contractReader(at: Columns): (row: RowScanner) => Contract | BadRow {
  const rootsOf = memoizeBytes(CELLS_CACHED_MAX, (ticker) =>
    memoizeBytes(CELLS_CACHED_MAX, (expiry) => seriesOf(ticker, expiry)),
  );
  const callPutIn = memoizeBytes(CELLS_CACHED_MAX, parseCallPut);
  return (row) => {
    const { bytes } = row;
    const [start, end] = [row.start(at.symbol), row.end(at.symbol)];
    if (start < end) return optionSymbolIn(bytes, start, end) ?? 'bad_symbol';
    const callPut = callPutIn(bytes, row.start(at.put_call), row.end(at.put_call));
    const seriesIn = rootsOf(bytes, row.start(at.underlying), row.end(at.underlying));
    const series = seriesIn(bytes, row.start(at.expiry), row.end(at.expiry));
    if (series === undefined || callPut === undefined) return 'bad_contract';
    return { series, callPut, strike: numberOf(row, at.strike) };
  };
}

/** Maximum number of cached texts of a column. A file has fewer underlyings, expiries and times than this maximum. */
const CELLS_CACHED_MAX = 4_096;

/** The share by which the spots of a snapshot's rows may differ. They may be of different seconds. */
const SPOT_SHARE_MAX = 0.005;

/** Returns the chain of a snapshot, or a rejection. Other snapshots of the file are still delivered. */
function* deliver(snapshot: Snapshot, contracts: ContractBatch, file: FileFacts): Steps<Delivery> {
  const { rows, spots, badCell, ...head } = snapshot;
  try {
    // One wrong spot does not change the median.
    const median = new Float64Array(spots).sort()[spots.length >> 1];
    const notes = badCell === undefined ? [] : [badCell];
    const others = spots.filter((each) => Math.abs(each / median! - 1) > SPOT_SHARE_MAX).length;
    if (others > 0)
      notes.push(
        `${others} of ${spots.length} rows state a spot more than 0.5 % from ${Number(median!.toPrecision(6))}, which is the median`,
      );
    assertWholeNumbers(rows.map((row) => contracts.columns.openInterest[row]!));
    const spot = spotOf(median, contracts, rows, head.asOf, notes);
    yield READING;
    const chain = buildChain({ ...head, spot, source: sourceOf(file), simulated: false }, contracts, rows);
    return { kind: 'chain', chain, ...(notes.length > 0 && { notes }) };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return {
      kind: 'rejection',
      origin: file.origin,
      reason: `${head.underlying}: ${error.message}${sentence(badCell)}`,
    };
  }
}

function sentence(text: string | undefined): string {
  return text === undefined ? '' : `. ${text}`;
}
