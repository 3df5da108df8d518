import { computed, effect, signal } from '@preact/signals';
import { eventCount, type LiveLevels, liveLevels } from '../data/live-levels.ts';
import type { DayChanges } from '../data/page-answers.ts';
import { cleanText, newYorkIsoDate } from '../page-format.ts';
import { TICKER } from './address.ts';
import { page, pageTicker, setOwn, view } from './page.ts';
import { dayChanges, past, tickers } from './page-market.ts';
import { notify } from './ui.ts';

/** The figures of one ticker, beside the last snapshot of an earlier day. Null means unknown. */
export interface DayFigures {
  readonly ticker: string;
  /** The moment of the quotes, ISO 8601. */
  readonly asOf: string;
  readonly spot: number;
  /** The spot at the previous close. */
  readonly previousSpot: number | null;
  /** The change of spot since the previous close, percent. */
  readonly change: number | null;
  readonly flip: number | null;
  /** The distance of the flip from spot, percent of spot. */
  readonly flipAway: number | null;
  readonly callWall: number;
  readonly putWall: number;
  /** Dollars per 1 % move. */
  readonly netGex: number;
  readonly signMargin: number | null;
  /** `positive`, `negative` or `undetermined`. */
  readonly regime: string;
  readonly ivRank: number | null;
  /** One standard deviation of the price over a trading day, dollars. */
  readonly move: number | null;
}

/** The figures of the answer by ticker. Undefined before the answer. */
const dayRows = computed(() => {
  const { answer } = dayChanges.asked.value;
  return answer && figuresByTicker(answer.body);
});

/** True if it is known which tickers have data. */
export const isDataKnown = computed(() => dayRows.value !== undefined);

/** Returns the figures of each ticker of an answer. */
export function figuresByTicker(answer: DayChanges): ReadonlyMap<string, DayFigures> {
  return new Map(
    answer.ticker.map((ticker, i) => [
      ticker,
      derived({
        ticker,
        asOf: cleanText(answer.as_of[i]),
        spot: answer.spot[i]!,
        // Without a change, the quotes before are too old for a change on the day.
        previousSpot: answer.change_pct[i] === null ? null : answer.previous_spot[i]!,
        flip: answer.gex_flip[i]!,
        callWall: answer.call_wall[i]!,
        putWall: answer.put_wall[i]!,
        netGex: answer.net_gex[i]!,
        signMargin: answer.sign_margin_pct[i]!,
        regime: answer.regime[i]!,
        ivRank: answer.iv_rank[i]!,
        move: answer.daily_move[i]!,
      }),
    ]),
  );
}

/**
 * Returns the figures of an answer with newer levels of the event stream. If the levels are of another day than the answer, the previous
 * close is unknown until the next answer.
 */
export function withLive(row: DayFigures | undefined, live: LiveLevels | undefined): DayFigures | undefined {
  if (!live || (row && Date.parse(live.provenance.as_of) < Date.parse(row.asOf))) return row;
  const asOf = cleanText(live.provenance.as_of);
  const isSameDay = row !== undefined && newYorkIsoDate(row.asOf) === newYorkIsoDate(asOf);
  return derived({
    ticker: live.ticker,
    asOf,
    spot: live.spot_price,
    previousSpot: isSameDay ? row.previousSpot : null,
    flip: live.flip_resolved === false ? null : live.gex_flip,
    callWall: live.call_wall,
    putWall: live.put_wall,
    netGex: live.net_gex_mil * 1e6,
    signMargin: live.sign_margin_pct ?? null,
    regime: live.regime,
    ivRank: row?.ivRank ?? null,
    move: row?.move ?? null,
  });
}

function derived(figures: Omit<DayFigures, 'change' | 'flipAway'>): DayFigures {
  const { spot, previousSpot, flip, regime } = figures;
  return {
    ...figures,
    regime: cleanText(regime).replace('_gamma', ''),
    change: previousSpot === null ? null : 100 * (spot / previousSpot - 1),
    flipAway: flip === null ? null : 100 * (flip / spot - 1),
  };
}

/** Returns the newest figures of a ticker. A component that calls the function renders again when they change. */
export function dayFigures(ticker: string): DayFigures | undefined {
  return withLive(dayRows.value?.get(ticker), liveLevels(ticker).value);
}

/** True if the lists of tickers also have the tickers without data. */
export const areAllListed = signal(false);

/** Returns the tickers that have data. Returns all tickers if the member wants them, or if it is not known which ones have data. */
export function listed(names: readonly string[]): readonly string[] {
  const { problem } = dayChanges.asked.value;
  const rows = dayRows.value;
  if (areAllListed.value || (!rows && problem)) return names;
  return names.filter((name) => rows?.has(name) || name === pageTicker.value);
}

/** Returns the ticker that is `step` positions below the page's ticker in the watchlist. */
export function neighbour(step: number): string | undefined {
  const names = listed(tickers.value);
  const index = names.indexOf(pageTicker.value);
  return names[Math.max(0, Math.min(names.length - 1, index + step))];
}

/** Maximum number of compared tickers. */
const COMPARED_MAX = 8;

/** The compared tickers as a text, which changes only when they change. Null if another view is open. */
const comparedNames = computed(() => (view.value === 'compare' ? (page.value.own.with ?? '') : null));

/** The tickers that the view Compare compares, in the order in which they were picked. Null if another view is open. */
export const compared = computed(() => {
  const names = comparedNames.value?.toUpperCase().split(',');
  return names ? [...new Set(names.filter((name) => TICKER.test(name)))].slice(0, COMPARED_MAX) : null;
});

/** Compares some tickers. More than `COMPARED_MAX` are refused. */
export function compareTickers(names: readonly string[]): void {
  if (names.length > COMPARED_MAX) notify(`At most ${COMPARED_MAX} tickers can be compared. Remove one first.`);
  setOwn('with', names.slice(0, COMPARED_MAX).join(',') || null);
}

/** Adds a ticker to the compared ones, or removes it. */
export function toggleCompared(name: string): void {
  const names = compared.value ?? [];
  compareTickers(names.includes(name) ? names.filter((each) => each !== name) : [...names, name]);
}

/** Asks for the changes again when a ticker has a snapshot of a new day or when its past is complete. */
export function followDayChanges(): void {
  const outdated = computed(() => {
    // The count rises once for all events of a frame. Its value is used, because the minifier removes a read that is not.
    const rows = eventCount.value > 0 ? dayRows.value : undefined;
    const day = (moment: string | undefined) => (moment === undefined ? '' : newYorkIsoDate(moment));
    const isOld = (name: string) => day(liveLevels(name).peek()?.provenance.as_of) > day(rows?.get(name)?.asOf);
    return rows ? tickers.value.filter(isOld).join(' ') : '';
  });
  effect(() => {
    if (outdated.value !== '') dayChanges.refresh();
  });
  effect(() => {
    const lacks = dayRows
      .peek()
      ?.values()
      .some(({ previousSpot }) => previousSpot === null);
    if (past.value?.done !== undefined && lacks) dayChanges.refresh();
  });
}
