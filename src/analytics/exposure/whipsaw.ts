import type { GammaFlip } from './gamma-flip.ts';

const TRADING_DAYS_A_YEAR = 252;

/** Returns one standard deviation of the price over a trading day, dollars. */
export function dailyMove(spot: number, iv: number): number {
  return (spot * iv) / Math.sqrt(TRADING_DAYS_A_YEAR);
}

/** Computes the components of the whipsaw index, each 0 to 100. A component is null if its data is missing. */
export function whipsawComponents(input: {
  readonly spot: number;
  readonly flip: GammaFlip;
  /** At-the-money volatility, decimal per year. */
  readonly iv: number;
  readonly netGamma: number;
  readonly grossGamma: number;
  /** Gross gamma of the series that settle within a day, in the same unit as `grossGamma`. */
  readonly expiringGamma: number;
  /** Realised volatility over 20 days, decimal per year. Null if unknown. */
  readonly realised: number | null;
}) {
  const move = dailyMove(input.spot, input.iv);
  const hasGamma = input.grossGamma > 0;
  return {
    /** 100 if spot is at the flip. It falls exponentially with the distance in daily moves. */
    flip_proximity: input.flip.resolved ? 100 * Math.exp(-Math.abs(input.spot - input.flip.level) / move) : null,
    /** 0 if dealers are long all gamma, 100 if they are short all gamma. */
    regime: hasGamma ? 50 * (1 - input.netGamma / input.grossGamma) : null,
    /** Realised 20-day volatility over implied volatility: 0 for ratios up to 0.5, and 100 from 1.5 on. */
    realised_over_implied:
      input.realised === null ? null : Math.min(Math.max(100 * (input.realised / input.iv - 0.5), 0), 100),
    /** The percentage of gross gamma that settles within a day. */
    expiring_gamma: hasGamma ? (100 * input.expiringGamma) / input.grossGamma : null,
  };
}

/** Returns the mean of the components that are not null, 0 to 100, or null if all are null. */
export function whipsawIndex(components: ReturnType<typeof whipsawComponents>): number | null {
  const present = Object.values(components).filter((each): each is number => each !== null);
  return present.length === 0 ? null : present.reduce((sum, each) => sum + each, 0) / present.length;
}
