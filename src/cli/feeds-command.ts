import { shownJson, shownName } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { DAY_MS, newYorkTime } from '../market/calendar.ts';
import { type FeedReport, type FeedStatus, feedReport, type SessionStatus } from '../operations/feed-status.ts';
import { settingsIn } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import { print, writeOut } from './csv/streams.ts';
import { columns, formatCount } from './text-format.ts';

/** Maximum number of rejections, and of gaps, that are shown for each feed without `--all`. */
const ROWS_SHOWN_MAX = 10;

/** Adds `zomma feeds`, which shows the state of a server's feeds. */
export function addFeeds(program: CliCommand): void {
  program
    .command('feeds')
    .description(
      'Show whether the exchange is open, and the state of each feed: its polls, its data per ticker, the data that was rejected, and the times in which its stream was disconnected (gaps).',
    )
    .option('--all', 'also show tickers that are fresh, and every rejection and gap')
    .option(
      '--check',
      'for monitoring: exit with code 1 if there is no feed, or if a feed is down, empty or degraded. down: a poll failed, is overdue or makes no progress, the last attempt of every ticker failed, or there is no room for the data. empty: no data has arrived yet, or the feed has tickers and none of them has a snapshot. degraded: a ticker is not fresh, the report has a rejection, or the stream is disconnected',
    )
    .option('--json', 'print one JSON object with every row, like GET /api/v1/feeds')
    .option('--forget <feed>', 'remove the state of a feed that the server had earlier and does not use now')
    .settings(settingsIn('data'), { hidden: ['contagionMin'] })
    .examples(
      'zomma feeds',
      'zomma feeds --all',
      'zomma feeds --forget simulated',
      'zomma feeds --check > /dev/null || page-the-operator',
    )
    .action(async ({ json, all, check, forget, ...settings }) => {
      const { withMarket, withStore } = await import('../server/stored-data.ts');
      if (forget !== undefined) {
        const forgotten = await withStore(settings, 'write', (store) => store.write((tx) => tx.forgetFeed(forget)));
        if (!forgotten)
          throw new OperatorError(
            `there is no feed "${shownName(forget)}" that the server had earlier and does not use now`,
            'The states of the feeds that the server uses stay, because monitoring needs them.',
          );
        return print(`The state of the feed ${shownName(forget)} was removed.`);
      }
      const report = withMarket(settings, feedReport);
      await writeOut(Buffer.from(json ? `${shownJson(report)}\n` : pageOf(report, Boolean(all))));
      if (check && !report.healthy) process.exitCode = 1;
    });
}

function pageOf({ feeds, session, checked_at, clock_step }: FeedReport, all: boolean): string {
  const paragraphs =
    feeds.length === 0
      ? ['No server has run on this data folder. Poll feeds with: zomma serve']
      : feeds.map((feed) => linesOf(feed, Date.parse(checked_at), all).join('\n'));
  const head = [sessionLine(session), ...(clock_step ? [clockLine(clock_step, Date.parse(checked_at))] : [])];
  return `${[head.join('\n'), ...paragraphs].join('\n\n')}\n`;
}

/** Describes the trading session of the exchange in one line. Times are in New York time. */
export function sessionLine({ state, reason, opens_at, closes_at, half_day }: SessionStatus): string {
  const [opens, closes] = [opens_at, closes_at].map((moment) => newYorkTime(Date.parse(moment)).slice(0, 16));
  const until = `closes ${closes!.slice(11)}${half_day ? ' (half day)' : ''}, New York time`;
  return reason === null
    ? `exchange  ${state.toUpperCase()}, ${until}`
    : `exchange  ${state.toUpperCase()} (${reason}), opens ${opens!.replace('T', ' ')}, ${until}`;
}

function clockLine({ at, by_s }: NonNullable<FeedReport['clock_step']>, now: number): string {
  return `clock     SET ${by_s < 0 ? 'BACK' : 'FORWARD'} by ${span(1_000 * Math.abs(by_s))}, ${agoText(now - Date.parse(at))}`;
}

