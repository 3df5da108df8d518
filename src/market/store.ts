import type { CashDividend } from './cash-dividend.ts';
import type { Chain } from './chain.ts';
import type { Prints } from './feed.ts';
import type { LevelEvent, LevelRecord, LevelSpot } from './level-record.ts';
import type { Close, Print, PrintSum } from './prints.ts';
import type { Stretch, TapeVersion } from './tape.ts';
import type { TapeColumns } from './tape-columns.ts';

/** A stored chain, without its contracts. */
export interface SnapshotListing {
  readonly underlying: string;
  /** ms since the epoch */
  readonly asOf: number;
  readonly source: string;
  readonly simulated: boolean;
}

/** A chain with the id of its stored snapshot. */
export interface StoredChain {
  readonly id: number;
  readonly chain: Chain;
}

/** A stored chain, without the quotes of its contracts. */
export interface SnapshotHead extends SnapshotListing, Pick<Chain, 'count' | 'series'> {
  /** See `isPriced`. */
  readonly priced: boolean;
}

/** The kinds of data that have a retention. `intraday` means all snapshots of a day except the day's last snapshot. */
export type RetainedKind = 'chains' | 'intraday' | 'prints' | 'levels';

/** Limits of retention, midnights in New York, ms since the epoch; `undefined` keeps all. A ticker's newest snapshot is always kept. */
export interface Retention {
  readonly printsFromMs?: number | undefined;
  readonly chainsFromMs?: number | undefined;
  /** Days before this moment keep only their last snapshot. */
  readonly intradayFromMs?: number | undefined;
  readonly levelsFromMs?: number | undefined;
  /** The present moment. A snapshot dated after the present moment never counts as the newest snapshot of its ticker. */
  readonly presentMs: number;
}

/**
 * The storage of market data. A method reads either simulated or recorded data, unless its comment states otherwise. Each write is one
 * transaction, except `packTape`, and every process sees it immediately.
 */
export interface MarketStore
  extends DataChanges,
    SnapshotStore,
    RetentionStore,
    PrintStore,
    CloseStore,
    DividendStore,
    LevelStore,
    LevelLog {
  /**
   * Returns a text that changes with every write except those of the feeds' state and the audit trail; within 10 ms if another process
   * writes.
   */
  version(): string;
  /** Runs `work`, which must not be asynchronous, in one transaction. If `work` throws, nothing is written. Transactions can be nested. */
  transaction<T>(work: () => T): T;
}

/** What can be read at once, on every server: the market data without the writes, which the ledger decides. */
export type KnownMarket = Omit<MarketStore, MarketWrite>;
export type MarketWrite =
  | 'transaction'
  | keyof Pick<SnapshotStore & RetentionStore, 'saveChain' | 'forgetSnapshots' | 'removeOld'>
  | keyof Pick<PrintStore, 'savePrints' | 'packTape' | 'sumPrintsFrom'>
  | keyof Pick<CloseStore & DividendStore & LevelStore, 'saveCloses' | 'saveDividends' | 'saveLevels' | 'fillHorizons'>;

/** The kinds of data whose changes the store counts. `feeds` is the state of the feeds, and `gaps` are the gaps of their streams. */
export type DataKind = 'snapshots' | 'prints' | 'closes' | 'dividends' | 'levels' | 'feeds' | 'gaps';

/** The data of a kind: of one underlying, or of all. The kinds `feeds` and `gaps` have no underlying. */
export type DataKey = DataKind | `${DataKind} ${string}`;

export interface DataChanges {
  /** Returns how often this process has written some data. Under equal counts and equal `otherChanges`, the data is unchanged. */
  changes(key: DataKey): number;
  /**
   * Returns a text that changes with every write that `changes` does not count, for example with retention, with a damaged snapshot, and
   * within 10 ms with a write of another process. Members, the audit trail and the state of the feeds do not change the text.
   */
  otherChanges(): string;
}

