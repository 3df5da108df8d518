import { describe, expect, test } from 'bun:test';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { exposuresByStrike } from '../../../src/analytics/exposure/exposures-by-strike.ts';
import { expectedAbsShares, hedgingNodes } from '../../../src/analytics/exposure/hedging-nodes.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { DAY_MS, YEAR_MS } from '../../../src/market/calendar.ts';
import { inverseNormalCdf } from '../../../src/math/normal.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { deltaAfterADay, isOpen } from '../independent.ts';
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

  // An hour before settlement, one standard deviation is 0.53 % of the forward.
  test.each([
    ['a call in the money', 99, 1, 1],
    ['a call out of the money', 101, 1, 0],
    ['a put in the money', 101, -1, -1],
    ['a put out of the money', 99, -1, 0],
  ])(
    'of a contract that settles within a day: %s goes to its delta at settlement',
    (_what, strike, callPut, settled) => {
      const node = nodeOf(contract({ strike, callPut, iv: 0.5, openInterest: 50, expiry: TODAY }));
      expect(node.inputs.deltaAfter).toBe(settled);
      expect(node.driftShares).toBe(node.deltaFlux);
      expect(node.deltaFlux).toBeCloseTo(-callPut * (settled - node.inputs.delta) * 50 * 100, 9);
    },
  );

  test.each([
    ['in the money', 99.8, 1],
    ['out of the money', 100.2, 0],
    ['on the forward', 100, 0.5],
  ])(
    'within one deviation of the forward there is no drift; the change is that of a settlement at the forward: %s',
    (_what, strike, settled) => {
      for (const ms of [0, 3_599_000, 3_599_999]) {
        const row = contract({ strike, iv: 0.5, openInterest: 50, expiry: TODAY });
        const node = nodeOf(row, FLAT, { asOf: AS_OF + ms });
        const isOpen = Math.abs(Math.log(100 / strike)) < 0.5 * Math.sqrt(node.inputs.tte);
        expect(node.driftShares).toBe(isOpen ? null : node.deltaFlux);
        expect(node.deltaFlux).toBeCloseTo(-(settled - node.inputs.delta) * 50 * 100, 9);
      }
    },
  );

  test('does not jump where one day or two days are left', () => {
    const settlesAt = AS_OF + yearsTo('ACME', EXPIRY) * YEAR_MS;
    for (const days of [1, 2]) {
      for (const strike of [98, 99, 101.5]) {
        const [before, after] = [-1, 1].map((ms) => {
          const asOf = settlesAt - days * DAY_MS + ms;
          return nodeOf(contract({ strike, iv: 0.2, openInterest: 100 }), FLAT, { asOf });
        });
        expect(Math.abs(before!.deltaFlux - after!.deltaFlux)).toBeLessThan(1e-6 * 100 * 100);
        const shares = [before, after].map((node) => expectedAbsShares(node!)!);
        expect(Math.abs(shares[0]! / shares[1]! - 1)).toBeLessThan(1e-3);
      }
    }
  });

  // Computed before contracts in their last two days had a drift.
  const dividend = { ticker: 'ACME', exDate: '2026-01-08', amount: 0.5, status: 'declared', simulated: false };
  const cashDividends = [{ ...dividend, knownFrom: 0 }];
  const settlesAt = Date.parse('2026-01-16T21:00:00Z');
  test.each([
    ['a call, with a yield', { strike: 101 }, { dividend: 0.02 }, AS_OF, 19.48372118011993],
    ['a put, with a yield', { strike: 101, callPut: -1 }, { dividend: 0.02 }, AS_OF, -19.584429407314417],
    ['a call, with a dividend', { strike: 80 }, { cashDividends }, AS_OF, 0.8117454608985719],
    ['a put, with a dividend', { strike: 99, callPut: -1, iv: 0.4 }, { cashDividends }, AS_OF, 12.586508305452993],
    ['two days', { strike: 100 }, {}, settlesAt - 2 * DAY_MS, -1.6667380707768853],
    ['a moment more', { strike: 100.5, callPut: -1 }, {}, settlesAt - 2 * DAY_MS - 1, -178.25252756222488],
  ])(
    'two days before settlement or more, the change is to the digit that of before: %s',
    (_what, row, options, asOf, expected) => {
      const node = nodeOf(contract({ iv: 0.3, openInterest: 50, ...row }), { iv: 'own', ...options }, { asOf });
      expect(node.deltaFlux).toBe(expected);
      expect(node.driftShares).toBe(expected);
    },
  );
});

/** Standard normal numbers: one at random in each of `count` parts of equal probability. */
function normalNumbers(count: number): number[] {
  const random = generator(39);
  return range(1, count).map((i) => inverseNormalCdf((i - 1 + random()) / count));
}

