import { computed, effect, signal } from '@preact/signals';
import type { FullAnswer } from '../../src/client/client.ts';
import { followLiveLevels, liveLevels } from '../data/live-levels.ts';
import { memberKey } from '../data/member-key.ts';
import {
  type Asked,
  type DayChanges,
  type FeedStatusAnswer,
  type GexView,
  shareAnswer,
  type UniverseAnswer,
  useAnswer,
} from '../data/page-answers.ts';
import type { RequestProblem } from '../data/request.ts';
import { serverNow } from '../data/server-connection.ts';
import type { Call, CallValue, WebOperationName } from '../operations.ts';
import { exchangeCalendar } from '../time/exchange-days.ts';
import { isComparable } from './moment-diff.ts';
import { navigate, page, pageOptions, pageTicker, tickerCall } from './page.ts';

/** The answer with all tickers of the universe, by theme. */
export const universe = shareAnswer<UniverseAnswer>(() => ({ operation: 'get_target_universe', args: {} }));

/** The answer with the state of the feeds and the trading session of the exchange. */
export const feeds = shareAnswer<FeedStatusAnswer>(() => ({ operation: 'get_feed_status', args: {} }));

/** True after the first figure. */
const isStarted = signal(false);

/** The answer with the newest figures of all tickers. It is asked for after the first figure, so that the first figure does not wait for it. */
export const dayChanges = shareAnswer<DayChanges>(() =>
  isStarted.value ? { operation: 'get_day_changes', args: {} } : undefined,
);

/** All tickers that have or may get data, joined by spaces. The value is a string, so that the signal changes only when a name changes. */
const tickerNames = computed(() => {
  const themes = universe.asked.value.answer?.body.macro_themes ?? {};
  const stored = (feeds.asked.value.answer?.body.feeds ?? []).flatMap((feed) =>
    feed.tickers.filter((each) => each.as_of !== null).map((each) => each.ticker),
  );
  const known = dayChanges.asked.value.answer?.body.ticker ?? [];
  return [...new Set([...Object.values(themes).flat(), ...stored, ...known])].join(' ');
});

/** The list has the tickers of the universe by theme, followed by the other tickers with data. */
export const tickers = computed(() => tickerNames.value.split(' ').filter(Boolean));

/** The tickers that have data, newest quotes first, with the time of their quotes. */
export const tickersWithData = computed(() =>
  (feeds.asked.value.answer?.body.feeds ?? [])
    .flatMap((feed) => feed.tickers.flatMap(({ ticker, as_of }) => (as_of === null ? [] : [{ ticker, asOf: as_of }])))
    .toSorted((a, b) => b.asOf.localeCompare(a.asOf)),
);

/** Returns whether a problem means that the ticker has no data at any moment. */
export function isWithoutData(problem: RequestProblem | undefined): boolean {
  return (problem?.code === 'no_chain' && problem.nearest.length === 0) || problem?.code === 'unknown_ticker';
}

/** The arguments of every analysis on the page: the ticker and the options. */
export const analysisArguments = computed(() => ({ ticker: page.value.ticker, ...pageOptions.value }));

/**
 * The levels, strikes, profile and expiries for the page's ticker, moment and options. Every panel shows the snapshot of this answer, so
 * that the panels do not contradict each other.
 */
export const gexView = shareAnswer<GexView>(() => {
  const { at } = page.value;
  return { operation: 'get_gex_view', args: { ...analysisArguments.value, ...(at !== null && { at }) } };
});

/** The levels, strikes, profile and expiries at moment A. The page sends this request only while it compares two moments. */
export const pinnedView = shareAnswer<GexView>(() => {
  const { pinned, isDiff } = page.value;
  if (pinned === null || !isDiff) return undefined;
  return { operation: 'get_gex_view', args: { ...analysisArguments.value, at: pinned } };
});

/**
 * The view at moment A, while the page compares two moments. Undefined while one of the two views is loading, because both views must have
 * the same ticker and the same options.
 */
export const comparedView = computed(() => {
  const [now, before] = [gexView.asked.value.answer, pinnedView.asked.value.answer];
  const { isDiff, pinned } = page.value;
  const isWanted = isDiff && now && before && before.call.args.at === pinned && isComparable(now.call, before.call);
  return isWanted ? before : undefined;
});