export interface SnapshotStore {
  /** Stores a snapshot in place of one with the same underlying, `asOf` and `simulated`. Its levels are due. Returns its id. */
  saveChain(chain: Chain): number;
  /** Returns the id of the newest snapshot dated up to `presentMs`, or else of the newest at all. Fast enough for every request. */
  latestChainId(underlying: string, simulated: boolean, presentMs?: number): number | undefined;
  /** Returns the id of the newest snapshot up to an instant, or `undefined` if there is no such snapshot. */
  chainIdAt(underlying: string, simulated: boolean, instantMs: number): number | undefined;
  /** Returns the moments of the last snapshot up to an instant, and of the first later one up to `untilMs`; null if there is none. */
  snapshotsAround(
    underlying: string,
    simulated: boolean,
    instantMs: number,
    untilMs: number,
  ): { readonly before: number | null; readonly after: number | null };
  /** Returns a snapshot. Returns undefined if the snapshot was removed, or was set aside because it is damaged. */
  chain(id: number): Chain | undefined;
  /** Like `chain`, but without the quotes, so the call takes a tenth of the time. */
  snapshotHead(id: number): SnapshotHead | undefined;
  /** Returns the sorted names of underlyings with a snapshot: at most `limit`, starting at `from`; without both, all. */
  underlyings(simulated: boolean, from?: string, limit?: number): string[];
  /** Returns the stored snapshots of one or all underlyings, simulated and recorded, ordered by underlying and time. */
  snapshots(underlying?: string): SnapshotListing[];
  /** Returns the id of each New York day's last snapshot in the period from `fromMs` to `toMs`, the oldest day first. */
  dailyChainIds(underlying: string, fromMs: number, toMs: number, simulated: boolean): number[];
  /** Removes snapshots of an underlying, all or of one moment, and their levels. Returns the number of moments with removed data. */
  forgetSnapshots(underlying: string, asOf?: number): number;
  /** Returns the damaged snapshots that were set aside. A new snapshot of the same moment replaces a damaged one. */
  damagedSnapshots(): SnapshotListing[];
  /** Reads every stored snapshot and checks its checksum. Does not change the store. */
  checkSnapshots(): Iterable<SnapshotListing & { readonly isDamaged: boolean }>;
  /** Returns the number of stored snapshots. */
  snapshotCount(): number;
}

export interface RetentionStore {
  /** Removes some data older than the limits in one transaction, and returns the numbers of removed rows: all 0 when none is left. */
  removeOld(limits: Retention): { readonly prints: number; readonly chains: number; readonly levels: number };
  /** Returns the moments of the oldest and newest data of a kind up to `untilMs`: of the simulated data if nothing is recorded. */
  dataSpan(
    kind: 'chains' | 'prints' | 'levels',
    untilMs: number,
  ): { readonly fromMs: number; readonly toMs: number } | undefined;
  /** Returns the start of the period for which the store has all data of a kind, ms since the epoch. Returns 0 if no data was removed. */
  keptFrom(what: RetainedKind): number;
}

/** The prints from `fromMs` to `toMs`, both included, with a premium of at least `minPremiumUsd` dollars. */
export type PrintRange = [underlying: string, fromMs: number, toMs: number, simulated: boolean, minPremiumUsd: number];

export interface PrintStore {
  /**
   * Stores prints. A print with a stored id may only correct or cancel the stored print. With `atOnce`, a batch with a thousand or more
   * prints of one day becomes packed columns at once (see `packTape`).
   */
  savePrints(
    prints: Prints,
    options?: { readonly atOnce?: boolean },
  ): { readonly added: number; readonly changed: number };
  /**
   * Packs the days before `beforeDay` into columns, in short transactions. Each step packs at most `rowsAtOnce` prints and yields their
   * number; a later call continues. Days with a smaller share of new prints than `newFrom` are merged and summed later.
   */
  packTape(
    beforeDay: string,
    options?: { readonly rowsAtOnce?: number; readonly newFrom?: number },
  ): Generator<number, void>;
  /** Returns some free pages of the file to the disk. False if there are few, or if the file was created without auto_vacuum. */
  returnFreePages(): boolean;
  /** Returns the prints of a range in time order. Canceled prints are left out. */
  prints(...range: PrintRange): Print[];
  /** Yields the prints that `prints` returns in the same order, as columns of a few thousand prints, also while the tape is packed. */
  largePrints(...range: PrintRange): Iterable<TapeColumns>;
  /**
   * Returns the sums of the prints that `prints` returns, without adjusted deliverables. Fast for the minimum premium of `sumPrintsFrom`.
   */
  printSums(...range: PrintRange): readonly PrintSum[];
  /** Sets the minimum premium, dollars, of prints in the stored sums. If it changes, the store sums all stored prints again. */
  sumPrintsFrom(minPremiumUsd: number): void;
  /** Returns the first run of prints from `fromMs` on, of at most `mostParts` parts (see `PARTS`). The next run begins after its `toMs`. */
  stretch(underlying: string, fromMs: number, toMs: number, simulated: boolean, mostParts: number): Stretch | undefined;
  /**
   * Yields all prints of a period, with any premium. The prints are read while the caller iterates, because the prints of a month can be
   * larger than memory. If `fromExpiry` is given, leaves out contracts that expire before this date. Packed prints have an empty id.
   */
  tape(underlying: string, fromMs: number, toMs: number, simulated: boolean, fromExpiry?: string): Iterable<Print>;
  /** Returns the number of prints in a period, and a version that changes with the prints of the period. */
  tapeVersion(underlying: string, fromMs: number, toMs: number, simulated: boolean): TapeVersion;
  /** Returns the moment of the newest print up to `untilMs`, ms. Ignores canceled prints. Returns `undefined` if there is no such print. */
  lastPrintAt(underlying: string, simulated: boolean, untilMs?: number): number | undefined;
}

