import type { CashDividend } from './cash-dividend.ts';
import type { Chain } from './chain.ts';
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

/** The kinds of data that have a retention. `intraday` means all snapshots of a day except the last one. */
export type RetainedKind = 'chains' | 'intraday' | 'prints' | 'levels';

/**
 * Limits of retention. Data from these moments on is kept. The moments are midnights in New York, ms since the epoch. If a limit is
 * `undefined`, all data is kept. The newest snapshot of each ticker is always kept.
 */
export interface Retention {
  readonly printsFromMs?: number | undefined;
  readonly chainsFromMs?: number | undefined;
  /** Only the last snapshot is kept of each day before this moment. */
  readonly intradayFromMs?: number | undefined;
  readonly levelsFromMs?: number | undefined;
  /** The present. A snapshot with a later date is not taken as the newest of its ticker. */
  readonly presentMs: number;
}

/**
 * The storage of market data. Simulated and recorded data are stored in the same tables. A read returns only one of the two kinds, unless
 * its comment states otherwise. Each write is one transaction, except `packTape`, which takes many. A write of one process is visible to
 * every other process at once.
 */
export interface MarketStore extends SnapshotStore, RetentionStore, PrintStore, CloseStore, DividendStore, LevelStore {
  /**
   * Returns a text that changes with every write: at once with a write of this process, and within 10 ms with a write of another process.
   * Data that was read under one version is valid until the version changes.
   */
  version(): string;
}

export interface SnapshotStore {
  /** Stores a snapshot and marks its levels as due. Replaces a stored snapshot with the same underlying, `asOf` and `simulated`. */
  saveChain(chain: Chain): void;
  /**
   * Returns the id of the newest snapshot dated up to `presentMs`. If there is none, returns the id of the newest snapshot of any date.
   * Returns `undefined` if the underlying has no snapshot. The call is fast enough for every request.
   */
  latestChainId(underlying: string, simulated: boolean, presentMs?: number): number | undefined;
  /** Returns the id of the newest snapshot dated up to an instant, or `undefined` if there is none. */
  chainIdAt(underlying: string, simulated: boolean, instantMs: number): number | undefined;
  /**
   * Returns the moments of the snapshots next to an instant: the last one up to the instant, and the first one after it that is dated up to
   * `untilMs`. A moment is null if there is no such snapshot.
   */
  snapshotsAround(
    underlying: string,
    simulated: boolean,
    instantMs: number,
    untilMs: number,
  ): { readonly before: number | null; readonly after: number | null };
  /** Returns a snapshot. Returns undefined if it was removed, or if it is damaged and was set aside. */
  chain(id: number): Chain | undefined;
  /** Reads the same chain as `chain`, but blocks the event loop for less time. */
  readChain(id: number): Promise<Chain | undefined>;
  /**
   * Returns the underlyings with at least one snapshot, sorted: at most `limit` names from `from` on. Without `from` and `limit`, returns
   * all of them.
   */
  underlyings(simulated: boolean, from?: string, limit?: number): string[];
  /** Returns the stored snapshots of one underlying or of all underlyings, simulated and recorded, ordered by underlying and time. */
  snapshots(underlying?: string): SnapshotListing[];
  /** Returns the ids of the last snapshot of each New York day in [fromMs, toMs], oldest first. */
  dailyChainIds(underlying: string, fromMs: number, toMs: number, simulated: boolean): number[];
  /**
   * Permanently removes snapshots of an underlying and their levels, simulated and recorded: those of the moment `asOf`, or all of them.
   * Returns the number of moments whose data was removed. The number includes moments that only had levels.
   */
  forgetSnapshots(underlying: string, asOf?: number): number;
  /**
   * Returns the snapshots that were set aside because they are damaged. A snapshot of the same moment that is stored later replaces them.
   */
  damagedSnapshots(): SnapshotListing[];
  /** Reads every stored snapshot and checks its checksum. Changes nothing. */
  checkSnapshots(): Iterable<SnapshotListing & { readonly isDamaged: boolean }>;
  /** Returns the number of stored snapshots. */
  snapshotCount(): number;
}

