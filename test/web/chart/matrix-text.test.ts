import { describe, expect, test } from 'bun:test';
import { describeMatrix, matrixReadout, matrixTable } from '../../../web/chart/matrix-text.ts';
import type { Matrix } from '../../../web/data/page-answers.ts';

const matrix: Matrix = {
  ticker: 'SPX',
  spot_price: 4000,
  measure: 'gamma',
  band: 10,
  count: 2,
  series_count: 2,
  strike: [3900, 4100],
  root: ['SPX', 'SPXW'],
  expiry: ['2026-12-18', '2027-01-15'],
  settlement: ['AM', 'PM'],
  values: [
    [-480e6, null],
    [0, 900e6],
  ],
  by_strike: [-480e6, 900e6],
  by_expiry: [-480e6, 900e6],
  within_band: 420e6,
  left_out: 5,
  strikes_left_out: 1,
  sign_convention: '',
};
const MOMENT = '2026-11-20T21:00:00.000Z';

describe('the words of the matrix', () => {
  test('a sentence with the sum and the extremes', () => {
    expect(describeMatrix(matrix, 'Net gamma', MOMENT, 'dollars')).toBe(
      'Net gamma of 2 strikes within 10 percent of spot and 2 expiries: +420M dollars; most positive +900M at 4,100 on ' +
        'Fri 15 Jan 2027 SPXW PM; most negative −480M at 3,900 on Fri 18 Dec SPX AM.',
    );
    expect(describeMatrix({ ...matrix, values: [[0, null]] }, 'Net gamma', MOMENT, 'dollars')).toContain(
      'nowhere positive; nowhere negative',
    );
  });

  test('no contract is not 0', () => {
    expect(matrixReadout(matrix, { column: 0, row: 1 }, MOMENT)).toContain('· no contract ·');
    expect(matrixReadout(matrix, { column: 1, row: 0 }, MOMENT)).toContain('· 0 ·');
  });

  test('a value with the totals of its strike and its expiry', () => {
    expect(matrixReadout(matrix, { column: 0, row: 0 }, MOMENT)).toBe(
      '3,900 on Fri 18 Dec SPX AM (−2.5 %) · −480M · strike over all expiries −480M · expiry over all strikes −480M',
    );
  });

  test('roots are named only if there are several', () => {
    const one = { ...matrix, root: ['SPX', 'SPX'] };
    expect(matrixReadout(one, { column: 0, row: 0 }, MOMENT)).toStartWith('3,900 on Fri 18 Dec AM (');
  });

  test('the table has the cells of the matrix', () => {
    expect(matrixTable(matrix)).toEqual({
      columns: ['strike', '2026-12-18 SPX AM', '2027-01-15 SPXW PM', 'all'],
      rows: [
        [3900, -480e6, 0, -480e6],
        [4100, null, 900e6, 900e6],
      ],
    });
  });
});