function linesOf(feed: FeedStatus, now: number, all: boolean): string[] {
  const ago = (moment: string | null) => (moment === null ? 'never' : agoText(now - Date.parse(moment)));
  const next = feed.next_attempt === null ? 'polling now' : nextIn(Date.parse(feed.next_attempt) - now);
  const states = Object.entries(feed.tickers_by_state).map(([state, count]) => `${count} ${state}`);
  const coverage = feed.expected_contracts > 0 ? ` (${share(feed.received_contracts, feed.expected_contracts)})` : '';
  const shown = all ? feed.tickers : feed.tickers.filter(({ state }) => state !== 'fresh');
  return [
    `${feed.feed}${feed.simulated ? ' (SIMULATED)' : ''}  ${feed.state.toUpperCase()}`,
    `  polled     ${ago(feed.last_attempt)}, completed ${ago(feed.last_completed)}, ${next}`,
    ...(feed.error === null ? [] : [`  error      ${feed.error}`]),
    ...(feed.stream === null ? [] : [`  stream     ${streamOf(feed.stream, ago)}`]),
    ...(feed.tickers_expected === 0 && feed.last_data !== null
      ? [`  data       ${ago(feed.last_data)}: prints, closes or dividends`]
      : []),
    ...(feed.past === null ? [] : [`  past       ${pastOf(feed.past)}`]),
    `  tickers    ${feed.tickers_expected}: ${states.join(', ') || 'no data yet'}`,
    `  contracts  ${formatCount(feed.received_contracts)} of ${formatCount(feed.expected_contracts)} expected${coverage}`,
    ...indented(tickerTable(shown, ago)),
    ...noticesOf(feed.tickers),
    // Rejections that the table of tickers shows are left out here.
    ...listed(
      'rejected',
      all ? feed.refusals : feed.refusals.filter((each) => !isInTable(shown, each)),
      all,
      ({ origin, reason, at, times }) => [origin, times > 1 ? `${ago(at)}, ${times} times` : ago(at), reason],
    ),
    ...listed('gaps', feed.gaps, all, ({ from, to, reason }) => [from, to ?? 'ongoing', reason]),
  ];
}

function tickerTable(tickers: FeedStatus['tickers'], ago: (moment: string | null) => string): string[] {
  if (tickers.length === 0) return [];
  const heads = ['ticker', 'state', 'quotes', 'last fresh', 'last attempt', 'contracts', 'rows rejected', 'why'];
  return columns([
    heads,
    ...tickers.map((each) => [
      each.ticker,
      each.state,
      each.age_s === null ? 'none' : ageText(each.age_s * 1000),
      ago(each.last_fresh),
      ago(each.last_attempt),
      each.received_contracts === null ? 'none' : `${each.received_contracts} of ${each.expected_contracts}`,
      Object.entries(each.rows_refused)
        .map(([why, count]) => `${count} ${why}`)
        .join(', '),
      each.refusal === null ? '' : `${each.failures > 1 ? `${each.failures} attempts: ` : ''}${each.refusal}`,
    ]),
  ]);
}

/** Returns a line for each notice, with the tickers of which it tells. */
function noticesOf(tickers: FeedStatus['tickers']): string[] {
  return [...Map.groupBy(tickers, ({ notice }) => notice)].flatMap(([notice, of]) => {
    if (notice === null) return [];
    const rest = of.length - ROWS_SHOWN_MAX;
    const names = of.slice(0, ROWS_SHOWN_MAX).map(({ ticker }) => ticker);
    return [`  notice     ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}: ${notice}`];
  });
}

function isInTable(tickers: FeedStatus['tickers'], { ticker, reason }: FeedStatus['refusals'][number]): boolean {
  return tickers.some((each) => each.ticker === ticker && each.refusal === reason);
}

function listed<Row>(name: string, rows: readonly Row[], all: boolean, cells: (row: Row) => string[]): string[] {
  if (rows.length === 0) return [];
  const shown = all ? rows : rows.slice(0, ROWS_SHOWN_MAX);
  const rest = rows.length - shown.length;
  return [
    `  ${name} (${rows.length})`,
    ...indented(columns(shown.map(cells))),
    ...(rest > 0 ? [`    and ${rest} more: --all shows them`] : []),
  ];
}

function streamOf({ up, since, reason }: NonNullable<FeedStatus['stream']>, ago: (moment: string) => string): string {
  return `${up ? 'up' : 'DOWN'} for ${ago(since).replace(' ago', '')}${reason === null ? '' : `: ${reason}`}`;
}

function pastOf({ done, total }: NonNullable<FeedStatus['past']>): string {
  const coverage = done < total ? ` (${share(done, total)})` : '';
  return `${formatCount(done)} of ${formatCount(total)} snapshots filled${coverage}`;
}

/** Tolerated difference between two clocks, ms. */
const CLOCKS_APART_MS = 5_000;

/** Formats an age. A stored time is in the future if the clock was ahead at that time, or if the clock is now behind. */
function ageText(ms: number): string {
  return ms < -CLOCKS_APART_MS ? `${span(-ms)} ahead` : `${span(Math.max(0, ms))} old`;
}

function agoText(ms: number): string {
  return ms < -CLOCKS_APART_MS ? `${span(-ms)} in the future` : `${span(Math.max(0, ms))} ago`;
}

function nextIn(ms: number): string {
  return ms < 0 ? `was due ${span(-ms)} ago` : `next in ${span(ms)}`;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}

function share(count: number, total: number): string {
  return `${((100 * count) / total).toFixed(1)} %`;
}

const SPANS: readonly [unit: string, ms: number][] = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['min', 60_000],
];

/** Formats a duration in the largest unit in which it is at least 2, e.g. 90 s, 45 min, 30 h, 12 d. */
function span(ms: number): string {
  const [unit, length] = SPANS.find(([, each]) => ms >= 2 * each) ?? ['s', 1_000];
  return `${Math.round(ms / length)} ${unit}`;
}
