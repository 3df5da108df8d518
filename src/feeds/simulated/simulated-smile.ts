/**
 * Implied volatility by log-moneyness and time: SSVI with a power-law phi (Gatheral and Jacquier, "Arbitrage-free SVI volatility surfaces",
 * 2014, section 4). The parameters are within the bounds of the paper, so there is no butterfly arbitrage and no calendar arbitrage.
 */
export interface SimulatedSmile {
  /** At-the-money volatility now, and for distant expiries. */
  readonly shortIv: number;
  readonly longIv: number;
  readonly skew: number;
}

/** Total implied variance at log(K/F) = k and T years. */
export function totalVariance({ shortIv, longIv, skew }: SimulatedSmile, k: number, years: number): number {
  const theta = atTheMoneyVariance(shortIv, longIv, years);
  const phi = (1.8 / (1 + Math.abs(skew))) * theta ** -GAMMA * (1 + theta) ** (GAMMA - 1);
  const x = phi * k + skew;
  return (theta / 2) * (1 + skew * phi * k + Math.sqrt(x * x + 1 - skew * skew));
}

export function smileVolatility(surface: SimulatedSmile, k: number, years: number): number {
  return Math.sqrt(totalVariance(surface, k, years) / years);
}

/** How fast skew flattens with time. At or below 0.5, the surface is free of butterfly arbitrage at any maturity. */
const GAMMA = 0.3;
/** Rate at which variance reverts, per year. */
const REVERSION = 3;

/** The integral of a variance that reverts from short to long. It always grows with time. */
function atTheMoneyVariance(shortIv: number, longIv: number, years: number): number {
  const short = (1 - Math.exp(-REVERSION * years)) / REVERSION;
  return longIv ** 2 * years + (shortIv ** 2 - longIv ** 2) * short;
}
