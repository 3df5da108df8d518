import { type Static, Type } from '@sinclair/typebox';
import { cleanLine, shownName } from '../core/clean-text.ts';
import { invalidArgument } from '../core/errors.ts';
import { DAY_MS, iso, lastClose, openMsBetween } from '../market/calendar.ts';
import { NO_LEVELS, ONE_EXPIRY_ALONE } from '../market/chain.ts';
import {
  feedHealth,
  isClockOff,
  isLate,
  isOverdue,
  knownMoment,
  tickerHealth,
  tickerStaleAfterMs,
} from '../market/feed-health.ts';
import {
  type ClockStep,
  type FeedState,
  NO_OPEN_INTEREST,
  ONE_EXPIRY,
  type TickerState,
} from '../market/feed-ledger.ts';
import { isTicker } from '../market/option-symbol.ts';
import { tradingSession } from '../market/trading-session.ts';
import { type Context, defineOperation } from './engine/operation.ts';
import { limit } from './engine/pages.ts';
import {
  count,
  flagField,
  momentField,
  namedList,
  namedObject,
  number,
  objectOf,
  oneOf,
  textField,
} from './engine/schemas.ts';
import {
  integerOrNull,
  momentOrNull,
  namedOrNull,
  nullable,
  numberOrNull,
  textOrNull,
} from './engine/wrapped-schemas.ts';

const moment = (description: string) => momentOrNull(`${description}, ISO 8601; null if there is none.`);

const tickerStatus = namedObject('TickerStatus', undefined, {
  ticker: textField('Underlying symbol.'),
  state: oneOf(
    ['fresh', 'partial', 'stale', 'failing', 'missing'],
    'The first that applies: missing: no snapshot yet; failing: the last attempt failed; stale: see that field; ' +
      'partial: under 90 % of the expected contracts; fresh: none of these.',
  ),
  last_attempt: moment('Last poll for the ticker, or last delivery'),
  last_fresh: moment('Last delivery whose quotes were newer than all earlier ones'),
  as_of: moment('Time of the newest quotes'),
  age_s: integerOrNull('Age of these quotes by the wall clock, seconds; negative if they are dated in the future.'),
  stale: flagField(
    'True if there are no quotes, if they are older than --stale-after, or if none newer arrived for stale_after_s; both in trading hours.',
  ),
  stale_after_s: number(
    'Ten times the median time between the last snapshots, at least 60 and at most --stale-after; --stale-after until three times are known.',
  ),
  expected_contracts: integerOrNull(
    'The larger of two counts: contracts that the source listed, and unexpired contracts of the previous snapshot; null before the first ' +
      'snapshot.',
  ),
  received_contracts: integerOrNull('Usable contracts of the newest snapshot; null before the first snapshot.'),
  coverage_pct: numberOrNull('Received contracts, percent of expected contracts; null if none were expected.'),
  rows_refused: Type.Record(Type.String(), Type.Integer(), {
    description: 'Rejected rows and values of the newest snapshot, by reason.',
  }),
  notice: textOrNull('What is notable about the newest snapshot, such as missing open interest; null if nothing is.'),
  failures: count('Failed attempts in a row.'),
  refusal: textOrNull('Why the last attempt failed; null if it succeeded.'),
});

const feedStatus = namedObject('Feed', undefined, {
  feed: textField('Kind of source.'),
  simulated: flagField('True for the simulated market.'),
  state: oneOf(
    ['ok', 'degraded', 'empty', 'down'],
    'ok: every ticker is fresh, nothing is rejected, the stream is connected; degraded: one of these is not the case; empty: no data yet; ' +
      'down: polls fail or have stopped.',
  ),
  last_attempt: moment('Last poll'),
  last_completed: moment('Last poll that completed without an error'),
  next_attempt: moment('Next poll'),
  last_data: moment('Last delivery of a snapshot, prints, closes or dividends'),
  quiet_s: numberOrNull(
    'Trading time since the last snapshot with newer quotes, seconds; null before the first snapshot.',
  ),
  stale_after_s: number('Smallest stale_after_s of the tickers, seconds.'),
  error: textOrNull('Why polling fails; null if polling works.'),
  stream: namedOrNull('FeedStream', 'The stream over which the source sends data; null for a feed without a stream.', {
    up: flagField('True if the stream is connected.'),
    since: momentField('When the stream last connected or disconnected, ISO 8601.'),
    reason: textOrNull('Why the stream is not connected; null if it is connected.'),
  }),
  past: namedOrNull(
    'SimulatedPast',
    'How much of its past the simulated market has filled since the first start; null for a feed that fills no past.',
    {
      done: count('Snapshots that are stored with all their levels.'),
      total: count('Snapshots of the past, of all tickers.'),
    },
  ),
  tickers_expected: count('Tickers that the feed polls or has delivered.'),
  tickers_by_state: Type.Record(Type.String(), Type.Integer(), { description: 'Number of tickers in each state.' }),
  expected_contracts: count('Expected contracts of all tickers with a snapshot.'),
  received_contracts: count('Received contracts of these tickers.'),
  tickers: Type.Array(tickerStatus, { description: 'Tickers on this page, by name.' }),
  refusals: namedList(
    'FeedRefusal',
    'Rejections on this page, newest first. A later success of the origin or ticker removes them.',
    {
      origin: textField('File, request or stream that was rejected.'),
      ticker: textOrNull('Ticker; null if unknown.'),
      reason: textField('Why it was rejected.'),
      at: momentField('Moment of the last rejection, ISO 8601.'),
      times: count('Number of rejections in a row.'),
    },
  ),
  gaps: namedList(
    'FeedGap',
    'Gaps on this page, newest first: periods in which the stream was not connected, so trades were missed.',
    {
      from: momentField('Begin, ISO 8601.'),
      to: momentOrNull('End, ISO 8601; null if the gap has not ended.'),
      reason: textField('Why the stream was not connected.'),
    },
  ),
});

