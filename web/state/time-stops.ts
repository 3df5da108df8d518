import { computed, effect, signal } from '@preact/signals';
import { liveLevels } from '../data/live-levels.ts';
import { type History, shareAnswer } from '../data/page-answers.ts';
import { askAhead } from '../data/request.ts';
import { newYorkIsoDate } from '../page-format.ts';
import { type TradingAxis, tradingAxis } from '../time/trading-axis.ts';
import type { PageState } from './address.ts';
import { navigate, page, pageTicker } from './page.ts';
import { analysisArguments, asOf, gexView, past } from './page-market.ts';
import { dayBeside, earlierStop, firstOfReplay, type Stops, stopAt, stopBeside, withStop } from './stop-steps.ts';

/** The history of the ticker, with one row per stored snapshot. */
export const stops = shareAnswer<History>(() => ({
  operation: 'get_gex_history',
  args: { ticker: pageTicker.value, per: 'snapshot', points: 5000 },
}));

/** The number of computed past snapshots at the last request for the history. */
let filled: number | undefined;

effect(() => {
  if (past.value?.done === filled) return;
  filled = past.value?.done;
  if (stops.asked.value.answer) stops.refresh();
});

/**
 * Snapshots that have arrived since the request for the history. The page does not request the history again, because the events contain
 * all data that the time strip needs.
 */
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

/** The snapshots that the time strip shows. */
export const stopList = computed((): Stops => {
  const body = stops.asked.value.answer?.body;
  if (!body) return { at: [], ms: [], day: [], spot: [] };
  const { as_of, day, spot } = body;
  const known: Stops = { at: as_of, ms: as_of.map((each) => Date.parse(each)), day, spot };
  return arrived.value.events.reduce((all, [at, price]) => withStop(all, at, newYorkIsoDate(at), price), known);
});

/** The moments with a snapshot, ISO 8601, ascending. */
export const moments = computed(() => stopList.value.at);

/** True if the time strip shows only the day of the page's moment. */
export const isThisDayOnly = signal(false);

/** The snapshots on the time strip: all, or those of the day of the page's moment. */
export const stripStops = computed((): Stops => {
  const all = stopList.value;
  const ms = shownMs.value;
  if (!isThisDayOnly.value || Number.isNaN(ms)) return all;
  const date = newYorkIsoDate(ms);
  const [from, to] = [all.day.indexOf(date), all.day.lastIndexOf(date) + 1];
  if (from < 0) return all;
  return {
    at: all.at.slice(from, to),
    ms: all.ms.slice(from, to),
    day: all.day.slice(from, to),
    spot: all.spot.slice(from, to),
  };
});

/**
 * The axis of the time strip. The width of a day is proportional to the day's number of snapshots. Each snapshot can therefore be selected
 * with a finger, even if a day has hundreds of snapshots. Time is linear within a day. Missing data is visible as a gap within a day, or as
 * a day without a tick. On a linear time axis with months of daily closes, half an hour would be one pixel wide. An axis with equal
 * distances between snapshots would show no gaps.
 */
export const stripAxis = computed(
  (): TradingAxis => tradingAxis(stripStops.value.ms, ({ count }) => Math.max(1, count)),
);

/** The moment that the page shows, in ms since the epoch. NaN while the moment is unknown. */
export const shownMs = computed(() => Date.parse(page.value.at ?? asOf.value ?? ''));

/** The index of the snapshot that the page shows: the newest snapshot that is not after the page's moment. -1 if there is none. */
export const momentIndex = computed(() => (Number.isNaN(shownMs.value) ? -1 : stopAt(stopList.value, shownMs.value)));

/** Sets the page's moment to the time of a snapshot. For the last snapshot, the page shows live data. */
export function moveToStop(index: number, isStep = true): void {
  const all = moments.value;
  const to = Math.max(0, Math.min(all.length - 1, index));
  navigate({ at: to === all.length - 1 ? null : (all[to] ?? null) }, isStep);
}

/** Sets the page's moment to a snapshot, and applies `change` to the page state. For the newest snapshot, the page shows live data. */
export function moveToMoment(at: string, change: Partial<PageState> = {}): void {
  navigate({ ...change, at: Date.parse(at) === stopList.value.ms.at(-1) ? null : at });
}

/** The moments with which the page compares at one press. */
export const SINCE_TEXTS = { close: 'previous close', open: 'open', hour: '1 h before', pinned: 'A' } as const;
export type SinceName = keyof typeof SINCE_TEXTS;

/** The moment that the button *Since* compares with. */
export const since = signal<SinceName>('close');

/** Returns the snapshot of an earlier moment, ISO 8601. Undefined if there is none before the page's moment. */
export function sinceMoment(name: SinceName): string | undefined {
  if (name === 'pinned') return page.value.pinned ?? undefined;
  const ms = shownMs.value;
  const all = stopList.value;
  const index = Number.isNaN(ms) ? -1 : earlierStop(all, ms, newYorkIsoDate(ms), name);
  return all.at[index];
}

/** The last snapshot of an earlier day than the page's moment: its time and its spot. Undefined if there is none. */
export const previousClose = computed(() => {
  const at = sinceMoment('close');
  const { at: moments, spot } = stopList.value;
  return at === undefined ? undefined : { at, spot: spot[moments.indexOf(at)]! };
});

/** Compares the page with the moment of *Since*. If it compares already, ends the comparison. */
export function toggleSince(name: SinceName = since.value): void {
  const { isDiff, pinned } = page.value;
  const moment = sinceMoment(name);
  since.value = name;
  if (isDiff && (pinned === moment || moment === undefined)) navigate({ isDiff: false });
  else if (moment !== undefined) navigate({ pinned: moment, isDiff: true });
}

/** Moves the page by one snapshot, or to the last snapshot of the previous or next day. */
export function moveInTime(step: 1 | -1, by: 'snapshot' | 'day'): void {
  const shown = shownMs.value;
  if (Number.isNaN(shown)) return;
  const to =
    by === 'snapshot'
      ? stopBeside(stopList.value, shown, step)
      : dayBeside(stopList.value, newYorkIsoDate(shown), step);
  if (to !== undefined) moveToStop(to);
}

/** The possible display times of a snapshot during playback, in ms. */
export const PLAY_MS = [1_000, 500, 250] as const;
export const playMs = signal<number>(PLAY_MS[1]);
export const isPlaying = signal(false);

/** Starts or stops playback. Playback shows the snapshots one after the other, up to the newest snapshot. */
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
    // Playback ends when the member moves in time.
    if (at !== played || at === null) isPlaying.value = false;
    const { answer, problem } = gexView.asked.value;
    const isShown = problem !== undefined || answer?.call.args.at === at;
    // Playback waits until the page has rendered the current snapshot. A slow server delays playback, but no snapshot is skipped.
    if (!isPlaying.peek() || !isShown || document.hidden) return;
    const next = stopBeside(stopList.peek(), shownMs.peek(), 1);
    if (next !== undefined) moveToStop(next, false);
    played = page.peek().at;
    if (played === null || next === undefined) isPlaying.value = false;
  }, playMs.value);
  return () => clearInterval(timer);
});

/** Delay before the page prefetches the neighbouring snapshots, in ms. A move to another snapshot restarts the delay. */
const AHEAD_AFTER_MS = 120;

// During a replay, the page prefetches the previous and the next snapshot.
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
      // For the last snapshot, the page requests live data without a moment.
      if (each >= 0 && each < all.length - 1)
        askAhead({ operation: 'get_gex_view', args: { ...args, at: all[each]! } });
    }
  }, AHEAD_AFTER_MS);
  return () => clearTimeout(timer);
});