export interface CloseStore {
  /** Returns the number of closes that were not stored with the same values. */
  saveCloses(closes: readonly Close[]): number;
  /** Returns the last `limit` closes up to `date`, the oldest first. For a day without one, the day's last spot up to `untilMs` counts. */
  closes(ticker: string, date: string, limit: number, simulated: boolean, untilMs?: number): Close[];
  /** Returns the stored closes from `fromDate` to `toDate`, the oldest close first. Never uses a spot instead of a missing close. */
  officialCloses(ticker: string, fromDate: string, toDate: string, simulated: boolean): Close[];
}

export interface DividendStore {
  /**
   * Stores dividends. Of several with the same ticker and ex-date, each counts from its `knownFrom` until that of the next. A dividend that
   * repeats what was already known is not stored again. Returns the number of the others.
   */
  saveDividends(dividends: readonly CashDividend[]): number;
  /**
   * Returns the dividends of a ticker with ex-dates from `fromDate` to `toDate` as they were known at `knownAtMs`, in order of date. Leaves
   * out amounts of 0.
   */
  dividends(ticker: string, fromDate: string, toDate: string, simulated: boolean, knownAtMs: number): CashDividend[];
}

/** A place in the logs of stored and of removed levels. Both numbers only rise. */
export interface LevelCursor {
  readonly stored: number;
  readonly removed: number;
}

export interface LevelStore {
  /** Returns the ids of all snapshots whose levels are not computed, the newest first; only those stored after `afterId`, if given. */
  levelsDue(afterId?: number): number[];
  /**
   * Returns the number of snapshots of some underlyings up to `untilMs` whose levels are not computed yet. `ofHorizons` also counts those of
   * `horizonsDue`.
   */
  levelsDueOf(underlyings: readonly string[], simulated: boolean, untilMs: number, ofHorizons?: boolean): number;
  /** Returns the ids of all snapshots whose stored levels are from before the levels of shorter horizons, the newest first. */
  horizonsDue(): number[];
  /**
   * Stores the levels of shorter horizons, and nothing else, of a snapshot whose levels are stored. With `undefined`, they remain null. In
   * both cases, `horizonsDue` no longer returns the snapshot.
   */
  fillHorizons(snapshotId: number, record: LevelRecord | undefined): void;
  /**
   * Stores the levels of a snapshot in place of the stored levels of the same moment. If `record` is `undefined`, only removes the stored
   * levels. In both cases, `levelsDue` no longer returns the snapshot. Does nothing if the snapshot was removed or replaced.
   */
  saveLevels(snapshotId: number, record: LevelRecord | undefined): void;
  /** Returns the last moment up to `untilMs` that has stored levels, or `undefined` if there is no such moment. */
  lastLevelsAt(underlying: string, untilMs: number, simulated: boolean): number | undefined;
  /**
   * Returns the moments with stored levels in a period, the oldest first. If `per` is `day`, returns only the last moment of each day. With a
   * limit, returns only the last `limit` of these moments.
   */
  levelTimes(
    underlying: string,
    fromMs: number,
    toMs: number,
    per: 'snapshot' | 'day',
    simulated: boolean,
    limit?: number,
  ): number[];
  /** Returns the levels of the given moments, the oldest levels first. */
  levels(underlying: string, times: readonly number[], simulated: boolean): LevelRecord[];
  /** Returns the distinct spots in the level records from `fromMs` to `toMs`, in ascending order. */
  levelSpots(underlying: string, fromMs: number, toMs: number, simulated: boolean): LevelSpot[];
  /** Returns the newest levels up to `untilMs`, or `undefined` if there are no such levels. */
  newestLevels(underlying: string, untilMs: number, simulated: boolean): LevelEvent | undefined;
  /** Returns the 30-day volatility in the last levels up to `untilMs` of each New York day (`YYYY-MM-DD`), or null if there is none. */
  volatilitiesOfDays(
    underlying: string,
    days: readonly string[],
    untilMs: number,
    simulated: boolean,
  ): (number | null)[];
  /** Returns an underlying's newest levels up to a sequence number of the log, or `undefined` if there are no levels. */
  currentLevels(underlying: string, upToSeq: number, simulated: boolean): LevelEvent | undefined;
  /** Returns the present place in the logs of stored and of removed levels. */
  levelCursor(): LevelCursor;
  /**
   * Returns the levels that were stored after a place in the logs, in the order of storage, and the underlyings of which the last levels of
   * a day were removed after this place. Levels that replace levels of the same moment count as stored and as removed.
   */
  levelChanges(after: LevelCursor, simulated: boolean): { readonly stored: LevelEvent[]; readonly removed: string[] };
}

