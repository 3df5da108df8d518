import type { EtfContagion } from '../../data/page-answers.ts';
import { amount, cleanText, plain, volatility } from '../../page-format.ts';

/** A requirement for a spill into the sector ETF: whether the requirement is met, and a text. */
export interface Requirement {
  readonly isMet: boolean;
  readonly text: string;
}

/** Returns the requirements for a spill into the sector ETF. */
export function spillRequirements(body: EtfContagion, iv: number, ceiling: number, flow: number): Requirement[] {
  const { correlation, correlation_min: least } = body;
  return [
    {
      isMet: body.saturated,
      text: `volatility ${volatility(iv, 2)} is ${body.saturated ? 'at or above' : 'below'} the ceiling of ${volatility(ceiling, 2)}`,
    },
    {
      isMet: body.large_flow,
      text: `flow of ${amount(Math.abs(flow))} ${body.large_flow ? 'reaches' : 'is below'} the threshold of ${amount(body.flow_threshold)}`,
    },
    {
      isMet: correlation === null || correlation >= least,
      text:
        correlation === null
          ? 'correlation with the ETF is unknown (fewer than 60 common closes), so it is not required'
          : `correlation of ${plain(correlation, 2)} with the ETF ${correlation >= least ? 'reaches' : 'is below'} ${plain(least, 2)}`,
    },
  ];
}

/** Returns one sentence on whether the flow of the ticker spills into its sector ETF. */
export function spillSentence(ticker: string, { proxy, etf_proxy }: EtfContagion): string {
  if (proxy === null) return `The universe names no sector ETF for ${ticker}, so its flow spills nowhere.`;
  return etf_proxy === null
    ? `The flow of ${ticker} does not spill into ${cleanText(proxy)}:`
    : `The flow of ${ticker} spills into ${cleanText(etf_proxy)}:`;
}
