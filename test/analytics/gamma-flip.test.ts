import { describe, expect, test } from 'bun:test';
import { exposures } from '../../src/analytics/exposures.ts';
import { gammaFlip, netGammaProfile } from '../../src/analytics/gamma-flip.ts';
import type { PreparedChain } from '../../src/analytics/prepared-chain.ts';
import type { ContractRow } from '../../src/market/build-chain.ts';
import { nearestSignChange, netGex } from './plain.ts';
import { contract, LATER, prepared, quoted, range, TODAY } from './small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'own' } as const;

function call(strike: number, openInterest: number, iv = 0.3): ContractRow {
  return contract({ strike, iv, openInterest });
}

function put(strike: number, openInterest: number, iv = 0.3): ContractRow {
  return contract({ strike, iv, openInterest, callPut: -1 });
}

function contractsOf(ready: PreparedChain) {
  return Array.from({ length: ready.count }, (_, at) => ({
    callPut: ready.callPut[at]!,
    spot: ready.chain.spot,
    strike: ready.strike[at]!,
    tte: ready.tte[at]!,
    iv: ready.iv[at]!,
    rate: ready.rate[at]!,
    dividend: ready.dividend[at]!,
    weight: ready.weight[at]!,
    multiplier: ready.multiplier[at]!,
  }));
}

describe('the crossing nearest spot, as a fine scan of bumped prices finds it', () => {
  test.each([
    ['puts below, calls above', [put(95, 10), call(105, 10)], FLAT],
    ['calls below, puts above', [call(95, 10), put(105, 10)], FLAT],
    ['more puts', [put(95, 30), call(105, 10)], FLAT],
    ['two crossings: the nearer', [put(85, 10), call(97, 10), put(106, 30)], FLAT],
    ['and the other way about', [put(94, 30), call(103, 10), put(115, 10)], FLAT],
    ['a skew of volatilities', [put(90, 20, 0.5), call(110, 12, 0.2)], FLAT],
    ['rates and a yield', [put(95, 30), call(105, 10)], { ...FLAT, rate: 0.08, dividend: 0.02 }],
    ['two expiries', [put(95, 30), { ...call(105, 40), expiry: LATER }, call(110, 5)], FLAT],
    [
      'a quoted chain',
      quoted({ strikes: range(90, 110), iv: (strike) => 0.3 + 0.002 * (100 - strike) }).map((row) => ({
        ...row,
        openInterest: row.callPut === 1 ? row.strike - 85 : 2 * (115 - row.strike),
      })),
      {},
    ],
  ] as const)('%s', (_what, rows, options) => {
    const ready = prepared(rows as readonly ContractRow[], options);
    const net = (level: number) => netGex(contractsOf(ready), level);
    const { level, resolved } = gammaFlip(ready);
    expect(resolved).toBe(true);
    expect(level).toBeCloseTo(nearestSignChange(net, 100, 0.02), 2);
    // At spot the profile is the chain's net gamma.
    const { gex, grossGex } = exposures(ready);
    expect(Math.abs(net(100) - gex)).toBeLessThan(1e-7 * grossGex);
    const profile = netGammaProfile(ready, 0.2);
    for (const at of [40, 80, 95]) {
      expect(Math.abs(net(profile.level[at]!) - profile.gex[at]!)).toBeLessThan(1e-6 * grossGex);
    }
  });
});

describe('the grid widens until it finds one', () => {
  // Equal contracts: the sign changes between the two strikes, wherever they are.
  test.each([
    ['within 20 %', 80, 84, 0.2],
    ['within 35 %', 70, 74, 0.35],
    ['within 50 %', 55, 59, 0.5],
    ['above spot', 128, 134, 0.35],
  ])('%s', (_what, low, high, halfWidth) => {
    const ready = prepared([put(low, 10), call(high, 10)], FLAT);
    const { level, resolved } = gammaFlip(ready);
    expect(resolved).toBe(true);
    expect(level).toBeGreaterThan(low);
    expect(level).toBeLessThan(high);
    expect(Math.abs(level / 100 - 1)).toBeLessThan(halfWidth);
  });

  test('beyond it: where it is least, not resolved', () => {
    const ready = prepared([put(100, 10), call(200, 10, 0.05)], FLAT);
    const { level, resolved } = gammaFlip(ready);
    expect(resolved).toBe(false);
    const profile = netGammaProfile(ready, 0.5);
    const found = profile.gex[profile.level.indexOf(level)]!;
    expect(found).not.toBe(0);
    expect(Math.abs(found)).toBe(Math.min(...profile.gex.map(Math.abs)));
  });
});

describe('exact zeros', () => {
  test('gamma that is nothing everywhere: spot, not resolved', () => {
    expect(gammaFlip(prepared([call(100, 0), put(100, 0)], FLAT))).toEqual({ level: 100, resolved: false });
  });

  test('calls and puts that weigh each other up exactly: spot, not resolved', () => {
    const rows = [90, 100, 110].flatMap((strike) => [call(strike, 7), put(strike, 7)]);
    expect(gammaFlip(prepared(rows, FLAT))).toEqual({ level: 100, resolved: false });
  });

  test('a desert between two signs is one crossing, at its middle', () => {
    // An hour before they settle, gamma underflows to 0 within a percent of the strikes.
    const ready = prepared([put(92, 10, 0.02), call(108, 10, 0.02)].map(inAnHour), FLAT);
    const { gex, level: levels } = netGammaProfile(ready, 0.2);
    expect(levels.filter((each, at) => gex[at] === 0 && each > 94 && each < 106)).toHaveLength(47);
    const { level, resolved } = gammaFlip(ready);
    expect(resolved).toBe(true);
    expect(Math.abs(level - 100)).toBeLessThan(0.3);
  });

  test('touching zero without crossing it is no crossing', () => {
    const ready = prepared([put(92, 10, 0.02), put(108, 10, 0.02)].map(inAnHour), FLAT);
    expect(gammaFlip(ready).resolved).toBe(false);
  });
});

function inAnHour(row: ContractRow): ContractRow {
  return { ...row, expiry: TODAY };
}

test('the profile has a level every quarter percent, spot itself among them', () => {
  const { level, gex } = netGammaProfile(prepared([call(100, 1)], FLAT), 0.2);
  expect(level).toHaveLength(161);
  expect([level[0], level[80], level[160]]).toEqual([80, 100, 120]);
  expect(gex).toHaveLength(161);
  expect(level[81]! - level[80]!).toBeCloseTo(0.25, 12);
});

test('contracts without a volatility have no part', () => {
  const rows = [put(95, 10), call(105, 10)];
  const more = [...rows, contract({ strike: 101, openInterest: 1e6, gamma: 0.5 })];
  expect(gammaFlip(prepared(more, { ...FLAT, gamma: 'feed' }))).toEqual(gammaFlip(prepared(rows, FLAT)));
});