/** The place of a record in the log of levels. */
export type LevelPlace = Pick<LevelEvent, 'seq' | 'underlying' | 'asOf' | 'keptAt'>;

/**
 * The log of levels. Its entries are the levels that were newer than all of their ticker when they were stored. The log also has the other
 * records, with their sequence numbers.
 */
export interface LevelLog {
  /** Returns the random name of the log. A restored database has another name than its backup. */
  levelLogName(): string;
  /** Returns the last sequence number of the log of levels, simulated and recorded, or 0. The entry may have been removed. */
  lastLevelSeq(): number;
  /**
   * Returns at most `limit` entries of the log after a sequence number, in order. Only levels newer than all of their ticker are entries.
   */
  levelEvents(afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /** Like `levelEvents`, for some underlyings. Entries of other underlyings do not slow down the call. */
  levelEventsOf(underlyings: readonly string[], afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /** Returns the time at which the first entry of the underlyings after a sequence number was stored, ms since the epoch. */
  firstMissedAt(underlyings: readonly string[], afterSeq: number, simulated: boolean): number | undefined;
  /** Returns the last entry of an underlying before a sequence number, or `undefined` if there is none. */
  levelEventBefore(underlying: string, seq: number, simulated: boolean): LevelEvent | undefined;
  /** Returns the sequence number before the first entry, of any underlying, that was stored at or after an instant, but at least `afterSeq`. */
  levelSeqAt(atMs: number, afterSeq: number): number;
  /** Returns the last record up to a sequence number, and the first one after it, of any underlying. */
  levelsAround(seq: number): { readonly before: LevelPlace | undefined; readonly after: LevelPlace | undefined };
  /** Returns the last entry of an underlying up to a sequence number, or `undefined` if there is none. */
  lastLevelEntry(underlying: string, upToSeq: number, simulated: boolean): LevelPlace | undefined;
  /** Returns the first `limit` records of an underlying after the moment `afterMs`, entries or not, with numbers in (`afterSeq`, `upToSeq`]. */
  levelPlaces(
    underlying: string,
    afterMs: number,
    [afterSeq, upToSeq]: readonly [afterSeq: number, upToSeq: number],
    limit: number,
    simulated: boolean,
  ): Pick<LevelPlace, 'seq' | 'asOf'>[];
  /** Returns the records with these sequence numbers that are stored, in order, and whether each is an entry. */
  levelRecords(seqs: readonly number[]): (LevelEvent & { readonly isEntry: boolean })[];
  /** Returns the first `limit` records of some underlyings, with numbers in (`afterSeq`, `upToSeq`], that are no entries, in order. */
  lateLevels(
    underlyings: readonly string[],
    [afterSeq, upToSeq]: readonly [afterSeq: number, upToSeq: number],
    limit: number,
    simulated: boolean,
  ): LevelEvent[];
}
