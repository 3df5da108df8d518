import { expect, test } from 'bun:test';
import { computeLevelRecord } from '../../../src/analytics/exposure/compute-level-record.ts';
import { ClientError } from '../../../src/core/errors.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { closeOf, horizonEnd, YEAR_MS } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { VarianceClock } from '../../../src/market/variance-clock.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, quoted, range, yearsTo } from '../small-chains.ts';

const levelRecordOf = (chain: Chain, premium: ReadonlyMap<string, number>) =>
  runToCompletion(computeLevelRecord(chain, premium, []));

const NONE = new Map<string, number>();
const [NEAR_IV, FAR_IV] = [0.2, 0.3];
const NEAR = quoted({ strikes: range(80, 120), iv: NEAR_IV, rest: { openInterest: 20 } });
const FAR = quoted({ strikes: range(80, 120), iv: FAR_IV, expiry: LATER, rest: { openInterest: 10 } });

const CLOCK = new VarianceClock(AS_OF);
const [NEAR_AT, FAR_AT, END] = [closeOf(EXPIRY), closeOf(LATER), horizonEnd(AS_OF, 30)];
const [NEAR_VARIANCE, FAR_VARIANCE] = [NEAR_IV ** 2 * yearsTo('ACME', EXPIRY), FAR_IV ** 2 * yearsTo('ACME', LATER)];

test.each([
  ['before the first expiry: its volatility', FAR, (FAR_VARIANCE * CLOCK.years(END)) / CLOCK.years(FAR_AT)],
  ['after the last expiry: its volatility', NEAR, (NEAR_VARIANCE * CLOCK.years(END)) / CLOCK.years(NEAR_AT)],
  [
    'between two expiries: linear in total variance',
    [...NEAR, ...FAR],
    (() => {
      const share = (CLOCK.years(END) - CLOCK.years(NEAR_AT)) / (CLOCK.years(FAR_AT) - CLOCK.years(NEAR_AT));
      return (1 - share) * NEAR_VARIANCE + share * FAR_VARIANCE;
    })(),
  ],
])('at-the-money volatility at 30 days in trading time: %s', (_, rows, variance) => {
  const tte = (END - AS_OF) / YEAR_MS;
  expect(levelRecordOf(chainOf(rows), NONE).atmIv30d!).toBeCloseTo(Math.sqrt(variance / tte), 3);
});

test('is null if no series has enough strikes for a smile', () => {
  expect(levelRecordOf(chainOf(quoted({ strikes: [95, 100, 105] })), NONE).atmIv30d).toBeNull();
});

test('is null without any quote', () => {
  const record = levelRecordOf(chainOf([contract({ openInterest: 5 })]), NONE);
  expect([record.atmIv30d, record.netGex]).toEqual([null, 0]);
});

test.each([
  ['2026-01-05', 'an afternoon', '2026-01-05T20:00:00Z'],
  ['2026-01-05', 'past midnight in London', '2026-01-06T04:59:59Z'],
  ['2026-01-06', 'past midnight in New York', '2026-01-06T05:00:00Z'],
  ['2025-07-04', 'past midnight in summer', '2025-07-04T04:00:00Z'],
  ['2025-11-28', 'a half day', '2025-11-28T18:00:00Z'],
])('the day is %s: %s', (day, _, i) => {
  expect(levelRecordOf(chainOf(NEAR, { asOf: Date.parse(i) }), NONE).day).toBe(day);
});

test('premium determines the expiry', () => {
  const chain = chainOf([...NEAR, ...FAR]);
  expect(levelRecordOf(chain, NONE).expiry).toBe(EXPIRY);
  expect(levelRecordOf(chain, new Map([[`ACME ${LATER}`, 1]])).expiry).toBe(LATER);
});

test('rejects a chain whose contracts have all settled', () => {
  expect(() => levelRecordOf(chainOf(NEAR, { asOf: AS_OF + 60 * 86_400_000 }), NONE)).toThrow(ClientError);
});
