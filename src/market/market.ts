import { Failure } from '../errors.ts';
import { DAY_MS, newYorkDate } from './calendar.ts';
import type { Chain } from './chain.ts';
import type { LevelRecord } from './level-record.ts';
import { canonicalTicker, rootOf } from './option-symbol.ts';
import type { Close, Print } from './prints.ts';
import type { MarketStore } from './store.ts';
import type { Universe } from './universe.ts';

/** What is known of the market now, from the store, of one kind: simulated or recorded, never both. */
export interface Market {
  /**
   * The newest chain of a ticker (any spelling), the same object while it is the newest.
   * Throws `Failure`: `no_chain` for a ticker of the universe without one, `unknown_ticker` for any other.
   */
  chain(ticker: string): Chain;
  /** The name of a tracked ticker: of the universe, or with a chain. Throws `Failure('unknown_ticker')` for any other. */
  tracked(ticker: string): string;
  /** As `chain`, but undefined where there is none. */
  findChain(ticker: string): Chain | undefined;
  /** Prints of at least a premium, of the `days` calendar days that end at the later of the chain's instant and the last print, in time order. */
  recentPrints(chain: Chain, days: number, minPremiumUsd: number): readonly Print[];
  /** Every print of those days, or without them every one up to the chain's instant that its day has not seen expire, in time order. */
  tape(chain: Chain, days?: number): Tape;
  /** Whether the ticker has any prints at all; where it has none, flow is read from snapshots. */
  hasPrints(ticker: string): boolean;
  /** Store ids of the last snapshot of each New York day of the `days` calendar days that end with the chain, oldest first. */
  recentChainIds(chain: Chain, days: number): number[];
  chainById(id: number): Chain | undefined;
  /** Up to `limit` daily closes up to and including a date, oldest first. */
  closes(ticker: string, date: string, limit: number): Close[];
  /** The last moment up to `untilMs` whose levels are kept; undefined where there is none. */
  lastLevelsAt(ticker: string, untilMs: number): number | undefined;
  /** Moments in [fromMs, toMs] whose levels are kept, oldest first: all, or the last of each New York day. */
  levelTimes(ticker: string, fromMs: number, toMs: number, per: 'snapshot' | 'day'): number[];
  /** The levels of those moments, oldest first. */
  levels(ticker: string, times: readonly number[]): LevelRecord[];
}

/** Prints too many to be kept: read anew each time. */
export interface Tape {
  /** Read as they are gone through. */
  readonly prints: Iterable<Print>;
  /** The same text as long as they are the same. */
  readonly mark: string;
}

/** Clocks differ, and days begin elsewhere; a chain from further ahead is a slip that must not outrank the present one. */
export const AHEAD_MS = DAY_MS;

export function createMarket(
  store: MarketStore,
  universe: Universe,
  simulated: boolean,
  nowMs: () => number = Date.now,
): Market {
  /** Chains by ticker with their store id; an entry lives until a newer snapshot replaces it. */
  const chains = new Map<string, { id: number; chain: Chain }>();
  let prints = new Map<string, readonly Print[]>();
  let marks = new Map<string, string>();
  let version = '';
  const refresh = () => {
    const current = store.version();
    if (current === version) return;
    version = current;
    prints = new Map();
    marks = new Map();
  };
  const findChain = (spelling: string): Chain | undefined => {
    const ticker = tickerOf(spelling);
    const id = store.latestChainId(ticker, simulated, nowMs() + AHEAD_MS);
    if (id === undefined) return undefined;
    const cached = chains.get(ticker);
    if (cached?.id === id) return cached.chain;
    const chain = store.chain(id);
    if (chain) chains.set(ticker, { id, chain });
    return chain;
  };
  /** The range of flow: `days` calendar days that end at the later of the chain's instant and the last print. */
  const windowOf = ({ underlying, asOf }: Chain, days: number): [fromMs: number, toMs: number] => {
    const toMs = Math.max(asOf, store.lastPrintAt(underlying, simulated) ?? 0);
    return [toMs - days * DAY_MS, toMs];
  };
  const tracked = (spelling: string): string => {
    const ticker = tickerOf(spelling);
    if (universe.tickers.has(ticker) || findChain(ticker)) return ticker;
    throw new Failure('unknown_ticker', 'The ticker is neither in the universe nor has it a stored chain', {
      hint: 'GET /api/v1/universe lists the tickers that are tracked.',
    });
  };
  return {
    findChain,
    tracked,
    chain(spelling) {
      const chain = findChain(spelling);
      if (chain) return chain;
      throw new Failure(
        'no_chain',
        `${tracked(spelling)} is in the universe, but no option chain of it has arrived yet`,
        { hint: 'Point the feed at data that holds it, or try again later.' },
      );
    },
    recentPrints(chain, days, minPremiumUsd) {
      refresh();
      const key = `${chain.underlying} ${chain.asOf} ${days} ${minPremiumUsd}`;
      const known =
        prints.get(key) ?? store.prints(chain.underlying, ...windowOf(chain, days), simulated, minPremiumUsd);
      prints.set(key, known);
      return known;
    },
    tape(chain, days) {
      refresh();
      const { underlying, asOf } = chain;
      const [fromMs, toMs] = days === undefined ? [0, asOf] : windowOf(chain, days);
      const range = `${underlying} ${fromMs} ${toMs}`;
      const mark = marks.get(range) ?? `${range} ${store.tapeMark(underlying, fromMs, toMs, simulated)}`;
      marks.set(range, mark);
      const fromExpiry = days === undefined ? newYorkDate(asOf) : undefined;
      const read = () => store.tape(underlying, fromMs, toMs, simulated, fromExpiry)[Symbol.iterator]();
      return { mark, prints: { [Symbol.iterator]: read } };
    },
    hasPrints: (ticker) => store.lastPrintAt(tickerOf(ticker), simulated) !== undefined,
    recentChainIds: (chain, days) =>
      store.dailyChainIds(chain.underlying, chain.asOf - days * DAY_MS, chain.asOf, simulated),
    chainById: (id) => store.chain(id),
    closes: (ticker, date, limit) => store.closes(tickerOf(ticker), date, limit, simulated),
    lastLevelsAt: (ticker, untilMs) => store.lastLevelsAt(tickerOf(ticker), untilMs, simulated),
    levelTimes: (ticker, fromMs, toMs, per) => store.levelTimes(tickerOf(ticker), fromMs, toMs, per, simulated),
    levels: (ticker, times) => store.levels(tickerOf(ticker), times, simulated),
  };
}

/** A ticker in any spelling; the root of an index's weekly options, or of a share with a dot, stands for what it is about. */
function tickerOf(spelling: string): string {
  const ticker = canonicalTicker(spelling);
  const { underlying, adjusted } = rootOf(ticker);
  return adjusted ? ticker : underlying;
}
