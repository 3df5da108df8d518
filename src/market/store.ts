import type { Chain } from './chain.ts';
import type { LevelEvent, LevelRecord } from './level-record.ts';
import type { Close, Print, PrintSum } from './prints.ts';
import type { Stretch, TapeMark } from './tape.ts';
import type { TapeColumns } from './tape-columns.ts';

/** A stored chain, without its contracts. */
export interface Snapshot {
  readonly underlying: string;
  /** ms since the epoch */
  readonly asOf: number;
  readonly source: string;
  readonly simulated: boolean;
}

/** What is kept from when on, midnights of New York; undefined keeps all. The newest snapshot of a ticker always stays, and so do levels. */
export interface Retention {
  readonly printsFromMs?: number | undefined;
  readonly chainsFromMs?: number | undefined;
  /** Of days before it, the last snapshot alone stays. */
  readonly intradayFromMs?: number | undefined;
  /** What is dated later does not stand for its ticker. */
  readonly presentMs: number;
}

/**
 * What the market keeps. Simulated and recorded data live side by side and are never mixed: every read names which it wants.
 * Writes are one transaction each; a write seen by one process is seen by every other at once.
 */
export interface MarketStore {
  /**
   * Changes with each write of this process at once, and of another's within 10 ms: what was read under one version holds while it
   * stands.
   */
  version(): string;
  /** Keeps a snapshot, whose levels are due from then on. The same (underlying, asOf, simulated) again replaces it. */
  saveChain(chain: Chain): void;
  /**
   * Identity of the newest snapshot, cheap enough to ask on every request; undefined where there is none. One dated after
   * `presentMs` only where there is no other.
   */
  latestChainId(underlying: string, simulated: boolean, presentMs?: number): number | undefined;
  /** Identity of the newest snapshot dated up to that instant. */
  chainIdAt(underlying: string, simulated: boolean, instantMs: number): number | undefined;
  chain(id: number): Chain | undefined;
  /** Underlyings with at least one snapshot, sorted: the first `limit` from a name on, without them all. */
  underlyings(simulated: boolean, from?: string, limit?: number): string[];
  /** What is kept, of one underlying or of all, by underlying and time. */
  snapshots(underlying?: string): Snapshot[];
  /**
   * Removes snapshots and their levels for good, those of one moment or all of an underlying; returns of how many snapshots,
   * those counted too of which levels alone were left.
   */
  forgetSnapshots(underlying: string, asOf?: number): number;
  /** Removes some of what is older than the limits, with nothing else; returns how much went: nothing, once all of it is gone. */
  removeOld(limits: Retention): { readonly prints: number; readonly chains: number };
  /** From when on all prints, or all snapshots of a day, are kept; 0 where none was removed. */
  keptFrom(what: 'intraday' | 'prints'): number;
  /**
   * Keeps prints, each once by id; of those that are known, a later copy may correct or cancel one. `atOnce` packs those of a day that
   * come by the thousand.
   */
  savePrints(
    prints: readonly Print[],
    how?: { readonly atOnce?: boolean },
  ): { readonly added: number; readonly changed: number };
  /**
   * Packs the prints of days before one into columns, a short transaction at a time: others have their turn between two. Each step
   * gives how many prints went; `rowsAtOnce` is how many a step takes. What is broken off is gone on with the next time.
   */
  packTape(beforeDay: string, rowsAtOnce?: number): Generator<number, void>;
  /** Prints with fromMs <= at <= toMs of at least a premium, cancelled ones left out, in time order. */
  prints(underlying: string, fromMs: number, toMs: number, simulated: boolean, minPremiumUsd: number): Print[];
  /**
   * The same as columns, some thousand at a time, read as they are gone through: in order of time and then of arrival, whatever is packed
   * meanwhile.
   */
  largePrints(
    underlying: string,
    fromMs: number,
    toMs: number,
    simulated: boolean,
    minPremiumUsd: number,
  ): Iterable<TapeColumns>;
  /** They added up by series, side and kind, without those of adjusted deliverables. A small read where they are added up from just that premium. */
  printSums(
    underlying: string,
    fromMs: number,
    toMs: number,
    simulated: boolean,
    minPremiumUsd: number,
  ): readonly PrintSum[];
  /** From now on prints of at least that premium are added up as they are written; where it was another, all that are kept are again. */
  sumPrintsFrom(minPremiumUsd: number): void;
  /**
   * The first stretch of the tape from a moment on, of so many parts at most (see PARTS); undefined where nothing is left. What follows
   * begins after its `toMs`.
   */
  stretch(underlying: string, fromMs: number, toMs: number, simulated: boolean, mostParts: number): Stretch | undefined;
  /**
   * Prints of any premium and, where it is given, of that expiry on, read as they are gone through: a month's tape is larger than
   * memory. Those of closed days have no id.
   */
  tape(underlying: string, fromMs: number, toMs: number, simulated: boolean, fromExpiry?: string): Iterable<Print>;
  tapeMark(underlying: string, fromMs: number, toMs: number, simulated: boolean): TapeMark;
  /** Time of the newest print up to then that stands, ms; undefined where there is none. */
  lastPrintAt(underlying: string, simulated: boolean, untilMs?: number): number | undefined;
  saveCloses(closes: readonly Close[]): void;
  /** The newest `limit` closes up to and including `date`, oldest first; days without one fall back to that day's last snapshot up to then. */
  closes(ticker: string, date: string, limit: number, simulated: boolean, untilMs?: number): Close[];
  /** The last snapshot of each New York day in [fromMs, toMs], oldest first. */
  dailyChainIds(underlying: string, fromMs: number, toMs: number, simulated: boolean): number[];
  /** Snapshots, of either kind, whose levels are yet to be kept, of those stored after one (all); the last stored first. */
  levelsDue(afterId?: number): number[];
  /** How many of them are of an underlying, dated up to then. */
  levelsDueOf(underlying: string, simulated: boolean, untilMs: number): number;
  /**
   * Keeps the levels of a snapshot in place of those of its moment, or none where it has none: either way they are no longer
   * due. Of a snapshot that is gone, or was replaced, nothing is kept.
   */
  saveLevels(snapshotId: number, record: LevelRecord | undefined): void;
  /** The last moment up to `untilMs` whose levels are kept; undefined where there is none. */
  lastLevelsAt(underlying: string, untilMs: number, simulated: boolean): number | undefined;
  /** Moments in [fromMs, toMs] whose levels are kept, oldest first: all, or the last of each New York day. */
  levelTimes(underlying: string, fromMs: number, toMs: number, per: 'snapshot' | 'day', simulated: boolean): number[];
  /** The levels of those moments, oldest first. */
  levels(underlying: string, times: readonly number[], simulated: boolean): LevelRecord[];
  /** Place of what was kept last, of either kind, be it there yet or not; 0 before the first. */
  lastLevelSeq(): number;
  /**
   * Up to `limit` levels kept after a place, in the order in which they were kept: of every moment that was not before one known
   * already. What history brings is no event.
   */
  levelEvents(afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /** The same of some underlyings alone. It takes time for what it gives and for each underlying, not for the rows of the others. */
  levelEventsOf(underlyings: readonly string[], afterSeq: number, limit: number, simulated: boolean): LevelEvent[];
  /** When the first levels of these underlyings after a place were kept, ms since 1970; undefined if there are none. */
  firstMissedAt(underlyings: readonly string[], afterSeq: number, simulated: boolean): number | undefined;
  /** The newest levels of an underlying of those kept up to a place. */
  currentLevels(underlying: string, upToSeq: number, simulated: boolean): LevelEvent | undefined;
}
