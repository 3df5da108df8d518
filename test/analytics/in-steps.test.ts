import { describe, expect, test } from 'bun:test';
import { indexChain } from '../../bench/index-chain.ts';
import { DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { combine } from '../../src/analytics/exposure/combined.ts';
import { exposuresOf } from '../../src/analytics/exposure/dollar-exposures.ts';
import { exposureFlips } from '../../src/analytics/exposure/exposure-flips.ts';
import { exposuresByStrike } from '../../src/analytics/exposure/exposures-by-strike.ts';
import { concentratedStrikes } from '../../src/analytics/exposure/gamma-concentration.ts';
import { gammaFlip } from '../../src/analytics/exposure/gamma-flip.ts';
import { levelsWithin, positionsOf, profileAt } from '../../src/analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../../src/analytics/exposure/gex-levels.ts';
import { fitSurface } from '../../src/analytics/surface/fit-surface.ts';
import { runToCompletion, type Steps } from '../../src/core/steps.ts';

/** Runs the steps of several tasks in turn, as the scheduler does. Counts the steps of each. */
function inTurn(works: readonly Steps<unknown>[]): { result: unknown; steps: number }[] {
  const done: { result: unknown; steps: number }[] = works.map(() => ({ result: undefined, steps: 0 }));
  const open = new Set(works.keys());
  while (open.size > 0) {
    for (const i of open) {
      const next = works[i]!.next();
      done[i]!.steps++;
      if (!next.done) continue;
      done[i]!.result = next.value;
      open.delete(i);
    }
  }
  return done;
}

/** Chains of 90,000 and of 3,000 contracts. */
const LARGE = indexChain(60, 800);
const SMALL = indexChain(15, 100);
const OWN = { ...DEFAULT_OPTIONS, iv: 'own' } as const;

describe('preparing', () => {
  test('a chain of 3,000 contracts takes one step after the first, which announces its cost', () => {
    expect(SMALL.count).toBe(3_000);
    for (const options of [DEFAULT_OPTIONS, OWN]) {
      expect(inTurn([prepareChain({ ...SMALL }, options)])[0]!.steps).toBe(2);
    }
  });

  test.each([
    ['by default', DEFAULT_OPTIONS],
    ['with each contract’s own volatility', OWN],
    ['with the feed’s gamma', { ...DEFAULT_OPTIONS, gamma: 'feed' }],
  ] as const)('a large chain gives the same result beside another as alone: %s', (_what, options) => {
    const [large, other] = inTurn([
      prepareChain({ ...LARGE }, options),
      prepareChain({ ...LARGE, spot: LARGE.spot * 1.01 }, options),
    ]);
    expect(large!.steps).toBeGreaterThan(8);
    const { chain: _, ...alone } = runToCompletion(prepareChain({ ...LARGE }, options));
    expect(large!.result).toMatchObject(alone);
    expect((other!.result as PreparedChain).series[0]!.tte).toBe(alone.series[0]!.tte);
  });
});

describe('analyses of a large chain that run in turn give the same results as alone', () => {
  const ready = runToCompletion(prepareChain(LARGE, DEFAULT_OPTIONS));
  const moved = runToCompletion(prepareChain({ ...LARGE, spot: LARGE.spot * 1.02 }, DEFAULT_OPTIONS));
  const small = runToCompletion(prepareChain(SMALL, DEFAULT_OPTIONS));
  /** A copy without the results that are cached per chain and series. */
  const fresh = (of: PreparedChain): PreparedChain => ({
    ...of,
    pairs: { ...of.pairs },
    series: of.series.map((each) => ({ ...each })),
  });
  const level = levelsWithin(0.2, LARGE.spot);
  const profile = function* (of: PreparedChain) {
    return yield* profileAt(yield* positionsOf(of), level);
  };
  const analyses: [string, (of: PreparedChain) => Steps<unknown>, number][] = [
    ['exposures', exposuresOf, 1],
    ['exposures by strike', exposuresByStrike, 2],
    ['vanna and charm flips', exposureFlips, 20],
    ['gamma flip', gammaFlip, 2],
    ['gamma profile', profile, 10],
    ['levels', (of) => gexLevels(of, new Map()), 4],
    ['concentration', concentratedStrikes, 2],
    ['both of two', (of) => combine(of, small), 10],
    ['surface', fitSurface, 60],
  ];

  test('all analyses at once, on two chains', () => {
    const works = analyses.flatMap(([, analyse]) => [analyse(fresh(ready)), analyse(fresh(moved))]);
    const done = inTurn(works);
    for (const [i, [name, analyse, steps]] of analyses.entries()) {
      expect(done[2 * i]!.steps, name).toBeGreaterThan(steps);
      for (const [side, of] of [ready, moved].entries()) {
        expect(figures(done[2 * i + side]!.result), name).toEqual(figures(runToCompletion(analyse(fresh(of)))));
      }
    }
  });

  test('a small chain takes a single step, except for fits that compute residuals repeatedly and for the cached flip', () => {
    for (const [name, analyse] of analyses.filter(([name]) => !/flip|levels|profile|surface|both/.test(name))) {
      expect(inTurn([analyse(fresh(small))])[0]!.steps, name).toBe(1);
    }
  });
});

/** Without functions, which never compare as equal. */
function figures(result: unknown): unknown {
  return JSON.parse(
    JSON.stringify(result, (_, value) => {
      if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array);
      return Number.isNaN(value) ? 'NaN' : value;
    }),
  );
}
