import { DAY_MS, daysBetween, newYorkDate } from '../../market/calendar.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { gexByContract } from './exposures.ts';
import { strikeGamma } from './walls.ts';

/** Strikes whose share of gross gamma is the concentration. */
const CONCENTRATED_STRIKES = 5;

/**
 * The series nearest so many calendar days away, the earlier on a tie: of those with a smile and contracts that count, or with
 * a smile where none counts. Undefined where no series has a smile.
 */
export function seriesNearest(prepared: PreparedChain, days: number): PreparedSeries | undefined {
  const today = newYorkDate(prepared.chain.asOf);
  const distance = ({ series }: PreparedSeries) => Math.abs(daysBetween(today, series.expiry) - days);
  const withSmile = prepared.series.filter(({ smile }) => smile.logMoneyness.length > 0);
  const open = withSmile.filter(({ start, end }) => prepared.weight.subarray(start, end).some((each) => each > 0));
  return (open.length > 0 ? open : withSmile).toSorted((a, b) => distance(a) - distance(b) || a.tte - b.tte)[0];
}

/** The strikes of most gross gamma and their shares of it (0 to 1), of one series or of all; none where there is no gamma. */
export function concentratedStrikes(
  prepared: PreparedChain,
  series?: PreparedSeries,
  limit = CONCENTRATED_STRIKES,
): { readonly strike: number; readonly share: number }[] {
  const { strike, call, put } = strikeGamma(prepared, series?.start, series?.end);
  const gross = Array.from(call, (each, at) => ({ strike: strike[at]!, gamma: each + put[at]! }));
  const total = gross.reduce((sum, { gamma }) => sum + gamma, 0);
  return gross
    .filter(({ gamma }) => gamma > 0)
    .sort((a, b) => b.gamma - a.gamma)
    .slice(0, limit)
    .map(({ strike: at, gamma }) => ({ strike: at, share: gamma / total }));
}

/** Gross GEX of the series that settle within a day of the snapshot, dollars per 1 % move. */
export function expiringGamma(prepared: PreparedChain): number {
  const gex = gexByContract(prepared);
  return prepared.series
    .filter(({ series }) => series.settlesAt - prepared.chain.asOf <= DAY_MS)
    .reduce((sum, { start, end }) => sum + gex.subarray(start, end).reduce((a, each) => a + Math.abs(each), 0), 0);
}
