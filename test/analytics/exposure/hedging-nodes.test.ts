import { describe, expect, test } from 'bun:test';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { exposuresByStrike } from '../../../src/analytics/exposure/exposures-by-strike.ts';
import { hedgingNodes } from '../../../src/analytics/exposure/hedging-nodes.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { DAY_MS, YEAR_MS } from '../../../src/market/calendar.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { deltaAfterADay } from '../independent.ts';
import { blackScholesDelta, deltaAlongForward, normalCdf } from '../plain.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import {
  AS_OF,
  contract,
  contractsIn,
  EXPIRY,
  FEED_GAMMA,
  prepared,
  preparedChain,
  quoted,
  range,
  TODAY,
  yearsTo,
} from '../small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'own' } as const;

describe('shares per +1 % move', () => {
  const rows = [
    contract({ strike: 105, gamma: 0.02, openInterest: 300 }),
    contract({ strike: 95, callPut: -1, gamma: 0.03, openInterest: 500, multiplier: 10 }),
    contract({ strike: 90, callPut: -1, gamma: 0.01, openInterest: 900, expiry: '2026-02-20' }),
    contract({ strike: 120, gamma: 0.01 }),
  ];
  const nodes = hedgingNodes(prepared(rows, { ...FEED_GAMMA, iv: 'own' }), 10);

  test('are ordered by size regardless of sign, and contracts without effect are left out', () => {
    // A dealer who is long calls sells into a rise. One who is short puts is short gamma and buys into it.
    expect(nodes.map(({ strike, dealerShares }) => [strike, dealerShares])).toEqual([
      [90, 0.01 * 900 * 100],
      [105, -0.02 * 300 * 100],
      [95, 0.03 * 500 * 10],
    ]);
  });

  test('each node names its contract', () => {
    expect(nodes[0]).toMatchObject({
      ...{ strike: 90, callPut: -1, expiry: '2026-02-20', root: 'ACME' },
      ...{ dealerShares: 900, deltaFlux: 0, inputs: { position: -900, multiplier: 100, gamma: 0.01, iv: 0 } },
    });
  });

  test('returns the requested count', () => {
    const ready = prepared(rows, FEED_GAMMA);
    expect([0, 1, 2, 10].map((limit) => hedgingNodes(ready, limit).length)).toEqual([0, 1, 2, 3]);
  });

  test('shares are rounded to integers', () => {
    const [node] = hedgingNodes(prepared([contract({ gamma: 0.01234, openInterest: 7 })], FEED_GAMMA), 1);
    expect(node!.dealerShares).toBe(-9);
  });
});

/** One contract, alone in its chain. */
const nodeOf = (row: ReturnType<typeof contract>, options: Parameters<typeof prepared>[1] = FLAT, head = {}) =>
  hedgingNodes(prepared([row], options, head), 1)[0]!;

