import { YEAR_MS } from '../../market/calendar.ts';
import type { VarianceClock } from '../../market/variance-clock.ts';
import type { PreparedSeries } from '../chain/prepared-chain.ts';
import type { PriceLaw } from './price-law.ts';
import type { BandSource, RefusalReason } from './quote-bands.ts';
import { lawOfPower, mixtureAt, type Rung } from './rungs.ts';
import type { QuoteBands } from './slice-model.ts';

/** The law of the price at one instant. */
export interface HorizonLaw {
  readonly law: PriceLaw;
  readonly forward: number;
  /** Discount rate, continuous, per calendar year. */
  readonly rate: number;
  /** Total variance at the money: the square of the volatility times the time. */
  readonly atmVariance: number;
  /** Calendar years (`tte`) and years of trading time (`years`) from the quotes to the instant. */
  readonly tte: number;
  readonly years: number;
}

/** The law at a settlement, fitted to the quotes of the series that settle then. */
export interface SurfaceSlice extends HorizonLaw {
  /** ms since the epoch. */
  readonly settlesAt: number;
  readonly series: readonly PreparedSeries[];
  readonly quotes: QuoteBands;
  readonly fit: FitQuality;
}

/** How well the law of a settlement agrees with its quotes, and how much the bands leave open. */
export interface FitQuality {
  /** The number of options whose fitted price is below the bid or above the ask. */
  readonly outside: number;
  /** Root mean square error of the fitted prices within three standard deviations of the forward, in half-widths of the bands. */
  readonly error: number;
  /** Half-width of the band of the volatility at the money, as a share of this volatility. */
  readonly atmBand: number;
  /**
   * Half-width of the band of the 25-delta skew, as a share of the volatility at the money. This half-width is the sum of the half-widths
   * of the put's band and of the call's band.
   */
  readonly skewBand: number;
}

/** A series that is not part of the surface, and the reason. */
export interface RefusedSeries {
  readonly series: PreparedSeries;
  readonly reason: RefusalReason;
}

/**
 * Limit on the change of the logarithm of the forward after the last settlement, per year. Otherwise, an error of one cent in the forward
 * of a last settlement that is less than an hour away could be extrapolated to a larger change.
 */
const CARRY_MAX = 1;

/** The forward and the discount rate at a settlement. */
export type Carry = Pick<HorizonLaw, 'forward' | 'rate' | 'tte'>;

/**
 * The laws of the price at all times after the quotes of a chain. There is no arbitrage between strikes, because each law is a distribution
 * whose mean is the forward. There is no arbitrage between times, because at a fixed ratio of strike to forward, prices (as multiples of
 * the forward) never fall with time.
 */
export class FittedSurface {
  /**
   * `slices` are ordered by settlement. `rungs` has the laws of the slices and further laws between them, ordered by time. If no settlement
   * determines a smile, `slices` is empty, and the rungs are lognormals. `carries` has forwards and rates at settlements, ordered by time.
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

  /** Whether the surface has a law. False if no contract of the chain has a volatility. */
  get hasLaws(): boolean {
    return this.rungs.length > 0;
  }

  /** Returns the law at an instant after the quotes, ms since the epoch. The surface must have laws. */
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
   * Returns the law after `years` of trading time. Between two rungs, the law is a mixture of the laws of the rungs. The weights of the
   * mixture make the total variance at the money linear in trading time. Before the first rung and after the last rung, the law has the
   * shape and the volatility of that rung.
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

  /**
   * Interpolates a figure that is zero at the time of the quotes, linearly in calendar time. After the last settlement, the figure
   * continues with its mean change per year up to this settlement, but changes by at most `most` per year.
   */
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
