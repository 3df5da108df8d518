import { computed } from '@preact/signals';
import { isStreaming } from '../data/live-levels.ts';
import { memberKey } from '../data/member-key.ts';
import { rateLimit } from '../data/request.ts';
import { clockOffsetMs, connection, serverNow } from '../data/server-connection.ts';
import { cleanText, duration } from '../page-format.ts';
import { page, pageTicker } from './page.ts';
import { asOf, feeds, gexView, isSimulated, newerCount } from './page-market.ts';
import { isOtherVersion } from './page-version.ts';
import { type RibbonInput, ribbonItems, type TickerFeed } from './ribbon-states.ts';
import { scopeSummary } from './scope.ts';

/** The trading session of the exchange. Undefined until the feed status has loaded. */
export const session = computed(() => feeds.asked.value.answer?.body.session);

const tickerFeed = computed((): TickerFeed | null => {
  for (const feed of feeds.asked.value.answer?.body.feeds ?? []) {
    const row = feed.tickers.find((each) => each.ticker === pageTicker.value);
    if (!row) continue;
    return {
      name: cleanText(feed.feed),
      feedState: feed.state,
      tickerState: row.state,
      error: cleanText(row.refusal ?? feed.error) || null,
      nextAttemptMs: feed.next_attempt === null ? null : Date.parse(feed.next_attempt),
      coveragePct: row.coverage_pct,
      expectedContracts: row.expected_contracts,
    };
  }
  return null;
});

const input = computed((): RibbonInput => {
  const { at } = page.value;
  const { problem } = gexView.asked.value;
  return {
    isSignedIn: memberKey.value !== null,
    isSimulated: isSimulated.value,
    nowMs: serverNow.value,
    atMs: at === null ? null : Date.parse(at),
    newerCount: newerCount.value,
    session: session.value ?? null,
    asOfMs: asOf.value === undefined ? null : Date.parse(asOf.value),
    feed: tickerFeed.value,
    staleAfterS: feeds.asked.value.answer?.body.stale_after_s ?? 0,
    connection: connection.value,
    isStreaming: isStreaming.value,
    rate: rateLimit.value,
    clockOffsetMs: clockOffsetMs.value,
    problem: problem ? { code: problem.code, message: problem.message, hint: problem.hint } : null,
    isOtherVersion: isOtherVersion.value,
    scope: scopeSummary.value,
    misread: page.value.misread,
  };
});

/** The current items of the status ribbon. */
export const ribbon = computed(() => ribbonItems(input.value));

/** `STALE` with the age of the quotes, while the ribbon says so. Otherwise empty. */
export const staleText = computed(() => ribbon.value.find(({ state }) => state === 'stale')?.strong ?? '');

/** The age of the quotes on a live page, as text in one unit. The signal changes only with the text. Empty in a replay. */
export const freshness = computed(() => {
  if (page.value.at !== null || asOf.value === undefined) return '';
  const age = duration(Math.max(0, (serverNow.value - Date.parse(asOf.value)) / 1000));
  return `${age.replace(/ h .*/, ' h')} old`;
});