describe('shares over the next day', () => {
  test.each([
    ['an out-of-the-money call loses delta: dealers buy back the hedge', 1, 105],
    ['an in-the-money call gains delta', 1, 95],
    ['an out-of-the-money put', -1, 95],
    ['an in-the-money put', -1, 105],
  ])('%s', (_what, callPut, strike) => {
    const node = nodeOf(contract({ strike, callPut, iv: 0.3, openInterest: 50 }));
    const option = { callPut, spot: 100, strike, tte: yearsTo('ACME', EXPIRY), iv: 0.3, rate: 0, dividend: 0 };
    const change = deltaAlongForward(option) - blackScholesDelta(option);
    expect(node.deltaFlux).toBeCloseTo(-callPut * change * 50 * 100, 6);
    expect(Math.sign(node.deltaFlux)).toBe(callPut * (strike - 100) > 0 ? 1 : -1);
  });

  test.each([
    ['a call in the money', 99.8, 1],
    ['a call out of the money', 100.2, 1],
    ['a put in the money', 100.2, -1],
    ['at the money', 100, 1],
  ])('an hour before settlement: %s: delta is expected to become the probability of ending in the money', (...row) => {
    const [, strike, callPut] = row;
    const node = nodeOf(contract({ strike, callPut, iv: 0.5, openInterest: 50, expiry: TODAY }));
    const s = 0.5 * Math.sqrt(yearsTo('ACME', TODAY));
    const later = callPut * normalCdf(callPut * (Math.log(100 / strike) / s - s / 2));
    expect(node.inputs.deltaAfter).toBeCloseTo(later, 12);
    expect(node.deltaFlux).toBeCloseTo(-callPut * (later - node.inputs.delta) * 50 * 100, 9);
  });

  test.each([3_599_000, 3_599_999])(
    'is finite in the last seconds at the money: %d ms of an hour have passed',
    (ms) => {
      const row = contract({ iv: 0.5, openInterest: 50, expiry: TODAY });
      const node = nodeOf(row, FLAT, { asOf: AS_OF + ms });
      expect(Math.abs(node.deltaFlux)).toBeWithin(0, 0.01 * 50 * 100);
    },
  );

  test('a cent of spot changes the trade of a contract of the day at the money by less than a thousandth of the shares', () => {
    const fluxAt = (spot: number, asOf: number) => {
      const row = contract({ strike: 450, iv: 0.12, openInterest: 100, expiry: TODAY });
      return nodeOf(row, FLAT, { spot, asOf }).deltaFlux;
    };
    for (const minutes of [0, 30, 44, 59]) {
      const asOf = AS_OF + minutes * 60_000;
      const fluxes = [449.99, 450, 450.01].map((spot) => fluxAt(spot, asOf));
      expect(Math.max(...fluxes) - Math.min(...fluxes)).toBeLessThan(1e-3 * 100 * 100);
      expect(fluxes.map(Math.sign)).toEqual([1, 1, 1]);
    }
  });

  test.each([1, 2])('does not jump where %d days are left', (days) => {
    const settlesAt = AS_OF + yearsTo('ACME', EXPIRY) * YEAR_MS;
    for (const strike of [98, 100, 101]) {
      const [before, after] = [-1_000, 1_000].map((ms) => {
        const asOf = settlesAt - days * DAY_MS + ms;
        return nodeOf(contract({ strike, iv: 0.2, openInterest: 100 }), FLAT, { asOf }).deltaFlux;
      });
      expect(Math.abs(before! - after!)).toBeLessThan(2e-4 * 100 * 100);
    }
  });
});

describe('on the eve of an ex-date', () => {
  // SPY on 2023-09-14, 15:45 in New York: the call at 450 expires next day, the ex-date.
  const [spot, forward] = [450.81, 449.42];
  const head = { underlying: 'SPY', asOf: Date.parse('2023-09-14T19:45:00Z'), spot };
  const expiry = '2023-09-15';
  const tte = yearsTo('SPY', expiry, head.asOf);
  const dividend = 0.04 - Math.log(forward / spot) / tte;
  const rows = (iv: Parameters<typeof quoted>[0]['iv']) =>
    quoted({
      ...{ strikes: range(400, 460), root: 'SPY', expiry, iv: iv!, dividend, spot, asOf: head.asOf },
      rest: { openInterest: 77_500 },
    });
  const declared = {
    ...{ ticker: 'SPY', exDate: expiry, status: 'declared', simulated: false },
    // The forward is that of spot without this amount.
    amount: spot - forward * Math.exp(-0.04 * tte),
  };
  const nodeAt = (strike: number, options = {}, iv: Parameters<typeof quoted>[0]['iv'] = 0.12) =>
    hedgingNodes(prepared(rows(iv), options, head), 200).find((each) => each.strike === strike && each.callPut === 1)!;

  test.each([
    ['with one volatility', 0.12],
    ['with a steep smile', (strike: number) => 0.12 - 1.2 * Math.log(strike / forward)],
  ])('a call at the money out of the forward moves toward 0, and by little: %s', (_what, iv) => {
    for (const cashDividends of [[], [declared]]) {
      const { deltaFlux, inputs } = nodeAt(450, { cashDividends }, iv);
      expect(inputs.forward).toBeCloseTo(forward, 6);
      expect(deltaFlux).toBeWithin(1, 0.01 * 7_750_000);
    }
  });

  test('a call deep in the money needs no trade if the dividend is known, and hardly one if it is not', () => {
    const strike = 440;
    expect(Math.abs(nodeAt(strike, { cashDividends: [declared] }).deltaFlux / 7_750_000)).toBeLessThan(2e-5);
    expect(Math.abs(nodeAt(strike).deltaFlux / 7_750_000)).toBeLessThan(1.5e-4);
    // The whole dividend as a yield would be a trade of 0.3 % of the shares.
    expect(1 - forward / spot).toBeGreaterThan(3e-3);
  });

  test.each([
    ['the next day', expiry, true],
    ['the day of the quotes, whose open has passed', '2023-09-14', false],
    ['after settlement', '2023-09-18', false],
  ])('an ex-date on %s', (_what, exDate, isCounted) => {
    const known = nodeAt(450, { cashDividends: [{ ...declared, exDate }] }).inputs.hedgeYield;
    expect(known === nodeAt(450).inputs.hedgeYield).toBe(!isCounted);
  });

  test('of a long series, known dividends reduce the yield of the hedge', () => {
    const later = '2024-06-21';
    const cashDividends = ['2023-09-15', '2023-12-15', '2024-03-15', '2024-06-21'].map((exDate) => ({
      ...declared,
      ...{ exDate, amount: 1.6 },
    }));
    const tte = yearsTo('SPY', later, head.asOf);
    const paid = cashDividends.reduce((sum, { exDate, amount }) => {
      const years =
        (Date.parse(`${exDate}T${exDate > '2023-11' && exDate < '2024-03-10' ? 14 : 13}:30:00Z`) - head.asOf) / YEAR_MS;
      return sum + amount * Math.exp(-0.04 * years);
    }, 0);
    const long = (options: object) =>
      hedgingNodes(
        prepared(
          quoted({
            ...{ strikes: range(440, 460), root: 'SPY', expiry: later, dividend: 0.0155, spot, asOf: head.asOf },
            rest: { openInterest: 10 },
          }),
          options,
          head,
        ),
        1,
      )[0]!.inputs;
    expect(long({}).hedgeYield).toBeCloseTo(0.0155, 9);
    expect(long({ cashDividends }).hedgeYield).toBeCloseTo(0.0155 + Math.log(1 - paid / spot) / tte, 9);
    // Dividends that exceed the price are damaged data.
    const absurd = long({ cashDividends: [{ ...declared, exDate: '2023-12-15', amount: 1e6 }] });
    expect(absurd.deltaAfter).toBeFinite();
  });
});

