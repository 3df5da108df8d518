import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test';
import {
  RIBBON_STATES,
  type RibbonInput,
  type RibbonState,
  ribbonItems,
  type Session,
} from '../../../web/state/ribbon-states.ts';

// A moment of another year than the present one has its year.
beforeAll(() => setSystemTime(new Date('2026-11-22T19:00:00Z')));
afterAll(() => setSystemTime());

const at = (text: string) => Date.parse(text);
/** The hours of the session of a day. */
const hoursOf = (day: string) => ({
  opens_at: `${day}T14:30:00Z`,
  closes_at: `${day}T21:00:00Z`,
  half_day: false,
  last_close: '2026-11-20T21:00:00Z',
});
const OPEN: Session = { state: 'open', reason: null, ...hoursOf('2026-11-20'), last_close: '2026-11-19T21:00:00Z' };
const WEEKEND: Session = { state: 'closed', reason: 'weekend', ...hoursOf('2026-11-23') };
const FEED = {
  name: 'tradier',
  feedState: 'ok',
  tickerState: 'fresh',
  error: null,
  nextAttemptMs: at('2026-11-20T19:05:00Z'),
  coveragePct: 100,
  expectedContracts: 4288,
};

/** Friday at 14:00 in New York with fresh quotes: nothing is wrong. */
const CALM: RibbonInput = {
  isSignedIn: true,
  isSimulated: false,
  nowMs: at('2026-11-20T19:00:00Z'),
  atMs: null,
  newerCount: 0,
  session: OPEN,
  asOfMs: at('2026-11-20T18:59:00Z'),
  feed: FEED,
  staleAfterS: 1800,
  connection: { isOnline: true, since: 0, retryAt: null },
  isStreaming: true,
  rate: { quota: 600, left: 590, waitUntil: null },
  clockOffsetMs: 0,
  problem: null,
  isOtherVersion: false,
  scope: '',
  misread: [],
};

const states = (change: Partial<RibbonInput>) => ribbonItems({ ...CALM, ...change }).map(({ state }) => state);
const words = (change: Partial<RibbonInput>, state: RibbonState) => {
  const item = ribbonItems({ ...CALM, ...change }).find((each) => each.state === state);
  return item && `${item.strong} ${item.text}`.trim();
};

/** What makes each state hold, alone. */
const CAUSES: Readonly<Record<Exclude<RibbonState, 'open'>, Partial<RibbonInput>>> = {
  other_version: { isOtherVersion: true },
  simulated: { isSimulated: true },
  misread: { misread: ['at=yesterday'] },
  offline: { connection: { isOnline: false, since: at('2026-11-20T18:58:00Z'), retryAt: at('2026-11-20T19:00:04Z') } },
  rate_limited: { rate: { quota: 600, left: 0, waitUntil: at('2026-11-20T19:00:07Z') } },
  replay: { atMs: at('2026-11-19T20:30:00Z'), newerCount: 14 },
  scope: { scope: '1 of 20 expiries (0DTE)' },
  no_past: {
    atMs: at('2026-11-01T20:30:00Z'),
    problem: { code: 'no_chain', message: 'No option chain of SPY is stored', hint: 'Choose a moment.' },
  },
  empty: {
    problem: { code: 'no_chain', message: 'No option chain of SPY has arrived yet', hint: 'Configure a feed.' },
  },
  down: { feed: { ...FEED, feedState: 'down', error: 'connection refused' } },
  failing: { feed: { ...FEED, tickerState: 'failing', error: '502 three times' } },
  stale: { feed: { ...FEED, tickerState: 'stale' }, asOfMs: at('2026-11-20T18:13:00Z') },
  closed: { session: WEEKEND, nowMs: at('2026-11-22T19:00:00Z'), asOfMs: at('2026-11-20T21:00:00Z') },
  partial: { feed: { ...FEED, tickerState: 'partial', coveragePct: 83.2 } },
  interrupted: { isStreaming: false },
  clock: { clockOffsetMs: 600_000 },
};

