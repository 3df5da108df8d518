import { describe, expect, test } from 'bun:test';
import type { AnalysisOptions } from '../../src/analytics/chain/options.ts';
import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { type GexLevels, gexLevels } from '../../src/analytics/exposure/gex-levels.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { recordedChain, recordedNames } from './recorded.ts';
import { preparedChain } from './small-chains.ts';

/** The conventions of most open-source tools: no rates, each contract by its own volatility. */
const FLAT: Partial<AnalysisOptions> = { forward: 'flat', rate: 0, dividend: 0, iv: 'own' };

describeRecorded('levels of recorded chains', (dir) => {
  const prepare = (name: string, options: Partial<AnalysisOptions> = {}): PreparedChain =>
    preparedChain(recordedChain(dir, name), options);
  const levels = (name: string, options: Partial<AnalysisOptions> = {}): GexLevels =>
    runToCompletion(gexLevels(prepare(name, options), new Map()));

  describe('with the exchange’s gamma and a flat forward, as published', () => {
    test.each([
      ['SPX 2022-12-12', -1075, 4006, 4000, 3950],
      ['SPY 2025-09-25', -3918, 668.3, 670, 655],
    ])('%s: net %d million, flip near %d, walls %d and %d', (name, net, flip, callWall, putWall) => {
      const found = levels(name, { ...FLAT, gamma: 'feed' });
      expect(Math.round(found.exposures.gex / 1e6)).toBe(net);
      expect(found.flip.resolved).toBe(true);
      expect(Math.abs(found.flip.level / flip - 1)).toBeLessThan(0.003);
      expect([found.walls.call.strike, found.walls.put.strike]).toEqual([callWall, putWall]);
    });
  });

  // Expected values from a plain script that follows only the definitions: net in millions, flip, walls, max pain,
  // dominant expiry.
  describe('with the feed’s volatility within its quote', () => {
    test.each([
      ['SPX 2022-12-12', -1555, 3998.5, 4000, 3950, 3915, '2022-12-16'],
      ['SPY 2025-09-25', -3714, 667.2, 670, 655, 650, '2025-10-17'],
      ['RUT 2023-09-21', -1280, 1907.2, 1850, 1800, 1860, '2023-10-20'],
      ['AAPL 2026-08-21', 735, 276.6, 320, 300, 295, '2026-09-18'],
      ['NVDA 2026-08-21', 824, 186.9, 220, 200, 195, '2026-09-18'],
      ['TSLA 2026-08-21', 382, 335.6, 400, 350, 370, '2026-09-18'],
      ['XLF 2026-08-21', -17.7, 57.87, 58, 56, 55, '2026-09-18'],
    ] as const)('%s: net %d, flip %d, walls %d and %d, max pain %d, %s', (name, net, flip, call, put, pain, expiry) => {
      const found = levels(name, { iv: 'feed' });
      expect(rounded(found.exposures.gex / 1e6, net)).toBe(net);
      expect(rounded(found.flip.level, flip)).toBe(flip);
      expect(found.flip.resolved).toBe(true);
      expect([found.walls.call.strike, found.walls.put.strike]).toEqual([call, put]);
      expect([found.walls.call.sided, found.walls.put.sided]).toEqual([true, true]);
      expect(found.maxPain).toBe(pain);
      expect(found.dominant.series.expiry).toBe(expiry);
      expect(found.dominantBy).toBe('gamma');
    });
  });

  test('after hours, 50 of the 55 SPX forwards come from the feed’s deltas', () => {
    const methods = prepare('SPX 2022-12-12').series.map(({ forwardMethod }) => forwardMethod);
    expect(methods).toHaveLength(55);
    expect(methods.filter((method) => method === 'delta')).toHaveLength(50);
  });

  test('the side rule skips a larger strike of TSLA, which the unsided wall reports', () => {
    const { walls } = levels('TSLA 2026-08-21');
    expect([walls.call.strike, walls.callUnsided]).toEqual([400, 360]);
  });

  describe('every contract is counted', () => {
    test.each(recordedNames(dir))('%s', (name) => {
      for (const options of [{}, { iv: 'own' }, { expiries: { kind: 'next', days: 30 } }] as const) {
        const { counts, count, iv } = prepare(name, options);
        const { settled, adjusted, other_expiry, no_volatility } = counts.left_out;
        const { taken, solved, interpolated, extended } = counts.iv;
        expect(taken + solved + interpolated + extended + no_volatility).toBe(counts.used);
        expect(counts.used + settled + adjusted + other_expiry).toBe(counts.contracts);
        expect(counts.used).toBe(count);
        expect(iv.filter((each) => Number.isNaN(each))).toHaveLength(no_volatility);
      }
    });
  });
});

/** Rounds to as many decimals as the figure has. */
function rounded(value: number, figure: number): number {
  return Number(value.toFixed(String(figure).split('.')[1]?.length ?? 0));
}