const session = namedObject('TradingSession', 'The trading session of the New York Stock Exchange, by its calendar.', {
  state: oneOf(['open', 'closed'], 'Whether the exchange is open now.'),
  reason: nullable(
    oneOf(['night', 'weekend', 'holiday'], 'Reason.'),
    'Why the exchange is closed: night (a trading day, before its open or after its close), weekend or holiday; null while it is open.',
  ),
  opens_at: momentField(
    'While open: the open of the present session; while closed: the open of the next session; ISO 8601.',
  ),
  closes_at: momentField('The close of that session, ISO 8601.'),
  half_day: flagField('True if that session closes at 13:00 in New York.'),
  last_close: momentField('The last close at or before `now`, ISO 8601.'),
  now: momentField("Time of the server's clock, ISO 8601."),
});

const report = objectOf({
  checked_at: momentField('Time of the report, ISO 8601.'),
  healthy: flagField('True if there are feeds, and all of them are ok.'),
  session,
  stale_after_s: number('Age above which quotes are stale (--stale-after), seconds.'),
  clock_step: namedOrNull('ClockStep', 'The last time within a day at which the clock was set while the service ran.', {
    at: momentField('Moment by the new time, ISO 8601.'),
    by_s: number('How far the clock was set, seconds; negative if it was set back.'),
  }),
  feeds: Type.Array(feedStatus, { description: 'Feeds, by name.' }),
});

export const getFeedStatus = defineOperation({
  name: 'get_feed_status',
  ofNow: true,
  title: 'Feeds',
  page: 'house',
  description:
    'Health of the feeds of market data, and whether the exchange is open. For each ticker: expected and received contracts, the last attempt, the last fresh data, and what ' +
    'was rejected and why. A feed without data is never ok. Tickers, refusals (rejections) and gaps come in pages.',
  example: {},
  input: objectOf({
    limit: limit(
      'Maximum number of tickers, refusals and gaps on a page, all feeds together; by default, as many as fit.',
    ),
    cursor: Type.Optional(
      Type.String({ description: 'next_cursor of the previous page.', pattern: '^[0-9]{1,6}$', maxLength: 6 }),
    ),
  }),
  full: objectOf({
    ...report.properties,
    next_cursor: Type.Optional(textField('Cursor of the next page; absent on the last.')),
  }),
  rest: { method: 'GET', path: '/api/v1/feeds' },
  run: ({ limit: most = Number.POSITIVE_INFINITY, cursor }, context) => ({
    result: pageOf(feedReport(context), Number(cursor ?? 0), most),
  }),
});

export type FeedStatus = Static<typeof feedStatus>;
export type SessionStatus = Static<typeof session>;

export type FeedReport = Static<typeof report>;

/** Returns the session of the exchange and the state of the feeds, with all tickers, refusals and gaps. */
export function feedReport(context: Context): FeedReport {
  const now = context.nowMs();
  const feeds = context.feedStates().map((state) => statusOf(state, context));
  return {
    checked_at: iso(now),
    healthy: feeds.length > 0 && feeds.every(({ state }) => state === 'ok'),
    session: sessionAt(now),
    stale_after_s: context.staleAfterMs / 1000,
    clock_step: clockStep(context.clockSteps()[0], now),
    feeds,
  };
}

function clockStep(step: ClockStep | undefined, now: number): FeedReport['clock_step'] {
  const isRecent = step !== undefined && Math.abs(now - step.at) < DAY_MS;
  return isRecent ? { at: iso(step.at), by_s: Math.round(step.byMs / 1_000) } : null;
}

/** Maximum size of a page's rows, bytes of JSON. With the totals of each feed, a page is smaller than 64 KB. */
const PAGE_BYTES_MAX = 48 * 1024;
const PAGED = ['tickers', 'refusals', 'gaps'] as const;

