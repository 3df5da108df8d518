import type { LevelEvent } from './level-record.ts';
import type { KnownMarket, LevelCursor } from './store.ts';

/** The newest levels of a ticker. */
export interface NewestLevels extends LevelEvent {
  /** An object that stays the same as long as the levels of the ticker's earlier days stay the same. Caches may use it as a key. */
  readonly earlier: object;
}

/** If more levels than this number were stored since the last read, all levels in memory are dropped, because to read these is slower. */
const CHANGES_MAX = 5_000;

/**
 * Returns a function that returns the newest levels of each ticker, or `undefined` for a ticker without levels. The levels stay in memory, at
 * about 1 kB per ticker. Before each read, the function applies the changes that this process or another process has made to the store.
 */
export function newestLevelsIn(store: KnownMarket, simulated: boolean) {
  /** The levels of the tickers that were read before and have levels. */
  const held = new Map<string, NewestLevels>();
  let cursor: LevelCursor = { stored: 0, removed: 0 };
  let version = '';

  const refresh = (): void => {
    const current = store.version();
    if (current === version) return;
    version = current;
    const [before, now] = [cursor, store.levelCursor()];
    cursor = now;
    if (held.size === 0 || (now.stored === before.stored && now.removed === before.removed)) return;
    if (now.stored - before.stored > CHANGES_MAX) {
      held.clear();
      return;
    }
    const { stored, removed } = store.levelChanges(before, simulated);
    for (const levels of stored) {
      const last = held.get(levels.underlying);
      const isNext = last && levels.asOf > last.asOf && levels.day === last.day;
      if (isNext) held.set(levels.underlying, { ...levels, earlier: last.earlier });
      else held.delete(levels.underlying);
    }
    for (const ticker of removed) held.delete(ticker);
  };

  const read = (ticker: string): NewestLevels | undefined => {
    const levels = store.newestLevels(ticker, Number.MAX_SAFE_INTEGER, simulated);
    if (!levels) return undefined;
    const newest = { ...levels, earlier: {} };
    held.set(ticker, newest);
    return newest;
  };
  return (tickers: readonly string[]): (NewestLevels | undefined)[] => {
    refresh();
    return tickers.map((ticker) => held.get(ticker) ?? read(ticker));
  };
}
