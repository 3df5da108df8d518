import { describe, expect, test } from 'bun:test';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import type { ContractRow } from '../../../src/market/build-chain.ts';
import { AS_OF, contract, EXPIRY, FEED_GAMMA, LATER, prepared, TODAY } from '../small-chains.ts';

const heavy = { gamma: 0.05, openInterest: 100 };
const light = { gamma: 0.01, openInterest: 10 };
/** Most gamma in EXPIRY, most open interest in the LEAPS. */
const ROWS: ContractRow[] = [
  contract({ ...heavy, strike: 105 }),
  contract({ ...light, expiry: LATER, strike: 95 }),
  contract({ expiry: '2028-01-21', strike: 50, gamma: 1e-6, openInterest: 1e5 }),
];

function dominant(premium: Record<string, number> = {}, rows = ROWS, asOf = AS_OF) {
  const levels = gexLevels(prepared(rows, FEED_GAMMA, { asOf }), new Map(Object.entries(premium)));
  const { root, expiry } = levels.dominant.series;
  return { name: `${root} ${expiry}`, by: levels.dominantBy, maxPain: levels.maxPain };
}

describe('the series that matters most', () => {
  test.each([
    ['by gamma where nothing printed, not by open interest', {}, `ACME ${EXPIRY}`, 'gamma', 105],
    ['by premium of large prints', { [`ACME ${LATER}`]: 1 }, `ACME ${LATER}`, 'large_prints', 95],
    ['by most premium', { [`ACME ${LATER}`]: 5, 'ACME 2028-01-21': 6 }, 'ACME 2028-01-21', 'large_prints', 50],
    ['the earlier on a tie', { [`ACME ${LATER}`]: 5, 'ACME 2028-01-21': 5 }, `ACME ${LATER}`, 'large_prints', 95],
    ['premium of a series that is not live says nothing', { 'ACME 2026-01-02': 1e9 }, `ACME ${EXPIRY}`, 'gamma', 105],
    ['nor of another root', { [`ACME1 ${LATER}`]: 1e9 }, `ACME ${EXPIRY}`, 'gamma', 105],
    ['nor none', { [`ACME ${LATER}`]: 0 }, `ACME ${EXPIRY}`, 'gamma', 105],
  ] as const)('%s', (_what, premium, name, by, pain) => {
    expect(dominant(premium)).toEqual({ name, by, maxPain: pain });
  });

  test('one that has settled is not named, whatever it traded', () => {
    const rows = [...ROWS, contract({ ...heavy, expiry: TODAY, openInterest: 1e6 })];
    expect(dominant({}, rows).name).toBe(`ACME ${TODAY}`);
    expect(dominant({ [`ACME ${TODAY}`]: 1e9 }, rows, AS_OF + 3_600_000).name).toBe(`ACME ${EXPIRY}`);
  });

  test('puts count as calls do', () => {
    const rows = [contract({ ...light }), contract({ ...heavy, expiry: LATER, callPut: -1 })];
    expect(dominant({}, rows).name).toBe(`ACME ${LATER}`);
  });

  test('the earliest where no series has gamma', () => {
    const rows = [contract({ expiry: LATER }), contract()];
    expect(dominant({}, rows)).toEqual({ name: `ACME ${EXPIRY}`, by: 'gamma', maxPain: 100 });
  });
});

test('net and walls are over all series, max pain at the dominant one', () => {
  const rows = [
    contract({ ...heavy, strike: 105 }),
    contract({ strike: 110, gamma: 0.05, openInterest: 60 }),
    contract({ strike: 110, gamma: 0.05, openInterest: 60, expiry: LATER }),
    contract({ strike: 90, callPut: -1, gamma: 0.02, openInterest: 50, expiry: LATER }),
  ];
  const { exposures, walls, maxPain } = gexLevels(prepared(rows, FEED_GAMMA), new Map());
  expect(exposures.gex).toBeCloseTo((5 + 3 + 3 - 1) * 100 * 100, 6);
  expect([walls.call.strike, walls.put.strike]).toEqual([110, 90]);
  expect(maxPain).toBe(105);
});
