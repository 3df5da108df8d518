import { OperatorError } from '../core/errors.ts';
import type { Ledger } from '../core/ledger.ts';
import { DAY_MS, newYorkDate, newYorkInstant } from '../market/calendar.ts';
import { type Chain, hasOpenInterest, isPriced, sameQuotes } from '../market/chain.ts';
import type { Delivery } from '../market/feed.ts';
import type { FeedLedger, KnownFeeds } from '../market/feed-ledger.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { KnownMarket, MarketStore, SnapshotHead, StoredChain } from '../market/store.ts';
import { STATE_THE_TIME } from './files/file-time.ts';

/** The stored market data and states of feeds within a transaction. */
export interface IngestStore extends MarketStore, FeedLedger {}

/** The stored market data and states of feeds, and the ledger that decides their writes. */
export type IngestLedger = KnownMarket & KnownFeeds & Ledger<IngestStore>;

/** The result of accepting a delivery. */
export interface AcceptResult {
  /** The delivery that was written, or the rejection that replaces the delivery. */
  readonly delivery: Delivery;
  /** Number of prints, contracts, closes or dividends in the delivery that were stored before. */
  readonly known: number;
  /** Number of stored prints that the delivery corrected or canceled. */
  readonly changed?: number;
  /** The delivered chain, if it was written. */
  readonly stored?: StoredChain;
  /** The comparison of a delivered chain with the stored chains of its ticker. */
  readonly snapshot?: {
    /** False if an equal chain with the same time is stored, or of a polled source, one of its time or a slightly newer one. */
    readonly isNew: boolean;
    /** Says that the chain is more than AHEAD_MS ahead of the clock, more than clocks differ. Such a chain counts only without another. */
    readonly ahead: string | undefined;
    /** True if the chain is newer than all stored chains of its ticker. Stored chains over AHEAD_MS ahead of the clock are ignored. */
    readonly isFresh: boolean;
    /** Number of contracts that the source listed, for a fresh chain at least the unsettled contracts in the last snapshot. */
    readonly expected: number;
  };
}

/** The facts about the origin of a delivery that determine how the delivery is checked. */
export interface AcceptRules {
  /**
   * True if the source is polled for the present state of a ticker, so no person has checked its answers. A polled snapshot never replaces
   * a stored one of the same time, because sources repeat the closing quotes at night with the next day's open interest. It is rejected if
   * it is much older or much smaller than the newest.
   */
  readonly isPolled?: boolean;
  /** True for a file: a person has chosen it, so a chain may lack open interest, which the files of some vendors never have. */
  readonly isFile?: boolean;
  /** True if `loadFiles` loads the delivery. The delivery then contains whole days of prints, and no requests wait for the write. */
  readonly isLoaded?: boolean;
  /** The time of the quotes that a person has stated, ms since the epoch. */
  readonly statedAsOf?: number | undefined;
}

/** Writes a delivery of market data. Returns a rejection if the delivery is implausible. Returns other deliveries unchanged. */
export function acceptDelivery(
  delivery: Delivery,
  store: IngestStore,
  nowMs: number,
  rules: AcceptRules = {},
): AcceptResult {
  switch (delivery.kind) {
    case 'prints': {
      const { added, changed } = store.savePrints(delivery.prints, { atOnce: rules.isLoaded ?? false });
      return { delivery, known: delivery.prints.length - added, changed };
    }
    case 'closes':
      return { delivery, known: delivery.closes.length - store.saveCloses(delivery.closes) };
    case 'dividends':
      return { delivery, known: delivery.dividends.length - store.saveDividends(delivery.dividends) };
    case 'chain':
      return acceptChain(delivery, store, nowMs, rules);
    default:
      return { delivery, known: 0 };
  }
}