/** The time of the quotes in the snapshot on the page, ISO 8601. Panels that send their own requests request the data of this moment. */
export const asOf = computed(() => gexView.asked.value.answer?.asOf);

/** A call, and the state of the request. The fields are props of `ChartPanel`. */
export interface AskedCall<Body> extends Asked<Body> {
  readonly call: Call | undefined;
}

/** Asks for the page's ticker and moment, and returns the answer. Sends nothing if `args` is undefined or the moment is unknown. */
export function useTickerAnswer<Body>(
  operation: WebOperationName,
  args: Readonly<Record<string, CallValue>> | undefined,
): AskedCall<Body> {
  const call = asOf.value && args && tickerCall(operation, asOf.value, args);
  return { ...useAnswer<Body>(call || undefined), call: call || undefined };
}

/** True if the page shows simulated market data. */
export const isSimulated = computed(
  () =>
    gexView.asked.value.answer?.isSimulated ??
    feeds.asked.value.answer?.body.feeds.some((each) => each.simulated) ??
    false,
);

/** Number of snapshots that have arrived for the ticker since the page stopped showing live data. */
export const newerCount = signal(0);

/** The number of past snapshots that the simulated market has computed. Undefined if there is no feed report or no simulated market. */
export const past = computed(() => feeds.asked.value.answer?.body.feeds.find((feed) => feed.past)?.past);

/** The number of past snapshots that the simulated market has computed, as text. Null if the past is complete, or not simulated. */
export const fillingPast = computed(() => {
  const { value } = past;
  return value && value.done < value.total ? `${value.done} of ${value.total} snapshots` : null;
});

/** The calendar of the exchange. It is asked for after the first figure, which does not need it. */
const calendar = shareAnswer<FullAnswer<'get_exchange_calendar'>>(() =>
  asOf.value === undefined ? undefined : { operation: 'get_exchange_calendar', args: {} },
);

const FEEDS_EVERY_MS = 30_000;
/** Interval of the requests for the feed status while the simulated market computes its past, in ms. */
const FILLING_EVERY_MS = 3_000;

/** Opens the stream of live levels. New levels refresh the shared answers. A timer refreshes the feed status. */
export function followMarket(): void {
  effect(() => {
    const { answer, problem } = gexView.asked.value;
    if (answer || problem) isStarted.value = true;
  });
  let stream: { stop(): void } | undefined;
  effect(() => {
    const key = memberKey.value;
    const names = tickers.value;
    stream?.stop();
    stream = undefined;
    if (key === null || names.length === 0) return;
    stream = followLiveLevels(names, accountName(key));
  });
  effect(() => {
    const levels = liveLevels(pageTicker.value).value;
    if (!levels) return;
    const shown = asOf.peek();
    if (page.peek().at !== null) newerCount.value = newerCount.peek() + 1;
    else if (shown !== undefined && Date.parse(levels.provenance.as_of) > Date.parse(shown)) gexView.refresh();
  });
  effect(() => {
    if (page.value.at === null) newerCount.value = 0;
  });
  effect(() => {
    const body = calendar.asked.value.answer?.body;
    if (body) exchangeCalendar.value = { holidays: new Set(body.holidays), halfDays: new Set(body.half_days) };
  });
  // An address without a ticker opens the newest ticker if the usual one has no data.
  effect(() => {
    const { problem } = gexView.asked.value;
    const newest = tickersWithData.value[0];
    if (location.hash === '' && isWithoutData(problem) && newest) navigate({ ticker: newest.ticker }, false);
  });
  let askedAt = 0;
  const everyMs = () => (fillingPast.value === null ? FEEDS_EVERY_MS : FILLING_EVERY_MS);
  effect(() => {
    if (memberKey.value === null || serverNow.value - askedAt < everyMs()) return;
    if (askedAt > 0) feeds.refresh();
    askedAt = serverNow.value;
  });
}

/** Returns a 53-bit hash of the key. The hash identifies the account without revealing the key. */
function accountName(key: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < key.length; i++) {
    a = Math.imul(a ^ key.charCodeAt(i), 2_654_435_761);
    b = Math.imul(b ^ key.charCodeAt(i), 1_597_334_677);
  }
  return (4_294_967_296 * (2_097_151 & b) + (a >>> 0)).toString(36);
}
