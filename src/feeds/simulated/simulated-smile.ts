/**
 * The parameters of the volatility surface, SSVI with a power-law phi (Gatheral and Jacquier, "Arbitrage-free SVI volatility surfaces",
 * 2014, section 4), within the paper's bounds, so without butterfly and calendar arbitrage.
 */
export interface SimulatedSmile {
  /** At-the-money volatility of the shortest expiries, a decimal per year. */
  readonly shortIv: number;
  /** At-the-money volatility of distant expiries, a decimal per year. */
  readonly longIv: number;
  /** The parameter rho of SSVI. */
  readonly skew: number;
}

/** Returns the total implied variance at the log-moneyness `k = log(K/F)`, `years` before expiry. K is the strike, and F is the forward. */
export function totalVariance(smile: SimulatedSmile, k: number, years: number): number {
  return varianceAt(slopesOf(smile, years), k);
}

/** Returns the implied volatility at the log-moneyness `k`, `years` before the expiry. The volatility is a decimal per year. */
export function smileVolatility(smile: SimulatedSmile, k: number, years: number): number {
  return Math.sqrt(totalVariance(smile, k, years) / years);
}

/** Replaces each log-moneyness in a column with the implied volatility at this log-moneyness, `years` before the expiry. */
export function smileVolatilities(smile: SimulatedSmile, column: Float64Array, years: number): void {
  const slopes = slopesOf(smile, years);
  for (let row = 0; row < column.length; row++) column[row] = Math.sqrt(varianceAt(slopes, column[row]!) / years);
}

/** The SSVI parameters theta, phi and rho for one expiry. */
type Slopes = Readonly<{ theta: number; phi: number; skew: number }>;

function slopesOf({ shortIv, longIv, skew }: SimulatedSmile, years: number): Slopes {
  const theta = atTheMoneyVariance(shortIv, longIv, years);
  const phi = (1.8 / (1 + Math.abs(skew))) * theta ** -GAMMA * (1 + theta) ** (GAMMA - 1);
  return { theta, phi, skew };
}

function varianceAt({ theta, phi, skew }: Slopes, k: number): number {
  const x = phi * k + skew;
  return (theta / 2) * (1 + skew * phi * k + Math.sqrt(x * x + 1 - skew * skew));
}

/** The exponent of phi. A larger one flattens the skew faster with time. Up to 0.5, no maturity has butterfly arbitrage. */
const GAMMA = 0.3;
/** Rate at which the variance moves from the short-term value to the long-term value, per year. */
const REVERSION = 3;

/** Returns the total at-the-money variance: the integral over time of a variance that moves from `shortIv` squared to `longIv` squared. */
function atTheMoneyVariance(shortIv: number, longIv: number, years: number): number {
  const short = (1 - Math.exp(-REVERSION * years)) / REVERSION;
  return longIv ** 2 * years + (shortIv ** 2 - longIv ** 2) * short;
}