/** Writes a chain if it is plausible and new. The origin of a rejection is the chain's source, which names the feed and file or ticker. */
function acceptChain(
  delivery: Delivery & { kind: 'chain' },
  store: IngestStore,
  nowMs: number,
  { isPolled, isFile, statedAsOf }: AcceptRules,
): AcceptResult {
  const { chain } = delivery;
  const { underlying, source, simulated } = chain;
  // The code compares the chain with the newest stored chain of the same time or an earlier time. Past chains may arrive in any order.
  const id = store.latestChainId(underlying, simulated, chain.asOf);
  const stored = id === undefined ? undefined : unlessDamaged(() => store.snapshotHead(id));
  const newestId = store.latestChainId(underlying, simulated, nowMs + AHEAD_MS);
  const isNewest = id === newestId;
  const newest =
    isPolled && newestId !== undefined
      ? isNewest
        ? stored
        : unlessDamaged(() => store.snapshotHead(newestId))
      : undefined;
  const reason =
    whyImplausible(chain, stored, nowMs, isFile ? store : undefined) ??
    (isPolled ? undefined : whyMisdated(chain, statedAsOf)) ??
    (newest && whyNotNewer(chain, newest));
  if (reason) {
    const rejection = {
      kind: 'rejection',
      origin: source,
      reason: `${underlying}: ${reason}`,
      ticker: underlying,
    } as const;
    return { delivery: rejection, known: 0 };
  }
  const isFresh = stored === undefined || (isNewest && chain.asOf > stored.asOf);
  const isBehind = newest !== undefined && chain.asOf < newest.asOf;
  const isKnown = stored?.asOf === chain.asOf && (isPolled || isStoredAs(id!, chain, store));
  const isNew = !isBehind && !isKnown;
  const written = isNew && { stored: { id: store.saveChain(chain), chain } };
  const listed = delivery.offered ?? chain.count + countRejectedRows(chain);
  const expected = Math.max(listed, isFresh && stored ? unsettledContracts(stored, chain.asOf) : 0);
  const known = isKnown ? chain.count : 0;
  return { delivery, known, ...written, snapshot: { isNew, ahead: whyAhead(chain, nowMs), isFresh, expected } };
}

/** Returns whether a stored snapshot has the same quotes as a chain. */
function isStoredAs(id: number, chain: Chain, store: IngestStore): boolean {
  const stored = unlessDamaged(() => store.chain(id));
  return stored !== undefined && sameQuotes(stored, chain);
}

/** Reads a stored snapshot, or returns `undefined` if it is damaged. A request for the snapshot reports the damage. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

/** Returns the number of contracts of a snapshot that have not settled at `atMs`. */
function unsettledContracts({ series }: SnapshotHead, atMs: number): number {
  return series.reduce((sum, { settlesAt, start, end }) => (atMs < settlesAt ? sum + end - start : sum), 0);
}

/** The earliest accepted time of quotes, ms since the epoch. Earlier quotes are older than electronic records of quotes. */
const AS_OF_MIN = Date.UTC(1990, 0, 1);
/** Quotes may be ahead of the clock by at most this time, because the clock may be wrong. */
const AHEAD_MS_MAX = 366 * DAY_MS;
/** The minimum size of a new chain, as a share of the contracts in the chain that it replaces. Smaller chains come from truncated files. */
const REPLACEMENT_SHARE_MIN = 0.9;
/** The maximum share of unreadable rows in a new chain, if its ticker has a stored chain. */
const REJECTED_SHARE_MAX = 0.2;

/**
 * Returns why a chain must not be stored, if so. `stored` is the newest stored chain that is not later than `chain`. `ofFiles` is the store
 * if the chain is from a file, which may lack open interest.
 */
function whyImplausible(
  chain: Chain,
  stored: SnapshotHead | undefined,
  nowMs: number,
  ofFiles: IngestStore | undefined,
): string | undefined {
  if (chain.asOf < AS_OF_MIN || chain.asOf > nowMs + AHEAD_MS_MAX) {
    return `the quotes are dated ${new Date(chain.asOf).toISOString()}, which is too far from the present`;
  }
  if (chain.series.every(({ settlesAt }) => chain.asOf >= settlesAt))
    return 'every contract had settled when it was quoted';
  if (!hasOpenInterest(chain) && !(ofFiles && mayLackOpenInterest(chain, ofFiles)))
    return 'no contract has open interest';
  const refused = countRejectedRows(chain);
  if (stored && refused > REJECTED_SHARE_MAX * (refused + chain.count)) {
    return `${refused} of ${refused + chain.count} rows cannot be read`;
  }
  if (stored?.asOf === chain.asOf && chain.count < REPLACEMENT_SHARE_MIN * stored.count) {
    return `${chain.count} contracts would replace ${stored.count} contracts of the same moment`;
  }
  if (stored?.asOf === chain.asOf) {
    const given = new Set(chain.series.map(({ root, expiry }) => `${root} ${expiry}`));
    const absent = stored.series.filter(({ root, expiry }) => !given.has(`${root} ${expiry}`));
    const contracts = absent.reduce((sum, { start, end }) => sum + end - start, 0);
    if (contracts > (1 - REPLACEMENT_SHARE_MIN) * stored.count) {
      return `the chain would replace one of the same moment with other expiries, such as ${absent[0]!.expiry}. Put all expiries into one file`;
    }
  }
  if (stored?.priced && !isPriced(chain)) return 'no contract has a quote, a price or a volatility';
  return undefined;
}

