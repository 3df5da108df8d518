import type { FeedStatusAnswer } from '../data/page-answers.ts';
import { cleanText, duration, newYorkClock, newYorkMoment } from '../page-format.ts';

/** The inputs of the status ribbon. All moments are in ms since the epoch, by the server's clock. */
export interface RibbonInput {
  readonly isSignedIn: boolean;
  readonly isSimulated: boolean;
  readonly nowMs: number;
  /** The moment of a replay. Null if the page is live. */
  readonly atMs: number | null;
  /** Number of snapshots that have arrived since the replay began. */
  readonly newerCount: number;
  readonly session: Session | null;
  /** The time of the quotes in the snapshot on the page. Null if there is no snapshot. */
  readonly asOfMs: number | null;
  readonly feed: TickerFeed | null;
  /** Maximum age of quotes, in seconds of trading time. Older quotes are stale. */
  readonly staleAfterS: number;
  readonly connection: { readonly isOnline: boolean; readonly since: number; readonly retryAt: number | null };
  readonly isStreaming: boolean;
  readonly rate: { readonly quota: number; readonly left: number; readonly waitUntil: number | null };
  /** The server's clock minus this computer's clock, in ms. */
  readonly clockOffsetMs: number;
  /** The error of the page's main request. */
  readonly problem: { readonly code: string; readonly message: string; readonly hint: string } | null;
  readonly isOtherVersion: boolean;
  /** The options of the analysis that differ from the defaults, as text. Empty if all are the defaults. */
  readonly scope: string;
  /** The fields of the address that the page does not understand, as text. */
  readonly misread: readonly string[];
}

/** The trading session of the exchange. */
export type Session = Omit<FeedStatusAnswer['session'], 'now'>;

/** The state of the page's ticker in the feed report. */
export interface TickerFeed {
  readonly name: string;
  readonly feedState: string;
  readonly tickerState: string;
  readonly error: string | null;
  readonly nextAttemptMs: number | null;
  readonly coveragePct: number | null;
  readonly expectedContracts: number | null;
}

export interface RibbonItem {
  readonly state: RibbonState;
  readonly glyph: string;
  /** The start of the item's text, in bold. */
  readonly strong: string;
  readonly text: string;
}

/** The possible items of the status ribbon, in display order. Several may be visible at once, each while its condition is true. */
export const RIBBON_STATES = [
  'other_version',
  'simulated',
  'misread',
  'offline',
  'rate_limited',
  'replay',
  'scope',
  'no_past',
  'empty',
  'down',
  'failing',
  'stale',
  'closed',
  'open',
  'partial',
  'interrupted',
  'clock',
] as const;
export type RibbonState = (typeof RIBBON_STATES)[number];

const CLOCK_MS = 30_000;

/** Returns the items of the status ribbon, in the order of RIBBON_STATES. */
export function ribbonItems(input: RibbonInput): RibbonItem[] {
  if (!input.isSignedIn) return [];
  return [
    otherVersion(input),
    simulated(input),
    misread(input),
    offline(input),
    rateLimited(input),
    replay(input),
    scope(input),
    noData(input),
    trouble(input),
    session(input),
    partial(input),
    interrupted(input),
    clock(input),
  ].filter((item): item is RibbonItem => item !== null);
}

function item(state: RibbonState, glyph: string, strong: string, text = ''): RibbonItem {
  return { state, glyph, strong, text };
}

function otherVersion({ isOtherVersion }: RibbonInput) {
  if (!isOtherVersion) return null;
  return item('other_version', '⟳', 'Zomma was updated', 'reload the page to use the new version');
}

function simulated({ isSimulated }: RibbonInput) {
  return isSimulated ? item('simulated', '▨', 'SIMULATED', 'no real quotes') : null;
}

function misread({ misread }: RibbonInput) {
  if (misread.length === 0) return null;
  const fields = cleanText(misread.join(', '));
  return item('misread', '⚠', 'The address is not understood', `${fields}: the page shows its defaults`);
}

function offline({ connection, nowMs, clockOffsetMs }: RibbonInput) {
  if (connection.isOnline) return null;
  const { since, retryAt } = connection;
  const left = retryAt === null ? 0 : Math.ceil((retryAt + clockOffsetMs - nowMs) / 1000);
  const again = left > 0 ? `trying again in ${left} s` : 'trying again';
  const from = newYorkClock(since + clockOffsetMs);
  return item('offline', '⚡', 'No answer from the server', `since ${from} New York, ${again}`);
}

