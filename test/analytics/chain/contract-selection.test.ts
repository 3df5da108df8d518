import { describe, expect, test } from 'bun:test';
import {
  type ContractSelection,
  inOrderOfStrike,
  selectContracts,
} from '../../../src/analytics/chain/contract-selection.ts';
import { inOrderOfSettlement } from '../../../src/analytics/chain/rows.ts';
import { blackScholesDelta } from '../plain.ts';
import { contract, EXPIRY, LATER, prepared, quoted, range } from '../small-chains.ts';

const CHAIN = prepared([
  ...quoted({ strikes: range(90, 110, 2.5), iv: (strike) => 0.3 + (100 - strike) / 400, halfSpread: 0.01 }),
  ...quoted({ strikes: [95, 105], expiry: LATER }),
]);
const [NEAR, FAR] = inOrderOfSettlement(CHAIN.series) as [(typeof CHAIN.series)[0], (typeof CHAIN.series)[0]];
const ALL: ContractSelection = { strikeMin: 0, strikeMax: Number.POSITIVE_INFINITY, near: undefined };

const select = (selection: Partial<ContractSelection>, series = [NEAR]) =>
  selectContracts(CHAIN, series, { ...ALL, ...selection }).map(
    (row) => `${CHAIN.strike[row]}${CHAIN.callPut[row] === 1 ? 'C' : 'P'}`,
  );

describe('without a target', () => {
  test('contracts are in order of strike, call before put', () => {
    expect(select({})).toEqual(range(90, 110, 2.5).flatMap((strike) => [`${strike}C`, `${strike}P`]));
  });

  test.each([
    [{ callPut: -1 }, ['90P', '92.5P', '95P', '97.5P', '100P', '102.5P', '105P', '107.5P', '110P']],
    [{ strikeMin: 97.5, strikeMax: 100 }, ['97.5C', '97.5P', '100C', '100P']],
    [{ callPut: 1, strikeMin: 105.1 }, ['107.5C', '110C']],
    [{ callPut: 1, strikeMax: 92.4 }, ['90C']],
    [{ strikeMin: 111 }, []],
  ] as const)('%j', (selection, expected) => {
    expect(select(selection)).toEqual([...expected]);
  });

  test('of several series, those of one strike stand together in the order of the series', () => {
    expect(select({ strikeMin: 95, strikeMax: 97.5 }, [FAR, NEAR]).join(' ')).toBe('95C 95P 95C 95P 97.5C 97.5P');
    const rows = selectContracts(CHAIN, [FAR, NEAR], { ...ALL, strikeMin: 95, strikeMax: 95 });
    const expiries = rows.map((row) => CHAIN.series[CHAIN.seriesIndex[row]!]!.series.expiry);
    expect(expiries).toEqual([LATER, LATER, EXPIRY, EXPIRY]);
  });
});

describe('with a target', () => {
  test('the nearest strike comes first, a call and a put in turn', () => {
    const near = { kind: 'strike', strike: 101 } as const;
    expect(select({ near }).slice(0, 6)).toEqual(['100C', '100P', '102.5C', '102.5P', '97.5C', '97.5P']);
    expect(select({ near })).toHaveLength(18);
  });

  test('of two strikes at the same distance, the lower comes first', () => {
    expect(select({ callPut: 1, near: { kind: 'strike', strike: 101.25 } }).slice(0, 2)).toEqual(['100C', '102.5C']);
  });

  test.each([0.1, 0.25, 0.5, 0.9])('the absolute delta nearest %d comes first on each side', (delta) => {
    const found = select({ near: { kind: 'delta', delta } });
    for (const side of [1, -1]) {
      const rows = Array.from({ length: NEAR.end - NEAR.start }, (_, i) => NEAR.start + i).filter(
        (row) => CHAIN.callPut[row] === side,
      );
      const distance = (row: number) => {
        const [strike, iv] = [CHAIN.strike[row]!, CHAIN.iv[row]!];
        const { tte, rate, dividend } = NEAR;
        return Math.abs(
          Math.abs(blackScholesDelta({ callPut: side, spot: 100, strike, tte, iv, rate, dividend })) - delta,
        );
      };
      const expected = rows.toSorted((a, b) => distance(a) - distance(b)).map((row) => CHAIN.strike[row]);
      const mark = side === 1 ? 'C' : 'P';
      expect(found.filter((each) => each.endsWith(mark)).map((each) => Number(each.slice(0, -1)))).toEqual(
        expected as number[],
      );
    }
  });

  test('a contract without a delta comes last', () => {
    const chain = prepared([contract({ strike: 99 }), contract({ strike: 100, iv: 0.3 }), contract({ strike: 130 })], {
      iv: 'own',
    });
    const rows = selectContracts(chain, chain.series, { ...ALL, near: { kind: 'delta', delta: 0.01 } });
    expect(rows.map((row) => chain.strike[row])).toEqual([100, 99, 130]);
  });
});

test('orders a selection by strike, then series, then side', () => {
  const rows = selectContracts(CHAIN, [NEAR, FAR], { ...ALL, near: { kind: 'strike', strike: 105 } });
  const ordered = inOrderOfStrike(CHAIN, [NEAR, FAR], rows.slice(0, 4));
  expect(ordered.map((row) => [CHAIN.strike[row], CHAIN.seriesIndex[row], CHAIN.callPut[row]])).toEqual(
    [0, 1].flatMap((index) => [1, -1].map((side) => [105, index, side])),
  );
});
