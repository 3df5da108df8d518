import type { Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type ExposureSums, sumExposures } from './exposures-by-strike.ts';
import { strikeIndex } from './strike-index.ts';

/**
 * Dealers' exposures of each series at each of its strikes. A cell is a strike of a series with a live contract. Columns of cells are
 * ordered by series and then by strike.
 */
export interface ExposureMatrix {
  /** The strikes of all series, ascending, each once. */
  readonly strike: Float64Array;
  /** The position of each cell's series in the prepared chain, and of its strike in `strike`. */
  readonly seriesOfCell: Uint16Array;
  readonly strikeOfCell: Uint32Array;
  /** The exposures of each cell. */
  readonly sums: ExposureSums;
}

/** Returns the dealers' exposures of each series at each of its strikes. */
export function* exposureMatrix(prepared: PreparedChain): Steps<ExposureMatrix> {
  const { pairs, seriesIndex } = prepared;
  const { strike, index } = yield* strikeIndex(pairs);
  const cell = new Uint32Array(pairs.count);
  const seriesOfCell = new Uint16Array(pairs.count);
  const strikeOfCell = new Uint32Array(pairs.count);
  let cells = 0;
  for (let pair = 0; pair < pairs.count; pair++) {
    const series = seriesIndex[pairs.contracts[pair]!]!;
    // Strikes ascend within a series. A call and a put with different volatilities are two pairs of one cell.
    const isNew = cells === 0 || series !== seriesOfCell[cells - 1] || index[pair] !== strikeOfCell[cells - 1];
    if (isNew) {
      seriesOfCell[cells] = series;
      strikeOfCell[cells++] = index[pair]!;
    }
    cell[pair] = cells - 1;
  }
  return {
    strike,
    seriesOfCell: seriesOfCell.subarray(0, cells),
    strikeOfCell: strikeOfCell.subarray(0, cells),
    sums: yield* sumExposures(prepared, cell, cells),
  };
}
