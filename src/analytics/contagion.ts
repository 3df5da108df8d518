/** The conditions under which the option flow of a stock spills into its sector ETF, and the resulting ETF. */
export interface Contagion {
  /** The sector ETF into which the flow spills. Null if a condition does not hold. */
  readonly etf: string | null;
  /** True if the stock's volatility has reached its ceiling. */
  readonly saturated: boolean;
  /** The least flow for which `largeFlow` is true, dollars. */
  readonly flowThresholdUsd: number;
  readonly largeFlow: boolean;
  /** Correlation of the daily log returns of stock and ETF. Null if too few common closes are known. A null correlation is not tested. */
  readonly correlation: number | null;
}

/** `largeFlow`'s threshold is at least this share of the premium of the stock's 30-day flow. */
export const PREMIUM_SHARE = 0.01;
/** The minimum correlation between a stock and an ETF for a spillover. */
export const CORRELATION_MIN = 0.5;
/** The number of common daily closes that a correlation needs. */
export const CORRELATION_CLOSES = 60;

/**
 * Evaluates whether the flow of a stock spills into its sector ETF. If a stock's volatility has reached its ceiling and large flow
 * continues, traders use the ETF instead. `etf` is set if three conditions hold: the stock is saturated, its flow is large, and its
 * correlation with the ETF is unknown or at least `CORRELATION_MIN`.
 */
export function evaluateContagion(input: {
  readonly proxy: string | undefined;
  readonly flowUsd: number;
  readonly iv: number;
  readonly ivCeiling: number;
  readonly minFlowUsd: number;
  /** Premium of the stock's 30-day flow, dollars. `undefined` if unknown. */
  readonly premiumUsd: number | undefined;
  readonly correlation: number | null;
}): Contagion {
  const saturated = input.iv >= input.ivCeiling;
  const flowThresholdUsd = Math.max(input.minFlowUsd, PREMIUM_SHARE * (input.premiumUsd ?? 0));
  const largeFlow = Math.abs(input.flowUsd) >= flowThresholdUsd;
  const together = input.correlation === null || input.correlation >= CORRELATION_MIN;
  const etf = input.proxy !== undefined && saturated && largeFlow && together ? input.proxy : null;
  return { etf, saturated, flowThresholdUsd, largeFlow, correlation: input.correlation };
}
