import { runInTurns, type Steps } from '../../core/steps.ts';
import type { Chain } from '../../market/chain.ts';
import { assertReadable } from '../../market/chain-checks.ts';
import type { Delivery } from '../../market/feed.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { FILE_ROWS_MAX, ROW_CHARS_MAX } from './cells.ts';
import type { FileHead, TableHeader } from './file-head.ts';
import { assertWhole, type Contracts } from './fragments.ts';
import { mapBlocks } from './row-blocks.ts';
import { straysOf } from './strays.ts';

/** A chain table of any length, which is read snapshot by snapshot. */
export interface HistoryTable {
  /** The header of the table that `read` takes. */
  readonly header: string;
  /** Notes the forms of a row's cells. All rows are observed before the first is written. */
  observe(row: RowScanner): void;
  decide(): void;
  /** Returns the texts of a row from which its snapshot follows. */
  snapshotOf(row: RowScanner): { readonly ticker: string; readonly time: string };
  /** Returns the time of a snapshot, ms since the epoch, or NaN. */
  timeOf(ticker: string, time: string): number;
  /** Returns the row as lines of the table that `read` takes. */
  write(row: RowScanner): string;
  read(bytes: Uint8Array): Steps<Delivery[]>;
}

/** Maximum size of the snapshots whose rows are not complete yet, characters. It bounds the memory. */
const OPEN_CHARS_MAX = 64 * 1024 * 1024;
/** Maximum number of snapshots: ten years of days of 40 names. */
const SNAPSHOTS_MAX = 100_000;

interface Snapshot {
  readonly underlying: string;
  readonly asOf: number;
  /** Number of rows that have not been read yet, and of all rows. */
  left: number;
  count: number;
  lines: string[];
}

/**
 * Reads a table of chains of any length. Reads it twice: the first time to count the rows of each snapshot, so that a snapshot can be delivered
 * when its last row has been read. `pieces` begins the text anew with each call, and `headerIn` finds the header. Throws a `ClientError` if the
 * text exceeds a bound. Only the bound OPEN_CHARS_MAX may be exceeded after the first chains have been delivered.
 */
export async function* readHistory(
  pieces: () => AsyncIterable<Uint8Array>,
  headerIn: (head: FileHead) => TableHeader | undefined,
  tableOf: (header: TableHeader) => HistoryTable,
): AsyncGenerator<Delivery, void> {
  let table: HistoryTable | undefined;
  const counts = new Map<string, number>();
  let rows = 0;
  const count = (row: RowScanner, header: TableHeader) => {
    table ??= tableOf(header);
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      rows += Number(!row.isBlank());
      if (!isReadable(row, header, rows)) continue;
      table.observe(row);
      const key = keyOf(table, row);
      const rowsOfKey = (counts.get(key) ?? 0) + 1;
      if (rowsOfKey > FILE_ROWS_MAX) throw unreadable(`a snapshot has more than the maximum of ${FILE_ROWS_MAX} rows`);
      counts.set(key, rowsOfKey);
    }
  };
  for await (const _ of mapBlocks(pieces(), headerIn, count)) {
    if (counts.size <= SNAPSHOTS_MAX) continue;
    throw unreadable(`the file has more than the maximum of ${SNAPSHOTS_MAX} snapshots`);
  }
  if (table === undefined || counts.size === 0) throw unreadable(`none of ${rows} rows can be read`);
  table.decide();
  const { snapshots, refused } = snapshotsOf(table, counts, rows);
  yield* withRefused(whole(deliveriesOf(pieces, headerIn, table, snapshots)), refused);
}

