import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FeedStatusAnswer } from '../../data/page-answers.ts';
import { ask, type WebAnswer } from '../../data/request.ts';
import { DataGrid, fieldColumns, type GridColumn } from '../../grid/data-grid.tsx';
import { cleanText, countsText, countText, duration, newYorkMoment, percent, UNKNOWN } from '../../page-format.ts';
import { ChartPanel, FirstData, ViewState } from '../../panel/chart-panel.tsx';
import { Facts, type NamedFact } from '../../panel/facts.tsx';
import { feeds, tickersWithData } from '../../state/page-market.ts';
import {
  contractsText,
  type FeedRow,
  type FeedTicker,
  feedSentence,
  hasNoData,
  joinFeedPages,
  severityOf,
  stateText,
} from './feed-report.ts';

/** Maximum number of pages of a feed report. A page contains about 150 tickers. */
const PAGES_MAX = 40;

/** Renders the state of every feed: polls, stream, gaps, tickers, and rejected rows. */
export function StatusFeeds() {
  const asked = feeds.asked.value;
  const rows = useAllPages(asked.answer);
  if (!asked.answer) return <ViewState asked={asked} />;
  return (
    <>
      {hasNoData(rows) && tickersWithData.value.length === 0 && (
        <div class="prose stack inset">
          <FirstData />
        </div>
      )}
      {rows.map((feed) => (
        <Feed key={feed.feed} feed={feed} answer={asked.answer!} />
      ))}
    </>
  );
}

/** Returns the feeds of all pages of the report. Returns only the feeds of the first page until all pages have loaded. */
function useAllPages(first: WebAnswer<FeedStatusAnswer> | undefined): readonly FeedRow[] {
  const [further, setFurther] = useState<{ of: unknown; pages: readonly FeedStatusAnswer[] }>();
  useEffect(() => {
    const dropped = new AbortController();
    const follow = async () => {
      const pages: FeedStatusAnswer[] = [];
      for (let cursor = first?.body.next_cursor; cursor && pages.length < PAGES_MAX; cursor = pages.at(-1)!.next_cursor)
        pages.push(
          (await ask<FeedStatusAnswer>({ operation: 'get_feed_status', args: { cursor } }, dropped.signal)).body,
        );
      if (!dropped.signal.aborted) setFurther({ of: first, pages });
    };
    // If a page fails to load, the page is requested again with the next report.
    if (first?.body.next_cursor) follow().catch(() => {});
    return () => dropped.abort();
  }, [first]);
  return useMemo(() => (first ? joinFeedPages([first.body, ...(further?.pages ?? [])]) : []), [first, further]);
}

function Feed({ feed, answer }: { feed: FeedRow; answer: WebAnswer<FeedStatusAnswer> }) {
  const { tickers, refusals, gaps, stream } = feed;
  return (
    <ChartPanel
      id={`feed-${cleanText(feed.feed)}`}
      class="feed"
      title={`Feed ${cleanText(feed.feed)}`}
      unit="times of New York"
      call={answer.call}
    >
      <p class="prose inset" data-feed={cleanText(feed.feed)} data-state={feed.state}>
        <strong>
          {stateText(feed.state)}
          {feed.simulated && ' (simulated: no real quotes)'}.
        </strong>{' '}
        {feedSentence(feed)}
      </p>
      <div class="inset">
        <Facts of={feedFacts(feed)} />
      </div>
      {tickers.length > 0 && (
        <div class="feed-grid" style={{ '--rows': tickers.length }}>
          <DataGrid
            label={`Tickers of the feed ${cleanText(feed.feed)}, moments in New York time`}
            columns={TICKER_COLUMNS}
            rows={tickers}
            initialSort={{ column: 'state', isDescending: true }}
            hasFilter
          />
        </div>
      )}
      <Listed
        title="Rejected, newest first"
        none="Nothing is rejected."
        items={refusals.map(({ origin, ticker, reason, at, times }) => [
          newYorkMoment(at),
          `${ticker ? `${ticker}, ` : ''}${cleanText(origin)}${times > 1 ? `, ${countText(times)} times` : ''}`,
          cleanText(reason),
        ])}
      />
      {stream && (
        <Listed
          title="Gaps, in which trades were missed"
          none="The stream had no gap."
          items={gaps.map(({ from, to, reason }) => [
            `${newYorkMoment(from)} to ${to === null ? 'now' : newYorkMoment(to)}`,
            to === null ? 'not ended' : duration((Date.parse(to) - Date.parse(from)) / 1000),
            cleanText(reason),
          ])}
        />
      )}
    </ChartPanel>
  );
}

