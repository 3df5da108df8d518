/** Whether a single name's flow spills into its sector ETF, and why. */
export interface Contagion {
  readonly etf: string | null;
  readonly saturated: boolean;
  readonly flowThresholdUsd: number;
  readonly largeFlow: boolean;
  /** Of daily log returns. Null if too few closes of both are known. A correlation is then not required. */
  readonly correlation: number | null;
}

/** A flow counts as large if it is at least this share of the name's own 30-day premium. */
export const PREMIUM_SHARE = 0.01;
export const CORRELATION_MIN = 0.5;
/** Daily closes of both that a correlation needs. */
export const CORRELATION_CLOSES = 60;

/**
 * A name whose volatility has reached its ceiling while large flow goes on is traded through its sector ETF. `etf` is the proxy if the name
 * is saturated, the flow is large and, if the correlation is known, the two move together. Else it is null.
 */
export function evaluateContagion(input: {
  readonly proxy: string | undefined;
  readonly flowUsd: number;
  readonly iv: number;
  readonly ivCeiling: number;
  readonly minFlowUsd: number;
  /** Premium of the name's 30-day flow, dollars. `undefined` if not known. */
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
