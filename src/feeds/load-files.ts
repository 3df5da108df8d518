import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OperatorError } from '../core/errors.ts';
import { newYorkDate } from '../market/calendar.ts';
import { hasOpenInterest, NO_LEVELS, onlyExpiryOf, sideWithoutInterest } from '../market/chain.ts';
import type { Delivery, LoadedFile } from '../market/feed.ts';
import { PrintBatch } from '../market/print-batch.ts';
import { acceptDelivery, countRejectedRows, type IngestLedger } from './accept-delivery.ts';
import type { DiskSpace } from './disk-space.ts';
import { deliveriesOf, type FileReadOptions } from './files/deliveries.ts';
import { isUnknownData, NO_MARKET_DATA } from './files/format.ts';
import { type FoundFile, type SkippedFile, walk } from './files/walk.ts';
import { packingSteps } from './packing.ts';
import { readFileIsolated } from './reader/isolated-reader.ts';
import { countRejected } from './rejections.ts';
import { SessionShare } from './session-share.ts';
import { folderMapping, folderMappings } from './vendors/folder-mapping.ts';
import { isSecondFile } from './vendors/join-file.ts';
import type { Stated } from './vendors/stated.ts';

export interface LoadDeps {
  readonly store: IngestLedger;
  readonly nowMs: () => number;
  /** The check of the data folder's size. If omitted, market data is always stored. */
  readonly room?: DiskSpace;
  /** What a person states about the files. */
  readonly stated?: Stated;
  /** Called while files are read. So far, `bytes` of `ofBytes` bytes and `rows` rows have been read. */
  readonly onProgress: (bytes: number, ofBytes: number, rows: number) => void;
}

/**
 * Loads files and folders by the rules of `acceptDelivery`, each delivery in one transaction, so that a run can be repeated. Then packs
 * past New York days. Returns the results for the files with market data of each path. Throws `OperatorError` if a path does not exist,
 * before anything is loaded, or if the data folder is full. What was loaded stays.
 */
export async function loadFiles(
  paths: readonly string[],
  { store, nowMs, room, stated, onProgress }: LoadDeps,
): Promise<readonly (readonly LoadedFile[])[]> {
  const { files, problems } = await filesOf(paths);
  const ofBytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  const loaded: LoadedFile[][] = paths.map(() => []);
  for (const { path, dir, origin, reason } of problems) {
    loaded[path]!.push({ ...emptyResult(join(dir, origin)), refusals: [reason] });
  }
  /** By the path of a second file: the names of the files that have its values. */
  const secondOf = new Map<string, string[]>();
  let bytesBefore = 0;
  let rowsBefore = 0;
  for (const file of files) {
    const { path, dir, origin, stats, isNamed, folderStated } = file;
    const result = { ...emptyResult(join(dir, origin)), refusals: [] as string[] };
    /** By what they tell of. Of several days of a ticker, the last counts. */
    const notices = new Map<string, string>();
    const session = new SessionShare();
    const reportProgress = (bytes: number) => onProgress(bytesBefore + bytes, ofBytes, rowsBefore + result.rows);
    let isMarketData = false;
    let unmapped: string | undefined;
    try {
      for await (const delivery of groupPrints(
        deliveriesOf(
          dir,
          file,
          {
            ...readOptions(nowMs(), reportProgress),
            ...(stated?.mapping && { onUnmapped: (reason: string) => (unmapped = reason) }),
            // A folder may have files of other vendors, which are read in their own way.
            stated: stated?.mapping ? { ...stated, isOfFolder: !isNamed } : { ...stated, ...folderStated },
          },
          isNamed,
        ),
      )) {
        isMarketData = true;
        if (delivery.kind === 'prints') session.add(delivery.prints);
        result.rows += rowsOf(delivery) + rejectedRowsOf(delivery);
        for (const [why, rows] of Object.entries(refusedOf(delivery))) countRejected(result.refused, why, rows);
        const fullReason = room?.fullReason();
        if (fullReason !== undefined) throw new OperatorError(fullReason, ROOM_HINT);
        const {
          delivery: accepted,
          known,
          changed = 0,
          snapshot,
        } = await store.write((tx) =>
          acceptDelivery(delivery, tx, nowMs(), { isFile: true, isLoaded: true, statedAsOf: stated?.asOf }),
        );
        if (accepted.kind === 'rejection') result.refusals.push(accepted.reason);
        if (accepted.kind === 'chain') {
          const { underlying: ticker, asOf } = accepted.chain;
          const { second } = accepted;
          if (second) {
            const users = secondOf.getOrInsertComputed(join(dir, dirname(origin), second.file), () => []);
            if (!users.includes(basename(origin))) users.push(basename(origin));
          }
          if (stated?.asOf !== undefined && asOf !== stated.asOf)
            notices.set('as-of', 'the file has times of its own, which count instead of --as-of');
          if (snapshot?.ahead !== undefined) result.refusals.push(`${ticker}: ${snapshot.ahead}`);
          for (const [kind, notice] of noticesOf(accepted)) notices.set(kind, notice);
        }
        result.kept += rowsOf(accepted) - known;
        result.known += known;
        result.changed += changed;
      }
    } catch (error) {
      // An error of the file system affects only one file. The other files are still loaded.
      if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
      isMarketData = true;
      result.refusals.push(`cannot be read (${error.code})`);
    }
    if (unmapped !== undefined && result.kept + result.known > 0)
      notices.set('unmapped', `read without the mapping: ${unmapped}`);
    const warning = session.warning();
    if (warning !== undefined) notices.set('', `warning: ${warning}`);
    const isSecond = !isMarketData && isSecondFile(origin, stated?.mapping ? stated : folderStated);
    // The values of a second file are counted with the contracts of the other file, which may come later.
    const of = isSecond && { used_by: secondOf.getOrInsertComputed(join(dir, origin), () => []) };
    if (!isMarketData && !isSecond && isUnknownData(origin, stats.size)) {
      isMarketData = true;
      result.refusals.push(NO_MARKET_DATA);
    }
    if (isMarketData || isSecond)
      loaded[path]!.push({ ...result, ...of, ...(notices.size > 0 && { notices: [...notices.values()] }) });
    bytesBefore += stats.size;
    rowsBefore += result.rows;
  }
  for await (const _ of packingSteps(store, newYorkDate(nowMs()), PACKING)) await new Promise(setImmediate);
  return loaded;
}

