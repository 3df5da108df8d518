import { expect, test } from 'bun:test';
import { levelRecordInSteps } from '../../../src/analytics/exposure/compute-level-record.ts';
import { ClientError } from '../../../src/errors.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { runToCompletion } from '../../../src/steps.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, quoted, range, yearsTo } from '../small-chains.ts';

const levelRecordOf = (chain: Chain, premium: ReadonlyMap<string, number>) =>
  runToCompletion(levelRecordInSteps(chain, premium, []));

const NONE = new Map<string, number>();
const [NEAR_IV, FAR_IV] = [0.2, 0.3];
const NEAR = quoted({ strikes: range(80, 120), iv: NEAR_IV, rest: { openInterest: 20 } });
const FAR = quoted({ strikes: range(80, 120), iv: FAR_IV, expiry: LATER, rest: { openInterest: 10 } });

test.each([
  ['before the first expiry: its volatility', FAR, FAR_IV],
  ['after the last expiry: its volatility', NEAR, NEAR_IV],
  [
    'between two expiries: linear in total variance',
    [...NEAR, ...FAR],
    (() => {
      const [near, far, i] = [yearsTo('ACME', EXPIRY), yearsTo('ACME', LATER), 30 / 365.25];
      const share = (i - near) / (far - near);
      return Math.sqrt(((1 - share) * NEAR_IV ** 2 * near + share * FAR_IV ** 2 * far) / i);
    })(),
  ],
])('at-the-money volatility at 30 days: %s', (_, rows, expected) => {
  expect(levelRecordOf(chainOf(rows), NONE).atmIv30d!).toBeCloseTo(expected, 6);
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
