import { computed, effect, signal } from '@preact/signals';
import { eventCount, type LiveLevels, liveLevels } from '../data/live-levels.ts';
import type { DayChanges } from '../data/page-answers.ts';
import { newYorkIsoDate } from '../page-format.ts';
import { TICKER } from './address.ts';
import { page, pageTicker, setOwn, view } from './page.ts';
import { dayChanges, past, tickers } from './page-market.ts';
import { notify } from './ui.ts';

type Column = Exclude<keyof DayChanges, 'without_data' | 'left_out' | 'notes' | 'provenance'>;
/** The figures of one ticker: a row of the columns of the answer. Null means unknown. */
export type DayFigures = { readonly [Name in Column]: DayChanges[Name][number] };

/** The figures of the answer by ticker. Undefined before the answer. */
const dayRows = computed(() => {
  const { answer } = dayChanges.asked.value;
  return answer && figuresByTicker(answer.body);
});

/** True if it is known which tickers have data. */
export const isDataKnown = computed(() => dayRows.value !== undefined);

/** Returns the figures of each ticker of an answer. */
export function figuresByTicker(answer: DayChanges): ReadonlyMap<string, DayFigures> {
  const columns = Object.entries(answer).filter((entry): entry is [string, []] => Array.isArray(entry[1]));
  const row = (i: number) => Object.fromEntries(columns.map(([name, values]) => [name, values[i]]));
  return new Map(answer.ticker.map((ticker, i) => [ticker, row(i) as unknown as DayFigures]));
}

/** What the event stream does not have. */
const UNKNOWN_ROW = {
  ...{ previous_as_of: null, previous_spot: null, previous_gex_flip: null, atm_iv_30d: null, iv_rank: null },
  daily_move: null,
};

/**
 * Returns the figures of an answer with newer levels of the event stream. If the levels are of another day than the answer, the change on
 * the day is unknown until the next answer.
 */
export function withLive(row: DayFigures | undefined, live: LiveLevels | undefined): DayFigures | undefined {
  const as_of = live?.provenance.as_of;
  if (!live || !as_of || (row && Date.parse(as_of) < Date.parse(row.as_of))) return row;
  const spot = live.spot_price;
  const isSameDay = row && row.change_pct !== null && newYorkIsoDate(row.as_of) === newYorkIsoDate(as_of);
  return {
    ...(row ?? UNKNOWN_ROW),
    ...{ ticker: live.ticker, as_of, spot, regime: live.regime, call_wall: live.call_wall, put_wall: live.put_wall },
    change_pct: isSameDay ? 100 * (spot / row.previous_spot! - 1) : null,
    gex_flip: live.flip_resolved === false ? null : live.gex_flip,
    net_gex: live.net_gex_mil * 1e6,
    sign_margin_pct: live.sign_margin_pct ?? Number.NaN,
  };
}

/** Returns the newest figures of a ticker. A component that calls the function renders again when they change. */
export function dayFigures(ticker: string): DayFigures | undefined {
  return withLive(dayRows.value?.get(ticker), liveLevels(ticker).value);
}

/** Returns the distance of the flip from spot, percent of spot. */
export function flipAway(figures: DayFigures | undefined): number | null {
  return figures && figures.gex_flip !== null ? 100 * (figures.gex_flip / figures.spot - 1) : null;
}

/** True if the lists of tickers also have the tickers without data. */
export const areAllListed = signal(false);

/** Returns the tickers that have data. Returns all tickers if the member wants them, or if it is not known which ones have data. */
export function listed(names: readonly string[]): readonly string[] {
  const rows = dayRows.value;
  if (areAllListed.value || (!rows && dayChanges.asked.value.problem)) return names;
  return names.filter((name) => rows?.has(name) || name === pageTicker.value);
}

/** Returns the ticker that is `step` positions below the page's ticker in the watchlist. */
export function neighbour(step: number): string | undefined {
  const names = listed(tickers.value);
  return names[Math.max(0, Math.min(names.length - 1, names.indexOf(pageTicker.value) + step))];
}

/** Maximum number of compared tickers. */
export const COMPARED_MAX = 8;

/** The compared tickers as a text, which changes only when they change. Null if another view is open. */
const comparedNames = computed(() => (view.value === 'compare' ? (page.value.own.with ?? '') : null));

/** The tickers that the view Compare compares, in the order in which they were picked. Null if another view is open. */
export const compared = computed(() =>
  comparedNames.value === null ? null : namesIn(comparedNames.value).slice(0, COMPARED_MAX),
);

function namesIn(text: string): string[] {
  const names = text.toUpperCase().split(/[\s,]+/);
  return [...new Set(names.filter((name) => TICKER.test(name)))];
}

/** Compares the tickers that a text names. More than `COMPARED_MAX` are refused. */
export function compareTickers(text: string): void {
  const names = namesIn(text);
  if (names.length > COMPARED_MAX) notify(`At most ${COMPARED_MAX} tickers can be compared. Remove one first.`);
  setOwn('with', names.slice(0, COMPARED_MAX).join(',') || null);
}

/** Adds a ticker to the compared ones, or removes it. */
export function toggleCompared(name: string): void {
  const names = compared.value ?? [];
  compareTickers((names.includes(name) ? names.filter((each) => each !== name) : [...names, name]).join());
}

/** Asks for the changes again when a ticker has a snapshot of a new day or when its past is complete. */
export function followDayChanges(): void {
  const outdated = computed(() => {
    // The count rises once for all events of a frame. Its value is used, because the minifier removes a read that is not.
    const rows = eventCount.value > 0 ? dayRows.value : undefined;
    const day = (moment: string | undefined) => (moment === undefined ? '' : newYorkIsoDate(moment));
    const isOld = (name: string) => day(liveLevels(name).peek()?.provenance.as_of) > day(rows?.get(name)?.as_of);
    return rows ? tickers.value.filter(isOld).join(' ') : '';
  });
  effect(() => {
    if (outdated.value !== '') dayChanges.refresh();
  });
  effect(() => {
    const rows = dayRows.peek()?.values();
    if (past.value?.done !== undefined && rows?.some((row) => row.previous_spot === null)) dayChanges.refresh();
  });
}
