import { describe, expect, test } from 'bun:test';
import { printsDeltaNotional, volumeDeltaNotional } from '../../../src/analytics/flow/flow-notional.ts';
import { tapeColumnsOf } from '../../../src/market/tape-columns.ts';
import { runToCompletion } from '../../../src/steps.ts';
import { blackScholesDelta } from '../plain.ts';
import { contract, EXPIRY, LATER, prepared, print, yearsTo } from '../small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'feed' } as const;
const ready = prepared(
  [
    contract({ iv: 0.3, volume: 400, bid: 2, ask: 3, last: 9 }),
    contract({ strike: 95, callPut: -1, iv: 0.4, volume: 1000, last: 1, multiplier: 10 }),
    contract({ strike: 105, iv: 0.3, volume: 10, bid: 1, ask: 1 }),
    contract({ expiry: LATER, strike: 100, volume: 1e6, last: 1 }),
  ],
  FLAT,
);
const option = { spot: 100, tte: yearsTo('ACME', EXPIRY), rate: 0, dividend: 0 };
const call = blackScholesDelta({ ...option, callPut: 1, strike: 100, iv: 0.3 });
const put = blackScholesDelta({ ...option, callPut: -1, strike: 95, iv: 0.4 });

describe('of prints', () => {
  test.each([
    ['a call bought adds', [print({ size: 7 })], call * 7 * 100 * 100],
    ['a put bought subtracts', [print({ strike: 95, callPut: -1, size: 5, multiplier: 10 })], put * 5 * 10 * 100],
    ['several prints add up', [print({ size: 1 }), print({ size: 2 })], call * 3 * 100 * 100],
    ['calls and puts of a strike', [print({}), print({ callPut: -1 }), print({ size: 7 })], call * 407 * 100 * 100],
    ['ignores a contract that is not in the chain', [print({ strike: 77 })], 0],
    ['ignores a contract without a volatility', [print({ expiry: LATER })], 0],
    ['ignores another root of the same date', [print({ root: 'SPXW' })], 0],
    ['no prints', [], 0],
  ])('%s', (_what, prints, expected) => {
    expect(runToCompletion(printsDeltaNotional(ready, [tapeColumnsOf(prints)]))).toBeCloseTo(expected, 6);
    const oneByOne = prints.map((each) => tapeColumnsOf([each]));
    expect(runToCompletion(printsDeltaNotional(ready, oneByOne))).toBe(
      runToCompletion(printsDeltaNotional(ready, [tapeColumnsOf(prints)])),
    );
  });
});

describe('of volumes', () => {
  const [callDay, putDay] = [call * 400 * 100 * 100, put * 1000 * 10 * 100];
  test.each([
    ['contracts whose premium reaches the threshold', 100_000, callDay],
    ['a lower threshold includes smaller premiums', 10_000, callDay + putDay],
    ['no contract', 1e9, 0],
  ])('%s', (_what, threshold, expected) => {
    expect(runToCompletion(volumeDeltaNotional(ready, threshold))).toBeCloseTo(expected, 6);
  });
});