/** Returns the polls, the stream, the tickers and the contracts of a feed. */
function feedFacts({ stream, past, ...feed }: FeedRow): NamedFact[] {
  const isPolling = feed.next_attempt === null && feed.last_attempt !== null;
  const connected = stream?.up ? '✓ connected' : '✕ disconnected';
  const why = stream?.reason ? `: ${cleanText(stream.reason)}` : '';
  const states = Object.entries(feed.tickers_by_state)
    .toSorted(([a], [b]) => severityOf(b) - severityOf(a))
    .map(([state, n]) => `${countText(n)} ${stateText(state)}`);
  return [
    ['Last poll', newYorkMoment(feed.last_attempt)],
    ['Last poll without an error', newYorkMoment(feed.last_completed)],
    ['Next poll', isPolling ? 'polling now' : newYorkMoment(feed.next_attempt)],
    ['Last data', newYorkMoment(feed.last_data)],
    ['Stream', stream ? `${connected} since ${newYorkMoment(stream.since)}${why}` : 'this feed has none'],
    ['Tickers', `${countText(feed.tickers_expected)}: ${states.join(', ') || 'no data yet'}`],
    ['Contracts', contractsText(feed.received_contracts, feed.expected_contracts)],
    ...(past
      ? [
          [
            'Simulated past',
            <>
              {past.done < past.total
                ? `${countText(past.done)} of ${countText(past.total)} snapshots filled`
                : 'filled'}
              <progress max={past.total} value={past.done} aria-label="Simulated past" />
            </>,
          ] as const,
        ]
      : []),
  ];
}

const column = fieldColumns<FeedTicker>();

const TICKER_COLUMNS: readonly GridColumn<FeedTicker>[] = [
  column('ticker', 'Ticker', 74, cleanText),
  { ...column('state', 'State', 86, stateText), value: ({ state }) => severityOf(state) },
  column('as_of', 'Quotes of', 128, newYorkMoment),
  column('age_s', 'Age', 104, duration, true),
  column('expected_contracts', 'Expected', 80, countText, true),
  column('received_contracts', 'Received', 80, countText, true),
  column('coverage_pct', 'Coverage', 84, (share) => percent(share, 1, false), true),
  {
    ...column('rows_refused', 'Rows rejected', 140, (reasons) => countsText(reasons) || 'none'),
    value: ({ rows_refused }) => Object.values(rows_refused).reduce((sum, n) => sum + n, 0),
  },
  column('failures', 'Failures', 80, countText, true),
  column('refusal', 'Why the last attempt failed', 200, (reason) => cleanText(reason) || UNKNOWN),
  column('last_fresh', 'Last fresh', 128, newYorkMoment),
  column('last_attempt', 'Last attempt', 128, newYorkMoment),
];

/** Renders a list of any length. Each row has a moment, a subject and a reason. */
function Listed({ title, none, items }: { title: string; none: string; items: readonly (readonly string[])[] }) {
  return (
    <section class="prose stack inset">
      <h3>{items.length > 0 ? `${title} (${countText(items.length)})` : none}</h3>
      <ul>
        {items.map(([moment, what, reason], i) => (
          <li key={i}>
            <strong>{what}</strong> <span class="muted">{moment}</span>
            <br />
            {reason}
          </li>
        ))}
      </ul>
    </section>
  );
}
