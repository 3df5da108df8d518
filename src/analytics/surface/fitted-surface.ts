import { YEAR_MS } from '../../market/calendar.ts';
import type { VarianceClock } from '../../market/variance-clock.ts';
import type { PreparedSeries } from '../chain/prepared-chain.ts';
import { extentOf } from './extent-of.ts';
import type { PriceLaw } from './price-law.ts';
import type { BandSource, QuotedAtm, RefusalReason } from './quote-bands.ts';
import { lawOfPower, mixtureAt, type Rung } from './rungs.ts';
import type { QuoteBands } from './slice-model.ts';
import type { QuotedRange } from './tail-figures.ts';

/** The probability distribution of the price at one instant. */
export interface HorizonLaw {
  readonly law: PriceLaw;
  readonly forward: number;
  /** Discount rate, continuous, per calendar year. */
  readonly rate: number;
  /** Total variance at the money: the square of the volatility times the time. */
  readonly atmVariance: number;
  /** Time between the quotes and the instant. `tte` is in calendar years, and `years` is in years of trading time. */
  readonly tte: number;
  readonly years: number;
}

/** The price distribution at a settlement, fitted to the quotes of all series with this settlement. */
export interface SurfaceSlice extends HorizonLaw {
  /** ms since the epoch. */
  readonly settlesAt: number;
  readonly series: readonly PreparedSeries[];
  readonly quotes: QuoteBands;
  /** The number of quotes that `usableBands` leaves out. */
  readonly leftOut: number;
  readonly fit: FitQuality;
}

/** The quality of a settlement's fit, and the uncertainty that comes from the bid-ask bands. */
export interface FitQuality {
  /** The number of options whose fitted price is below the bid or above the ask. */
  readonly outside: number;
  /** Root mean square price error, in half-widths of the bid-ask bands, for strikes within three standard deviations of the forward. */
  readonly error: number;
  /** Half-width of the bid-ask band for the at-the-money volatility, as a share of this volatility. */
  readonly atmBand: number;
  /** Half-width of the 25-delta skew's band, as a share of the at-the-money volatility. The put's and the call's half-widths are added. */
  readonly skewBand: number;
}

/** A series that the surface leaves out, with the reason. `atm` is null if the quotes determine no volatility at the money either. */
export type RefusedSeries = Readonly<{ series: PreparedSeries; reason: RefusalReason; atm: QuotedAtm | null }>;

/**
 * Returns the log-moneyness of the outermost quotes of a settlement, converted to another total variance at the money: as many standard
 * deviations from the forward.
 */
export function quotedRange({ quotes, atmVariance }: SurfaceSlice, variance = atmVariance): QuotedRange {
  const scale = Math.sqrt(variance / atmVariance);
  const [low, high] = extentOf(quotes.moneyness);
  return [scale * Math.log(low), scale * Math.log(high)];
}

/** The maximum yearly change of the forward's logarithm after the last settlement, which may be within an hour of the quotes. */
const CARRY_MAX = 1;

/** The forward and the discount rate at a settlement. */
export type Carry = Pick<HorizonLaw, 'forward' | 'rate' | 'tte'>;

/**
 * The probability distributions of the price at all times after a chain's quotes, without arbitrage: the mean of each is the forward, and
 * at a fixed ratio of strike to forward, the ratio of option price to forward never falls with time.
 */
export class FittedSurface {
  /**
   * `slices` are in order of settlement, and empty if none determines a smile. `rungs` has their distributions and inserted ones, or else
   * lognormal ones, in time order. `carries` has the forwards and rates at settlements, in time order.
   */
  constructor(
    readonly spot: number,
    readonly clock: VarianceClock,
    readonly source: BandSource,
    readonly slices: readonly SurfaceSlice[],
    readonly refused: readonly RefusedSeries[],
    private readonly rungs: readonly Rung[],
    private readonly carries: readonly Carry[] = slices,
  ) {}

  /** False if the surface has no distribution, because no contract of the chain has a volatility. */
  get hasLaws(): boolean {
    return this.rungs.length > 0;
  }

  /** Returns the distribution at an instant after the quotes, ms since the epoch. `hasLaws` must be true. */
  lawAt(atMs: number): HorizonLaw {
    const years = this.clock.years(atMs);
    const tte = (atMs - this.clock.startMs) / YEAR_MS;
    const carry = this.linear(tte, ({ forward }) => Math.log(forward / this.spot), CARRY_MAX);
    return {
      ...this.interpolate(years),
      forward: this.spot * Math.exp(carry),
      rate: this.linear(tte, (carry) => carry.rate * carry.tte) / tte,
      tte,
      years,
    };
  }

  /**
   * Returns the distribution after `years` of trading time. Between two rungs, it is a mixture that makes the at-the-money variance linear
   * in trading time. Outside, it has the shape and the volatility of the first or the last rung.
   */
  private interpolate(years: number): { law: PriceLaw; atmVariance: number } {
    const { rungs } = this;
    const next = rungs.findIndex((rung) => rung.years >= years);
    if (rungs[next]?.years === years) return rungs[next]!;
    if (next <= 0) {
      const edge = next === 0 ? rungs[0]! : rungs.at(-1)!;
      const law = lawOfPower(edge.law, Math.sqrt(years / edge.years));
      return { law, atmVariance: law.totalVariance(0) };
    }
    const [before, after] = [rungs[next - 1]!, rungs[next]!];
    const share = (years - before.years) / (after.years - before.years);
    const atmVariance = before.atmVariance + share * (after.atmVariance - before.atmVariance);
    return { law: mixtureAt(atmVariance, before, after), atmVariance };
  }

  /** Interpolates a figure linearly in calendar time. It is 0 at the quotes, and grows by at most `most` per year after the last. */
  private linear(tte: number, value: (carry: Carry) => number, most = Number.POSITIVE_INFINITY): number {
    const { carries } = this;
    const next = carries.findIndex((carry) => carry.tte >= tte);
    if (next <= 0) {
      const edge = next === 0 ? carries[0]! : carries.at(-1)!;
      if (next === 0) return (value(edge) * tte) / edge.tte;
      const growth = value(edge) / edge.tte;
      return value(edge) + (tte - edge.tte) * Math.min(Math.max(growth, -most), most);
    }
    const [before, after] = [carries[next - 1]!, carries[next]!];
    const share = (tte - before.tte) / (after.tte - before.tte);
    return value(before) + share * (value(after) - value(before));
  }
}