function rateLimited({ rate, nowMs, clockOffsetMs }: RibbonInput) {
  const { quota, left, waitUntil } = rate;
  if (waitUntil !== null) {
    const seconds = Math.max(0, Math.ceil((waitUntil + clockOffsetMs - nowMs) / 1000));
    return item('rate_limited', '‖', `${quota} requests a minute are used up`, `again in ${seconds} s`);
  }
  if (quota === 0 || left >= quota / 10) return null;
  return item('rate_limited', '‖', 'Few requests are left', `${left} of ${quota}; the page sends them more slowly`);
}

function replay({ atMs, newerCount }: RibbonInput) {
  if (atMs === null) return null;
  const newer = newerCount > 0 ? ` · live has ${newerCount} newer` : '';
  return item('replay', '◄', 'REPLAY', `${newYorkMoment(atMs)} New York${newer}`);
}

function scope({ scope }: RibbonInput) {
  return scope === '' ? null : item('scope', '◪', scope, 'not the default options');
}

/** The codes of problems that mean that there is no data for the page's ticker, moment and options. */
const WITHOUT_DATA: ReadonlySet<string> = new Set(['no_chain', 'unknown_ticker', 'unknown_expiry']);

function noData({ problem, atMs }: RibbonInput) {
  if (!problem || !WITHOUT_DATA.has(problem.code)) return null;
  return item(atMs === null ? 'empty' : 'no_past', '○', problem.message, problem.hint);
}

/** Returns an item if a feed fails, or if the quotes are too old: older than `staleAfterS` before now, or before the last close. */
function trouble(input: RibbonInput) {
  const { feed, asOfMs, nowMs, atMs, staleAfterS, session } = input;
  if (atMs !== null) return null;
  if (feed !== null) {
    const next = feed.nextAttemptMs === null ? '' : ` · next try ${newYorkClock(feed.nextAttemptMs)} New York`;
    if (feed.feedState === 'down')
      return item('down', '✕', `${feed.name} is down`, `${feed.error ?? 'no poll succeeds'}${next}`);
    if (feed.tickerState === 'failing')
      return item('failing', '✕', `${feed.name} fails`, `${feed.error ?? 'the last polls failed'}${next}`);
  }
  if (asOfMs === null || session === null) return null;
  const isOpen = session.state === 'open';
  // The code computes the current age of the quotes, because the feed report can be up to half a minute old. The age does not include time
  // outside the trading session.
  const ageMs = isOpen
    ? Math.min(nowMs, Date.parse(session.closes_at)) - Math.max(asOfMs, Date.parse(session.opens_at))
    : Date.parse(session.last_close) - asOfMs;
  const isReported = isOpen && feed?.tickerState === 'stale';
  if (!isReported && ageMs <= 1000 * staleAfterS) return null;
  const expected = isOpen ? `expected every ${duration(staleAfterS)}` : 'older than the last close';
  return item('stale', '◷', `STALE ${duration((nowMs - asOfMs) / 1000)}`, expected);
}

function session({ session: now, asOfMs, atMs, isSimulated }: RibbonInput) {
  if (now === null || atMs !== null) return null;
  const half = now.half_day ? ' (half day)' : '';
  if (now.state === 'open') return item('open', '●', 'Open', `closes ${newYorkClock(now.closes_at)} New York${half}`);
  const quotes = asOfMs === null ? '' : ` · quotes of ${newYorkMoment(asOfMs)}`;
  const isMoving = isSimulated && asOfMs !== null && asOfMs > Date.parse(now.last_close);
  const always = isMoving ? ', as the simulated market has quotes at any hour' : '';
  const reason = now.reason === null ? '' : ` (${now.reason})`;
  return item(
    'closed',
    '◐',
    `Closed${reason}`,
    `opens ${newYorkMoment(now.opens_at)} New York${half}${quotes}${always}`,
  );
}

function partial({ feed, atMs }: RibbonInput) {
  if (atMs !== null || feed?.tickerState !== 'partial') return null;
  const part = `${Math.round(feed.coveragePct ?? 0)} % of ${feed.expectedContracts ?? 0} contracts`;
  return item('partial', '◔', part, 'the last poll delivered only a part');
}

function interrupted({ isStreaming, connection }: RibbonInput) {
  if (isStreaming || !connection.isOnline) return null;
  return item('interrupted', '◌', 'Live levels are interrupted', 'connecting again');
}

function clock({ clockOffsetMs }: RibbonInput) {
  if (Math.abs(clockOffsetMs) < CLOCK_MS) return null;
  const off = `${duration(Math.abs(clockOffsetMs) / 1000)} ${clockOffsetMs > 0 ? 'behind' : 'ahead of'}`;
  return item('clock', '◴', `This computer's clock is ${off} the server's`, 'ages are measured by the server');
}