export interface RetentionStore {
  /**
   * Removes some of the data that is older than the limits, in one transaction. Returns how many prints, chains and levels were removed.
   * All numbers are 0 once nothing is left to remove.
   */
  removeOld(limits: Retention): { readonly prints: number; readonly chains: number; readonly levels: number };
  /**
   * Returns the moments of the oldest and of the newest stored data of a kind, dated up to `untilMs`: of the recorded data, or of the
   * simulated data if nothing is recorded. Returns undefined if there is none.
   */
  dataSpan(
    kind: 'chains' | 'prints' | 'levels',
    untilMs: number,
  ): { readonly fromMs: number; readonly toMs: number } | undefined;
  /**
   * Returns the moment from which all prints, or all snapshots of each day, are kept, ms since the epoch. Returns 0 if nothing was removed.
   */
  keptFrom(what: RetainedKind): number;
}

/** The prints with fromMs <= at <= toMs whose premium is at least `minPremiumUsd`. */
export type PrintRange = [underlying: string, fromMs: number, toMs: number, simulated: boolean, minPremiumUsd: number];

export interface PrintStore {
  /**
   * Stores prints. A print with an id that is stored already is not stored again, but it may correct or cancel the stored print. If
   * `atOnce` is set and the batch has a thousand or more prints of one day, these prints are stored as packed columns directly (see
   * `packTape`).
   */
  savePrints(
    prints: readonly Print[],
    options?: { readonly atOnce?: boolean },
  ): { readonly added: number; readonly changed: number };
  /**
   * Packs the prints of the days before `beforeDay` into columns, in short transactions. Each step packs at most `rowsAtOnce` prints, and
   * then yields the number of prints that it packed. Other work can run between two steps. If a run is interrupted, the next call continues
   * it.
   */
  packTape(beforeDay: string, rowsAtOnce?: number): Generator<number, void>;
  /** Returns the prints of a range in time order, without canceled prints. */
  prints(...range: PrintRange): Print[];
  /**
   * Yields the prints that `prints` returns, in columns of some thousand prints. The prints are read while the caller iterates. The prints
   * are ordered by time, and prints of one moment by arrival. The order stays the same if prints are packed meanwhile.
   */
  largePrints(...range: PrintRange): Iterable<TapeColumns>;
  /**
   * Returns the sums of the prints that `prints` returns, without prints of contracts with an adjusted deliverable. The call is fast if the
   * store holds the sums for this premium (`sumPrintsFrom`).
   */
  printSums(...range: PrintRange): readonly PrintSum[];
  /**
   * Sets the minimum premium, in dollars, of the prints that are added to the stored sums when they are written. If this premium changes,
   * all stored prints are summed again.
   */
  sumPrintsFrom(minPremiumUsd: number): void;
  /**
   * Returns the first stretch of the tape from `fromMs` on. The stretch has at most `mostParts` parts (see `PARTS`). Returns `undefined` if
   * no print is left. The next stretch begins after `toMs` of this stretch.
   */
  stretch(underlying: string, fromMs: number, toMs: number, simulated: boolean, mostParts: number): Stretch | undefined;
  /**
   * Yields all prints of a period, whatever their premium. The prints are read while the caller iterates, because a month's tape can be
   * larger than memory. With `fromExpiry`, yields only prints of contracts that expire on that date or later. Packed prints have an empty
   * id.
   */
  tape(underlying: string, fromMs: number, toMs: number, simulated: boolean, fromExpiry?: string): Iterable<Print>;
  /** Returns the number of prints in a period, and the version of the tape in this period. */
  tapeVersion(underlying: string, fromMs: number, toMs: number, simulated: boolean): TapeVersion;
  /** Returns the moment of the newest print up to `untilMs` that is not canceled, ms. Returns `undefined` if there is none. */
  lastPrintAt(underlying: string, simulated: boolean, untilMs?: number): number | undefined;
}

