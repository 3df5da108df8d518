import {
  CORRELATION_CLOSES,
  CORRELATION_MIN,
  type Contagion,
  evaluateContagion,
  PREMIUM_SHARE,
} from '../../analytics/contagion.ts';
import { FLOW_WINDOW_DAYS } from '../../analytics/flow/flow.ts';
import { returnCorrelation } from '../../analytics/returns.ts';
import { newYorkDate } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { flagField, number, objectOf } from '../engine/schemas.ts';
import { dollarsField, iv, ticker } from '../engine/shared-fields.ts';
import { unlikelyUnits } from '../engine/unlikely-units.ts';
import { numberOrNull, textList, textOrNull } from '../engine/wrapped-schemas.ts';
import { provenanceOf } from '../reading/market-reading.ts';
import { yearIvRank } from '../reading/year-iv-rank.ts';

export const evaluateEtfContagion = defineOperation({
  name: 'evaluate_etf_contagion',
  ofMarket: true,
  title: 'Spill into the sector ETF',
  page: 'house',
  description:
    "Names the sector ETF that a stock's large flow spills into: if the stock's volatility has reached the ceiling, the flow is large, and " +
    `their correlation, if known, is at least ${CORRELATION_MIN}. Null otherwise; the notes say which condition failed or was not tested.`,
  example: { single_name_ticker: 'NVDA', whale_fiat: 25_000_000, current_iv: 0.62, iv_ceiling: 0.55 },
  input: objectOf({
    single_name_ticker: { ...ticker, description: 'Symbol of the stock in any case, e.g. NVDA.' },
    whale_fiat: dollarsField(
      "Premium (not delta) of the stock's large flow, dollars, e.g. net_fiat_exposure of get_whale_prints; the sign is ignored.",
    ),
    current_iv: {
      ...iv,
      description: 'Present implied volatility, decimal per year, e.g. atm_iv of run_strategic_omni_radar.',
    },
    iv_ceiling: {
      ...iv,
      description:
        'Volatility at or above which the stock counts as saturated, decimal per year; a note gives its stored range.',
    },
  }),
  full: objectOf({
    etf_proxy: textOrNull('Sector ETF; null if a requirement that was tested is not met.'),
    saturated: flagField('True if the volatility is at or above the ceiling.'),
    large_flow: flagField('True if the absolute flow reaches flow_threshold.'),
    iv_over_ceiling: number(
      'Ratio of the present volatility to the ceiling. The stock counts as saturated if the ratio is at least 1.',
    ),
    flow_threshold: number(
      'Absolute flow at or above which the flow is large, dollars: the larger of flow_min and premium_threshold.',
    ),
    flow_over_threshold: numberOrNull('Ratio of the absolute flow to flow_threshold; null if flow_threshold is 0.'),
    flow_min: number('Minimum flow that can spill into the ETF, set by the operator, dollars.'),
    premium_threshold: numberOrNull(
      `${100 * PREMIUM_SHARE} % of the premium of the stock's large prints over 30 days, dollars; null if the stock has no chain or no prints.`,
    ),
    correlation: numberOrNull(
      'Correlation of the daily log returns of stock and ETF, -1 to 1; null below 60 common closes, and then not required.',
    ),
    correlation_min: number('Minimum correlation at which stock and ETF count as moving together, -1 to 1.'),
    proxy: textOrNull(
      'Sector ETF of the stock, whether or not the requirements are met; null if the universe names none.',
    ),
    notes: textList('Why etf_proxy is null, and what was not tested.'),
  }),
  tool: {
    question: 'spill of a flow into the sector ETF',
    method: 'contagion-evaluate_etf_contagion',
    units: ['sector ETF', 'Null otherwise'],
    answers: ['etf_proxy'],
    echoes: ['proxy', 'flow_threshold', 'correlation', 'notes'],
  },
  run(input, context) {
    const name = context.market.tracked(input.single_name_ticker);
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
        notes: [
          ...unlikelyUnits({ iv: input.current_iv }),
          ...(proxy === undefined
            ? [`etf_proxy and correlation are null, because the universe names no sector ETF for ${name}.`]
            : [...reasonsOf(reading, input, `${name} and ${proxy}`), ...missingNotes(proxy, context)]),
          ...volatilityNotes(name, context),
        ],
      },
      ...(chain && { provenance: provenanceOf(chain, context) }),
    };
  },
});

/** Returns the requirements that are not met, and the requirements that could not be tested. */
function reasonsOf(
  { saturated, largeFlow, flowThresholdUsd, correlation }: Omit<Contagion, 'etf'>,
  { whale_fiat, current_iv, iv_ceiling }: { whale_fiat: number; current_iv: number; iv_ceiling: number },
  both: string,
): string[] {
  const unmet: string[] = [];
  if (!saturated) unmet.push(`current_iv ${current_iv} is below iv_ceiling ${iv_ceiling}`);
  if (!largeFlow)
    unmet.push(`the flow of ${Math.round(Math.abs(whale_fiat))} dollars is below ${Math.round(flowThresholdUsd)}`);
  if (correlation !== null && !(correlation >= CORRELATION_MIN))
    unmet.push(`the correlation of ${both} is ${correlation.toFixed(2)}, below ${CORRELATION_MIN}`);
  const notes = unmet.length > 0 ? [`etf_proxy is null, because ${unmet.join(', and ')}.`] : [];
  if (correlation === null)
    notes.push(
      `correlation is null, because fewer than ${CORRELATION_CLOSES} common closes of ${both} are known: whether they move together was not tested, and is not required.`,
    );
  return notes;
}

/** Returns a note if a sector ETF has no data, because a caller who looks at its flow next would find nothing. */
function missingNotes(proxy: string, { market }: Context): string[] {
  return market.findChain(proxy) ? [] : [`${proxy} has no data here: its flow and levels are not known.`];
}

/** Returns a note on the stored volatilities of a stock, from which a caller can choose a ceiling. */
function volatilityNotes(name: string, { market }: Context): string[] {
  const [levels] = market.newestLevels([name]);
  if (levels === undefined || levels.atmIv30d === null) return [];
  const { low, high, days } = yearIvRank(name, levels.asOf, market);
  const range =
    days < 2 || low === null || high === null
      ? 'no other day is stored'
      : `${short(low)} to ${short(high)} on ${days} stored days of the last year`;
  return [`atm_iv_30d of ${name} is ${short(levels.atmIv30d)}; ${range}. Choose iv_ceiling by it.`];
}

/** Returns a volatility with three digits. */
function short(iv: number): number {
  return Number(iv.toPrecision(3));
}

/** Returns the premium of the stock's large prints in the flow window, dollars. Returns `undefined` if the stock has no prints. */
function largePremium(context: Context, chain: Chain): number | undefined {
  if (!context.market.hasPrints(chain.underlying)) return undefined;
  const flow = context.market.flow(chain, FLOW_WINDOW_DAYS, context.largePrintMinUsd);
  return flow.reduce((sum, { premium }) => sum + premium, 0);
}

/** Returns the correlation of daily returns of a stock and an ETF up to `until`, the day of the snapshot; null for too few closes. */
function correlationWith(etf: string, name: string, context: Context, until = '9999-12-31'): number | null {
  // Reads a few additional closes, because a day's close may be missing for the stock or for the ETF.
  const closes = (of: string) => context.market.closes(of, until, CORRELATION_CLOSES + 20);
  return returnCorrelation(closes(name), closes(etf), CORRELATION_CLOSES);
}
