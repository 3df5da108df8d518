import type { FeedStatusAnswer } from '../../data/page-answers.ts';
import { cleanText, countText, newYorkMoment, percent } from '../../page-format.ts';

export type FeedRow = FeedStatusAnswer['feeds'][number];
export type FeedTicker = FeedRow['tickers'][number];

/** A glyph for each state of a feed or a ticker, worst state first. */
export const FEED_GLYPHS: Readonly<Record<string, string>> = {
  down: '✕',
  failing: '✕',
  missing: '○',
  empty: '○',
  stale: '◷',
  degraded: '◔',
  partial: '◔',
  ok: '✓',
  fresh: '✓',
};

const BY_SEVERITY = Object.keys(FEED_GLYPHS);

/** Returns the severity of a state. 0 is the best state, and an unknown state is the worst. */
export function severityOf(state: string): number {
  return BY_SEVERITY.length - 1 - BY_SEVERITY.indexOf(state);
}

/** Returns a state as a glyph and a word. */
export function stateText(state: string): string {
  return `${FEED_GLYPHS[state] ?? '?'} ${cleanText(state)}`;
}

/** Joins the pages of one feed report. Totals and states come from the first page. Tickers, rejections and gaps come from all pages. */
export function joinFeedPages(pages: readonly FeedStatusAnswer[]): FeedRow[] {
  return (pages[0]?.feeds ?? []).map((feed) => {
    const same = pages.flatMap((page) => page.feeds.filter((each) => each.feed === feed.feed));
    return {
      ...feed,
      tickers: same.flatMap(({ tickers }) => tickers),
      refusals: same.flatMap(({ refusals }) => refusals),
      gaps: same.flatMap(({ gaps }) => gaps),
    };
  });
}

/** Returns true if no feed has delivered data yet, and every view is therefore empty. */
export function hasNoData(feeds: readonly FeedRow[]): boolean {
  return feeds.every(({ last_data }) => last_data === null);
}

/** Returns a sentence with the reason for the feed's state, and the time at which the state began. Times are in New York time. */
export function feedSentence(feed: FeedRow): string {
  const { state, error, last_completed, last_data, stream, refusals, gaps, tickers_by_state } = feed;
  if (state === 'empty') return 'No data has arrived from this feed yet.';
  const since = (moment: string | null) => (moment === null ? 'yet' : `since ${newYorkMoment(moment)} New York`);
  if (state === 'down') {
    const reason = cleanText(error).replace(/\.?$/, '. ').replace(/^\. $/, '');
    return `${reason}No poll has completed without an error ${since(last_completed)}.`;
  }
  if (state === 'ok') return `Every ticker is fresh; the last data arrived ${newYorkMoment(last_data)} New York.`;
  const reasons = [
    ...Object.entries(tickers_by_state)
      .filter(([name]) => name !== 'fresh')
      .map(([name, n]) => `${countText(n)} ${n === 1 ? 'ticker is' : 'tickers are'} ${name}`),
    ...(stream && !stream.up ? [`the stream is disconnected ${since(stream.since)}`] : []),
    ...(refusals.length > 0
      ? [`${countText(refusals.length)} ${refusals.length === 1 ? 'delivery is' : 'deliveries are'} rejected`]
      : []),
    ...(gaps.some(({ to }) => to === null) ? ['a gap has not ended'] : []),
  ];
  return `${reasons.join(', ') || 'Something was rejected'}.`.replace(/^./, (first) => first.toUpperCase());
}

/** Returns the number of received contracts and the number of expected contracts: `4,288 of 4,290 (100 %)`. */
export function contractsText(received: number | null, expected: number | null): string {
  if (!expected) return received === null ? 'none yet' : countText(received);
  return `${countText(received)} of ${countText(expected)} (${percent((100 * (received ?? 0)) / expected, 1, false)})`;
}