/**
 * Returns whether a chain from a file may be stored without open interest: the file gives prices but no open interest, and the newest stored
 * chain up to its time has none either. Otherwise a broken file would take away the levels of a ticker.
 */
function mayLackOpenInterest(chain: Chain, store: IngestStore): boolean {
  const { underlying, simulated, asOf, openInterest } = chain;
  if (!isPriced(chain) || !openInterest.every(Number.isNaN)) return false;
  const id = store.chainIdAt(underlying, simulated, asOf);
  const before = id === undefined ? undefined : unlessDamaged(() => store.chain(id));
  return id === undefined || (before !== undefined && !hasOpenInterest(before));
}

/** Returns why a chain is not the present state of its ticker, if its quotes are dated more than AHEAD_MS ahead of the clock. */
export function whyAhead({ asOf }: Chain, nowMs: number): string | undefined {
  if (asOf <= nowMs + AHEAD_MS) return undefined;
  return `the quotes are dated ${new Date(asOf).toISOString()}, which is ahead of the clock`;
}

/** The largest share of a chain's contracts that may have settled before the day of its quotes. Vendors keep some settled contracts. */
const SETTLED_SHARE_MAX = 0.1;
/** A chain with fewer settled contracts may be a small part of a chain. */
const SETTLED_MIN = 5;

/**
 * Returns why the time of a chain's quotes is wrong, if so: more than a tenth of the contracts had settled before that day. `statedAsOf` is the time
 * that a person has stated.
 */
export function whyMisdated({ series, count, asOf }: Chain, statedAsOf?: number): string | undefined {
  const day = newYorkDate(asOf);
  const from = newYorkInstant(day, '00:00');
  const settled = series.reduce((sum, { settlesAt, start, end }) => sum + (settlesAt < from ? end - start : 0), 0);
  if (settled < SETTLED_MIN || settled <= SETTLED_SHARE_MAX * count) return undefined;
  const reason = `${settled} of ${count} contracts had settled before ${day}, the day of its quotes`;
  if (asOf === statedAsOf) return `${reason}, which --as-of states. State the day on which the quotes were taken`;
  return `${reason}. ${STATE_THE_TIME}`;
}

/**
 * A polled chain may be older than the newest stored chain by at most this time. A slightly older one is neither rejected nor written,
 * because the clocks of a source's servers may differ by minutes.
 */
const BEHIND_MS_MAX = 15 * 60_000;
/** The least share of the unsettled contracts of the newest snapshot in a polled one. A ticker's contracts hardly change within days. */
const UNSETTLED_SHARE_MIN = 0.9;
/** Maximum time between two snapshots whose numbers of contracts are compared, ms. The maximum covers a long weekend. */
const COMPARED_MS_MAX = 4 * DAY_MS;

/** Returns why a polled chain cannot be a ticker's present state, or `undefined` if it can be. */
function whyNotNewer(chain: Chain, newest: SnapshotHead): string | undefined {
  if (newest.asOf - chain.asOf > BEHIND_MS_MAX) {
    return `the quotes of ${new Date(chain.asOf).toISOString()} are older than the stored quotes of ${new Date(newest.asOf).toISOString()}`;
  }
  if (chain.asOf < newest.asOf) return undefined;
  const unsettled = unsettledContracts(newest, chain.asOf);
  const isRecent = chain.asOf - newest.asOf < COMPARED_MS_MAX;
  return isRecent && chain.count < UNSETTLED_SHARE_MIN * unsettled
    ? `the snapshot has ${chain.count} contracts, but ${unsettled} contracts of the last snapshot have not settled`
    : undefined;
}

/** Returns the number of unreadable rows of a chain. A row with a repeated contract or a dropped value counts as readable. */
export function countRejectedRows({ refused }: Chain): number {
  return Object.entries(refused).reduce(
    (sum, [why, count]) => (why === 'duplicate' || why === 'bad_value' ? sum : sum + count),
    0,
  );
}