/** Yields the deliveries of each snapshot when its last row has been read. */
async function* deliveriesOf(
  pieces: () => AsyncIterable<Uint8Array>,
  headerIn: (head: FileHead) => TableHeader | undefined,
  table: HistoryTable,
  snapshots: ReadonlyMap<string, Snapshot>,
): AsyncGenerator<Delivery, void> {
  let open = 0;
  const complete = (row: RowScanner, header: TableHeader) => {
    const completed: Snapshot[] = [];
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      const snapshot = isReadable(row, header, 0) ? snapshots.get(keyOf(table, row)) : undefined;
      if (snapshot === undefined) continue;
      const lines = table.write(row);
      snapshot.lines.push(lines);
      open += lines.length;
      if (--snapshot.left === 0) completed.push(snapshot);
    }
    return completed;
  };
  for await (const completed of mapBlocks(pieces(), headerIn, complete)) {
    for (const snapshot of completed) {
      const text = Buffer.from(table.header + snapshot.lines.join(''));
      for (const lines of snapshot.lines) open -= lines.length;
      snapshot.lines = [];
      yield* await runInTurns('reading a chain', table.read(text));
    }
    if (open > OPEN_CHARS_MAX) throw unreadable('the rows of too many snapshots are mixed. Sort the rows by time');
  }
}

/** Yields each delivery after the next one has been read. Throws like `assertWhole`, before a first part of a chain is stored. */
async function* whole(deliveries: AsyncIterable<Delivery>): AsyncGenerator<Delivery, void> {
  let before: Delivery | undefined;
  for await (const delivery of deliveries) {
    const chains = [before, delivery].flatMap((each) => (each?.kind === 'chain' ? [each.chain] : []));
    if (chains.length > 1) assertWhole(chains.map(contractsOf));
    if (before !== undefined) yield before;
    before = delivery;
  }
  if (before !== undefined) yield before;
}

function contractsOf(chain: Chain): Contracts {
  return { ...chain, rows: chain.strike.keys(), seriesOf: (row) => chain.series[chain.seriesIndex[row]!]! };
}

/** Adds counts of rejected rows to the first chain. */
async function* withRefused(
  deliveries: AsyncIterable<Delivery>,
  refused: Readonly<Record<string, number>>,
): AsyncGenerator<Delivery, void> {
  let isFirst = true;
  for await (const delivery of deliveries) {
    if (delivery.kind !== 'chain' || !isFirst) {
      yield delivery;
      continue;
    }
    isFirst = false;
    const all = { ...delivery.chain.refused };
    for (const [reason, count] of Object.entries(refused)) countRejected(all, reason, count);
    yield { ...delivery, chain: { ...delivery.chain, refused: all } };
  }
}

/** Returns the snapshots by the keys of their rows, without strays, and the counts of rows without a snapshot. */
function snapshotsOf(table: HistoryTable, counts: ReadonlyMap<string, number>, rows: number) {
  const snapshots = new Map<string, Snapshot>();
  const byTime = new Map<string, Snapshot>();
  const refused: Record<string, number> = {};
  let counted = 0;
  for (const [key, count] of counts) {
    counted += count;
    const [underlying = '', time = ''] = key.split('\n');
    const asOf = table.timeOf(underlying, time);
    if (Number.isNaN(asOf)) {
      countRejected(refused, 'bad_as_of', count);
      continue;
    }
    const snapshot = byTime.getOrInsertComputed(`${underlying} ${asOf}`, () => ({
      ...{ underlying, asOf, left: 0, count: 0, lines: [] },
    }));
    snapshot.count += count;
    snapshot.left += count;
    snapshots.set(key, snapshot);
  }
  if (rows > counted) countRejected(refused, 'malformed_row', rows - counted);
  if (snapshots.size > 0) assertReadable(refused, counted - (refused.bad_as_of ?? 0));
  const strays = straysOf([...byTime.values()]);
  for (const [key, snapshot] of snapshots) {
    if (!strays.has(snapshot)) continue;
    snapshots.delete(key);
    countRejected(refused, 'stray_as_of', counts.get(key));
  }
  if (snapshots.size === 0) throw unreadable(`none of ${rows} rows can be read: ${JSON.stringify(refused)}`);
  return { snapshots, refused };
}

function keyOf(table: HistoryTable, row: RowScanner): string {
  const { ticker, time } = table.snapshotOf(row);
  return `${ticker}\n${time}`;
}

/** Returns whether a row can be read. Throws a `ClientError` if the row is too long or never ends. */
function isReadable(row: RowScanner, { cells }: TableHeader, count: number): boolean {
  if (row.isLong) throw unreadable(`row ${count} has more than ${ROW_CHARS_MAX} characters`);
  if (row.isOpen) throw unreadable(`a quotation mark in row ${count} is never closed`);
  return !row.isBlank() && row.isWhole(cells.length);
}
