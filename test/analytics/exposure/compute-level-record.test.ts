import { describe, expect, spyOn, test } from 'bun:test';
import { computeLevelRecord } from '../../../src/analytics/exposure/compute-level-record.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { SliceModel } from '../../../src/analytics/surface/slice-model.ts';
import { ClientError } from '../../../src/core/errors.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { closeOf, horizonEnd, YEAR_MS } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { VarianceClock } from '../../../src/market/variance-clock.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, someRecorded } from '../recorded.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, preparedChain, quoted, range, yearsTo } from '../small-chains.ts';

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

describe('the settlements of the volatility at 30 days', () => {
  const EXPIRIES = ['2026-01-09', EXPIRY, '2026-01-23', '2026-01-30', '2026-02-06', '2026-02-13', LATER, '2026-03-20'];
  const of = (expiries: readonly string[]) =>
    chainOf(expiries.flatMap((expiry) => quoted({ strikes: range(80, 120), iv: 0.25, expiry, halfSpread: 0.01 })));
  /** Returns the numbers of quotes of the fitted models. */
  const fittedIn = (chain: Chain) => {
    const evaluate = spyOn(SliceModel.prototype, 'evaluate');
    try {
      expect(levelRecordOf(chain, NONE).atmIv30d!).toBeCloseTo(0.25, 2);
      return new Set(evaluate.mock.contexts).size;
    } finally {
      evaluate.mockRestore();
    }
  };

  test.each<[string, readonly string[], number]>([
    ['the settlements before and after', EXPIRIES, 2],
    ['the settlement on the day', [...EXPIRIES, '2026-02-04'], 1],
    ['the last settlement, if all are before', EXPIRIES.slice(0, 4), 1],
    ['the first settlement, if all are after', EXPIRIES.slice(5), 1],
  ])('are %s', (_, expiries, fitted) => {
    expect(fittedIn(of(expiries))).toBe(fitted);
  });

  test('are the next ones, if a settlement does not determine a smile', () => {
    const bare = [contract({ expiry: '2026-02-06', openInterest: 1 })];
    const others = EXPIRIES.filter((expiry) => expiry !== '2026-02-06');
    const rows = others.flatMap((expiry) => quoted({ strikes: range(80, 120), iv: 0.25, expiry, halfSpread: 0.01 }));
    expect(fittedIn(chainOf([...rows, ...bare]))).toBe(2);
  });
});

describeRecorded('the volatility at 30 days of recorded chains', (dir) => {
  test.each(someRecorded(dir))(
    'of %s differs from that of the surface by less than the quotes are uncertain',
    (name) => {
      const chain = recordedChain(dir, name);
      const surface = runToCompletion(fitSurface(preparedChain(chain)));
      const end = horizonEnd(chain.asOf, 30);
      const { atmVariance, tte } = surface.lawAt(end);
      const { fit } = surface.slices.find(({ settlesAt }) => settlesAt >= end) ?? surface.slices.at(-1)!;
      const difference = Math.abs(levelRecordOf(chain, NONE).atmIv30d! / Math.sqrt(atmVariance / tte) - 1);
      expect(difference).toBeLessThan(Math.min(fit.atmBand, 0.025));
    },
  );
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
