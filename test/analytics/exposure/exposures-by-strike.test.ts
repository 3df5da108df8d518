import { describe, expect, test } from 'bun:test';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { dayAheadOf, isOpenStrike, SERIES_INPUTS } from '../../../src/analytics/exposure/day-ahead.ts';
import { pricedExposures } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { exposuresByStrike, sumExposures } from '../../../src/analytics/exposure/exposures-by-strike.ts';
import { gexScale } from '../../../src/analytics/exposure/gex-by-series.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { recordOf } from '../../../src/core/record-of.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { MARKET_UNITS } from '../../../src/math/black-scholes.ts';
import { hedges } from '../../../src/math/exposure-kernels.ts';
import { contract, EXPIRY, LATER, prepared, range, TODAY } from '../small-chains.ts';

const SUMS = [
  ...(['callGex', 'putGex', 'netGex', 'grossGex', 'dex', 'vex', 'cex'] as const),
  ...(['callOpenInterest', 'putOpenInterest', 'callVolume', 'putVolume'] as const),
];

/** The out-of-the-money sides of all pairs at a spot, priced by the kernel, and the contracts of each pair with their dollars. */
function pairsAt(book: PreparedChain, spot: number) {
  const { pairs, seriesIndex, callPut, position, multiplier } = book;
  const { count, contracts, strike, tte } = pairs;
  const ahead = dayAheadOf(book);
  const side = strike.map((each) => (each >= spot ? 1 : -1));
  const iv = pairs.iv.map((each) => each || 0);
  const inputs = recordOf(SERIES_INPUTS, (name) =>
    Float64Array.from({ length: count }, (_, pair) => ahead[seriesIndex[contracts[pair]!]!]![name]),
  );
  const members = range(0, count - 1).map((pair) =>
    range(contracts[pair]!, contracts[pair + 1]! - 1).map((row) => ({
      ...{ row, isOther: callPut[row] !== side[pair], callPut: callPut[row]! },
      dollars: position[row]! * multiplier[row]! * spot,
    })),
  );
  for (let pair = 0; pair < count; pair++) {
    const series = book.series[seriesIndex[contracts[pair]!]!]!;
    // The delta of an open strike does not change.
    if (!isOpenStrike(Math.log(spot / strike[pair]!) + inputs.carry[pair]!, iv[pair]!, series)) continue;
    inputs.laterTte[pair] = -1;
    inputs.laterFactor[pair] = inputs.factor[pair]!;
  }
  return { ...hedges({ count, callPut: side, spot, strike, iv, tte, ...inputs }), ...inputs, count, iv, members };
}

/** The exposures at a spot, added up in the order of the kernel: even and odd pairs, and then the other sides. */
function plainExposures(book: PreparedChain, spot: number) {
  const { delta, vanna, change, factor, laterFactor, count, iv, members } = pairsAt(book, spot);
  const sums = { delta: [0, 0, 0], vanna: [0, 0, 0], change: [0, 0, 0] };
  for (let pair = 0; pair < count; pair++) {
    if (iv[pair] === 0) continue;
    const weight = members[pair]!.reduce((sum, { dollars }) => sum + dollars, 0);
    const other = members[pair]!.reduce((sum, each) => sum + (each.isOther ? each.callPut * each.dollars : 0), 0);
    for (const [name, column] of [['delta', delta] as const, ['vanna', vanna] as const, ['change', change] as const])
      sums[name][pair % 2]! += weight * column[pair]!;
    sums.delta[2]! += other * factor[pair]!;
    sums.change[2]! += other * (laterFactor[pair]! - factor[pair]!);
  }
  const total = ([even, odd, others]: number[]) => even! + odd! + others!;
  return { dex: total(sums.delta), vex: total(sums.vanna) * MARKET_UNITS.vanna, cex: total(sums.change) };
}

function plainSums(book: PreparedChain, group: Uint32Array, groups: number) {
  const { chain, row, callPut, position, multiplier, gamma } = book;
  const { delta, vanna, change, factor, laterFactor, count, iv, members } = pairsAt(book, chain.spot);
  const sums = recordOf(SUMS, () => new Float64Array(groups));
  for (let pair = 0; pair < count; pair++) {
    const to = group[pair]!;
    for (const { row: i, dollars, isOther } of members[pair]!) {
      const gex = position[i]! * gamma[i]! * multiplier[i]! * gexScale(chain);
      sums.netGex[to]! += gex;
      sums.grossGex[to]! += Math.abs(gex);
      const [gexOfSide, openInterest, volume] =
        callPut[i] === 1
          ? [sums.callGex, sums.callOpenInterest, sums.callVolume]
          : [sums.putGex, sums.putOpenInterest, sums.putVolume];
      gexOfSide[to]! += gex;
      openInterest[to]! += chain.openInterest[row[i]!]! || 0;
      volume[to]! += chain.volume[row[i]!]! || 0;
      if (iv[pair] === 0) continue;
      const other = isOther ? callPut[i]! : 0;
      sums.dex[to]! += dollars * (delta[pair]! + other * factor[pair]!);
      sums.vex[to]! += dollars * vanna[pair]! * MARKET_UNITS.vanna;
      sums.cex[to]! += dollars * (change[pair]! + other * (laterFactor[pair]! - factor[pair]!));
    }
  }
  return sums;
}

/** A chain of random contracts, some without a counterpart, a volatility or numbers, in series of which some have settled. */
function drawn(seed: number, count: number, iv: 'otm' | 'own'): PreparedChain {
  const random = generator(seed);
  const some = (share: number, value: number) => (random() < share ? value : Number.NaN);
  const rows = ['2026-01-02', TODAY, '2026-01-06', EXPIRY, LATER, '2026-02-01'].flatMap((expiry) =>
    range(1, count).flatMap((i) =>
      [1, -1]
        .filter(() => random() < 0.8)
        .map((callPut) =>
          contract({
            ...{ expiry, callPut, strike: 60 + 80 * (i / count), iv: some(0.7, 0.1 + random()) },
            ...{ openInterest: some(0.8, Math.floor(1000 * random())), volume: some(0.5, Math.floor(99 * random())) },
            ...{ multiplier: some(0.9, 10) },
          }),
        ),
    ),
  );
  return prepared(rows, { iv });
}

describe.each([
  ['one contract', prepared([contract({ openInterest: 3, iv: 0.2 })])],
  ['no volatility', prepared([contract({ openInterest: 3, volume: 4 })])],
  ['calls alone', prepared(range(90, 110).map((strike) => contract({ strike, iv: 0.3, openInterest: strike })))],
  ['random pairs', drawn(1, 300, 'otm')],
  ['each contract’s own volatility', drawn(2, 700, 'own')],
] as const)('%s: the kernels give every bit of a plain loop', (_what, book) => {
  test('for all pairs at several spots', () => {
    const spots = [100, 60, 133.7, 100.01];
    expect(runToCompletion(pricedExposures(book, spots, ''))).toEqual(spots.map((spot) => plainExposures(book, spot)));
  });

  test('for groups: strikes, and groups out of order', () => {
    const { strike, ...byStrike } = runToCompletion(exposuresByStrike(book));
    const positions = new Map([...strike].map((each, i) => [each, i]));
    const group = Uint32Array.from(book.pairs.strike, (each) => positions.get(each)!);
    expect(byStrike).toEqual(plainSums(book, group, strike.length));
    const spread = group.map((each, i) => (each * 97 + i) % 9999);
    expect(runToCompletion(sumExposures(book, spread, 9999))).toEqual(plainSums(book, spread, 9999));
  });
});
