import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import {
  SHARE_PRIOR,
  signProbability,
  signProbabilityOf,
  usualSignProbability,
} from '../../../src/analytics/exposure/sign-probability.ts';
import { signedBy, signedByFlow } from '../../../src/analytics/flow/flow-sign.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { inverseNormalCdf, normalCdf } from '../../../src/math/normal.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { EXPIRY, LATER, prepared, preparedChain, quoted, range, TODAY } from '../small-chains.ts';

const random = generator(39);
const normal = () => inverseNormalCdf(random());

/** A chain whose open interest is random by strike, and larger on one side. */
function book(expiries = [EXPIRY, LATER]): PreparedChain {
  const lean = 0.2 + 0.6 * random();
  const rows = expiries.flatMap((expiry) => quoted({ strikes: range(80, 120), expiry, iv: 0.25 }));
  return prepared(
    rows.map((row) => ({
      ...row,
      openInterest: Math.round(1000 * (row.callPut > 0 ? lean : 1 - lean) * Math.exp(0.8 * normal())),
    })),
  );
}

/** The gamma of each cell of a chain, with its sign by the convention: contracts of a series and side in a bucket of ln(K/F). */
function cellsOf({ series, seriesIndex, strike, callPut, position, multiplier, gamma }: PreparedChain) {
  const cells = new Map<string, { isCall: boolean; gamma: number }>();
  for (const [i, each] of strike.entries()) {
    const bucket = Math.floor(Math.log(each / series[seriesIndex[i]!]!.forward) / SHARE_PRIOR.bucket + 1e-9);
    const cell = cells.getOrInsert(`${seriesIndex[i]} ${callPut[i]} ${bucket}`, { isCall: callPut[i]! > 0, gamma: 0 });
    cell.gamma += position[i]! * multiplier[i]! * gamma[i]!;
  }
  return [...cells.values()];
}

/** One draw of the dealers' net gamma: shares are uniform, and correlated among the cells of a side by a common normal factor. */
function drawNet(cells: ReturnType<typeof cellsOf>): number {
  const [low, high] = SHARE_PRIOR.range;
  // The correlation of the normal numbers that gives the uniform ones the correlation of the prior.
  const correlation = 2 * Math.sin((Math.PI / 6) * SHARE_PRIOR.correlation);
  const common = [normal(), normal()];
  return cells.reduce((net, cell) => {
    const mixed = Math.sqrt(correlation) * common[Number(cell.isCall)]! + Math.sqrt(1 - correlation) * normal();
    return net + cell.gamma * (low + (high - low) * normalCdf(mixed));
  }, 0);
}

test('of 20,000 draws of the prior, each decile of the probability has its share of right signs within three standard errors', () => {
  const deciles = Array.from({ length: 10 }, () => ({ draws: 0, stated: 0, right: 0 }));
  for (let i = 0; i < 200; i++) {
    const ready = book();
    const cells = cellsOf(ready);
    const sign = Math.sign(cells.reduce((sum, cell) => sum + cell.gamma, 0));
    const stated = signProbability(ready);
    for (let draw = 0; draw < 100; draw++) {
      const decile = deciles[Math.min(9, Math.floor(10 * stated))]!;
      decile.draws++;
      decile.stated += stated;
      if (Math.sign(drawNet(cells)) === sign) decile.right++;
    }
  }
  const used = deciles.filter(({ draws }) => draws > 0);
  expect(used.length).toBeGreaterThanOrEqual(5);
  for (const { draws, stated, right } of used) {
    const mean = stated / draws;
    const error = Math.sqrt((mean * (1 - mean)) / draws);
    expect(Math.abs(right / draws - mean)).toBeLessThan(3 * error + 1e-12);
  }
});

describe('what is not known', () => {
  const strikes = range(80, 120);
  const calls = (expiry: string) =>
    quoted({ strikes, expiry, iv: 0.25, rest: { openInterest: 10, volume: 10 } }).filter((row) => row.callPut > 0);

  test.each([
    ['a series of a later day', [EXPIRY], {}, 0.9, 1],
    ['a series of the day, by the open interest of the day before', [TODAY], {}, 0.5, 0.5],
    ['a series of the day, by volume', [TODAY], { weight: 'volume' }, 0.7, 1],
    // The series of the day has most of the gamma.
    ['both', [TODAY, EXPIRY], {}, 0.5, 0.8],
  ] as const)('%s', (_what, expiries, options, least, most) => {
    const probability = signProbability(prepared(expiries.flatMap(calls), options));
    expect(probability).toBeGreaterThanOrEqual(least);
    expect(probability).toBeLessThanOrEqual(most);
  });

  test('without gamma, the probability is a half', () => {
    expect(signProbability(prepared(quoted({ strikes, rest: { openInterest: 0 } })))).toBe(0.5);
    expect(usualSignProbability(0, 0)).toBe(0.5);
  });

  test('by flow, the probability grows with the share of open interest whose side is known', () => {
    const ready = prepared(quoted({ strikes, iv: 0.25, rest: { openInterest: 100 } }));
    const by = (share: number) => {
      const net = Float64Array.from(ready.chain.openInterest, (open) => share * open);
      return signProbability(
        signedByFlow(ready, { net, contracts: 0, capped: 0, prints: { feed: 0, quote: 0, tick: 0, unknown: 0 } }),
      );
    };
    expect([0, 0.05, 0.2, 0.5, 1].map(by).map((each, i, all) => i === 0 || each > all[i - 1]!)).not.toContain(false);
    expect([by(0), by(1)]).toEqual([0.5, 1]);
  });

  test('if dealers are short both, all gamma has one sign, which is more certain than that of a difference', () => {
    const ready = book();
    expect(signProbability(signedBy(ready, 'short_both'))).toBeGreaterThan(Math.max(0.9, signProbability(ready)));
    expect(signProbability(signedBy(ready, 'short_both'))).toBeCloseTo(
      signProbability(signedBy(ready, 'long_both')),
      12,
    );
  });

  test('two chains together are more certain than one, but less than two that are independent', () => {
    const ready = book();
    const [one, two] = [[ready], [ready, ready]].map((chains) => inverseNormalCdf(signProbabilityOf(chains)));
    expect(two! / one!).toBeGreaterThan(1);
    expect(two! / one!).toBeLessThan(Math.SQRT2);
  });
});

describeRecorded('recorded chains', (dir) => {
  test.each(recordedNames(dir))(
    '%s: buckets of half or double the width move the probability by at most 3 points',
    (name) => {
      const ready = preparedChain(recordedChain(dir, name), DEFAULT_OPTIONS);
      const at = (factor: number) =>
        signProbabilityOf([ready], { ...SHARE_PRIOR, bucket: factor * SHARE_PRIOR.bucket });
      for (const factor of [0.5, 2]) expect(Math.abs(at(factor) - at(1))).toBeLessThanOrEqual(0.03);
    },
  );
});
