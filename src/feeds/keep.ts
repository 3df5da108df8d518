import { OperatorError } from '../errors.ts';
import { DAY_MS } from '../market/calendar.ts';
import { type Chain, sameQuotes } from '../market/chain.ts';
import type { Delivery } from '../market/feed.ts';
import type { FeedLedger } from '../market/feed-ledger.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { MarketStore } from '../market/store.ts';

/** Where deliveries go: a store that can make several writes one transaction. */
export interface IngestStore extends MarketStore, FeedLedger {
  transaction<T>(work: () => T): T;
}

export interface Kept {
  /** What was written, or the refusal in its place. */
  readonly delivery: Delivery;
  /** Prints that were known before. */
  readonly known: number;
  /** Of those, how many this copy corrected or cancelled. */
  readonly changed?: number;
  /** Of a chain: what it says that was not known. */
  readonly snapshot?: {
    /** False where it was not written: the very same stood already, or what stands of its moment stays. */
    readonly isNew: boolean;
    /** Dated further ahead than clocks differ: it stands for its ticker only where nothing else does. */
    readonly isAhead: boolean;
    /** Newer than all that this ticker had. */
    readonly isFresh: boolean;
    /** Contracts that had to be there: those the source listed, and no fewer than are left of the last snapshot. */
    readonly expected: number;
  };
}

export interface KeepRules {
  /**
   * The source is asked for the present of a ticker, and nobody has looked at its answer: of one moment the first snapshot stays, since
   * in the night sources tell the quotes of the close again with the next day's open interest; what is older than what stands, or much
   * smaller, is a fault of the source.
   */
  readonly isAsked?: boolean;
  /** Whole days of prints are loaded, and nobody waits meanwhile. */
  readonly isLoaded?: boolean;
}

/** Writes a delivery of market data, or turns it into the refusal that it deserves. */
export function keep(delivery: Delivery, store: IngestStore, nowMs: number, rules: KeepRules = {}): Kept {
  switch (delivery.kind) {
    case 'prints': {
      const { added, changed } = store.savePrints(delivery.prints, { atOnce: rules.isLoaded ?? false });
      return { delivery, known: delivery.prints.length - added, changed };
    }
    case 'closes':
      store.saveCloses(delivery.closes);
      return { delivery, known: 0 };
    case 'chain':
      return keepChain(delivery, store, nowMs, rules);
    default:
      return { delivery, known: 0 };
  }
}

function keepChain(
  delivery: Delivery & { kind: 'chain' },
  store: IngestStore,
  nowMs: number,
  { isAsked }: KeepRules,
): Kept {
  const { chain } = delivery;
  const { underlying, source, simulated } = chain;
  // What stood at its moment: history may come in any order.
  const id = store.latestChainId(underlying, simulated, chain.asOf);
  const standing = id === undefined ? undefined : readable(store, id);
  const newestId = store.latestChainId(underlying, simulated, nowMs + AHEAD_MS);
  const isNewest = id === newestId;
  const newest = isAsked && newestId !== undefined ? (isNewest ? standing : readable(store, newestId)) : undefined;
  const reason = whyImplausible(chain, standing, nowMs) ?? (newest && whyNotNewer(chain, newest));
  if (reason) {
    const refusal = {
      kind: 'refusal',
      origin: source,
      reason: `${underlying}: ${reason}`,
      ticker: underlying,
    } as const;
    return { delivery: refusal, known: 0 };
  }
  const isFresh = standing === undefined || (isNewest && chain.asOf > standing.asOf);
  const isBehind = newest !== undefined && chain.asOf < newest.asOf;
  const stays = isBehind || (standing?.asOf === chain.asOf && (isAsked || sameQuotes(standing, chain)));
  if (!stays) store.saveChain(chain);
  const listed = delivery.offered ?? chain.count + rowsRefused(chain);
  const expected = Math.max(listed, isFresh && standing ? contractsLeft(standing, chain.asOf) : 0);
  const isAhead = chain.asOf > nowMs + AHEAD_MS;
  return { delivery, known: 0, snapshot: { isNew: !stays, isAhead, isFresh, expected } };
}

