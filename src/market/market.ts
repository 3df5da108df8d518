import { Failure } from '../errors.ts';
import { addDays, DAY_MS, newYorkDate, newYorkInstant } from './calendar.ts';
import type { Chain } from './chain.ts';
import type { LevelRecord } from './level-record.ts';
import { canonicalTicker, isTicker, rootOf } from './option-symbol.ts';
import type { Close, PrintSum } from './prints.ts';
import type { MarketStore } from './store.ts';
import type { LargeTape, Tape, TapeMark } from './tape.ts';
import { rowsAt, type TapeColumns } from './tape-columns.ts';
import type { Universe } from './universe.ts';

/** What is known of the market now, from the store, of one kind: simulated or recorded, never both. */
export interface Market {
  /** Whether this is the market as it stood, and not as it is. */
  readonly isPast: boolean;
  /**
   * The newest chain of a ticker (any spelling), the same object while it is the newest.
   * Throws `Failure`: `no_chain` for a ticker of the universe without one, `unknown_ticker` for any other.
   */
  chain(ticker: string): Chain;
  /** The name of a ticker in any spelling, tracked or not; the root of an index's weekly options stands for the index. */
  nameOf(spelling: string): string;
  /** The name of a tracked ticker: of the universe, or with a chain. Throws `Failure('unknown_ticker')` for any other. */
  tracked(ticker: string): string;
  /** As `chain`, but undefined where there is none. */
  findChain(ticker: string): Chain | undefined;
  /** Tickers that have a chain, sorted: the first `limit` (1,000) from a name on. */
  tickersWithChain(from?: string, limit?: number): readonly string[];
  /**
   * Prints of at least a premium, of the `days` calendar days that end at the later of the chain's instant and the last print, added up;
   * those of adjusted deliverables left out.
   */
  flow(chain: Chain, days: number, minPremiumUsd: number): readonly PrintSum[];
  /** Such prints of a New York day, up to that same end. */
  largeOn(chain: Chain, day: string, minPremiumUsd: number): LargeTape;
  /** From when on all prints are kept; 0 where none was removed. */
  printsKeptFrom(): number;
  /**
   * Every print of those days, or without them every one up to the chain's instant, in time order; without days, `prints` leaves out
   * what had expired before its day.
   */
  tape(chain: Chain, days?: number): Tape;
  /** Whether the ticker has any prints at all; where it has none, flow is read from snapshots. */
  hasPrints(ticker: string): boolean;
  /** Store ids of the last snapshot of each New York day of the `days` calendar days that end with the chain, oldest first. */
  recentChainIds(chain: Chain, days: number): number[];
  chainById(id: number): Chain | undefined;
  /** Up to `limit` daily closes up to and including a date, oldest first. */
  closes(ticker: string, date: string, limit: number): Close[];
  /** How many snapshots up to then have levels yet to be reckoned. */
  levelsDue(ticker: string): number;
  /** The last moment up to `untilMs` whose levels are kept; undefined where there is none. */
  lastLevelsAt(ticker: string, untilMs: number): number | undefined;
  /** Moments in [fromMs, toMs] whose levels are kept, oldest first: all, or the last of each New York day. */
  levelTimes(ticker: string, fromMs: number, toMs: number, per: 'snapshot' | 'day'): number[];
  /** The levels of those moments, oldest first. */
  levels(ticker: string, times: readonly number[]): LevelRecord[];
  /**
   * The market as it stood at an instant: of what is dated later nothing is seen, and what is newest now may be missing. The same
   * whenever it is asked, as long as nothing is added to the past or taken from it.
   */
  at(instantMs: number): Market;
}

/** Clocks differ by minutes; a chain from further ahead is a slip, of a zone or a digit, that must not outrank the present one. */
export const AHEAD_MS = 15 * 60_000;