export interface CloseStore {
  saveCloses(closes: readonly Close[]): void;
  /**
   * Returns the last `limit` closes up to and including `date`, oldest first. If a day has no close, the spot of its last snapshot up to
   * `untilMs` takes its place.
   */
  closes(ticker: string, date: string, limit: number, simulated: boolean, untilMs?: number): Close[];
  /** Returns the stored closes of the dates in [fromDate, toDate], oldest first. No spot takes the place of a missing close. */
  officialCloses(ticker: string, fromDate: string, toDate: string, simulated: boolean): Close[];
}

export interface DividendStore {
  /** Stores dividends. A dividend replaces the stored dividend of its ticker and ex-date. */
  saveDividends(dividends: readonly CashDividend[]): void;
  /** Returns the dividends of a ticker with ex-dates in [fromDate, toDate], by date. Leaves out amounts of 0. */
  dividends(ticker: string, fromDate: string, toDate: string, simulated: boolean): CashDividend[];
}

export interface LevelStore {
  /**
   * Returns the ids of the snapshots whose levels are due, simulated and recorded. With `afterId`, returns only the snapshots that were
   * stored after the snapshot with this id. The snapshot that was stored last comes first.
   */
  levelsDue(afterId?: number): number[];
  /** Returns the number of snapshots of an underlying, dated up to `untilMs`, whose levels are due. */
  levelsDueOf(underlying: string, simulated: boolean, untilMs: number): number;
  /**
   * Stores the levels of a snapshot. Replaces stored levels of the same moment. If `record` is `undefined`, removes the levels of the
   * snapshot's moment. In both cases, the levels of the snapshot are no longer due. Does nothing if the snapshot was removed or replaced.
   */
  saveLevels(snapshotId: number, record: LevelRecord | undefined): void;
  /** Returns the last moment up to `untilMs` with stored levels, or `undefined` if there is none. */
  lastLevelsAt(underlying: string, untilMs: number, simulated: boolean): number | undefined;
  /** Returns the moments in [fromMs, toMs] with stored levels, oldest first: all of them, or only the last of each New York day. */
  levelTimes(underlying: string, fromMs: number, toMs: number, per: 'snapshot' | 'day', simulated: boolean): number[];
  /** Returns the levels of the given moments, oldest first. */
  levels(underlying: string, times: readonly number[], simulated: boolean): LevelRecord[];
  /** Returns the spots of the levels of the moments in [fromMs, toMs], each once, ascending. */
  levelSpots(underlying: string, fromMs: number, toMs: number, simulated: boolean): LevelSpot[];
  /** Returns the last levels up to `untilMs`, or `undefined` if there are none. */
  newestLevels(underlying: string, untilMs: number, simulated: boolean): LevelEvent | undefined;
  /**
   * Returns the 30-day volatilities of some New York days (`YYYY-MM-DD`), in the given order. Each comes from the day's last levels up to
   * `untilMs`. A volatility is null if the day has no levels, or if its last levels have no volatility.
   */
  volatilitiesOfDays(
    underlying: string,
    days: readonly string[],
    untilMs: number,
    simulated: boolean,
  ): (number | null)[];
  /**
   * Returns the last sequence number of the log of levels, simulated or recorded, even if its entry was removed since. Returns 0 before the
   * first entry.
   */
  lastLevelSeq(): number;
  /**
   * Returns up to `limit` entries of the log after a sequence number, in the order in which they were stored. Levels become an entry only
   * if they are newer than all stored levels of their ticker. Levels of loaded history do not become entries.
   */
  levelEvents(afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /**
   * Works like `levelEvents`, but returns only the entries of some underlyings. The time of the call grows with the number of these
   * underlyings and of the returned entries, but not with the entries of other underlyings.
   */
  levelEventsOf(underlyings: readonly string[], afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /**
   * Returns the moment at which the first entry of these underlyings after a sequence number was stored, ms since the epoch. Returns
   * `undefined` if there is none.
   */
  firstMissedAt(underlyings: readonly string[], afterSeq: number, simulated: boolean): number | undefined;
  /** Returns the newest levels of an underlying among the entries up to a sequence number, or `undefined` if there is none. */
  currentLevels(underlying: string, upToSeq: number, simulated: boolean): LevelEvent | undefined;
}
