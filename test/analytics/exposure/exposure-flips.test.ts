import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { exposuresOf, pricedExposures } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { type ExposureFlips, exposureFlips } from '../../../src/analytics/exposure/exposure-flips.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, someRecorded } from '../recorded.ts';
import { AS_OF, EXPIRY, HEAD, LATER, prepared, quoted, range, TODAY } from '../small-chains.ts';

const weighed = (openInterest: (strike: number, callPut: number) => number) =>
  prepared(
    quoted({ strikes: range(70, 130, 2) }).map((row) => ({
      ...row,
      openInterest: openInterest(row.strike, row.callPut),
    })),
  );

describe('vanna and charm flips', () => {
  // Calls around spot: vanna is positive if spot is below them, negative if above.
  const book = weighed((strike, callPut) => (callPut === 1 && Math.abs(strike - 101) < 10 ? strike : 0));
  const flips = runToCompletion(exposureFlips(book));
  const pricedAt = (spot: number) => runToCompletion(pricedExposures(book, [spot], ''))[0]!;

  test('the exposure is close to 0 at the flip and has opposite signs on either side', () => {
    for (const [name, level] of [
      ['vex', flips.vanna],
      ['cex', flips.charm],
    ] as const) {
      expect(level).toBeWithin(80, 120);
      const at = (spot: number) => pricedAt(spot)[name];
      expect(Math.sign(at(level * 0.995))).toBe(-Math.sign(at(level * 1.005)));
      const scale = Math.max(...range(80, 120).map((spot) => Math.abs(at(spot))));
      expect(Math.abs(at(level)) / scale).toBeLessThan(2e-3);
    }
  });

  test('there is no flip near spot if the whole book has one sign', () => {
    // Only calls far above spot: vanna is positive and charm negative at all levels.
    const calls = weighed((strike, callPut) => (callPut === 1 && strike >= 128 ? 10 : 0));
    expect(runToCompletion(exposureFlips(calls)).vanna).toBeNaN();
  });

  test('exposures repriced at the current spot equal those of the chain', () => {
    const { dex, vex, cex } = runToCompletion(exposuresOf(book));
    expect(pricedAt(book.chain.spot)).toEqual({ dex, vex, cex });
  });
});

/** The flips by pricing the whole chain at all 41 spots of the grid. */
function plainFlips(book: PreparedChain): ExposureFlips {
  const { spot } = book.chain;
  const exposures = (spots: readonly number[]) => runToCompletion(pricedExposures(book, spots, ''));
  const grid = range(-20, 20).map((i) => spot * (1 + i * 0.01));
  const nearest = (spots: readonly number[], values: readonly number[]) => {
    const distance = (i: number) => Math.max(spots[i - 1]! - spot, spot - spots[i]!, 0);
    const changes = range(1, spots.length - 1).filter((i) => Math.sign(values[i - 1]!) !== Math.sign(values[i]!));
    return changes.toSorted((a, b) => distance(a) - distance(b))[0];
  };
  const coarse = exposures(grid);
  const flip = (name: 'vex' | 'cex') => {
    const at = nearest(
      grid,
      coarse.map((each) => each[name]),
    );
    if (at === undefined) return Number.NaN;
    const [from, to] = [grid[at - 1]!, grid[at]!];
    const finer = range(0, 4).map((i) => from + ((to - from) * i) / 4);
    const values = exposures(finer).map((each) => each[name]);
    const i = nearest(finer, values)!;
    const [a, b] = [values[i - 1]!, values[i]!];
    return finer[i - 1]! + ((finer[i]! - finer[i - 1]!) * a) / (a - b);
  };
  return { vanna: flip('vex'), charm: flip('cex') };
}

function expectSame(book: PreparedChain): void {
  const [found, expected] = [runToCompletion(exposureFlips(book)), plainFlips(book)];
  for (const name of ['vanna', 'charm'] as const) {
    if (Number.isNaN(expected[name])) expect(found[name], name).toBeNaN();
    else expect(Math.abs(found[name] / expected[name] - 1), name).toBeLessThan(1e-9);
  }
}

describe('flips equal those of the whole grid', () => {
  test.each(range(1, 60))('generated chain %d', (seed) => {
    const random = generator(seed);
    // Half an hour to weeks before settlement, with narrow and wide curves, few or many strikes, and clusters of positions.
    const asOf = AS_OF + random() * 3_600_000;
    const expiries = [TODAY, '2026-01-06', EXPIRY, LATER].filter(() => random() < 0.6);
    const chosen = expiries.length === 0 ? [LATER] : expiries;
    const iv = [0.0001, 0.02, 0.1, 0.4][Math.floor(4 * random())]!;
    const step = [0.5, 2, 5][Math.floor(3 * random())]!;
    const from = 60 + 50 * random();
    const rows = chosen.flatMap((expiry) =>
      quoted({ strikes: range(from, from + 40, step), expiry, asOf, iv: 0.3 }).map((row) => ({
        ...row,
        iv: iv * (0.5 + random()),
        openInterest: random() < 0.3 ? 0 : Math.floor(1000 * random() ** 3),
      })),
    );
    expectSame(prepared(rows, { ...DEFAULT_OPTIONS, iv: seed % 2 === 0 ? 'own' : 'feed' }, { ...HEAD, asOf }));
  });

  describeRecorded('recorded chains', (dir) => {
    test.each(someRecorded(dir))('%s, all expiries and each of the first ones', (name) => {
      const chain = recordedChain(dir, name);
      const all = runToCompletion(prepareChain(chain, DEFAULT_OPTIONS));
      expectSame(all);
      for (const { series } of all.series.slice(0, 8)) {
        const expiries = { kind: 'date', date: series.expiry } as const;
        expectSame(runToCompletion(prepareChain(chain, { ...DEFAULT_OPTIONS, expiries })));
      }
    });
  });
});
