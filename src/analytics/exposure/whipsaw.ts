import type { GammaFlip } from './gamma-flip.ts';

/** Parts of the whipsaw index, each 0 to 100. Null if the data for a part is missing. */
export interface WhipsawComponents {
  /** How near the flip is, in daily moves. */
  readonly flip_proximity: number | null;
  /** 0 if dealers are long all gamma, 100 if they are short all gamma. */
  readonly regime: number | null;
  /** Realised volatility over 20 days, compared with implied volatility. */
  readonly realised_over_implied: number | null;
  /** Share of gross gamma that expires within a day. */
  readonly expiring_gamma: number | null;
}

const TRADING_DAYS_A_YEAR = 252;

/** One standard deviation of a trading day, dollars. */
export function dailyMove(spot: number, iv: number): number {
  return (spot * iv) / Math.sqrt(TRADING_DAYS_A_YEAR);
}

export function whipsawComponents(input: {
  readonly spot: number;
  readonly flip: GammaFlip;
  /** At the money, decimal per year. */
  readonly iv: number;
  readonly netGamma: number;
  readonly grossGamma: number;
  /** Gross gamma of series that settle within a day, in the same unit. */
  readonly expiringGamma: number;
  /** Decimal per year. */
  readonly realised: number | null;
}): WhipsawComponents {
  const move = dailyMove(input.spot, input.iv);
  const hasGamma = input.grossGamma > 0;
  return {
    flip_proximity: input.flip.resolved ? 100 * Math.exp(-Math.abs(input.spot - input.flip.level) / move) : null,
    regime: hasGamma ? 50 * (1 - input.netGamma / input.grossGamma) : null,
    realised_over_implied:
      input.realised === null ? null : Math.min(Math.max(100 * (input.realised / input.iv - 0.5), 0), 100),
    expiring_gamma: hasGamma ? (100 * input.expiringGamma) / input.grossGamma : null,
  };
}

/** Mean of the components that exist, 0 to 100. Null if none exists. */
export function whipsawIndex(components: WhipsawComponents): number | null {
  const present = Object.values(components).filter((each): each is number => each !== null);
  return present.length === 0 ? null : present.reduce((sum, each) => sum + each, 0) / present.length;
}
