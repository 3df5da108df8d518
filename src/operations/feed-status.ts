import { type Static, Type } from '@sinclair/typebox';
import { cleanLine, shownName } from '../clean-text.ts';
import { Failure } from '../errors.ts';
import { feedHealth, isOverdue, tickerHealth } from '../market/feed-health.ts';
import type { FeedState, TickerState } from '../market/feed-ledger.ts';
import { isTicker } from '../market/option-symbol.ts';
import { type Context, defineOperation } from './operation.ts';
import { limit } from './pages.ts';
import { count, nullable, number, oneOf } from './schemas.ts';

const moment = (description: string) => nullable(Type.String(), `${description}, ISO 8601; null where there was none.`);
const text = (description: string) => nullable(Type.String(), description);
const closed = { additionalProperties: false };

const tickerStatus = Type.Object(
  {
    ticker: Type.String({ description: 'Underlying symbol.' }),
    state: oneOf(
      ['fresh', 'partial', 'stale', 'failing', 'missing'],
      'fresh; partial: under 90 % of the expected contracts; stale: quotes older than they could be; failing: the last attempt ' +
        'brought nothing; missing: none ever came.',
    ),
    last_attempt: moment('When it was last asked for, or something of it arrived'),
    last_fresh: moment('When quotes newer than all before arrived'),
    as_of: moment('When the newest quotes were taken'),
    age_s: nullable(Type.Integer(), 'Age of those quotes by the wall clock, seconds.'),
    stale: Type.Boolean({ description: 'As in provenance: no quotes, or older than the operator calls young.' }),
    expected_contracts: nullable(
      Type.Integer(),
      'Contracts that had to be there: those the source listed, and no fewer than were left of the snapshot before; null before the first.',
    ),
    received_contracts: nullable(
      Type.Integer(),
      'Contracts of the newest snapshot that could be used; null before the first.',
    ),
    coverage_pct: nullable(
      Type.Number(),
      'Received against expected contracts, percent; null where none were expected.',
    ),
    rows_refused: Type.Record(Type.String(), Type.Integer(), {
      description: 'Rows and values of it that were refused, by reason.',
    }),
    failures: count('Attempts in a row that brought nothing.'),
    refusal: text('Why the last of them brought nothing.'),
  },
  closed,
);

const feedStatus = Type.Object(
  {
    feed: Type.String({ description: 'Kind of source.' }),
    simulated: Type.Boolean({ description: 'True for the simulated market.' }),
    state: oneOf(
      ['ok', 'degraded', 'empty', 'down'],
      'ok: every ticker fresh, nothing refused, the stream up; empty: nothing ever came; down: it fails, or is no longer asked.',
    ),
    last_attempt: moment('When it was last asked'),
    last_completed: moment('When it was last asked and everything it had was taken'),
    next_attempt: moment('When it will be asked next'),
    last_data: moment('When it last brought anything: a snapshot, prints or closes'),
    error: text('What keeps it from being asked, if anything does.'),
    stream: nullable(
      Type.Object(
        {
          up: Type.Boolean({ description: 'Whether what it sends arrives.' }),
          since: Type.String({ description: 'Since when, ISO 8601.' }),
          reason: text('Why it is down.'),
        },
        closed,
      ),
      'Of a source that sends of itself; else null.',
    ),
    tickers_expected: count('Tickers that it is asked for, or has brought.'),
    tickers_by_state: Type.Record(Type.String(), Type.Integer(), { description: 'How many are in which state.' }),
    expected_contracts: count('Contracts expected of all tickers with a snapshot.'),
    received_contracts: count('Contracts received of them.'),
    tickers: Type.Array(tickerStatus, { description: 'Ticker by ticker, by name: those on this page.' }),
    refusals: Type.Array(
      Type.Object(
        {
          origin: Type.String({ description: 'What was offered, or asked for.' }),
          ticker: text('Of which ticker, where that is known.'),
          reason: Type.String({ description: 'Why it could not be taken.' }),
          at: Type.String({ description: 'When last, ISO 8601.' }),
          times: count('Times in a row.'),
        },
        closed,
      ),
      {
        description: 'What could not be taken and has not come well since, the newest first: those on this page.',
      },
    ),
    gaps: Type.Array(
      Type.Object(
        {
          from: Type.String({ description: 'ISO 8601.' }),
          to: moment('Until when'),
          reason: Type.String({ description: 'Why.' }),
        },
        closed,
      ),
      {
        description: 'Times in which its stream was down and trades were missed, the newest first: those on this page.',
      },
    ),
  },
  closed,
);

export const getFeedStatus = defineOperation({
  name: 'get_feed_status',
  ofNow: true,
  title: 'Feeds',
  description:
    'What each feed of market data last did and brought: per ticker expected against received contracts, the last attempt apart from the ' +
    'last fresh data, and what was refused and why. A feed without data is never ok. Tickers, refusals and gaps come in pages.',
  input: Type.Object(
    {
      limit: limit('Tickers, refusals and gaps of all feeds together at the most; without it, as many as fit.'),
      cursor: Type.Optional(
        Type.String({ description: 'next_cursor of the page before.', pattern: '^[0-9]{1,6}$', maxLength: 6 }),
      ),
    },
    closed,
  ),
  full: Type.Object(
    {
      checked_at: Type.String({ description: 'Now, ISO 8601.' }),
      healthy: Type.Boolean({ description: 'Whether there are feeds, and all of them are ok.' }),
      stale_after_s: number('Age from which quotes are called stale, seconds.'),
      feeds: Type.Array(feedStatus, { description: 'Feed by feed, by name.' }),
      next_cursor: Type.Optional(Type.String({ description: 'The next page begins here; absent on the last.' })),
    },
    closed,
  ),
  rest: { method: 'GET', path: '/api/v1/feeds' },
  run: ({ limit: most = Number.POSITIVE_INFINITY, cursor }, context) => ({
    result: pageOf(feedReport(context), Number(cursor ?? 0), most),
  }),
});