export function createMarket(
  store: MarketStore,
  universe: Universe,
  simulated: boolean,
  nowMs: () => number = Date.now,
): Market {
  /** Chains by ticker with their store id; an entry lives until a newer snapshot replaces it. */
  const newest = new Map<string, KeptChain>();
  /** Those of the past that were asked for last, by id: an analysis is kept as long as its chain. */
  const past = new Map<number, Chain>();
  let flows = new Map<string, readonly PrintSum[]>();
  let marks = new Map<string, TapeMark>();
  let version = '';
  const refresh = () => {
    const current = store.version();
    if (current === version) return;
    version = current;
    flows = new Map();
    marks = new Map();
  };
  const newestChain = (ticker: string): Chain | undefined => {
    // A database of an older version may have chains of other names.
    if (!isTicker(ticker)) return undefined;
    const id = store.latestChainId(ticker, simulated, nowMs() + AHEAD_MS);
    if (id === undefined) return undefined;
    const kept = newest.get(ticker);
    if (kept?.id === id) return kept.chain;
    const chain = store.chain(id);
    if (chain) newest.set(ticker, { id, chain });
    return chain;
  };
  const chainAt = (ticker: string, instantMs: number): Chain | undefined => {
    const id = isTicker(ticker) ? store.chainIdAt(ticker, simulated, instantMs) : undefined;
    if (id === undefined || isThinned(store, ticker, instantMs, simulated)) return undefined;
    const live = newest.get(ticker);
    const chain = live?.id === id ? live.chain : (past.get(id) ?? store.chain(id));
    if (chain === undefined) return undefined;
    past.delete(id);
    past.set(id, chain);
    if (past.size > PAST_CHAINS_MAX) past.delete(past.keys().next().value!);
    return chain;
  };

  /** The market up to an instant, or without one as it is. */
  const marketUntil = (untilMs: number | undefined): Market => {
    const until = untilMs ?? Number.MAX_SAFE_INTEGER;
    const findChain = (spelling: string): Chain | undefined => {
      const ticker = tickerOf(spelling);
      return untilMs === undefined ? newestChain(ticker) : chainAt(ticker, untilMs);
    };
    const lastPrintAt = (ticker: string) => store.lastPrintAt(ticker, simulated, until);
    /** The range of flow: `days` calendar days that end at the later of the chain's instant and the last print. */
    const endOf = ({ underlying, asOf }: Chain) => Math.max(asOf, lastPrintAt(underlying) ?? 0);
    const windowOf = (chain: Chain, days: number): [fromMs: number, toMs: number] => {
      const toMs = endOf(chain);
      return [toMs - days * DAY_MS, toMs];
    };
    const markOf = (underlying: string, fromMs: number, toMs: number) => {
      const range = `${underlying} ${fromMs} ${toMs}`;
      const known = marks.get(range) ?? store.tapeMark(underlying, fromMs, toMs, simulated);
      marks.set(range, known);
      return { range, ...known };
    };
    const tracked = (spelling: string): string => {
      const ticker = tickerOf(spelling);
      if (universe.tickers.has(ticker) || newestChain(ticker)) return ticker;
      throw new Failure('unknown_ticker', 'The ticker is neither in the universe nor has it a stored chain', {
        hint: 'GET /api/v1/universe, over MCP the resource zomma://universe, lists the tickers that are tracked.',
      });
    };
    return {
      isPast: untilMs !== undefined,
      findChain,
      nameOf: tickerOf,
      tickersWithChain(from = '', limit = LISTED_MAX) {
        const tickers: string[] = [];
        for (let next = from; tickers.length < limit; ) {
          const names = store.underlyings(simulated, next, limit);
          tickers.push(...names.filter(isTicker));
          if (names.length < limit) break;
          // A space sorts before all that a ticker may have.
          next = `${names.at(-1)} `;
        }
        return tickers.slice(0, limit);
      },
      tracked,
      chain: (spelling) => findChain(spelling) ?? refuseNoChain(tracked(spelling), untilMs),
      flow(chain, days, minPremiumUsd) {
        refresh();
        const [fromMs, toMs] = windowOf(chain, days);
        const key = `${chain.underlying} ${fromMs} ${toMs} ${minPremiumUsd}`;
        const known = flows.get(key) ?? store.printSums(chain.underlying, fromMs, toMs, simulated, minPremiumUsd);
        flows.set(key, known);
        return known;
      },
      largeOn(chain, day, minPremiumUsd) {
        refresh();
        const { underlying } = chain;
        const [fromMs, nextMs] = [newYorkInstant(day, '00:00'), newYorkInstant(addDays(day, 1), '00:00')];
        const toMs = Math.min(endOf(chain), nextMs - 1);
        const { range, mark } = markOf(underlying, fromMs, toMs);
        const read = function* () {
          const large = store.largePrints(underlying, fromMs, toMs, simulated, minPremiumUsd);
          for (const columns of large) yield withoutAdjusted(columns);
        };
        return { mark: `${range} ${minPremiumUsd} ${mark}`, columns: { [Symbol.iterator]: read } };
      },
      printsKeptFrom: () => store.keptFrom('prints'),
      tape(chain, days) {
        refresh();
        const { underlying, asOf } = chain;
        const [fromMs, toMs] = days === undefined ? [0, asOf] : windowOf(chain, days);
        const { range, count, mark } = markOf(underlying, fromMs, toMs);
        const fromExpiry = days === undefined ? newYorkDate(asOf) : undefined;
        const read = () => store.tape(underlying, fromMs, toMs, simulated, fromExpiry)[Symbol.iterator]();
        return {
          count,
          mark: `${range} ${mark}`,
          prints: { [Symbol.iterator]: read },
          *stretches(mostParts, since = fromMs) {
            for (let from = Math.max(since, fromMs); ; ) {
              const next = store.stretch(underlying, from, toMs, simulated, mostParts);
              if (next === undefined) return;
              yield next;
              from = next.toMs + 1;
            }
          },
        };
      },
      hasPrints: (ticker) => lastPrintAt(tickerOf(ticker)) !== undefined,
      recentChainIds: (chain, days) =>
        store.dailyChainIds(chain.underlying, chain.asOf - days * DAY_MS, chain.asOf, simulated),
      chainById: (id) => store.chain(id),
      closes: (ticker, date, limit) => store.closes(tickerOf(ticker), date, limit, simulated, until),
      levelsDue: (ticker) => store.levelsDueOf(tickerOf(ticker), simulated, until),
      lastLevelsAt: (ticker, toMs) => store.lastLevelsAt(tickerOf(ticker), Math.min(toMs, until), simulated),
      levelTimes: (ticker, fromMs, toMs, per) =>
        store.levelTimes(tickerOf(ticker), fromMs, Math.min(toMs, until), per, simulated),
      levels: (ticker, times) => store.levels(tickerOf(ticker), times, simulated),
      at: (instantMs) => marketUntil(Math.min(instantMs, until)),
    };
  };
  return marketUntil(undefined);
}

