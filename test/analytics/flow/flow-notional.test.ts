import { describe, expect, test } from 'bun:test';
import { printsDeltaNotional, volumeDeltaNotional } from '../../../src/analytics/flow/flow-notional.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Print } from '../../../src/market/prints.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { tapeColumnsOf } from '../../support/tapes.ts';
import { blackScholesDelta } from '../plain.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { contract, contractsIn, EXPIRY, LATER, prepared, preparedChain, print, yearsTo } from '../small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'feed' } as const;
const ready = prepared(
  [
    contract({ iv: 0.3, volume: 400, bid: 2, ask: 3, last: 9 }),
    contract({ strike: 95, callPut: -1, iv: 0.4, volume: 1000, last: 1, multiplier: 10 }),
    contract({ strike: 105, iv: 0.3, volume: 10, bid: 1, ask: 1 }),
    contract({ expiry: LATER, strike: 100, volume: 1e6, last: 1 }),
    contract({ strike: 80, iv: 0.2, volume: 100, last: 20 }),
    contract({ strike: 110, iv: 0.3, volume: 10, last: 0.2, delta: 0.95 }),
  ],
  FLAT,
);
const option = { spot: 100, tte: yearsTo('ACME', EXPIRY), rate: 0, dividend: 0 };
const call = blackScholesDelta({ ...option, callPut: 1, strike: 100, iv: 0.3 });
const put = blackScholesDelta({ ...option, callPut: -1, strike: 95, iv: 0.4 });
/** The delta of a call at the volatility of the prepared chain. */
const callAt = (strike: number) =>
  blackScholesDelta({ ...option, callPut: 1, strike, iv: ready.iv[ready.strike.indexOf(strike)]! });
const [deep, far] = [callAt(80), callAt(110)];
/** Contracts of 100 shares at 100 dollars. */
const NOTIONAL = 100 * 100;

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
    const notional = runToCompletion(printsDeltaNotional(ready, [tapeColumnsOf(prints)]));
    expect(notional.net).toBeCloseTo(expected, 6);
    expect(notional.leftOut).toBe(0);
    const oneByOne = prints.map((each) => tapeColumnsOf([each]));
    expect(runToCompletion(printsDeltaNotional(ready, oneByOne))).toEqual(notional);
  });

  test.each([
    ['a leg of a spread', { multiLeg: true }, call],
    ['a put that is a leg of a spread, in absolute value', { strike: 95, callPut: -1, multiLeg: true }, -put],
    ['a delta above 0.9', { delta: 0.91 }, call],
    ['a delta below -0.9', { strike: 95, callPut: -1, delta: -0.91 }, -put],
    ['a delta above 0.9 in the chain, if the print has none', { strike: 80 }, deep],
  ] as const)('leaves out %s', (_what, change, delta) => {
    const columns = tapeColumnsOf([print({ size: 3 }), print({ size: 7, ...change, multiplier: 100 })]);
    const { net, leftOut } = runToCompletion(printsDeltaNotional(ready, [columns]));
    expect(net).toBeCloseTo(3 * call * NOTIONAL, 6);
    expect(leftOut).toBeCloseTo(7 * Math.abs(delta) * NOTIONAL, 6);
  });

  test.each([
    ['a delta of 0.9', { delta: 0.9 }, call],
    ['a delta of the print below that of the chain', { strike: 80, delta: 0.5 }, deep],
  ] as const)('counts %s', (_what, change, delta) => {
    const { net, leftOut } = runToCompletion(
      printsDeltaNotional(ready, [tapeColumnsOf([print({ size: 7, ...change })])]),
    );
    expect(net).toBeCloseTo(7 * delta * NOTIONAL, 6);
    expect(leftOut).toBe(0);
  });
});

const SETTLED = '2026-01-02';

