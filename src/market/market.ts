import { ClientError } from '../core/errors.ts';
import { addDays, closeOf, DAY_MS, iso, lastQuoted, newYorkDate, newYorkInstant } from './calendar.ts';
import type { CashDividend } from './cash-dividend.ts';
import type { Chain } from './chain.ts';
import type { LevelRecord, LevelSpot } from './level-record.ts';
import { type NewestLevels, newestLevelsIn } from './newest-levels.ts';
import { isTicker, rootOf } from './option-symbol.ts';
import type { Close, PrintSum } from './prints.ts';
import { MINUTE_MS, simulatedRetention } from './simulated-past.ts';
import type { KnownMarket } from './store.ts';
import type { LargeTape, StoredTape, TapeVersion } from './tape.ts';
import { pickRows, type TapeColumns } from './tape-columns.ts';
import { noChain, type Sought, unknownTicker } from './ticker-errors.ts';
import { tickerWithin } from './ticker-names.ts';
import type { Universe } from './universe.ts';

/** The market data of the store, at the present or at a past moment. The data of a market is either simulated or recorded. */
export interface Market {
  /** Whether this market shows the data at a past moment. */
  readonly isPast: boolean;
  /** Whether the data is that of the simulated market. */
  readonly isSimulated: boolean;
  /**
   * Returns the newest chain of a ticker, which may have any spelling. Returns the same object until a newer chain arrives. Throws
   * `ClientError('no_chain')` if a tracked ticker has no chain. Throws `ClientError('unknown_ticker')` if the ticker is not tracked.
   */
  chain(ticker: string): Chain;
  /** Returns the name of a ticker, tracked or not, from any spelling, the name of a company, fund or index, or a root of weekly options. */
  nameOf(spelling: string): string;
  /** Whether the text is a name or an old symbol, and not a spelling of the ticker. */
  isByName(spelling: string): boolean;
  /** Returns the name of a ticker of the universe or with a chain. Throws `ClientError('unknown_ticker')` for any other ticker. */
  tracked(ticker: string): string;
  /** Like `chain`, but returns `undefined` if there is no chain. */
  findChain(ticker: string): Chain | undefined;
  /** Returns the tickers that have a chain, in sorted order: at most `limit` (default: all) tickers, starting at `from`. */
  tickersWithChain(from?: string, limit?: number): readonly string[];
  /** Returns the moment of a ticker's newest snapshot, ms since the epoch. Does not read the snapshot. */
  quotedAt(ticker: string): number | undefined;
  /** Returns the moment at which a snapshot dated too far in the future becomes the newest, ms since the epoch; `undefined` in the past. */
  nextChainFrom(ticker: string): number | undefined;
  /**
   * Returns the sums of the prints with a premium of at least `minPremiumUsd` dollars in a period of `days` times 24 hours. The period ends
   * at the moment of the chain or of the last print, whichever is later. Leaves out prints of contracts with an adjusted deliverable.
   */
  flow(chain: Chain, days: number, minPremiumUsd: number): readonly PrintSum[];
  /** Returns the prints of a New York day of at least `minPremiumUsd` dollars, without those that `flow` leaves out. */
  largeOn(chain: Chain, day: string, minPremiumUsd: number): LargeTape;
  /** Returns the start of the period for which the store has all prints, ms since the epoch. Returns 0 if no prints were removed. */
  printsKeptFrom(): number;
  /**
   * Returns every print of the period of `flow`, in time order. Without `days`, returns every print up to the chain's moment. Without
   * `days`, the field `prints` leaves out prints of contracts that expired before the chain's day.
   */
  tape(chain: Chain, days?: number): StoredTape;
  /** Returns whether the ticker has prints. If there are no prints, flow is computed from snapshots. */
  hasPrints(ticker: string): boolean;
  /** Returns the id of the last snapshot of each of the `days` New York days up to the chain's moment, oldest first. */
  recentChainIds(chain: Chain, days: number): number[];
  chainById(id: number): Chain | undefined;
  /** Returns the last `limit` daily closes up to and including `date`, the oldest close first. */
  closes(ticker: string, date: string, limit: number): Close[];
  /** Returns the delivered closes of the dates (both included), oldest first, and in the past only those up to its moment. */
  officialCloses(ticker: string, fromDate: string, toDate: string): Close[];
  /** Returns the dividends that were known at the chain's time, from the chain's day to its last settlement, by date. */
  dividends(chain: Chain): readonly CashDividend[];
  /** Returns the number of snapshots of some tickers whose levels are not computed yet, up to the market's moment (see `LevelStore`). */
  levelsDue(tickers: readonly string[], ofHorizons?: boolean): number;
  // The following methods work like the methods of `LevelStore`, but only up to the market's moment.
  lastLevelsAt(ticker: string, untilMs: number): number | undefined;
  levelTimes(ticker: string, fromMs: number, toMs: number, per: 'snapshot' | 'day', limit?: number): number[];
  levels(ticker: string, times: readonly number[]): LevelRecord[];
  /** Returns the newest levels of each ticker with the source of their snapshot, or `undefined` for a ticker without stored levels. */
  newestLevels(tickers: readonly string[]): readonly (NewestLevels | undefined)[];
  volatilitiesOfDays(ticker: string, days: readonly string[], untilMs: number): readonly (number | null)[];
  levelSpots(ticker: string, fromMs: number, toMs: number): LevelSpot[];
  /** Returns a text that changes when levels of the ticker are stored or removed. */
  levelsVersion(ticker: string): string;
  /**
   * Returns the market as it was at an instant, without data of a later date. A ticker that has a chain now may have no chain in this
   * market. Later requests to this market get the same answers, as long as no past data is added or removed.
   */
  at(instantMs: number): Market;
}

