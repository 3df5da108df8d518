import { describe, expect, test } from 'bun:test';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { AS_OF, contract, EXPIRY, FEED_GAMMA, LATER, prepared, TODAY } from '../small-chains.ts';

const heavy = { gamma: 0.05, openInterest: 100 };
const light = { gamma: 0.01, openInterest: 10 };
/** EXPIRY has the most gamma, the LEAPS have the most open interest. */
const ROWS: ContractRow[] = [
  contract({ ...heavy, strike: 105 }),
  contract({ ...light, expiry: LATER, strike: 95 }),
  contract({ expiry: '2028-01-21', strike: 50, gamma: 1e-6, openInterest: 1e5 }),
];

function dominant(premium: Record<string, number> = {}, rows = ROWS, asOf = AS_OF) {
  const levels = runToCompletion(gexLevels(prepared(rows, FEED_GAMMA, { asOf }), new Map(Object.entries(premium))));
  const { root, expiry } = levels.dominant.series;
  return { name: `${root} ${expiry}`, by: levels.dominantBy, maxPain: levels.maxPain };
}

describe('the dominant series', () => {
  test.each([
    ['by gamma if there are no prints, not by open interest', {}, `ACME ${EXPIRY}`, 'gamma', 105],
    ['by premium of large prints', { [`ACME ${LATER}`]: 1 }, `ACME ${LATER}`, 'large_prints', 95],
    ['by the largest premium', { [`ACME ${LATER}`]: 5, 'ACME 2028-01-21': 6 }, 'ACME 2028-01-21', 'large_prints', 50],
    [
      'the earlier expiry on a tie',
      { [`ACME ${LATER}`]: 5, 'ACME 2028-01-21': 5 },
      `ACME ${LATER}`,
      'large_prints',
      95,
    ],
    ['ignores the premium of a series that is not live', { 'ACME 2026-01-02': 1e9 }, `ACME ${EXPIRY}`, 'gamma', 105],
    ['ignores the premium of another root', { [`ACME1 ${LATER}`]: 1e9 }, `ACME ${EXPIRY}`, 'gamma', 105],
    ['ignores a premium of 0', { [`ACME ${LATER}`]: 0 }, `ACME ${EXPIRY}`, 'gamma', 105],
  ] as const)('%s', (_what, premium, name, by, pain) => {
    expect(dominant(premium)).toEqual({ name, by, maxPain: pain });
  });

  test('a settled series is never dominant, whatever its premium', () => {
    const rows = [...ROWS, contract({ ...heavy, expiry: TODAY, openInterest: 1e6 })];
    expect(dominant({}, rows).name).toBe(`ACME ${TODAY}`);
    expect(dominant({ [`ACME ${TODAY}`]: 1e9 }, rows, AS_OF + 3_600_000).name).toBe(`ACME ${EXPIRY}`);
  });

  test('puts count like calls', () => {
    const rows = [contract({ ...light }), contract({ ...heavy, expiry: LATER, callPut: -1 })];
    expect(dominant({}, rows).name).toBe(`ACME ${LATER}`);
  });

  test('the earliest expiry if no series has gamma', () => {
    const rows = [contract({ expiry: LATER }), contract()];
    expect(dominant({}, rows)).toEqual({ name: `ACME ${EXPIRY}`, by: 'gamma', maxPain: 100 });
  });
});

test('net and walls cover all series, max pain only the dominant one', () => {
  const rows = [
    contract({ ...heavy, strike: 105 }),
    contract({ strike: 110, gamma: 0.05, openInterest: 60 }),
    contract({ strike: 110, gamma: 0.05, openInterest: 60, expiry: LATER }),
    contract({ strike: 90, callPut: -1, gamma: 0.02, openInterest: 50, expiry: LATER }),
  ];
  const { exposures, walls, maxPain } = runToCompletion(gexLevels(prepared(rows, FEED_GAMMA), new Map()));
  expect(exposures.gex).toBeCloseTo((5 + 3 + 3 - 1) * 100 * 100, 6);
  expect([walls.call.strike, walls.put.strike]).toEqual([110, 90]);
  expect(maxPain).toBe(105);
});
