import { computed, effect, signal } from '@preact/signals';
import { followLiveLevels, liveLevels } from '../data/live-levels.ts';
import { memberKey } from '../data/member-key.ts';
import { type FeedStatusAnswer, type GexView, shareAnswer, type UniverseAnswer } from '../data/page-answers.ts';
import { serverNow } from '../data/server-connection.ts';
import { isComparable } from './moment-diff.ts';
import { page, pageTicker } from './page.ts';

/** The universe of tickers by theme. */
export const universe = shareAnswer<UniverseAnswer>(() => ({ operation: 'get_target_universe', args: {} }));

/** The health of the feeds and the session of the exchange. */
export const feeds = shareAnswer<FeedStatusAnswer>(() => ({ operation: 'get_feed_status', args: {} }));

/** The names of all tickers that have data or may get some, separated by spaces: a text, so that it changes only when a name changes. */
const tickerNames = computed(() => {
  const themes = universe.asked.value.answer?.body.macro_themes ?? {};
  const stored = (feeds.asked.value.answer?.body.feeds ?? []).flatMap((feed) =>
    feed.tickers.filter((each) => each.as_of !== null).map((each) => each.ticker),
  );
  return [...new Set([...Object.values(themes).flat(), ...stored])].join(' ');
});

/** Every ticker of the universe in the order of its themes, then those that only the feeds have. */
export const tickers = computed(() => tickerNames.value.split(' ').filter(Boolean));

/** Returns the ticker that is `step` places after the present one in the watchlist. */
export function neighbour(step: number): string | undefined {
  const names = tickers.value;
  const index = names.indexOf(pageTicker.value);
  if (names.length === 0) return undefined;
  return names[Math.max(0, Math.min(names.length - 1, index + step))];
}

/** The arguments of the chain's analysis that the page asks for. */
export const analysisArguments = computed(() => ({ ticker: page.value.ticker, ...page.value.options }));

/**
 * The levels, strikes, profile and expiries of the page's ticker, at the page's moment and with its options. Every panel shows the snapshot
 * of this answer, so that the page never contradicts itself.
 */
export const gexView = shareAnswer<GexView>(() => {
  const { at } = page.value;
  return { operation: 'get_gex_view', args: { ...analysisArguments.value, ...(at !== null && { at }) } };
});

/** The same at moment A, while the page compares two moments. */
export const pinnedView = shareAnswer<GexView>(() => {
  const { pinned, isDiff } = page.value;
  if (pinned === null || !isDiff) return undefined;
  return { operation: 'get_gex_view', args: { ...analysisArguments.value, at: pinned } };
});

/**
 * The view at moment A, while the page compares it with the view that it shows. Undefined while one of the two is on its way: moments with
 * other options, or of another ticker, are not compared.
 */
export const comparedView = computed(() => {
  const [now, before] = [gexView.asked.value.answer, pinnedView.asked.value.answer];
  const { isDiff, pinned } = page.value;
  const isWanted = isDiff && now && before && before.call.args.at === pinned && isComparable(now.call, before.call);
  return isWanted ? before : undefined;
});

/** When the quotes of the snapshot were taken that the page shows, ISO 8601. Panels with a call of their own ask for this moment. */
export const asOf = computed(() => gexView.asked.value.answer?.asOf);

/** Whether the market that the page shows is simulated. */
export const isSimulated = computed(
  () =>
    gexView.asked.value.answer?.isSimulated ??
    feeds.asked.value.answer?.body.feeds.some((each) => each.simulated) ??
    false,
);

/** Number of snapshots of the ticker that arrived while the page shows an earlier moment. */
export const newerCount = signal(0);

/** The past that the simulated market fills. Undefined: none yet, or it is not simulated. */
export const past = computed(() => feeds.asked.value.answer?.body.feeds.find((feed) => feed.past)?.past);

/** How much of its past the simulated market has filled, as a text that changes only when more of it is there. Null: all, or not simulated. */
export const fillingPast = computed(() => {
  const { value } = past;
  return value && value.done < value.total ? `${value.done} of ${value.total} snapshots` : null;
});

const FEEDS_EVERY_MS = 30_000;
/** The same while the simulated market fills its past. */
const FILLING_EVERY_MS = 3_000;

/** Connects the shared answers with the live levels. */
export function followMarket(): void {
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
  let askedAt = 0;
  const everyMs = () => (fillingPast.value === null ? FEEDS_EVERY_MS : FILLING_EVERY_MS);
  effect(() => {
    if (memberKey.value === null || serverNow.value - askedAt < everyMs()) return;
    if (askedAt > 0) feeds.refresh();
    askedAt = serverNow.value;
  });
}

/** A name for an account that does not reveal its key: a hash of 53 bits. */
function accountName(key: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < key.length; i++) {
    a = Math.imul(a ^ key.charCodeAt(i), 2_654_435_761);
    b = Math.imul(b ^ key.charCodeAt(i), 1_597_334_677);
  }
  return (4_294_967_296 * (2_097_151 & b) + (a >>> 0)).toString(36);
}