/** What disk damage has made unreadable stands for nothing: whoever asks for it hears of it. */
function readable(store: IngestStore, id: number): Chain | undefined {
  try {
    return store.chain(id);
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

/** Contracts of a snapshot that have not settled by then. */
function contractsLeft({ series }: Chain, atMs: number): number {
  return series.reduce((sum, { settlesAt, start, end }) => (atMs < settlesAt ? sum + end - start : sum), 0);
}

/** Quotes from before electronic records, or from further ahead than a clock that nobody has set can explain. */
const AS_OF_MIN = Date.UTC(1990, 0, 1);
const AHEAD_MS_MAX = 366 * DAY_MS;
/** The same snapshot again with less than this share of its contracts is a file that was cut. */
const REPLACEMENT_SHARE_MIN = 0.9;
/** A table of which more than this share of rows is refused does not take the place of one that stands. */
const REFUSED_SHARE_MAX = 0.2;

/** Why a chain must not take the place of what stands; undefined where it may. */
function whyImplausible(chain: Chain, standing: Chain | undefined, nowMs: number): string | undefined {
  if (chain.asOf < AS_OF_MIN || chain.asOf > nowMs + AHEAD_MS_MAX) {
    return `the quotes are dated ${new Date(chain.asOf).toISOString()}`;
  }
  if (chain.series.every(({ settlesAt }) => chain.asOf >= settlesAt))
    return 'every contract had settled when it was quoted';
  if (!chain.openInterest.some((each) => each > 0)) return 'no contract has open interest';
  const refused = rowsRefused(chain);
  if (standing && refused > REFUSED_SHARE_MAX * (refused + chain.count)) {
    return `${refused} of ${refused + chain.count} rows cannot be read`;
  }
  if (standing?.asOf === chain.asOf && chain.count < REPLACEMENT_SHARE_MIN * standing.count) {
    return `${chain.count} contracts would replace ${standing.count} of the same moment`;
  }
  if (standing && isPriced(standing) && !isPriced(chain)) return 'no contract has a quote, a price or a volatility';
  return undefined;
}

/** Whether anything tells what any contract is worth. */
function isPriced({ bid, ask, last, iv }: Chain): boolean {
  return [iv, bid, ask, last].some((column) => column.some((each) => each > 0));
}

/** The machines that answer for a source may be some minutes apart: that is nothing new, and no fault. */
const BEHIND_MS_MAX = 15 * 60_000;
/** What a source is asked for grows and shrinks by some contracts a day: much less is a part. */
const PART_SHARE_MAX = 0.9;
/** After so long what stood is no measure any more: over a long weekend. */
const BELIEVED_AFTER_MS = 4 * DAY_MS;

/** Why the answer of a source that was asked for the present is not it; undefined where it may be. */
function whyNotNewer(chain: Chain, newest: Chain): string | undefined {
  if (newest.asOf - chain.asOf > BEHIND_MS_MAX) {
    return `quotes of ${new Date(chain.asOf).toISOString()}, older than those of ${new Date(newest.asOf).toISOString()} that stand`;
  }
  if (chain.asOf < newest.asOf) return undefined;
  const left = contractsLeft(newest, chain.asOf);
  const isYoung = chain.asOf - newest.asOf < BELIEVED_AFTER_MS;
  return isYoung && chain.count < PART_SHARE_MAX * left
    ? `${chain.count} contracts, where ${left} are left of the last snapshot`
    : undefined;
}

/** A contract that comes twice or a value that is dropped leaves its row readable. */
export function rowsRefused({ refused }: Chain): number {
  return Object.entries(refused).reduce(
    (sum, [why, count]) => (why === 'duplicate' || why === 'bad_value' ? sum : sum + count),
    0,
  );
}
