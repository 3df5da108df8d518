import { OperatorError } from '../errors.ts';
import { DAY_MS } from '../market/calendar.ts';
import { type Chain, sameQuotes } from '../market/chain.ts';
import type { Delivery } from '../market/feed.ts';
import type { FeedLedger } from '../market/feed-ledger.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { MarketStore } from '../market/store.ts';

/** The store for deliveries. It can combine several writes into one transaction. */
export interface IngestStore extends MarketStore, FeedLedger {
  transaction<T>(work: () => T): T;
}

export interface AcceptResult {
  /** The delivery that was written, or the rejection in its place. */
  readonly delivery: Delivery;
  /** Number of prints that were stored before. */
  readonly known: number;
  /** How many of the known prints were corrected or cancelled by this copy. */
  readonly changed?: number;
  /** Facts about a chain compared with the stored ones. */
  readonly snapshot?: {
    /**
     * False if the chain was not written: an equal chain is stored, the stored chain of the same moment stays, or a polled source sent a
     * chain that is slightly older than the newest one.
     */
    readonly isNew: boolean;
    /** Dated further ahead than clocks may differ. Such a chain is served only if its ticker has no other. */
    readonly isAhead: boolean;
    /** Newer than all stored chains of this ticker. */
    readonly isFresh: boolean;
    /**
     * Number of contracts that were expected: as many as the source listed, and at least as many as the last snapshot has unsettled
     * contracts.
     */
    readonly expected: number;
  };
}

export interface AcceptRules {
  /**
   * The source is polled for the present state of a ticker, and no person has checked its answer. The first snapshot of a moment stays,
   * because at night sources repeat the quotes of the close with the next day's open interest. A snapshot that is older than the stored
   * one, or much smaller, is an error of the source.
   */
  readonly isPolled?: boolean;
  /** Whole days of prints are loaded, and no requests wait meanwhile. */
  readonly isLoaded?: boolean;
}

/** Writes a delivery of market data, or returns a rejection in its place if the delivery is implausible. */
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
      store.saveCloses(delivery.closes);
      return { delivery, known: 0 };
    case 'chain':
      return acceptChain(delivery, store, nowMs, rules);
    default:
      return { delivery, known: 0 };
  }
}

function acceptChain(
  delivery: Delivery & { kind: 'chain' },
  store: IngestStore,
  nowMs: number,
  { isPolled }: AcceptRules,
): AcceptResult {
  const { chain } = delivery;
  const { underlying, source, simulated } = chain;
  // The newest stored chain up to this chain's moment. Chains of the past may arrive in any order.
  const id = store.latestChainId(underlying, simulated, chain.asOf);
  const stored = id === undefined ? undefined : readChain(store, id);
  const newestId = store.latestChainId(underlying, simulated, nowMs + AHEAD_MS);
  const isNewest = id === newestId;
  const newest = isPolled && newestId !== undefined ? (isNewest ? stored : readChain(store, newestId)) : undefined;
  const reason = whyImplausible(chain, stored, nowMs) ?? (newest && whyNotNewer(chain, newest));
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
  const isKnown = stored?.asOf === chain.asOf && (isPolled || sameQuotes(stored, chain));
  const isNew = !isBehind && !isKnown;
  if (isNew) store.saveChain(chain);
  const listed = delivery.offered ?? chain.count + countRejectedRows(chain);
  const expected = Math.max(listed, isFresh && stored ? contractsLeft(stored, chain.asOf) : 0);
  const isAhead = chain.asOf > nowMs + AHEAD_MS;
  return { delivery, known: 0, snapshot: { isNew, isAhead, isFresh, expected } };
}

/** A chain that cannot be read because of disk damage counts as missing. A request for that chain reports the damage. */
function readChain(store: IngestStore, id: number): Chain | undefined {
  try {
    return store.chain(id);
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

/** Number of contracts of a snapshot that have not settled at `atMs`. */
function contractsLeft({ series }: Chain, atMs: number): number {
  return series.reduce((sum, { settlesAt, start, end }) => (atMs < settlesAt ? sum + end - start : sum), 0);
}

/**
 * Quotes before AS_OF_MIN are older than electronic records. Quotes further ahead than AHEAD_MS_MAX cannot be explained even by a clock
 * that was never set.
 */
const AS_OF_MIN = Date.UTC(1990, 0, 1);
const AHEAD_MS_MAX = 366 * DAY_MS;
/** The same snapshot with less than this share of its contracts comes from a truncated file. */
const REPLACEMENT_SHARE_MIN = 0.9;
/** A table does not replace a stored one if more than this share of its rows is rejected. */
const REJECTED_SHARE_MAX = 0.2;

/** Why a chain must not replace the stored one. Returns `undefined` if it may. */
function whyImplausible(chain: Chain, stored: Chain | undefined, nowMs: number): string | undefined {
  if (chain.asOf < AS_OF_MIN || chain.asOf > nowMs + AHEAD_MS_MAX) {
    return `the quotes are dated ${new Date(chain.asOf).toISOString()}`;
  }
  if (chain.series.every(({ settlesAt }) => chain.asOf >= settlesAt))
    return 'every contract had settled when it was quoted';
  if (!chain.openInterest.some((each) => each > 0)) return 'no contract has open interest';
  const refused = countRejectedRows(chain);
  if (stored && refused > REJECTED_SHARE_MAX * (refused + chain.count)) {
    return `${refused} of ${refused + chain.count} rows cannot be read`;
  }
  if (stored?.asOf === chain.asOf && chain.count < REPLACEMENT_SHARE_MIN * stored.count) {
    return `${chain.count} contracts would replace ${stored.count} of the same moment`;
  }
  if (stored && isPriced(stored) && !isPriced(chain)) return 'no contract has a quote, a price or a volatility';
  return undefined;
}

/** Whether any contract has a bid, an ask, a last price or an IV. */
function isPriced({ bid, ask, last, iv }: Chain): boolean {
  return [iv, bid, ask, last].some((column) => column.some((each) => each > 0));
}

/** The servers of a source may be some minutes apart. A chain that is older by less than this is not new, but not an error either. */
const BEHIND_MS_MAX = 15 * 60_000;
/** The number of contracts of a ticker changes by some contracts a day. A snapshot with less than this share is incomplete. */
const COMPLETE_SHARE_MIN = 0.9;
/** After this time, which covers a long weekend, the stored chain no longer sets the expected size. */
const COMPARED_MS_MAX = 4 * DAY_MS;

/** Why the answer of a polled source is not the present state. Returns `undefined` if it may be. */
function whyNotNewer(chain: Chain, newest: Chain): string | undefined {
  if (newest.asOf - chain.asOf > BEHIND_MS_MAX) {
    return `quotes of ${new Date(chain.asOf).toISOString()}, older than the stored ones of ${new Date(newest.asOf).toISOString()}`;
  }
  if (chain.asOf < newest.asOf) return undefined;
  const left = contractsLeft(newest, chain.asOf);
  const isRecent = chain.asOf - newest.asOf < COMPARED_MS_MAX;
  return isRecent && chain.count < COMPLETE_SHARE_MIN * left
    ? `${chain.count} contracts, but ${left} of the last snapshot have not settled`
    : undefined;
}

/** Number of rejected rows. A contract that appears twice or a value that is dropped does not make its row unreadable. */
export function countRejectedRows({ refused }: Chain): number {
  return Object.entries(refused).reduce(
    (sum, [why, count]) => (why === 'duplicate' || why === 'bad_value' ? sum : sum + count),
    0,
  );
}