describe('simulated paths of the forward, with the volatility of each strike', () => {
  // Two strikes a deviation.
  const paths = normalNumbers(20_000);
  const iv = (strike: number) => 0.25 - 0.8 * Math.log(strike / 100);

  test.each([
    ['settles in 8 hours', '2026-01-16T13:00:00Z', true],
    ['settles in 23 hours', '2026-01-15T22:00:00Z', true],
    ['settles in a day and a minute', '2026-01-15T20:59:00Z', false],
    ['settles in a day and a half', '2026-01-15T09:00:00Z', false],
    ['settles in eleven days', '2026-01-05T21:00:00Z', false],
  ])('a series that %s', (_what, at, isSettling) => {
    const asOf = Date.parse(at);
    const tte = yearsTo('ACME', EXPIRY, asOf);
    const deviation = 0.25 * Math.sqrt(Math.min(tte, 1 / 365.25));
    const strikes = range(-5, 5).map((i) => 100 * Math.exp((i / 2 + 0.1) * deviation));
    const rows = strikes.flatMap((strike) =>
      [1, -1].map((callPut) => contract({ strike, callPut, iv: iv(strike), openInterest: 50 })),
    );
    const nodes = hedgingNodes(
      prepared(rows, { iv: 'own', rate: 0.04, dividend: 0.02, forward: 'flat' }, { asOf }),
      99,
    );
    expect(nodes).toHaveLength(rows.length);
    let [absolute, expected] = [0, 0];
    for (const node of nodes) {
      const { strike, callPut, inputs } = node;
      const [day, left] = [Math.min(tte, 1 / 365.25), Math.max(0, tte - 1 / 365.25)];
      const [width, rest] = [inputs.iv * Math.sqrt(day), inputs.iv * Math.sqrt(left)];
      let [near, within, sum] = [0, 0, 0];
      for (const z of paths) {
        const moved = width * z - width ** 2 / 2;
        const x = callPut * (Math.log(inputs.forward / strike) + moved);
        const later = left > 0 ? normalCdf(x / rest + (callPut * rest) / 2) : Number(x > 0);
        const trade = -callPut * (callPut * inputs.laterFactor * later - inputs.delta) * 50 * 100;
        sum += Math.abs(trade);
        if (Math.abs(moved) >= 0.1 * width) continue;
        near += trade;
        within++;
      }
      const rehedge = expectedAbsShares(node)!;
      expect(Math.abs(rehedge / (sum / paths.length) - 1), `strike ${strike}`).toBeLessThan(0.02);
      absolute += sum / paths.length;
      expected += rehedge;
      expect(node.driftShares === null, `strike ${strike}`).toBe(
        Math.abs(Math.log(inputs.forward / strike)) <
          inputs.iv * Math.sqrt(Math.max(0, Math.min(tte, 2 / 365.25 - tte))),
      );
      if (node.driftShares === null || !isSettling) continue;
      expect(Math.abs(node.driftShares / (near / within) - 1), `strike ${strike}`).toBeLessThan(1e-9);
    }
    expect(Math.abs(expected / absolute - 1)).toBeLessThan(0.005);
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

  test('a call at the money whose forward is below the strike has no drift, and loses its delta if the price settles there', () => {
    for (const cashDividends of [[], [declared]]) {
      const { deltaFlux, driftShares, inputs } = nodeAt(450, { cashDividends });
      expect(inputs.forward).toBeCloseTo(forward, 6);
      // A quarter of an hour more than a day is left.
      expect([driftShares, inputs.deltaAfter]).toEqual([null, expect.closeTo(0, 1)]);
      expect(deltaFlux).toBeCloseTo((inputs.delta - inputs.deltaAfter) * 7_750_000, 3);
    }
  });

  test('a call deep in the money needs no trade if the dividend is known, and hardly one if it is not', () => {
    const strike = 425;
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
  test.each(recordedNames(dir))(
    '%s: every trade is finite, and the sum of the drifts is the charm exposure',
    (name) => {
      const ready = preparedChain(recordedChain(dir, name));
      const { spot } = ready.chain;
      const nodes = hedgingNodes(ready, ready.count);
      expect(nodes.every(({ deltaFlux }) => Number.isFinite(deltaFlux))).toBe(true);
      const traded = nodes.reduce((sum, { driftShares }) => sum + (driftShares ?? 0), 0);
      // Contracts without gamma have no node. Their deltas change by carry alone.
      const known = new Set(nodes.map(nameOf));
      const volatile = contractsIn(ready).filter(({ iv }) => iv > 0);
      const gross = volatile.reduce((sum, { position, multiplier }) => sum + Math.abs(position * multiplier), 0);
      const others = volatile.filter((each) => !known.has(nameOf({ ...each, ...ready.series[each.series]!.series })));
      const rest = others.reduce((sum, each) => sum + (isOpen(each, spot) ? 0 : fluxOf(each)), 0);
      const cex = runToCompletion(exposuresOf(ready)).cex;
      expect(Math.abs(cex + (traded + rest) * spot)).toBeLessThan(1e-12 * gross * spot);
      const byStrike = runToCompletion(exposuresByStrike(ready)).cex.reduce((sum, each) => sum + each, 0);
      expect(Math.abs(cex - byStrike)).toBeLessThan(1e-12 * gross * spot);
    },
  );

  // Two indices with series within two days, and a stock.
  test.each(['SPX 2022-12-12', 'RUT 2023-09-21', 'AAPL 2026-08-21'])(
    '%s: each trade agrees with an independent implementation',
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
