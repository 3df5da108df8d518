import type { Steps } from '../../core/steps.ts';
import { DAY_MS, daysBetween, newYorkDate } from '../../market/calendar.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { gexBySeries } from './gex-by-series.ts';
import { largestRows } from './largest.ts';
import { strikeGamma, strikeGammaOf } from './walls.ts';

/** The default number of strikes in the result of `concentratedStrikes`. */
const CONCENTRATED_STRIKES = 5;

/**
 * Returns the series with a smile whose expiry is nearest to `days` calendar days after the snapshot, the earlier one on a tie, or
 * `undefined`. Series without open contracts count only if no series has open contracts.
 */
export function seriesNearest(
  prepared: PreparedChain,
  days: number,
  series: readonly PreparedSeries[] = prepared.series,
): PreparedSeries | undefined {
  const today = newYorkDate(prepared.chain.asOf);
  const distance = ({ series }: PreparedSeries) => Math.abs(daysBetween(today, series.expiry) - days);
  const withSmile = series.filter(({ smile }) => smile.logMoneyness.length > 0);
  const open = withSmile.filter(({ start, end }) => prepared.weight.subarray(start, end).some((each) => each > 0));
  return (open.length > 0 ? open : withSmile).toSorted((a, b) => distance(a) - distance(b) || a.tte - b.tte)[0];
}

/** A strike and its share of gross gamma. */
export interface ConcentratedStrike {
  readonly strike: number;
  /** The share of gross gamma at this strike, 0 to 1. */
  readonly share: number;
}

/** Returns the strikes with the most gross gamma of one series or of all, with their shares of all gross gamma. Empty without gamma. */
export function* concentratedStrikes(
  prepared: PreparedChain,
  series?: PreparedSeries,
  limit = CONCENTRATED_STRIKES,
): Steps<ConcentratedStrike[]> {
  const { strike, call, put } = series ? strikeGammaOf(prepared, series) : yield* strikeGamma(prepared);
  const gross = new Float64Array(strike.length);
  let total = 0;
  for (let i = 0; i < gross.length; i++) {
    gross[i] = call[i]! + put[i]!;
    total += gross[i]!;
  }
  return largestRows(gross, 0, limit).map((i) => ({ strike: strike[i]!, share: gross[i]! / total }));
}

/** Returns the gross GEX of the series that settle within a day of the snapshot, dollars per 1 % move. */
export function expiringGamma(prepared: PreparedChain): number {
  const { gross } = gexBySeries(prepared);
  let sum = 0;
  for (const [index, { series }] of prepared.series.entries()) {
    if (series.settlesAt - prepared.chain.asOf <= DAY_MS) sum += gross[index]!;
  }
  return sum;
}
