/** Whether the flow of a single name spills into its sector ETF, with the conditions for this. */
export interface Contagion {
  /** The sector ETF into which the flow spills. Null if a condition does not hold. */
  readonly etf: string | null;
  /** Whether the volatility of the name has reached its ceiling. */
  readonly saturated: boolean;
  /** The flow from which on `largeFlow` is true, dollars. */
  readonly flowThresholdUsd: number;
  readonly largeFlow: boolean;
  /**
   * Correlation of the daily log returns of name and ETF. Null if too few common closes are known. The correlation is then not a condition.
   */
  readonly correlation: number | null;
}

/** The threshold of a large flow is at least this share of the name's own 30-day premium. */
export const PREMIUM_SHARE = 0.01;
/** The least correlation at which flow is taken to spill into the ETF. */
export const CORRELATION_MIN = 0.5;
/** The number of common daily closes that a correlation needs. */
export const CORRELATION_CLOSES = 60;

/**
 * Evaluates whether the flow of a name spills into its sector ETF. If the volatility of a name has reached its ceiling and large flow goes
 * on, the name is traded through its ETF. `etf` is the proxy if the name is saturated, its flow is large, and its correlation with the ETF
 * is not known or at least `CORRELATION_MIN`.
 */
export function evaluateContagion(input: {
  readonly proxy: string | undefined;
  readonly flowUsd: number;
  readonly iv: number;
  readonly ivCeiling: number;
  readonly minFlowUsd: number;
  /** Premium of the name's 30-day flow, dollars. `undefined` if the premium is not known. */
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