export type FeedStatus = Static<typeof feedStatus>;

export interface FeedReport {
  readonly checked_at: string;
  readonly healthy: boolean;
  readonly stale_after_s: number;
  readonly feeds: FeedStatus[];
}

/** How the feeds are, with every row. */
export function feedReport(context: Context): FeedReport {
  const feeds = context.feedStates().map((state) => statusOf(state, context));
  return {
    checked_at: iso(context.nowMs()),
    healthy: feeds.length > 0 && feeds.every(({ state }) => state === 'ok'),
    stale_after_s: context.staleAfterMs / 1000,
    feeds,
  };
}

/** Rows of a page, bytes of JSON: with what is told of each feed itself, a page stays below 64 KB. */
const PAGE_BYTES_MAX = 48 * 1024;
const PAGED = ['tickers', 'refusals', 'gaps'] as const;

/** The report with the rows of all feeds, in their order, from one on: so many, or as many as fit. */
function pageOf(report: FeedReport, from: number, most: number): FeedReport & { next_cursor?: string } {
  let [row, bytes, isFull] = [0, 0, false];
  const onPage = (each: unknown) => {
    if (row < from) {
      row++;
      return false;
    }
    bytes += isFull ? 0 : Buffer.byteLength(JSON.stringify(each));
    // One row there is always: a page of none would have no end.
    isFull ||= row - from >= most || (bytes > PAGE_BYTES_MAX && row > from);
    if (!isFull) row++;
    return !isFull;
  };
  const feeds = report.feeds.map((feed) => {
    const rows = PAGED.map((name) => [name, (feed[name] as unknown[]).filter(onPage)] as const);
    return { ...feed, ...Object.fromEntries(rows) };
  });
  if (row < from) {
    throw new Failure('invalid_parameter', '/cursor must be next_cursor of an answer, unchanged', {
      hint: 'Ask again without cursor.',
      faults: [{ field: '/cursor', expected: 'must be next_cursor of an answer, unchanged' }],
    });
  }
  return { ...report, feeds, ...(isFull && { next_cursor: String(row) }) };
}

function statusOf(state: FeedState, { nowMs, staleAfterMs }: Context): FeedStatus {
  const now = nowMs();
  const tickers = state.tickers
    .filter(({ ticker }) => isTicker(ticker))
    .map((each) => tickerStatusOf(each, now, staleAfterMs));
  const sum = (field: 'expected_contracts' | 'received_contracts') =>
    tickers.reduce((total, each) => total + (each[field] ?? 0), 0);
  const { connection } = state;
  return {
    feed: state.feed,
    simulated: state.simulated,
    state: feedHealth(state, now, staleAfterMs),
    last_attempt: instant(state.polledAt),
    last_completed: instant(state.completedAt),
    next_attempt: instant(state.nextAt),
    last_data: instant(state.dataAt),
    error:
      shown(state.error) ??
      (isOverdue(state, now) ? 'It is not asked any more: the service has ended, or hangs.' : null),
    stream: connection && { up: connection.up, since: iso(connection.at), reason: shown(connection.reason) },
    tickers_expected: tickers.length,
    tickers_by_state: Object.fromEntries(
      [...Map.groupBy(tickers, (each) => each.state)].map(([its, rows]) => [its, rows.length]),
    ),
    expected_contracts: sum('expected_contracts'),
    received_contracts: sum('received_contracts'),
    tickers,
    refusals: state.refusals.map(({ origin, ticker, reason, at, times }) => ({
      origin: shownName(origin),
      ticker: ticker !== null && isTicker(ticker) ? ticker : null,
      reason: cleanLine(reason),
      at: iso(at),
      times,
    })),
    gaps: state.gaps.map(({ from, to, reason }) => ({ from: iso(from), to: instant(to), reason: cleanLine(reason) })),
  };
}

function tickerStatusOf(state: TickerState, now: number, staleAfterMs: number): Static<typeof tickerStatus> {
  const { ticker, attemptedAt, freshAt, asOf, expected, received, refused, failures, refusal } = state;
  return {
    ticker,
    state: tickerHealth(state, now, staleAfterMs),
    last_attempt: instant(attemptedAt),
    last_fresh: instant(freshAt),
    as_of: instant(asOf),
    age_s: asOf === null ? null : Math.max(0, Math.round((now - asOf) / 1000)),
    stale: asOf === null || now - asOf > staleAfterMs,
    expected_contracts: expected,
    received_contracts: received,
    coverage_pct: expected && received !== null ? (100 * received) / expected : null,
    rows_refused: { ...refused },
    failures,
    refusal: shown(refusal),
  };
}

function shown(text: string | null): string | null {
  return text === null ? null : cleanLine(text);
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