describe('the prints behind the figure', () => {
  const reading = (prints: readonly Print[], of = ready) => {
    const { counted, bySide, ofUnknownSide, leftOut } = runToCompletion(
      printsDeltaNotional(of, [tapeColumnsOf(prints)]),
    ).prints;
    return [counted, ...[bySide, ofUnknownSide].map((each) => Math.round(each / (call * NOTIONAL))), leftOut];
  };
  const NONE = { settled: 0, multiLeg: 0, deep: 0 };

  test.each([
    ['bought by the feed', [print({ size: 1, side: 'ask' })], [1, 1, 0, NONE]],
    ['sold by the feed', [print({ size: 1, side: 'bid' })], [1, -1, 0, NONE]],
    ['sold by the quote', [print({ size: 1, price: 2, bid: 1.9, ask: 2.4 })], [1, -1, 0, NONE]],
    ['at the middle', [print({ size: 1, side: 'mid' })], [1, 0, 1, NONE]],
    ['without a quote', [print({ size: 1 })], [1, 0, 1, NONE]],
    [
      'left out, each for one reason',
      [
        print({ expiry: SETTLED }),
        print({ expiry: SETTLED, multiLeg: true }),
        print({ multiLeg: true, delta: 0.95 }),
        print({ delta: 0.95 }),
      ],
      [0, 0, 0, { settled: 2, multiLeg: 1, deep: 1 }],
    ],
    ['of an expiry that the chain lacks', [print({ expiry: '2026-03-20' })], [0, 0, 0, NONE]],
  ])('%s', (_what, prints, expected) => {
    expect(reading(prints)).toEqual(expected);
  });

  test('of one expiry, only its own prints are looked at', () => {
    const one = prepared([contract({ iv: 0.3 }), contract({ expiry: LATER })], {
      ...FLAT,
      expiries: { kind: 'date', date: EXPIRY },
    });
    const prints = [print({ size: 1 }), print({ expiry: SETTLED }), print({ expiry: LATER })];
    expect(reading(prints, one)).toEqual([1, 0, 1, NONE]);
  });
});

describe('of volumes', () => {
  const [callDay, putDay] = [call * 400 * NOTIONAL, put * 1000 * 10 * 100];
  const [deepDay, farDay] = [deep * 100 * NOTIONAL, far * 10 * NOTIONAL];
  const smallDay = callAt(105) * 10 * NOTIONAL;
  test.each([
    // Deep: the strike of 80 by the chain's delta, and that of 110 by the delta of the feed.
    ['contracts whose premium reaches the threshold', 100_000, callDay, deepDay],
    ['a lower threshold includes smaller premiums', 10_000, callDay + putDay, deepDay],
    ['the lowest threshold', 100, callDay + putDay + smallDay, deepDay + farDay],
    ['no contract', 1e9, 0, 0],
  ])('%s', (_what, threshold, expected, expectedLeftOut) => {
    const { net, leftOut } = runToCompletion(volumeDeltaNotional(ready, threshold));
    expect(net).toBeCloseTo(expected, 6);
    expect(leftOut).toBeCloseTo(expectedLeftOut, 6);
  });
});

describeRecorded('recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s: the notional of the volumes has a sign and no deep contract', (name) => {
    const chain = recordedChain(dir, name);
    const ready = preparedChain(chain);
    let [net, deep] = [0, 0];
    for (const [i, own] of contractsIn(ready).entries()) {
      const row = ready.row[i]!;
      const [bid, ask] = [chain.bid[row]!, chain.ask[row]!];
      const price = bid >= 0 && ask > 0 && ask >= bid ? (bid + ask) / 2 : chain.last[row]!;
      const shares = chain.volume[row]! * own.multiplier;
      if (!(shares * price >= 100_000 && own.iv > 0)) continue;
      const delta = blackScholesDelta(own);
      const given = chain.delta[row]!;
      if (Math.abs(Number.isNaN(given) ? delta : given) > 0.9) deep += Math.abs(delta) * shares * chain.spot;
      else net += delta * shares * chain.spot;
    }
    const found = runToCompletion(volumeDeltaNotional(ready, 100_000));
    expect(Math.abs(found.net - net)).toBeLessThan(1e-9 * (Math.abs(net) + deep));
    expect(Math.abs(found.leftOut - deep)).toBeLessThanOrEqual(1e-9 * deep);
  });
});
