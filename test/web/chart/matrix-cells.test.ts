import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  cellAt,
  matrixCells,
  matrixChange,
  matrixLayout,
  NEUTRAL_STEP,
  rampBounds,
  rampStep,
  yOfPrice,
} from '../../../web/chart/matrix-cells.ts';

const exposure = fc.double({ min: -1e12, max: 1e12, noNaN: true });
const column = <Cell>(cells: fc.Arbitrary<Cell>) => fc.array(cells, { minLength: 1, maxLength: 12 });

describe('the ramp', () => {
  test('it keeps the sign and the order of sizes, and opposite values have opposite steps', () => {
    fc.assert(
      fc.property(fc.array(exposure, { minLength: 2, maxLength: 40 }), (values) => {
        const bounds = rampBounds([values]);
        for (const value of values) {
          const step = rampStep(value, bounds);
          expect(rampStep(-value, bounds) + step).toBe(2 * NEUTRAL_STEP);
          if (step !== NEUTRAL_STEP) expect(Math.sign(step - NEUTRAL_STEP)).toBe(Math.sign(value));
        }
        const ascending = values.toSorted((a, b) => a - b).map((value) => rampStep(value, bounds));
        expect(ascending).toEqual(ascending.toSorted((a, b) => a - b));
      }),
    );
  });

  test('the largest value is at an end of it', () => {
    fc.assert(
      fc.property(column(exposure), (values) => {
        const most = Math.max(...values.map(Math.abs));
        fc.pre(most > 0);
        expect(rampStep(most, rampBounds([values]))).toBe(2 * NEUTRAL_STEP);
      }),
    );
  });

  test.each([
    [480e6, [2e6, 1e7, 5e7, 2e8]],
    [1e6, [1e4, 5e4, 2e5, 1e6]],
    [0.07, [5e-4, 2e-3, 1e-2, 5e-2]],
  ])('the steps of values up to %p begin at round sizes', (most, bounds) => {
    expect(rampBounds([[most, -most / 3, null]])).toEqual(bounds);
  });

  test('it has no steps if all values are 0 or unknown', () => {
    expect(rampBounds([[0, null], []])).toEqual([]);
    expect(rampStep(0, [])).toBe(NEUTRAL_STEP);
  });
});

describe('the picture', () => {
  test('the highest strike is at the top, the first series at the left, and a cell without a contract is not 0', () => {
    const [first, second] = [
      [-500, null, 10],
      [0, 100, 500],
    ] as const;
    const cells = [...matrixCells([first, second], matrixLayout(2, 3, 50, 90, 30))];
    expect(cells.map(({ value, x, y }) => [value, x, y, rampStep(value, [10, 100, 250, 500])])).toEqual([
      [-500, 50, 20, 0],
      [10, 50, 0, 5],
      [0, 70, 20, 4],
      [100, 70, 10, 6],
      [500, 70, 0, 8],
    ]);
  });
});

describe('the layout', () => {
  const strikes = [90, 95, 100, 101, 102];
  const layout = matrixLayout(4, strikes.length, 46, 446, 100);

  test.each([
    [{ column: 0, row: 4 }, 47, 1],
    [{ column: 3, row: 0 }, 445, 99],
    [{ column: 1, row: 2 }, 200, 50],
    [{ column: 0, row: 4 }, -20, -20],
    [{ column: 3, row: 0 }, 900, 900],
  ])('the cell %p is at %p, %p', (place, x, y) => {
    expect(cellAt(layout, x, y)).toEqual(place);
  });

  test('a strike is in the middle of its row, and prices between strikes are between the rows', () => {
    expect(strikes.map((strike) => yOfPrice(strikes, layout, strike))).toEqual([90, 70, 50, 30, 10]);
    expect(yOfPrice(strikes, layout, 97.5)).toBe(60);
    expect(yOfPrice([100], matrixLayout(1, 1, 0, 100, 20), 100)).toBe(10);
  });

  test('cells keep a least height, so that the matrix of 400 strikes is higher than a phone', () => {
    expect(matrixLayout(60, 400, 0, 300, 400).cellHeight).toBe(2);
  });
});

describe('the change between two moments', () => {
  /** `values` has a list for each expiry. */
  const matrix = (strike: number[], expiry: string[], ...values: (number | null)[][]) => {
    // The sum of a series is over all strikes, so it is more than the cells of the matrix.
    const byExpiry = values.map((cells) => 100 + cells.reduce<number>((total, each) => total + (each ?? 0), 0));
    const sums = { by_strike: [] as number[], by_expiry: byExpiry, within_band: 0, left_out: 7 };
    const series = { root: expiry.map(() => 'SPY'), settlement: expiry.map(() => 'PM') };
    return { strike, expiry, ...series, values, ...sums };
  };
  const before = matrix([99, 100], ['2026-11-20', '2026-11-27'], [1, 2], [3, null]);
  const now = matrix([100, 101], ['2026-11-27', '2026-12-04'], [10, 20], [30, 40]);
  const wider = matrix([99, 100], ['2026-11-27'], [5, 8]);

  test('a cell that one of the moments lacks has no change', () => {
    expect(matrixChange(now, before).values.flat()).toEqual([null, null, null, null]);
    const { values, by_strike, by_expiry, within_band, left_out } = matrixChange(wider, before);
    expect(values).toEqual([[2, null]]);
    expect([by_strike, by_expiry, within_band, left_out]).toEqual([[2, 0], [10], 2, 0]);
    expect(matrixChange(now, before).by_expiry).toEqual([27, 0]);
  });

  test('the change of A to B is the opposite of that of B to A, and a matrix has no change to itself', () => {
    const cells = column(fc.option(exposure, { nil: null }));
    fc.assert(
      fc.property(cells, cells, (one, other) => {
        const strikes = one.map((_, i) => 100 + i);
        const a = matrix(strikes, ['2026-11-20'], one);
        const values = strikes.map((_, i) => other[i] ?? null);
        const b = matrix(strikes, ['2026-11-20'], values);
        const negative = matrixChange(a, b).values[0]!.map((each) => (each === null ? null : 0 - each));
        expect(matrixChange(b, a).values[0]!).toEqual(negative);
        expect(matrixChange(a, a).values[0]!).toEqual(one.map((each) => (each === null ? null : 0)));
      }),
    );
  });
});
