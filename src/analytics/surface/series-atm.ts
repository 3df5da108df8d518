import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { type RefusalReason, smileRefusals } from './quote-bands.ts';

/** At-the-money figures of a series. */
export interface SeriesAtm {
  /** Volatility, decimal per calendar year. */
  readonly iv: number | null;
  /** One standard deviation of the price at settlement, dollars. */
  readonly expectedMove: number | null;
  /** The reason why the other fields are null. Null if the other fields have values. */
  readonly refused: RefusalReason | null;
}

/** Returns the at-the-money figures of a series. The figures are null if the series' quotes do not determine a smile. */
export function seriesAtm(prepared: PreparedChain, series: PreparedSeries): SeriesAtm {
  const refused = smileRefusals(prepared).get(series);
  if (refused !== undefined) return { iv: null, expectedMove: null, refused };
  const iv = atmVolatility(series);
  return { iv, expectedMove: series.forward * iv * Math.sqrt(series.tte), refused: null };
}