const ROOM_HINT =
  'Free some space on the disk, or raise --data-max. Then run the command again. Stored data stays, and no print is stored twice.';

function readOptions(nowMs: number, onProgress: (bytes: number) => void): FileReadOptions {
  return { nowMs, onProgress, readIsolated: (content) => readFileIsolated(content, nowMs, onProgress) };
}

/** Maximum number of prints that are buffered in memory, 30 MB, so that prints of one underlying and day are packed together. */
const BUFFERED_MAX = 100_000;
/** Maximum number of prints that one transaction writes. Other processes wait for the end of the transaction before they can write. */
const WRITTEN_MAX = 16_384;
/**
 * One transaction packs many rows, because this process serves no requests. Other processes wait only for the lock of the database. The
 * service later merges and sums days with few new prints, so that the time of a load depends on what it loads, not on what is stored.
 */
const PACKING = { rowsAtOnce: 16_384, newFrom: 1 / 3 };

/** Delivers the prints of one underlying and day together. Their order, and the order of all other deliveries, stays the same. */
async function* groupPrints(deliveries: AsyncIterable<Delivery>): AsyncGenerator<Delivery, void> {
  const days = new Map<string, PrintBatch>();
  let buffered = 0;
  /** Yields the largest groups of prints, until the buffer has at most `bufferedMax` prints. */
  const flush = function* (bufferedMax: number): Generator<Delivery, void> {
    const largest = [...days].toSorted(([, a], [, b]) => b.length - a.length);
    let prints = new PrintBatch();
    for (const [key, ofDay] of largest) {
      if (buffered <= bufferedMax) break;
      days.delete(key);
      buffered -= ofDay.length;
      if (prints.length > 0 && prints.length + ofDay.length > WRITTEN_MAX) {
        yield { kind: 'prints', prints };
        prints = new PrintBatch();
      }
      prints.append(ofDay);
    }
    if (prints.length > 0) yield { kind: 'prints', prints };
  };
  try {
    for await (const delivery of deliveries) {
      if (delivery.kind !== 'prints') {
        yield* flush(0);
        yield delivery;
        continue;
      }
      yield { ...delivery, prints: [] };
      const prints = PrintBatch.of(delivery.prints);
      for (const { underlying, day, rows } of prints.byDay()) {
        const key = `${underlying} ${day}`;
        for (let from = 0; from < rows.length; ) {
          const ofDay = days.getOrInsertComputed(key, () => new PrintBatch());
          const taken = rows.slice(from, from + WRITTEN_MAX - ofDay.length);
          ofDay.append(prints, taken);
          from += taken.length;
          buffered += taken.length;
          if (ofDay.length < WRITTEN_MAX) continue;
          days.delete(key);
          buffered -= ofDay.length;
          yield { kind: 'prints', prints: ofDay };
        }
      }
      if (buffered >= BUFFERED_MAX) yield* flush(BUFFERED_MAX / 2);
    }
  } catch (error) {
    // The prints before an error are valid.
    yield* flush(0);
    throw error;
  }
  yield* flush(0);
}