describeRecorded('recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s: every trade is finite, and their sum is the charm exposure', (name) => {
    const ready = preparedChain(recordedChain(dir, name));
    const { spot } = ready.chain;
    const nodes = hedgingNodes(ready, ready.count);
    expect(nodes.every(({ deltaFlux }) => Number.isFinite(deltaFlux))).toBe(true);
    const traded = nodes.reduce((sum, { deltaFlux }) => sum + deltaFlux, 0);
    // Contracts without gamma have no node. Their deltas change by carry alone.
    const known = new Set(nodes.map(nameOf));
    const volatile = contractsIn(ready).filter(({ iv }) => iv > 0);
    const gross = volatile.reduce((sum, { position, multiplier }) => sum + Math.abs(position * multiplier), 0);
    const others = volatile.filter((each) => !known.has(nameOf({ ...each, ...ready.series[each.series]!.series })));
    const rest = others.reduce((sum, each) => sum + fluxOf(each), 0);
    const cex = runToCompletion(exposuresOf(ready)).cex;
    expect(Math.abs(cex + (traded + rest) * spot)).toBeLessThan(1e-12 * gross * spot);
    const byStrike = runToCompletion(exposuresByStrike(ready)).cex.reduce((sum, each) => sum + each, 0);
    expect(Math.abs(cex - byStrike)).toBeLessThan(1e-12 * gross * spot);
  });

  // Two indices with series within two days, and a stock.
  test.each(['SPX 2022-12-12', 'RUT 2023-09-21', 'AAPL 2026-08-21'])(
    '%s: each trade agrees with an independent integral',
    (name) => {
      const ready = preparedChain(recordedChain(dir, name));
      const contracts = new Map(
        contractsIn(ready).map((each) => [nameOf({ ...each, ...ready.series[each.series]!.series }), each]),
      );
      const nodes = hedgingNodes(ready, 3_000);
      const off = nodes.map((node) => {
        const shares = Math.abs(node.inputs.position * node.inputs.multiplier);
        return Math.abs(node.deltaFlux - fluxOf(contracts.get(nameOf(node))!)) / shares;
      });
      expect(Math.max(...off)).toBeLessThanOrEqual(1e-6);
      const shortest = Math.min(...nodes.map(({ inputs }) => inputs.tte));
      // Both rules occur: the last day of AAPL's options is further away.
      expect(shortest < 2 / 365.25).toBe(name !== 'AAPL 2026-08-21');
    },
  );
});

interface Named {
  readonly strike: number;
  readonly callPut: number;
  readonly root: string;
  readonly expiry: string;
}
const nameOf = ({ strike, callPut, root, expiry }: Named) => `${strike} ${callPut} ${root} ${expiry}`;

/** The trade of a contract by the independent implementation. */
function fluxOf(contract: ReturnType<typeof contractsIn>[number]): number {
  return -(deltaAfterADay(contract) - blackScholesDelta(contract)) * contract.position * contract.multiplier;
}
