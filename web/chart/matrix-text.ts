import type { Matrix } from '../data/page-answers.ts';
import { percent, signedAmount, strikeText } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';
import { expiryDay } from './chart-axis.ts';
import type { MatrixPlace } from './matrix-cells.ts';

/** Returns one sentence with the main figures of the matrix, for screen readers. */
export function describeMatrix(matrix: Matrix, title: string, moment: string | undefined, unit: string): string {
  const { values, band, count, series_count: series, within_band: sum } = matrix;
  const extreme = (sign: 1 | -1) => {
    let best: { place: MatrixPlace; value: number } | undefined;
    for (const [column, each] of values.entries()) {
      for (const [row, value] of each.entries()) {
        if (value !== null && sign * value > sign * (best?.value ?? 0)) best = { place: { column, row }, value };
      }
    }
    return best && `${signedAmount(best.value)} at ${nameOfCell(matrix, best.place, moment)}`;
  };
  const [most, least] = [extreme(1), extreme(-1)];
  return (
    `${title} of ${count} strikes within ${band} percent of spot and ${series} expiries: ${signedAmount(sum)} ${unit}; ` +
    `${most ? `most positive ${most}` : 'nowhere positive'}; ${least ? `most negative ${least}` : 'nowhere negative'}.`
  );
}

function nameOfCell(
  { strike: strikes, expiry, settlement, root }: Matrix,
  { column, row }: MatrixPlace,
  moment: string | undefined,
) {
  const isOneRoot = root.every((each) => each === root[0]);
  return `${strikeText(strikes[row])} on ${expiryDay(expiry[column]!, moment)} ${isOneRoot ? '' : `${root[column]} `}${settlement[column]}`;
}

/** Returns a text with the value of a cell, the total of its row and the total of its column. */
export function matrixReadout(matrix: Matrix, place: MatrixPlace, moment: string | undefined): string {
  const { values, by_strike, by_expiry, strike: strikes, spot_price } = matrix;
  const value = values[place.column]![place.row] ?? null;
  const at = strikes[place.row]!;
  return [
    `${nameOfCell(matrix, place, moment)} (${percent(100 * (at / spot_price - 1), 1)})`,
    value === null ? 'no contract' : signedAmount(value),
    `strike over all expiries ${signedAmount(by_strike[place.row])}`,
    `expiry over all strikes ${signedAmount(by_expiry[place.column])}`,
  ].join(' · ');
}

export function matrixTable({ strike: strikes, expiry, root, settlement, values, by_strike }: Matrix): PanelTable {
  return {
    columns: ['strike', ...expiry.map((each, i) => `${each} ${root[i]} ${settlement[i]}`), 'all'],
    rows: strikes.map((at, row) => [at, ...values.map((each) => each[row] ?? null), by_strike[row]!]),
  };
}
