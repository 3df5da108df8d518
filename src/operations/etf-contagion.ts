import { Type } from '@sinclair/typebox';
import { CORRELATION_CLOSES, CORRELATION_MIN, evaluateContagion, PREMIUM_SHARE } from '../analytics/contagion.ts';
import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { returnCorrelation } from '../analytics/returns.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import { canonicalTicker } from '../market/option-symbol.ts';
import { provenanceOf } from './market-reading.ts';
import { type Context, defineOperation } from './operation.ts';
import { dollarsField, iv, nullable, number, ticker } from './schemas.ts';

export const evaluateEtfContagion = defineOperation({
  name: 'evaluate_etf_contagion',
  ofMarket: true,
  title: 'Spill into the sector ETF',
  description:
    "Names the sector ETF that a single name's large flow spills into, if its volatility has reached the ceiling, the flow is " +
    'large and both move together; else null.',
  example: { single_name_ticker: 'NVDA', whale_fiat: 25_000_000, current_iv: 0.62, iv_ceiling: 0.55 },
  input: Type.Object(
    {
      single_name_ticker: { ...ticker, description: 'Symbol of a single name in any case, e.g. NVDA.' },
      whale_fiat: dollarsField(
        'Premium (not delta) of its large flow, dollars, as net_fiat_exposure of get_whale_prints; its absolute value counts.',
      ),
      current_iv: { ...iv, description: 'Its implied volatility now, decimal per year.' },
      iv_ceiling: { ...iv, description: 'Volatility at which it counts as saturated, decimal per year.' },
    },
    { additionalProperties: false },
  ),
  full: Type.Object(
    {
      etf_proxy: nullable(Type.String(), 'Sector ETF, or null if requirements are unmet.'),
      saturated: Type.Boolean({ description: 'Volatility is at or above the ceiling.' }),
      large_flow: Type.Boolean({ description: 'The flow reaches the threshold.' }),
      iv_over_ceiling: number(
        'Ratio of the present volatility to the ceiling; from 1 on the name counts as saturated.',
      ),
      flow_threshold: number('Flow that counts as large, dollars: the larger of flow_min and premium_threshold.'),
      flow_over_threshold: nullable(Type.Number(), 'Ratio of the flow to flow_threshold; null if that is 0.'),
      flow_min: number('Least flow that can spill, as set by the operator, dollars.'),
      premium_threshold: nullable(
        Type.Number(),
        `${100 * PREMIUM_SHARE} % of the name's large-print premium over 30 days, dollars; null if it has no prints.`,
      ),
      correlation: nullable(
        Type.Number(),
        'Correlation of daily log returns with the ETF, -1 to 1; null (not required) below 60 common closes.',
      ),
      correlation_min: number('Least correlation at which the two count as moving together, -1 to 1.'),
      proxy: nullable(Type.String(), 'ETF mapped to the name, whether or not the requirements are met.'),
    },
    { additionalProperties: false },
  ),
  tool: { answers: ['etf_proxy'] },
  run(input, context) {
    const name = canonicalTicker(input.single_name_ticker);
    const chain = context.market.findChain(name);
    const proxy = context.universe.proxies.get(name);
    const premium = chain && largePremium(context, chain);
    const { etf, ...reading } = evaluateContagion({
      proxy,
      flowUsd: input.whale_fiat,
      iv: input.current_iv,
      ivCeiling: input.iv_ceiling,
      minFlowUsd: context.contagionMinUsd,
      premiumUsd: premium,
      correlation: proxy === undefined ? null : correlationWith(proxy, name, context, chain && newYorkDate(chain.asOf)),
    });
    return {
      result: {
        etf_proxy: etf,
        saturated: reading.saturated,
        large_flow: reading.largeFlow,
        iv_over_ceiling: input.current_iv / input.iv_ceiling,
        flow_threshold: reading.flowThresholdUsd,
        flow_over_threshold:
          reading.flowThresholdUsd > 0 ? Math.abs(input.whale_fiat) / reading.flowThresholdUsd : null,
        flow_min: context.contagionMinUsd,
        premium_threshold: premium === undefined ? null : PREMIUM_SHARE * premium,
        correlation: reading.correlation,
        correlation_min: CORRELATION_MIN,
        proxy: proxy ?? null,
      },
      ...(chain && { provenance: provenanceOf(chain, context) }),
    };
  },
});

/** Premium of the name's large prints over the flow window, dollars. Returns `undefined` if the name has no prints. */
function largePremium(context: Context, chain: Chain): number | undefined {
  if (!context.market.hasPrints(chain.underlying)) return undefined;
  const flow = context.market.flow(chain, FLOW_WINDOW_DAYS, context.largePrintMinUsd);
  return flow.reduce((sum, { premium }) => sum + premium, 0);
}

/** Correlation over the last closes up to the date of the name's snapshot, or over the newest closes if the name has no snapshot. */
function correlationWith(etf: string, name: string, context: Context, until = '9999-12-31'): number | null {
  // A few closes more than needed, because the two names may lack different days.
  const closes = (of: string) => context.market.closes(of, until, CORRELATION_CLOSES + 20);
  return returnCorrelation(closes(name), closes(etf), CORRELATION_CLOSES);
}
