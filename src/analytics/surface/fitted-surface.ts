import { YEAR_MS } from '../../market/calendar.ts';
import type { VarianceClock } from '../../market/variance-clock.ts';
import type { PreparedSeries } from '../chain/prepared-chain.ts';
import type { PriceLaw } from './price-law.ts';
import type { BandSource, RefusalReason } from './quote-bands.ts';
import { mixtureAt, powerLaw, type Rung } from './rungs.ts';
import type { QuoteBands } from './slice-model.ts';

/** The law of the price at one instant. */
export interface HorizonLaw {
  readonly law: PriceLaw;
  readonly forward: number;
  /** Discount rate, continuous, per calendar year. */
  readonly rate: number;
  /** Total variance at the money. */
  readonly atmVariance: number;
  /** Calendar years and years of trading time from the quotes to the instant. */
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

export interface FitQuality {
  /** Options whose fitted price is below the bid or above the ask. */
  readonly outside: number;
  /** Root mean square error within three standard deviations, in half-widths of the bands. */
  readonly error: number;
  /** Half-width of the band at the money, as a share of the volatility. */
  readonly atmBand: number;
}

export interface RefusedSeries {
  readonly series: PreparedSeries;
  readonly reason: RefusalReason;
}

/**
 * The laws of a chain at all times. They are free of arbitrage between strikes, because each is a distribution whose mean is the forward, and
 * between times, because prices at a fixed strike over forward never fall along the clock.
 */
export class FittedSurface {
  /** `slices` are ordered by settlement. `rungs` are their laws and laws between them, ordered by time. */
  constructor(
    readonly spot: number,
    readonly clock: VarianceClock,
    readonly source: BandSource,
    readonly slices: readonly SurfaceSlice[],
    readonly refused: readonly RefusedSeries[],
    private readonly rungs: readonly Rung[],
  ) {}

  /** Returns the law at an instant after the quotes, ms since the epoch. The surface must have a slice. */
  lawAt(atMs: number): HorizonLaw {
    const years = this.clock.years(atMs);
    const tte = (atMs - this.clock.startMs) / YEAR_MS;
    const carry = this.linear(tte, ({ forward }) => Math.log(forward / this.spot));
    return {
      ...this.interpolate(years),
      forward: this.spot * Math.exp(carry),
      rate: this.linear(tte, (slice) => slice.rate * slice.tte) / tte,
      tte,
      years,
    };
  }

  /**
   * Between two rungs the law is a mixture of them, with a variance at the money that is linear in trading time. Before the first rung and after
   * the last, it has the shape of that rung and its volatility.
   */
  private interpolate(years: number): { law: PriceLaw; atmVariance: number } {
    const { rungs } = this;
    const next = rungs.findIndex((rung) => rung.years >= years);
    if (next <= 0) {
      const edge = next === 0 ? rungs[0]! : rungs.at(-1)!;
      const law = powerLaw(edge.law, Math.sqrt(years / edge.years));
      return { law, atmVariance: law.totalVariance(0) };
    }
    const [before, after] = [rungs[next - 1]!, rungs[next]!];
    const share = (years - before.years) / (after.years - before.years);
    const atmVariance = before.atmVariance + share * (after.atmVariance - before.atmVariance);
    return { law: mixtureAt(atmVariance, before, after), atmVariance };
  }

  /** Interpolates a figure of the slices that is zero at the time of the quotes, linearly in calendar time. */
  private linear(tte: number, value: (slice: SurfaceSlice) => number): number {
    const { slices } = this;
    const next = slices.findIndex((slice) => slice.tte >= tte);
    if (next <= 0) {
      const edge = next === 0 ? slices[0]! : slices.at(-1)!;
      return (value(edge) * tte) / edge.tte;
    }
    const [before, after] = [slices[next - 1]!, slices[next]!];
    const share = (tte - before.tte) / (after.tte - before.tte);
    return value(before) + share * (value(after) - value(before));
  }
}
