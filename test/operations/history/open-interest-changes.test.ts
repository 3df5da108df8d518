import { describe, expect, test } from 'bun:test';
import { iso } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { getOpenInterestChanges } from '../../../src/operations/history/open-interest-changes.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, TODAY } from '../../analytics/small-chains.ts';
import { callRoute, performRoute, refusalOf, smallMarket } from '../small-market.ts';

/** 16:00 in New York on the Friday before `AS_OF`. */
const FRIDAY = Date.parse('2026-01-02T21:00:00Z');
const SETTLED = '2026-01-02';

type Line = [expiry: string, strike: number, callPut: 1 | -1, openInterest: number, root?: string];
const chain = (asOf: number, ...lines: Line[]): Chain =>
  chainOf(
    lines.map(([expiry, strike, callPut, openInterest, root = 'ACME']) =>
      contract({ expiry, strike, callPut, openInterest, root, bid: 1, ask: 2 }),
    ),
    { asOf },
  );

const BEFORE = chain(
  FRIDAY - 3_600_000,
  [SETTLED, 100, 1, 9_000],
  [EXPIRY, 95, -1, 50],
  [EXPIRY, 100, 1, 200],
  [EXPIRY, 100, -1, 300],
  [EXPIRY, 105, 1, 70],
  [EXPIRY, 120, 1, 33],
  [LATER, 100, 1, 10],
  [LATER, 110, 1, Number.NaN],
  [LATER, 100, 1, 5_000, 'ACME1'],
);
const AFTER = chain(
  AS_OF,
  [EXPIRY, 95, -1, 40],
  [EXPIRY, 100, 1, 250],
  [EXPIRY, 100, -1, 290],
  [EXPIRY, 105, 1, 170],
  [LATER, 100, 1, 15],
  [LATER, 105, 1, 400],
  [LATER, 110, 1, 8],
  [LATER, 100, 1, 7_000, 'ACME1'],
);
const { context } = smallMarket({ chains: [BEFORE, AFTER] }, AS_OF);
const answer = (args: object = {}, of = context) =>
  performRoute(getOpenInterestChanges, { ticker: 'ACME', ...args }, of);

test('the changes by strike are those of contracts that are live at both moments, the largest build first', () => {
  const { body, provenance } = answer({ since: SETTLED });
  expect(body).toEqual({
    ...{
      as_of: iso(AS_OF),
      ticker: 'ACME',
      spot_price: 100,
      before: iso(BEFORE.asOf),
      after: iso(AS_OF),
      total_change: 135,
      compared: 5,
    },
    ...{ settled: { contracts: 1, open_interest: 9_000 }, listed: { contracts: 1, open_interest: 400 } },
    ...{ missing: { contracts: 1, open_interest: 33 }, unknown: { contracts: 1, open_interest: 8 } },
    ...{
      count: 3,
      strike: [105, 100, 95],
      change: [100, 45, -10],
      call_change: [100, 55, 0],
      put_change: [0, -10, -10],
    },
    ...{ call_open_interest: [170, 265, 0], put_open_interest: [0, 290, 40] },
  });
  expect(provenance!.notes).toEqual([
    'Not compared: 1 contracts (open interest 9000) have settled since; 1 contracts (open interest 400) are only in the later snapshot; ' +
      '1 contracts (open interest 33) are only in the earlier snapshot although not settled; ' +
      '1 contracts (open interest 8) lack open interest in one snapshot.',
  ]);
});

test.each<[string, object, object]>([
  [
    'one expiry',
    { expiries: LATER },
    { strike: [100], change: [5], settled: { contracts: 0 }, missing: { contracts: 0 } },
  ],
  ['a settled expiry that the later snapshot still lists', { expiries: 'all' }, { settled: { contracts: 1 } }],
  ['no moment, which is the previous close', {}, { before: iso(BEFORE.asOf), count: 3 }],
])('takes %s', (_what, args, expected) => {
  expect(answer(args).body).toMatchObject(expected);
});

test('an earlier moment has the comparison of that moment', () => {
  const { context: later } = smallMarket(
    { chains: [BEFORE, AFTER, { ...AFTER, asOf: AS_OF + 60_000 }] },
    AS_OF + 60_000,
  );
  expect(answer({ at: iso(AS_OF) }, later).body).toEqual(answer().body);
});

test('a series that settled in between counts as settled, also if the later snapshot still lists it', () => {
  const still = chain(AS_OF, [SETTLED, 100, 1, 9_500], [EXPIRY, 100, 1, 250]);
  const { body } = answer({}, smallMarket({ chains: [BEFORE, still] }, AS_OF).context);
  expect(body).toMatchObject({ strike: [100], change: [50], settled: { contracts: 1, open_interest: 9_000 } });
});

test('two snapshots of one day have a note', () => {
  const sameDay = { ...AFTER, asOf: AS_OF - 60_000 };
  const { context: of } = smallMarket({ chains: [sameDay, AFTER] }, AS_OF);
  const { body, provenance } = answer({ since: iso(AS_OF - 1) }, of);
  expect(body.total_change).toBe(0);
  expect(provenance!.notes[0]).toStartWith('Both snapshots are of the same day.');
});

describe('a comparison without an earlier snapshot is refused', () => {
  const week = { ...BEFORE, asOf: FRIDAY - 14 * 86_400_000 };
  test.each<[string, readonly Chain[], object, RegExp]>([
    [
      'no snapshot before',
      [AFTER],
      {},
      /^No snapshot of ACME from before 2026-01-05T20:00:00.000Z is stored \|.*later day/,
    ],
    [
      'a moment before the earliest snapshot',
      [BEFORE, AFTER],
      { since: '2025-12-01' },
      /^No option chain of ACME is stored for 2025-12-02T.* \| The nearest stored snapshot is of 2026-01-02T20:00:00.000Z/,
    ],
    [
      'an old snapshot',
      [week, AFTER],
      {},
      /^No snapshots of ACME are stored for 2026-01-02: the last ones before it are 14 days older \| .*set since to 2025-12-19T21:00:00.000Z/,
    ],
    [
      'a moment that is not earlier',
      [BEFORE, AFTER],
      { since: TODAY },
      /^\/since must be earlier .* \| Use previous_close/,
    ],
    ['an unreadable moment', [BEFORE, AFTER], { since: 'friday' }, /^\/since must be previous_close, a date/],
    [
      'an expiry that is not listed',
      [BEFORE, AFTER],
      { expiries: '2026-03-20' },
      /not a listed expiry .* \| Nearest listed/,
    ],
  ])('%s', (_what, chains, args, expected) => {
    const { context: of } = smallMarket({ chains }, AS_OF);
    const { message, hint } = refusalOf(() => callRoute(getOpenInterestChanges, { ticker: 'ACME', ...args }, of));
    expect(`${message} | ${hint}`).toMatch(expected);
  });
});
