import { computed, effect, signal } from '@preact/signals';
import { liveLevels } from '../data/live-levels.ts';
import { type History, shareAnswer } from '../data/page-answers.ts';
import { askAhead } from '../data/request.ts';
import { newYorkIsoDate } from '../page-format.ts';
import { type TradingAxis, tradingAxis } from '../time/trading-axis.ts';
import type { PageState } from './address.ts';
import { navigate, page, pageTicker } from './page.ts';
import { analysisArguments, asOf, gexView, past } from './page-market.ts';
import { dayBeside, firstOfReplay, type Stops, stopAt, stopBeside, withStop } from './stop-steps.ts';

/** The history of the ticker with a row for each stored snapshot. */
export const stops = shareAnswer<History>(() => ({
  operation: 'get_gex_history',
  args: { ticker: pageTicker.value, per: 'snapshot', points: 5000 },
}));

/** What was filled of the past when the stops were asked last. */
let filled: number | undefined;

effect(() => {
  if (past.value?.done === filled) return;
  filled = past.value?.done;
  if (stops.asked.value.answer) stops.refresh();
});

/** Snapshots that arrived after the history was asked. The server is not asked again, because their levels have all that a stop needs. */
const arrived = signal<{ readonly ticker: string; readonly events: readonly (readonly [at: string, spot: number])[] }>({
  ticker: '',
  events: [],
});

effect(() => {
  const name = pageTicker.value;
  const levels = liveLevels(name).value;
  const { events, ticker: of } = arrived.peek();
  if (of !== name) arrived.value = { ticker: name, events: [] };
  if (levels) {
    const event = [levels.provenance.as_of, levels.spot_price] as const;
    arrived.value = { ticker: name, events: of === name ? [...events, event] : [event] };
  }
});

/** The snapshots that the page can show: the stops of the time strip. */
export const stopList = computed((): Stops => {
  const body = stops.asked.value.answer?.body;
  if (!body) return { at: [], ms: [], day: [], spot: [] };
  const { as_of, day, spot } = body;
  const known: Stops = { at: as_of, ms: as_of.map((each) => Date.parse(each)), day, spot };
  return arrived.value.events.reduce((all, [at, price]) => withStop(all, at, newYorkIsoDate(at), price), known);
});

/** The moments with a snapshot, ISO 8601, ascending. */
export const moments = computed(() => stopList.value.at);

/**
 * The axis of the time strip. Each day is as wide as it has snapshots, so that each snapshot can be reached with a finger, on days of which
 * one is stored and on days of which hundreds are. Within a day time runs evenly: a hole there is a hole in the data, and so is a day
 * without a tick. An axis of even time would leave half-hours of one week a pixel each beside months of closes, and an axis of even
 * steps would show no hole.
 */
export const stripAxis = computed((): TradingAxis => tradingAxis(stopList.value.ms, ({ count }) => Math.max(1, count)));

/** The moment that the page shows, ms since the epoch. NaN: not known yet. */
export const shownMs = computed(() => Date.parse(page.value.at ?? asOf.value ?? ''));

/** The index of the snapshot that the page shows: the newest that is not after the page's moment. -1: none. */
export const momentIndex = computed(() => (Number.isNaN(shownMs.value) ? -1 : stopAt(stopList.value, shownMs.value)));

/** Sets the page's moment to a stop. The last stop is live. */
export function moveToStop(index: number, isStep = true): void {
  const all = moments.value;
  const to = Math.max(0, Math.min(all.length - 1, index));
  navigate({ at: to === all.length - 1 ? null : (all[to] ?? null) }, isStep);
}

/** Sets the page's moment to that of a snapshot. That of the newest snapshot is live. `change` is what else changes. */
export function moveToMoment(at: string, change: Partial<PageState> = {}): void {
  navigate({ ...change, at: Date.parse(at) === stopList.value.ms.at(-1) ? null : at });
}

/** Moves by one snapshot, or to the last snapshot of the day before or after. */
export function moveInTime(step: 1 | -1, by: 'snapshot' | 'day'): void {
  const shown = shownMs.value;
  if (Number.isNaN(shown)) return;
  const to =
    by === 'snapshot'
      ? stopBeside(stopList.value, shown, step)
      : dayBeside(stopList.value, newYorkIsoDate(shown), step);
  if (to !== undefined) moveToStop(to);
}

/** Times for which *Play* shows a stop, ms. */
export const PLAY_MS = [1_000, 500, 250] as const;
export const playMs = signal<number>(PLAY_MS[1]);
export const isPlaying = signal(false);

/** Starts or ends *Play*: one stop after the other, until the newest. */
export function togglePlay(): void {
  isPlaying.value = !isPlaying.value && moments.value.length > 1;
}

effect(() => {
  if (!isPlaying.value) return;
  const shown = page.peek().at;
  if (shown === null || momentIndex.peek() === moments.peek().length - 1) moveToStop(firstOfReplay(stopList.peek()));
  let played = page.peek().at;
  const timer = setInterval(() => {
    const { at } = page.peek();
    // A move in time by the member ends the play.
    if (at !== played || at === null) isPlaying.value = false;
    const { answer, problem } = gexView.asked.value;
    const isShown = problem !== undefined || answer?.call.args.at === at;
    // Each stop is seen: a slow server slows the play down.
    if (!isPlaying.peek() || !isShown || document.hidden) return;
    const next = stopBeside(stopList.peek(), shownMs.peek(), 1);
    if (next !== undefined) moveToStop(next, false);
    played = page.peek().at;
    if (played === null || next === undefined) isPlaying.value = false;
  }, playMs.value);
  return () => clearInterval(timer);
});

/** The neighbours are asked when the page has rested on a stop for this long, ms. */
const AHEAD_AFTER_MS = 120;

// In a replay, the stops beside the present one are fetched ahead.
effect(() => {
  const { at } = page.value;
  const index = momentIndex.value;
  const { answer } = gexView.asked.value;
  const args = analysisArguments.value;
  if (at === null || index < 0 || answer?.call.args.at !== at) return;
  const beside = isPlaying.value ? [index + 1, index + 2] : [index + 1, index - 1];
  const all = moments.peek();
  const timer = setTimeout(() => {
    for (const each of beside) {
      // The last stop is live, and asked without a moment.
      if (each >= 0 && each < all.length - 1)
        askAhead({ operation: 'get_gex_view', args: { ...args, at: all[each]! } });
    }
  }, AHEAD_AFTER_MS);
  return () => clearTimeout(timer);
});
