import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test';
import type { FeedStatusAnswer } from '../../../../web/data/page-answers.ts';
import {
  contractsText,
  type FeedRow,
  type FeedTicker,
  feedSentence,
  hasNoData,
  joinFeedPages,
  severityOf,
  stateText,
} from '../../../../web/view/status/feed-report.ts';

// A moment of another year than the present one has its year.
beforeAll(() => setSystemTime(new Date('2026-11-22T19:00:00Z')));
afterAll(() => setSystemTime());

const AT = '2026-11-20T20:30:00.000Z';

const ticker = (name: string) => ({ ticker: name, state: 'fresh' }) as FeedTicker;
const rejection = { origin: 'a.csv', ticker: null, reason: 'empty', at: AT, times: 1 };
const gap = { from: AT, to: null, reason: 'closed by the provider' };

const feed = (more: Partial<FeedRow> = {}) => {
  const healthy = { feed: 'tradier', state: 'ok', error: null, last_completed: AT, last_data: AT, stream: null };
  return { ...healthy, tickers_by_state: { fresh: 1 }, tickers: [], refusals: [], gaps: [], ...more } as FeedRow;
};

describe('why a feed is in its state, and since when', () => {
  test.each([
    ['ok', {}, 'Every ticker is fresh; the last data arrived Fri 20 Nov 15:30 New York.'],
    ['empty', { last_data: null }, 'No data has arrived from this feed yet.'],
    [
      'down',
      { error: 'HTTP 500' },
      'HTTP 500. No poll has completed without an error since Fri 20 Nov 15:30 New York.',
    ],
    ['down', { last_completed: null }, 'No poll has completed without an error yet.'],
    ['degraded', { tickers_by_state: { fresh: 3, stale: 1, partial: 2 } }, '1 ticker is stale, 2 tickers are partial.'],
    ['degraded', { refusals: [rejection] }, '1 delivery is rejected.'],
    [
      'degraded',
      { stream: { up: false, since: AT, reason: 'closed' }, gaps: [gap] },
      'The stream is disconnected since Fri 20 Nov 15:30 New York, a gap has not ended.',
    ],
    ['degraded', {}, 'Something was rejected.'],
  ] as const)('%s, %p', (state, more, sentence) => {
    expect(feedSentence(feed({ state, ...more } as Partial<FeedRow>))).toBe(sentence);
  });

  test('marks of direction leave the words of a provider', () => {
    expect(feedSentence(feed({ state: 'down', error: 'bad\u202eanswer' }))).toStartWith('bad answer. No poll');
  });
});

test('states have a glyph and a word, and are ordered by severity', () => {
  const states = ['fresh', 'partial', 'stale', 'missing', 'failing'];
  expect(states.map(stateText)).toEqual(['✓ fresh', '◔ partial', '◷ stale', '○ missing', '✕ failing']);
  expect(states.toSorted((a, b) => severityOf(a) - severityOf(b))).toEqual(states);
  expect(stateText('new state')).toBe('? new state');
  expect(severityOf('new state')).toBeGreaterThan(severityOf('down'));
});

test('pages of a report are joined by feed', () => {
  const page = (feeds: FeedRow[]) => ({ feeds }) as unknown as FeedStatusAnswer;
  const pages = [
    page([feed({ tickers: [ticker('AAPL')] }), feed({ feed: 'files', tickers: [] })]),
    page([feed({ tickers: [ticker('MSFT')], gaps: [gap] }), feed({ feed: 'files', refusals: [rejection] })]),
  ];
  const [tradier, files] = joinFeedPages(pages);
  expect(tradier!.tickers.map((each) => each.ticker)).toEqual(['AAPL', 'MSFT']);
  expect([tradier!.gaps, tradier!.refusals]).toEqual([[gap], []]);
  expect([files!.tickers, files!.refusals]).toEqual([[], [rejection]]);
  expect(joinFeedPages([])).toEqual([]);
});

test.each([
  [[], true],
  [[feed({ last_data: null })], true],
  [[feed({ last_data: null }), feed()], false],
])('feeds without data %#', (feeds, expected) => {
  expect(hasNoData(feeds)).toBe(expected);
});

test.each([
  [4288, 4290, '4,288 of 4,290 (100.0 %)'],
  [0, 10, '0 of 10 (0.0 %)'],
  [null, null, 'none yet'],
  [12, 0, '12'],
] as const)('%p of %p contracts: %p', (received, expected, text) => {
  expect(contractsText(received, expected)).toBe(text);
});