interface KeptChain {
  readonly id: number;
  readonly chain: Chain;
}

/** As many as a universe may have. */
const LISTED_MAX = 1_000;

/** The largest takes some 3 MB, and as much again once it is analysed. */
const PAST_CHAINS_MAX = 8;

/**
 * Where of a day only the last snapshot is left, as of every simulated one, it stands for those before it: which of them stood at an
 * earlier instant is not known.
 */
function isThinned(store: MarketStore, ticker: string, instantMs: number, simulated: boolean): boolean {
  if (!simulated && instantMs >= store.keptFrom('intraday')) return false;
  const dayEndsAt = newYorkInstant(addDays(newYorkDate(instantMs), 1), '00:00') - 1;
  return store.dailyChainIds(ticker, instantMs + 1, dayEndsAt, simulated).length > 0;
}

function refuseNoChain(ticker: string, untilMs: number | undefined): never {
  if (untilMs === undefined) {
    throw new Failure('no_chain', `${ticker} is in the universe, but no option chain of it has arrived yet`, {
      hint: 'Point the feed at data that holds it, or try again later.',
    });
  }
  throw new Failure(
    'no_chain',
    `No option chain of ${ticker} is kept that stood at ${new Date(untilMs).toISOString()}`,
    {
      hint:
        'GET /api/v1/nodes/gex/{ticker}/history?per=snapshot lists the moments that are known; of simulated days, and of those ' +
        'that were thinned, the last snapshot alone is kept.',
    },
  );
}

/** What delivers something other than shares stays out. */
function withoutAdjusted(columns: TapeColumns): TapeColumns {
  const { contracts, contract } = columns;
  const counts = contracts.series.map(({ root }) => !rootOf(root).adjusted);
  if (counts.every(Boolean)) return columns;
  const rows = Uint32Array.from(contract.keys());
  return rowsAt(
    columns,
    rows.filter((row) => counts[contracts.seriesIndex[contract[row]!]!]),
  );
}

/** A ticker in any spelling; the root of an index's weekly options, or of a share with a dot, stands for what it is about. */
function tickerOf(spelling: string): string {
  const ticker = canonicalTicker(spelling);
  const { underlying, adjusted } = rootOf(ticker);
  return adjusted ? ticker : underlying;
}