/** Maximum time by which a chain may be ahead of the clock, ms. A later date is an error, and must not replace the present chain. */
export const AHEAD_MS = 15 * 60_000;

/** Creates a market that reads from a store. `nowMs` is the wall clock, ms since the epoch. */
export function createMarket(store: KnownMarket, universe: Universe, simulated: boolean, nowMs: () => number): Market {
  /** The newest chain of each ticker, with its id in the store. A newer snapshot replaces the entry. */
  const newest = new Map<string, CachedChain>();
  /** The last requested past chains, by id. Analyses of a chain are cached while the chain is in memory. */
  const past = new Map<number, Chain>();
  const newestLevels = newestLevelsIn(store, simulated);
  let flows = new Map<string, readonly PrintSum[]>();
  let tapeVersions = new Map<string, TapeVersion>();
  let storeVersion = '';
  const refresh = () => {
    const current = store.version();
    if (current === storeVersion) return;
    storeVersion = current;
    flows = new Map();
    tapeVersions = new Map();
  };
  /** Reads the snapshot that `find` returns. The store sets a damaged snapshot aside, and `find` then returns the one before it. */
  const readFound = (
    find: () => number | undefined,
    held: (id: number) => Chain | undefined,
  ): CachedChain | undefined => {
    for (let last: number | undefined; ; ) {
      const id = find();
      if (id === undefined || id === last) return undefined;
      const chain = held(id) ?? store.chain(id);
      if (chain) return { id, chain };
      last = id;
    }
  };
  const heldNewest = (ticker: string, id: number): Chain | undefined => {
    const cached = newest.get(ticker);
    return cached?.id === id ? cached.chain : undefined;
  };
  const newestChain = (ticker: string): Chain | undefined => {
    // An older version of the program may have stored chains with names that are not tickers.
    if (!isTicker(ticker)) return undefined;
    const found = readFound(
      () => store.latestChainId(ticker, simulated, nowMs() + AHEAD_MS),
      (id) => heldNewest(ticker, id),
    );
    if (found) newest.set(ticker, found);
    return found?.chain;
  };
  const chainAt = (ticker: string, instantMs: number): Chain | undefined => {
    if (!isTicker(ticker) || isThinned(store, ticker, instantMs, simulated)) return undefined;
    const found = readFound(
      () => store.chainIdAt(ticker, simulated, instantMs),
      (id) => heldNewest(ticker, id) ?? past.get(id),
    );
    if (found === undefined) return undefined;
    const { id, chain } = found;
    past.delete(id);
    past.set(id, chain);
    if (past.size > PAST_CHAINS_MAX) past.delete(past.keys().next().value!);
    return chain;
  };

  /** Returns the canonical ticker of any spelling or name. A symbol with data never counts as the name of another ticker. */
  const tickerOf = (spelling: string): string => {
    const symbol = symbolOf(spelling);
    if (universe.tickers.has(symbol)) return symbol;
    const named = universe.names.named(spelling) ?? universe.names.named(symbol);
    return named === undefined || newestChain(symbol) ? symbol : named;
  };

  const soughtOf = (spelling: string): Sought => {
    const ticker = tickerOf(spelling);
    return { spelling, ticker, isByName: ticker !== symbolOf(spelling) };
  };

  /** Returns the market at an instant. If the instant is undefined, returns the present market. */
  const marketUntil = (untilMs: number | undefined): Market => {
    const until = untilMs ?? Number.MAX_SAFE_INTEGER;
    const findChain = (spelling: string): Chain | undefined => {
      const ticker = tickerOf(spelling);
      return untilMs === undefined ? newestChain(ticker) : chainAt(ticker, untilMs);
    };
    const lastPrintAt = (ticker: string) => store.lastPrintAt(ticker, simulated, until);
    /** Returns the end of the period of `flow`: the moment of the chain or of the last print, whichever is later. */
    const endOf = ({ underlying, asOf }: Chain) => Math.max(asOf, lastPrintAt(underlying) ?? 0);
    const windowOf = (chain: Chain, days: number): [fromMs: number, toMs: number] => {
      const toMs = endOf(chain);
      return [toMs - days * DAY_MS, toMs];
    };
    const tapeVersionOf = (underlying: string, fromMs: number, toMs: number) => {
      const range = `${underlying} ${fromMs} ${toMs}`;
      const read = () => store.tapeVersion(underlying, fromMs, toMs, simulated);
      return { range, ...tapeVersions.getOrInsertComputed(range, read) };
    };
    const tracked = (spelling: string): string => {
      const ticker = tickerOf(spelling);
      if (universe.tickers.has(ticker) || newestChain(ticker)) return ticker;
      throw unknownTicker(soughtOf(spelling), universe, store.underlyings(simulated).filter(isTicker));
    };
    return {
      isPast: untilMs !== undefined,
      isSimulated: simulated,
      findChain,
      nameOf: tickerOf,
      isByName: (spelling) => soughtOf(spelling).isByName,
      tickersWithChain(from = '', limit = Number.MAX_SAFE_INTEGER) {
        const tickers: string[] = [];
        for (let next = from; tickers.length < limit; ) {
          const names = store.underlyings(simulated, next, limit);
          tickers.push(...names.filter(isTicker));
          if (names.length < limit) break;
          // A space sorts before every character of a ticker, so the next names begin right after the last name.
          next = `${names.at(-1)} `;
        }
        return tickers.slice(0, limit);
      },
      tracked,
      quotedAt: (spelling) =>
        store.snapshotsAround(tickerOf(spelling), simulated, untilMs ?? nowMs() + AHEAD_MS, 0).before ?? undefined,
      nextChainFrom(spelling) {
        if (untilMs !== undefined) return undefined;
        const presentMs = nowMs() + AHEAD_MS;
        const { after } = store.snapshotsAround(tickerOf(spelling), simulated, presentMs, Number.MAX_SAFE_INTEGER);
        return after === null ? undefined : after - AHEAD_MS;
      },
      chain(spelling) {
        const chain = findChain(spelling);
        if (chain) return chain;
        const ticker = tracked(spelling);
        if (untilMs === undefined) throw noChain(soughtOf(spelling), (other) => newestChain(other) !== undefined);
        throw noChainAt(ticker, untilMs, store.snapshotsAround(ticker, simulated, untilMs, nowMs()));
      },
      flow(chain, days, minPremiumUsd) {
        refresh();
        const [fromMs, toMs] = windowOf(chain, days);
        const key = `${chain.underlying} ${fromMs} ${toMs} ${minPremiumUsd}`;
        const read = () => store.printSums(chain.underlying, fromMs, toMs, simulated, minPremiumUsd);
        return flows.getOrInsertComputed(key, read);
      },
      largeOn(chain, day, minPremiumUsd) {
        refresh();
        const { underlying } = chain;
        const [fromMs, nextMs] = [newYorkInstant(day, '00:00'), newYorkInstant(addDays(day, 1), '00:00')];
        const toMs = Math.min(endOf(chain), nextMs - 1);
        const { range, version } = tapeVersionOf(underlying, fromMs, toMs);
        const read = function* () {
          const large = store.largePrints(underlying, fromMs, toMs, simulated, minPremiumUsd);
          for (const columns of large) yield withoutAdjusted(columns);
        };
        return { version: `${range} ${minPremiumUsd} ${version}`, columns: { [Symbol.iterator]: read } };
      },
      printsKeptFrom: () => store.keptFrom('prints'),
      tape(chain, days) {
        refresh();
        const { underlying, asOf } = chain;
        const [fromMs, toMs] = days === undefined ? [0, asOf] : windowOf(chain, days);
        const { range, count, version } = tapeVersionOf(underlying, fromMs, toMs);
        const fromExpiry = days === undefined ? newYorkDate(asOf) : undefined;
        const read = () => store.tape(underlying, fromMs, toMs, simulated, fromExpiry)[Symbol.iterator]();
        return {
          count,
          version: `${range} ${version}`,
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
      officialCloses: (ticker, fromDate, toDate) =>
        store
          .officialCloses(tickerOf(ticker), fromDate, toDate, simulated)
          .filter(({ date }) => untilMs === undefined || closeOf(date) <= untilMs),
      dividends: (chain) => storedDividends(store, chain),
      levelsDue: (tickers, ofHorizons) => store.levelsDueOf(tickers.map(tickerOf), simulated, until, ofHorizons),
      lastLevelsAt: (ticker, toMs) => store.lastLevelsAt(tickerOf(ticker), Math.min(toMs, until), simulated),
      levelTimes: (ticker, fromMs, toMs, per, limit) =>
        store.levelTimes(tickerOf(ticker), fromMs, Math.min(toMs, until), per, simulated, limit),
      levels: (ticker, times) => store.levels(tickerOf(ticker), times, simulated),
      newestLevels(tickers) {
        const names = tickers.map(tickerOf);
        if (untilMs === undefined) return newestLevels(names);
        return names.map((name) => {
          const levels = store.newestLevels(name, until, simulated);
          return levels && { ...levels, earlier: {} };
        });
      },
      volatilitiesOfDays: (ticker, days, untilMs) =>
        store.volatilitiesOfDays(tickerOf(ticker), days, Math.min(untilMs, until), simulated),
      levelSpots: (ticker, fromMs, toMs) =>
        store.levelSpots(tickerOf(ticker), fromMs, Math.min(toMs, until), simulated),
      levelsVersion: (ticker) => `${store.otherChanges()} ${store.changes(`levels ${tickerOf(ticker)}`)}`,
      at: (instantMs) => marketUntil(Math.min(instantMs, until)),
    };
  };
  return marketUntil(undefined);
}

interface CachedChain {
  readonly id: number;
  readonly chain: Chain;
}

/** Maximum number of past chains in memory. The largest chain takes about 3 MB, and its analysis takes another 3 MB. */
const PAST_CHAINS_MAX = 8;

/** Returns whether retention may have removed the snapshot of an instant, as it keeps the last of a day. The chain is then unknown. */
function isThinned(store: KnownMarket, ticker: string, instantMs: number, simulated: boolean): boolean {
  if (!simulated && instantMs >= store.keptFrom('intraday')) return false;
  const dayEndsAt = newYorkInstant(addDays(newYorkDate(instantMs), 1), '00:00') - 1;
  const { before, after } = store.snapshotsAround(ticker, simulated, instantMs, dayEndsAt);
  if (before === null || after === null) return false;
  if (!simulated) return true;
  // The simulated market has one snapshot a minute, so `before` is the only snapshot of its minute. From the moment `allFrom` on, all
  // snapshots are kept. Snapshots of nights and weekends do not count, so the last close answers for a moment at which the exchange is closed.
  const newest = store.snapshotsAround(ticker, simulated, Number.MAX_SAFE_INTEGER, 0).before!;
  return lastQuoted(instantMs) - before >= MINUTE_MS && before < simulatedRetention(newest).allFrom;
}

/** Returns the error for a ticker without a chain at a past moment. `before` and `after` are the moments of the nearest snapshots. */
function noChainAt(ticker: string, atMs: number, { before, after }: Around): ClientError {
  const stored = [before, after].filter((each) => each !== null).map(iso);
  const nearest =
    stored.length === 0
      ? 'No snapshot of the ticker is stored.'
      : `The nearest stored ${stored.length === 1 ? 'snapshot is' : 'snapshots are'} of ${stored.join(' and ')}.`;
  return new ClientError('no_chain', `No option chain of ${ticker} is stored for ${iso(atMs)}`, {
    hint: `${nearest} get_levels_history lists moments.`,
    nearest: { before: before === null ? null : iso(before), after: after === null ? null : iso(after) },
  });
}

type Around = ReturnType<KnownMarket['snapshotsAround']>;

/** Returns the dividends known at the chain's time, from the chain's day to the last settlement, in order of date. */
export function storedDividends(store: KnownMarket, { underlying, asOf, series, simulated }: Chain): CashDividend[] {
  const lastMs = Math.max(...series.map(({ settlesAt }) => settlesAt));
  return store.dividends(underlying, newYorkDate(asOf), newYorkDate(lastMs), simulated, asOf);
}

/** Returns the columns without the prints of contracts with an adjusted deliverable. */
function withoutAdjusted(columns: TapeColumns): TapeColumns {
  const { contracts, contract } = columns;
  const isPlain = contracts.series.map(({ root }) => !rootOf(root).adjusted);
  if (isPlain.every(Boolean)) return columns;
  const rows = Uint32Array.from(contract.keys());
  return pickRows(
    columns,
    rows.filter((row) => isPlain[contracts.seriesIndex[contract[row]!]!]),
  );
}

/** Returns the canonical ticker of any spelling, also of the root of weekly index options or of a share class. */
export function symbolOf(spelling: string): string {
  const ticker = tickerWithin(spelling);
  const { underlying, adjusted } = rootOf(ticker);
  return adjusted ? ticker : underlying;
}
