import type { Chain } from './chain.ts';
import type { LevelEvent, LevelRecord } from './level-record.ts';
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

/**
 * Limits of retention. Data from these moments on is kept. They are midnights in New York. `undefined` keeps all data. A ticker's newest
 * snapshot and all levels always stay.
 */
export interface Retention {
  readonly printsFromMs?: number | undefined;
  readonly chainsFromMs?: number | undefined;
  /** Days before this moment keep only their last snapshot. */
  readonly intradayFromMs?: number | undefined;
  /** A snapshot dated later does not count as the newest of its ticker. */
  readonly presentMs: number;
}

/**
 * Storage of market data. Simulated and recorded data are stored side by side and never mixed: every read names the kind that it wants.
 * Each write is one transaction. A write of one process is visible to every other process at once.
 */
export interface MarketStore {
  /**
   * A text that changes at once with each write of this process, and within 10 ms of a write of another process. Data that was read under
   * one version is valid until the version changes.
   */
  version(): string;
  /** Stores a snapshot and marks its levels as due. It replaces a snapshot with the same (underlying, asOf, simulated). */
  saveChain(chain: Chain): void;
  /**
   * Id of the newest snapshot dated up to `presentMs`. If there is none, of the newest snapshot of any date. Returns `undefined` if the
   * underlying has no snapshot. Cheap enough for every request.
   */
  latestChainId(underlying: string, simulated: boolean, presentMs?: number): number | undefined;
  /** Id of the newest snapshot dated up to that instant. Returns `undefined` if there is none. */
  chainIdAt(underlying: string, simulated: boolean, instantMs: number): number | undefined;
  chain(id: number): Chain | undefined;
  /** Reads a chain like `chain`, but blocks the event loop for less time. */
  readChain(id: number): Promise<Chain | undefined>;
  /** Underlyings with at least one snapshot, sorted: at most `limit` names from `from` on. Without both, all of them. */
  underlyings(simulated: boolean, from?: string, limit?: number): string[];
  /** The stored snapshots of one underlying, or of all, ordered by underlying and time. */
  snapshots(underlying?: string): SnapshotListing[];
  /**
   * Permanently removes the snapshots of one moment, or all of an underlying, with their levels. Returns the number of moments removed.
   * Moments that had levels but no snapshot any more are counted too.
   */
  forgetSnapshots(underlying: string, asOf?: number): number;
  /**
   * Removes some of the data that is older than the limits, in one transaction. Returns the counts. Both are 0 once nothing is left to
   * remove.
   */
  removeOld(limits: Retention): { readonly prints: number; readonly chains: number };
  /** The moment from which on all prints, or all snapshots of each day, are kept, ms. 0 if none were removed. */
  keptFrom(what: 'intraday' | 'prints'): number;
  /**
   * Stores prints, each once by id. A later copy of a stored print may correct or cancel it. `atOnce` packs prints directly if a batch has
   * a thousand or more of one day.
   */
  savePrints(
    prints: readonly Print[],
    options?: { readonly atOnce?: boolean },
  ): { readonly added: number; readonly changed: number };
  /**
   * Packs the prints of days before `beforeDay` into columns, in short transactions. Other work has its turn between two steps. Each step
   * handles at most `rowsAtOnce` prints and yields how many it packed. An interrupted run is continued by the next call.
   */
  packTape(beforeDay: string, rowsAtOnce?: number): Generator<number, void>;
  /** Prints with fromMs <= at <= toMs and at least a premium, in time order, without cancelled ones. */
  prints(underlying: string, fromMs: number, toMs: number, simulated: boolean, minPremiumUsd: number): Print[];
  /**
   * The same prints as columns, some thousand at a time, read while the caller iterates. They come in order of time and then of arrival,
   * even if prints are packed meanwhile.
   */
  largePrints(
    underlying: string,
    fromMs: number,
    toMs: number,
    simulated: boolean,
    minPremiumUsd: number,
  ): Iterable<TapeColumns>;
  /**
   * Sums of these prints by series, side and kind, without adjusted deliverables. Fast if sums are stored for this premium
   * (`sumPrintsFrom`).
   */
  printSums(
    underlying: string,
    fromMs: number,
    toMs: number,
    simulated: boolean,
    minPremiumUsd: number,
  ): readonly PrintSum[];
  /**
   * From now on, sums the prints of at least that premium as they are written. If the premium changes, all stored prints are summed again.
   */
  sumPrintsFrom(minPremiumUsd: number): void;
  /**
   * The first stretch of the tape from `fromMs` on, of at most `mostParts` parts (see `PARTS`). Returns `undefined` if no print is left.
   * The next stretch begins after its `toMs`.
   */
  stretch(underlying: string, fromMs: number, toMs: number, simulated: boolean, mostParts: number): Stretch | undefined;
  /**
   * Prints of any premium, read while the caller iterates, since a month's tape is larger than memory. With `fromExpiry`, only contracts
   * that expire on that date or later. Prints of closed days have no id.
   */
  tape(underlying: string, fromMs: number, toMs: number, simulated: boolean, fromExpiry?: string): Iterable<Print>;
  /** The number of prints in a period, and the version of the tape in this period. */
  tapeVersion(underlying: string, fromMs: number, toMs: number, simulated: boolean): TapeVersion;
  /** Time of the newest valid print up to `untilMs`, ms. Returns `undefined` if there is none. */
  lastPrintAt(underlying: string, simulated: boolean, untilMs?: number): number | undefined;
  saveCloses(closes: readonly Close[]): void;
  /**
   * The newest `limit` closes up to and including `date`, oldest first. A day without a close takes the spot of its last snapshot up to
   * `untilMs`.
   */
  closes(ticker: string, date: string, limit: number, simulated: boolean, untilMs?: number): Close[];
  /** The last snapshot of each New York day in [fromMs, toMs], oldest first. */
  dailyChainIds(underlying: string, fromMs: number, toMs: number, simulated: boolean): number[];
  /**
   * Ids of the snapshots whose levels are due, simulated and recorded, stored after `afterId` (default: all). The last stored comes first.
   */
  levelsDue(afterId?: number): number[];
  /** How many of these snapshots belong to an underlying and are dated up to `untilMs`. */
  levelsDueOf(underlying: string, simulated: boolean, untilMs: number): number;
  /**
   * Stores the levels of a snapshot in place of those of its moment. `undefined` removes the levels of its moment. In both cases the levels
   * are no longer due. Does nothing if the snapshot was removed or replaced.
   */
  saveLevels(snapshotId: number, record: LevelRecord | undefined): void;
  /** The last moment up to `untilMs` with stored levels. Returns `undefined` if there is none. */
  lastLevelsAt(underlying: string, untilMs: number, simulated: boolean): number | undefined;
  /** Moments in [fromMs, toMs] with stored levels, oldest first: all of them, or the last of each New York day. */
  levelTimes(underlying: string, fromMs: number, toMs: number, per: 'snapshot' | 'day', simulated: boolean): number[];
  /** The levels of the given moments, oldest first. */
  levels(underlying: string, times: readonly number[], simulated: boolean): LevelRecord[];
  /** The last sequence number, simulated or recorded, even if its entry was removed since. 0 before the first entry. */
  lastLevelSeq(): number;
  /**
   * Up to `limit` entries after a sequence number, in the order in which they were stored. Only levels newer than all that their ticker had
   * are events. Levels of loaded history are not.
   */
  levelEvents(afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /**
   * The same for some underlyings only. The time grows with the number of these underlyings and of the entries returned, not with the rows
   * of other underlyings.
   */
  levelEventsOf(underlyings: readonly string[], afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /** When the first event of these underlyings after a sequence number was stored, ms since 1970. Returns `undefined` if there is none. */
  firstMissedAt(underlyings: readonly string[], afterSeq: number, simulated: boolean): number | undefined;
  /** The newest levels of an underlying, among the entries up to a sequence number. */
  currentLevels(underlying: string, upToSeq: number, simulated: boolean): LevelEvent | undefined;
}