/**
 * Returns one page of the report. The rows of a report are the tickers, refusals and gaps of all feeds, in this order. A page begins with
 * the row `from`. A page has at most `most` rows, and fits into PAGE_BYTES_MAX.
 */
function pageOf(report: FeedReport, from: number, most: number): FeedReport & { next_cursor?: string } {
  let [row, bytes, isFull] = [0, 0, false];
  const onPage = (each: unknown) => {
    if (row < from) {
      row++;
      return false;
    }
    bytes += isFull ? 0 : Buffer.byteLength(JSON.stringify(each));
    // A page has at least one row. If a page were empty, its next cursor would equal the cursor in the request.
    isFull ||= row - from >= most || (bytes > PAGE_BYTES_MAX && row > from);
    if (!isFull) row++;
    return !isFull;
  };
  const feeds = report.feeds.map((feed) => {
    const rows = PAGED.map((name) => [name, (feed[name] as unknown[]).filter(onPage)] as const);
    return { ...feed, ...Object.fromEntries(rows) };
  });
  if (row < from) {
    const expected = 'must be next_cursor of an answer, unchanged';
    throw invalidArgument('/cursor', expected, 'Retry without cursor.');
  }
  return { ...report, feeds, ...(isFull && { next_cursor: String(row) }) };
}

function sessionAt(now: number): SessionStatus {
  const { state, reason, opensAt, closesAt, isHalfDay } = tradingSession(now);
  const [opens_at, closes_at, last_close] = [opensAt, closesAt, lastClose(now)].map(iso) as [string, string, string];
  return { state, reason, opens_at, closes_at, half_day: isHalfDay, last_close, now: iso(now) };
}

/** The longest `quiet_s` that is counted exactly, ms of trading hours. */
const QUIET_MS_MAX = 10 * DAY_MS;

function statusOf(state: FeedState, { nowMs, staleAfterMs }: Context): FeedStatus {
  const now = nowMs();
  const tickers = state.tickers
    .filter(({ ticker }) => isTicker(ticker))
    .map((each) => tickerStatusOf(each, now, staleAfterMs));
  const sum = (field: 'expected_contracts' | 'received_contracts') =>
    tickers.reduce((total, each) => total + (each[field] ?? 0), 0);
  const { connection } = state;
  const happened = (moment: number | null) => instant(knownMoment(moment, now));
  const freshAt = state.tickers.reduce<number | null>(
    (newest, each) => (each.freshAt === null ? newest : Math.max(newest ?? 0, each.freshAt)),
    null,
  );
  return {
    feed: state.feed,
    simulated: state.simulated,
    state: feedHealth(state, now, staleAfterMs),
    last_attempt: happened(state.polledAt),
    last_completed: happened(state.completedAt),
    next_attempt: instant(state.nextAt),
    last_data: happened(state.dataAt),
    quiet_s: freshAt === null ? null : openMsBetween(freshAt, now, QUIET_MS_MAX) / 1_000,
    stale_after_s:
      Math.min(staleAfterMs, ...state.tickers.map((each) => tickerStaleAfterMs(each, staleAfterMs))) / 1_000,
    error: shown(state.error) ?? (isOverdue(state, now) ? overdueText(state, now) : null),
    past: state.past,
    stream: connection && { up: connection.up, since: iso(connection.at), reason: shown(connection.reason) },
    tickers_expected: tickers.length,
    tickers_by_state: Object.fromEntries(
      [...Map.groupBy(tickers, (each) => each.state)].map(([health, rows]) => [health, rows.length]),
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

function overdueText(state: FeedState, now: number): string {
  return isClockOff(state, now)
    ? 'The last poll is dated in the future: the clock was ahead then, or is behind now.'
    : 'The feed is no longer polled: the service has ended or hangs.';
}

function tickerStatusOf(state: TickerState, now: number, staleAfterMs: number): Static<typeof tickerStatus> {
  const { ticker, attemptedAt, freshAt, asOf, expected, received, refused, failures, refusal } = state;
  const { [NO_OPEN_INTEREST]: withoutInterest, [ONE_EXPIRY]: ofOneExpiry, ...rows_refused } = refused;
  return {
    ticker,
    state: tickerHealth(state, now, staleAfterMs),
    last_attempt: instant(knownMoment(attemptedAt, now)),
    last_fresh: instant(knownMoment(freshAt, now)),
    as_of: instant(asOf),
    age_s: asOf === null ? null : Math.round((now - asOf) / 1000),
    stale: asOf === null || isLate(state, now, staleAfterMs),
    stale_after_s: tickerStaleAfterMs(state, staleAfterMs) / 1_000,
    expected_contracts: expected,
    received_contracts: received,
    coverage_pct: expected && received !== null ? (100 * received) / expected : null,
    rows_refused,
    notice: withoutInterest ? NO_LEVELS : ofOneExpiry ? ONE_EXPIRY_ALONE : null,
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
