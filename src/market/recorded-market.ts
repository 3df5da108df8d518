import type { Chain } from './chain.ts';
import { AHEAD_MS, type Market, symbolOf } from './market.ts';
import type { DataKey, DataKind } from './store.ts';

/** Learns on which data and on which moments an answer depends. */
export interface Dependencies {
  /** Called before data is read. */
  onRead(key: DataKey): void;
  /** Called with a moment, ms since the epoch. What was read depends on whether the moment has passed. */
  onMoment(atMs: number): void;
}

/**
 * The kinds of data that each method of a market reads of the ticker or tickers in its first argument. The compiler requires an entry for each method,
 * so nobody can add a method whose reads are not recorded.
 */
const KINDS: Readonly<Record<keyof Market, readonly DataKind[]>> = {
  isPast: [],
  isSimulated: [],
  at: [],
  chain: ['snapshots'],
  nameOf: ['snapshots'],
  isByName: ['snapshots'],
  tracked: ['snapshots'],
  findChain: ['snapshots'],
  tickersWithChain: ['snapshots'],
  quotedAt: ['snapshots'],
  nextChainFrom: ['snapshots'],
  flow: ['prints'],
  largeOn: ['prints'],
  // Retention sets the period. Its writes count as other changes, so they invalidate every answer.
  printsKeptFrom: [],
  tape: ['prints'],
  hasPrints: ['prints'],
  recentChainIds: ['snapshots'],
  // The ids come from `recentChainIds`.
  chainById: [],
  // The spot of a day's last snapshot stands for a missing close.
  closes: ['closes', 'snapshots'],
  officialCloses: ['closes'],
  dividends: ['dividends'],
  levelsDue: ['levels', 'snapshots'],
  lastLevelsAt: ['levels'],
  levelTimes: ['levels'],
  levels: ['levels'],
  newestLevels: ['levels'],
  volatilitiesOfDays: ['levels'],
  levelSpots: ['levels'],
  levelsVersion: ['levels'],
};

/** A read of more tickers than this counts as a read of all tickers, because to report each ticker takes longer than to read its levels. */
const LISTED_MAX = 16;

/** Returns a market that reports what is read from it. Reports a read before the data is read, so a later write always counts as a change. */
export function recordedMarket(market: Market, dependencies: Dependencies): Market {
  const { onRead, onMoment } = dependencies;
  /** Reports the reads of a ticker in any spelling. Whether a spelling is a name or a symbol depends on the snapshots of the symbol. */
  const reportReads = (kinds: readonly DataKind[], ticker: string) => {
    onRead(`snapshots ${symbolOf(ticker)}`);
    const name = market.nameOf(ticker);
    for (const kind of kinds) onRead(`${kind} ${name}`);
  };
  /** Reports the moments at which another snapshot becomes the newest one, because dates in the future are held back. */
  const reportMoments = (ticker: string, asOf: number | undefined) => {
    if (market.isPast) return;
    const next = market.nextChainFrom(ticker);
    if (next !== undefined) onMoment(next);
    if (asOf !== undefined) onMoment(asOf - AHEAD_MS);
  };
  const methods = Object.entries(market).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member];
    const method = member as (...given: unknown[]) => unknown;
    const kinds = KINDS[name as keyof Market];
    const recorded = (...given: unknown[]) => {
      const [of] = given as [string | readonly string[] | Chain | number | undefined];
      if (typeof of === 'string') reportReads(kinds, of);
      else if (isList(of) && of.length > LISTED_MAX) for (const kind of ['snapshots', ...kinds] as const) onRead(kind);
      else if (isList(of)) for (const each of of) reportReads(kinds, each);
      else if (typeof of === 'object') for (const kind of kinds) onRead(`${kind} ${of.underlying}`);
      return method(...given);
    };
    return [name, recorded];
  });
  const recorded = Object.fromEntries(methods) as unknown as Market;
  return {
    ...recorded,
    at: (instantMs) => recordedMarket(market.at(instantMs), dependencies),
    tickersWithChain(...range) {
      onRead('snapshots');
      return market.tickersWithChain(...range);
    },
    chain(ticker) {
      const chain = recorded.chain(ticker);
      reportMoments(ticker, chain.asOf);
      return chain;
    },
    findChain(ticker) {
      const chain = recorded.findChain(ticker);
      reportMoments(ticker, chain?.asOf);
      return chain;
    },
    quotedAt(ticker) {
      const asOf = recorded.quotedAt(ticker);
      reportMoments(ticker, asOf);
      return asOf;
    },
  };
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}