const SEE_MAPPINGS = 'docs/vendors.md says what a mapping has.';

/** Returns the initial result of a file, with no data. */
function emptyResult(path: string) {
  return { path, rows: 0, kept: 0, known: 0, changed: 0, refused: {} };
}

/** Returns the number of contracts, prints, closes or dividends of a delivery. */
function rowsOf(delivery: Delivery): number {
  if (delivery.kind === 'chain') return delivery.chain.count;
  if (delivery.kind === 'prints') return delivery.prints.length;
  if (delivery.kind === 'closes') return delivery.closes.length;
  return delivery.kind === 'dividends' ? delivery.dividends.length : 0;
}

/** Returns what is notable about a chain: what was odd in its file, and that it has no levels. */
function noticesOf(delivery: Extract<Delivery, { kind: 'chain' }>): [kind: string, notice: string][] {
  const { chain, notes = [], second } = delivery;
  const { underlying: ticker, count } = chain;
  const all = notes.map((note): [string, string] => [
    `${ticker} ${note}`,
    note.startsWith('row ') ? note : `${ticker}: ${note}`,
  ]);
  if (second && second.absent > 0)
    all.push([`${ticker} second`, `${ticker}: ${second.absent} of ${count} contracts are not in ${second.file}`]);
  const side = sideWithoutInterest(chain);
  const missing = hasOpenInterest(chain) ? side && `no open interest of ${side}: no levels` : NO_LEVELS;
  const notice = missing ?? onlyExpiryOf(chain);
  // Of the notices of one kind, the last chain of a ticker has its own.
  if (notice !== undefined) all.push([`${ticker} ${missing === undefined}`, `${ticker}: ${notice}`]);
  return all;
}

function refusedOf(delivery: Delivery): Readonly<Record<string, number>> {
  if (delivery.kind === 'chain') return delivery.chain.refused;
  return delivery.kind === 'prints' ? (delivery.refused ?? {}) : {};
}

function rejectedRowsOf(delivery: Delivery): number {
  if (delivery.kind === 'chain') return countRejectedRows(delivery.chain);
  return Object.values(refusedOf(delivery)).reduce((sum, count) => sum + count, 0);
}

/** The place of a file, or of a problem with a file. */
interface Place {
  /** The index of the path that was passed to `loadFiles`. */
  readonly path: number;
  /** The path `origin` of the file or the problem is relative to this folder. */
  readonly dir: string;
  /** True if the path names the file itself, and not a folder around it. */
  readonly isNamed: boolean;
  /** What the mapping of the folder states. */
  readonly folderStated?: Stated | undefined;
}

/** Finds the files of all paths, and problems, by their path in the folder `dir`. Throws `OperatorError` if a path does not exist. */
async function filesOf(paths: readonly string[]) {
  const missing = paths.filter((path) => !existsSync(path));
  if (missing.length > 0) {
    throw new OperatorError(
      `there is no file or folder ${missing.join(', ')}`,
      'Name files of market data, or folders that contain such files.',
    );
  }
  const files: (FoundFile & Place)[] = [];
  const problems: (SkippedFile & Place)[] = [];
  for (const [path, name] of paths.entries()) {
    const stats = await stat(name);
    if (stats.isDirectory()) {
      const found = await walk(name);
      const mappings = await folderMappings(
        name,
        found.files.map(({ origin }) => origin),
      );
      assertUsable(name, mappings.problems[0]);
      for (const file of found.files) {
        const { stated: folderStated } = mappings.of(file.origin);
        files.push({ path, dir: name, isNamed: false, folderStated, ...file });
      }
      problems.push(...found.problems.map((problem) => ({ path, dir: name, isNamed: false, ...problem })));
    } else {
      const { stated: folderStated, problem } = await folderMapping(dirname(name));
      assertUsable(dirname(name), problem);
      files.push({ path, dir: dirname(name), isNamed: true, folderStated, origin: basename(name), stats });
    }
  }
  return { files, problems };
}

function assertUsable(dir: string, problem: SkippedFile | undefined): void {
  if (problem) throw new OperatorError(`${join(dir, problem.origin)}: ${problem.reason}`, SEE_MAPPINGS);
}