describe('the states of the ribbon', () => {
  test('when all is well, it says that the market is open', () => {
    expect(states({})).toEqual(['open']);
  });

  test('signed out, it says nothing', () => {
    expect(ribbonItems({ ...CALM, isSignedIn: false, isSimulated: true })).toEqual([]);
  });

  test.each(Object.entries(CAUSES))('%s holds alone', (state, cause) => {
    const beside: readonly string[] = state === 'no_past' ? ['open', 'replay'] : ['open'];
    expect(states(cause).filter((each) => !beside.includes(each))).toEqual([state as RibbonState]);
  });

  test.each([
    ['simulated', 'SIMULATED no real quotes'],
    ['misread', 'The address is not understood at=yesterday: the page shows its defaults'],
    ['offline', 'No answer from the server since 13:58 New York, trying again in 4 s'],
    ['rate_limited', '600 requests a minute are used up again in 7 s'],
    ['replay', 'REPLAY Thu 19 Nov 15:30 New York · live has 14 newer'],
    ['scope', '1 of 20 expiries (0DTE) not the default options'],
    ['down', 'tradier is down connection refused · next try 14:05 New York'],
    ['stale', 'STALE 47 min expected every 30 min'],
    ['closed', 'Closed (weekend) opens Mon 23 Nov 09:30 New York · quotes of Fri 20 Nov 16:00'],
    ['partial', '83 % of 4288 contracts the last poll delivered only a part'],
    ['clock', "This computer's clock is 10 min behind the server's ages are measured by the server"],
  ] as const)('%s is said in words', (state, expected) => {
    expect(words(CAUSES[state], state)).toBe(expected);
  });

  test('a simulated market with quotes at any hour says so while the exchange is closed', () => {
    const moving = { ...CAUSES.closed, isSimulated: true, asOfMs: at('2026-11-22T18:59:00Z') };
    const said = 'Closed (weekend) opens Mon 23 Nov 09:30 New York · quotes of Sun 22 Nov 13:59';
    expect(states(moving)).toEqual(['simulated', 'closed']);
    expect(words(moving, 'closed')).toBe(`${said}, as the simulated market has quotes at any hour`);
    expect(words({ ...moving, isSimulated: false }, 'closed')).toBe(said);
    expect(words({ ...CAUSES.closed, isSimulated: true }, 'closed')).toBe(words(CAUSES.closed, 'closed'));
  });

  test('every pair of causes that can hold together is shown, in the fixed order', () => {
    const names = Object.keys(CAUSES) as (keyof typeof CAUSES)[];
    for (const a of names) {
      for (const b of names) {
        const found = states({ ...CAUSES[a], ...CAUSES[b] });
        const order = found.map((state) => RIBBON_STATES.indexOf(state));
        expect(order).toEqual(order.toSorted((x, y) => x - y));
        expect(new Set(found).size).toBe(found.length);
        // The cause that is given last always shows, but for a feed's state while the page replays or the server is shut.
        const isHidden = (CAUSES[a].atMs ?? CAUSES[b].atMs ?? null) !== null && LIVE_ONLY.has(b);
        const isOffline = a === 'offline' && b === 'interrupted';
        const isClosed = a === 'closed' && b === 'stale';
        const isMoment = b === 'empty' && (CAUSES[a].atMs ?? null) !== null;
        if (!isHidden && !isOffline && !isClosed && !isMoment)
          expect({ a, b, found: found.includes(b) }).toEqual({ a, b, found: true });
      }
    }
  });

  test.each([
    ['30 min old', '2026-11-20T18:30:00Z', '2026-11-20T19:00:00Z', false],
    ['a second more than 30 min old', '2026-11-20T18:30:00Z', '2026-11-20T19:00:01Z', true],
    ['of the evening before, 30 min after the open', '2026-11-19T21:00:00Z', '2026-11-20T15:00:00Z', false],
    ['of the evening before, a second later', '2026-11-19T21:00:00Z', '2026-11-20T15:00:01Z', true],
    ['30 min old at the close, before the next report', '2026-11-20T20:30:00Z', '2026-11-20T21:00:20Z', false],
  ])('quotes that are %s are stale or not, although the last report calls them fresh', (_, asOf, now, isStale) => {
    expect(states({ asOfMs: at(asOf), nowMs: at(now) }).includes('stale')).toBe(isStale);
  });

  test.each([
    ['on a Sunday', { ...CAUSES.closed, feed: { ...FEED, tickerState: 'stale' } }],
    [
      'at night',
      { ...CAUSES.closed, session: { ...WEEKEND, reason: 'night' as const }, feed: { ...FEED, tickerState: 'stale' } },
    ],
    [
      'on a holiday',
      {
        ...CAUSES.closed,
        session: { ...WEEKEND, reason: 'holiday' as const },
        feed: { ...FEED, tickerState: 'stale' },
      },
    ],
  ])('%s, the quotes of the last close are not stale', (_, change) => {
    expect(states(change)).toEqual(['closed']);
    expect(JSON.stringify(ribbonItems({ ...CALM, ...change })).toLowerCase()).not.toContain('stale');
  });

  test.each([
    ['of 2023, on a Sunday', WEEKEND, '2023-09-14T20:31:00Z', 'STALE 1164 days older than the last close'],
    [
      'of 2023, at night',
      { ...WEEKEND, reason: 'night' as const },
      '2023-09-14T20:31:00Z',
      'STALE 1164 days older than the last close',
    ],
    ['a second too old at the close', WEEKEND, '2026-11-20T20:29:59Z', 'STALE 46 h 30 min older than the last close'],
    ['half an hour before the close', WEEKEND, '2026-11-20T20:30:00Z', undefined],
  ] as const)(
    'quotes %s are stale or not in a closed market, with and without a feed',
    (_, session, asOf, expected) => {
      for (const feed of [FEED, null]) {
        const change = { session, nowMs: at('2026-11-22T19:00:00Z'), asOfMs: at(asOf), feed };
        expect(words(change, 'stale')).toBe(expected);
        expect(words(change, 'closed')).toContain(
          asOf.startsWith('2023') ? 'quotes of Thu 14 Sep 2023 16:31' : 'quotes of Fri 20 Nov',
        );
      }
    },
  );
});

const LIVE_ONLY: ReadonlySet<string> = new Set(['down', 'failing', 'stale', 'closed', 'partial']);
