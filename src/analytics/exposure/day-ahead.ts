import { DAY_MS, newYorkInstant, YEAR_MS } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';

/** A calendar day, years. */
const DAY = DAY_MS / YEAR_MS;
/**
 * The carry of a shorter series is spread over this time, years. It consists of single dividends and the noise of quotes, which do not
 * shrink with the time to settlement as a yield does.
 */
const CARRY_TIME_MIN = 30 * DAY;
/** Known dividends above this share of spot are damaged data. */
const KNOWN_SHARE_MAX = 0.75;

/** How the deltas of a series change over the coming calendar day, or until settlement if that is earlier. */
export interface DayAhead {
  /** The yield by which the delta of a forward grows over the day, continuous, decimal per year. */
  readonly hedgeYield: number;
  /** Inputs of `hedges`, the same for all contracts of the series. */
  readonly carry: number;
  readonly factor: number;
  readonly laterTte: number;
  readonly laterDrift: number;
  readonly laterFactor: number;
}

/** Returns how deltas change over the coming day, for each series of a prepared chain. */
export function dayAheadOf({ chain, series, options }: PreparedChain): DayAhead[] {
  return series.map((each) => {
    const { tte, rate, dividend } = each;
    const paid = Math.min(presentValue(options.cashDividends, each, chain.asOf) / chain.spot, KNOWN_SHARE_MAX);
    // Known dividends are cash. When one is paid, the number of shares that hedge a forward stays the same.
    const hedgeYield = (dividend * tte + Math.log1p(-paid)) / Math.max(tte, CARRY_TIME_MIN);
    // The part of the coming day that lies within the last day before settlement. Spot moves along the forward in the rest.
    const diffusing = Math.max(0, Math.min(tte, 2 * DAY - tte));
    const left = Math.max(0, tte - DAY);
    const factor = Math.exp(-dividend * tte);
    return {
      hedgeYield,
      carry: (rate - dividend) * tte,
      factor,
      // E[N(d1)] over a normal step of variance iv^2 * diffusing, with iv^2 * left remaining after it.
      laterTte: diffusing + left,
      laterDrift: (left - diffusing) / 2,
      laterFactor: factor * Math.exp(hedgeYield * Math.min(tte, DAY)),
    };
  });
}

/** Returns the dividends that the price loses before a series settles, without those that it has lost at `asOf`. */
export function dividendsBefore(
  dividends: readonly CashDividend[],
  settlesAt: number,
  asOf: number,
): readonly CashDividend[] {
  return dividends.filter(({ exDate }) => {
    const at = exInstant(exDate);
    return at > asOf && at <= settlesAt;
  });
}

/** Returns the instant from which the price no longer includes a dividend: the open of its ex-date. */
function exInstant(exDate: string): number {
  return newYorkInstant(exDate, '09:30');
}

function presentValue(dividends: readonly CashDividend[], { series, rate }: PreparedSeries, asOf: number): number {
  return dividendsBefore(dividends, series.settlesAt, asOf).reduce((sum, { exDate, amount }) => {
    return sum + amount * Math.exp((-rate * (exInstant(exDate) - asOf)) / YEAR_MS);
  }, 0);
}
