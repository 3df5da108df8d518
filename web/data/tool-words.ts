import {
  amount,
  cleanText,
  countText,
  percent,
  plain,
  price,
  signedAmount,
  strikeText,
  UNKNOWN,
} from '../page-format.ts';
import { isObject } from './mcp-call.ts';
import { labelOf, type ToolObjectSchema } from './tool-fields.ts';

type Values = Readonly<Record<string, unknown>>;

/** A figure of a tool's answer. */
export interface ToolFigure {
  readonly name: string;
  readonly value: string;
  /** The meaning of the figure, with its unit. Empty if the schema does not describe the figure. */
  readonly note: string;
}

const LIST_MOST = 12;

/** Returns the figures of an answer. The name of a figure in an inner object starts with the name of the object. */
export function toolFigures(answer: Values, schema: ToolObjectSchema | undefined): ToolFigure[] {
  return Object.entries(answer).flatMap(([name, value]): ToolFigure[] => {
    const note = cleanText(schema?.properties?.[name]?.description, 600);
    if (Array.isArray(value) && value.some(isObject)) {
      return value
        .slice(0, LIST_MOST)
        .map((row, i) => ({ name: `${i + 1}`, value: rowText(row), note: i ? '' : note }));
    }
    if (!isObject(value)) return [{ name: labelOf(name), value: valueText(name, value), note }];
    const own = toolFigures(value, undefined).map((each) => ({ ...each, name: `${labelOf(name)}, ${each.name}` }));
    return own.map((each, i) => ({ ...each, note: i === 0 ? note : '' }));
  });
}

function rowText(row: unknown): string {
  if (!isObject(row)) return valueText('', row);
  return Object.entries(row)
    .map(([name, value]) => `${labelOf(name)} ${valueText(name, value)}`)
    .join(' · ');
}

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (Array.isArray(value)) {
    const more = value.length > LIST_MOST ? `, … ${value.length} in all` : '';
    return (
      value
        .slice(0, LIST_MOST)
        .map((each) => valueText(name, each))
        .join(', ') + more
    );
  }
  if (typeof value !== 'number') return typeof value === 'boolean' ? (value ? 'yes' : 'no') : cleanText(value);
  return name.endsWith('_pct') ? percent(value, 2, false) : plain(value, 6);
}

const number = (value: unknown) => (typeof value === 'number' ? value : null);
const share = (value: unknown) => percent(typeof value === 'number' ? 100 * value : null, 1, false);
/** Returns a constant of the registry as words: `FREE_PARTICLE: NO_FRICTION` becomes `free particle, no friction`. */
const words = (value: unknown) => cleanText(value).toLowerCase().replaceAll('_', ' ').replaceAll(': ', ', ');

/** For each tool, a function that summarizes an answer in one sentence. */
const SENTENCES: Readonly<Record<string, (answer: Values, args: Values) => string>> = {
  compute_options_greeks: ({ delta, theta, vega }, { put_call, strike: at }) =>
    `The ${put_call === 'P' ? 'put' : 'call'} at ${strikeText(number(at))} moves like ${plain(number(delta), 3)} shares, ` +
    `changes by ${plain(number(theta), 3)} dollars a day and by ${plain(number(vega), 3)} dollars per vol point.`,
  get_live_gex_nodes: ({ ticker, spot_price, call_wall, put_wall, gex_flip }) =>
    `${cleanText(ticker)} at ${price(number(spot_price))}: call wall ${strikeText(number(call_wall))}, gamma flip ` +
    `${price(number(gex_flip))}, put wall ${strikeText(number(put_wall))}.`,
  get_whale_prints: ({ net_fiat_exposure: net, call_fiat_paid, put_fiat_paid }, { target_expiry }) =>
    `Large prints of ${cleanText(target_expiry)}: ${amount(number(call_fiat_paid))} dollars of calls, ` +
    `${amount(number(put_fiat_paid))} of puts, net ${signedAmount(number(net))}.`,
  calculate_merton_probability: ({ ticker, ambush_strike, merton_probability }, { spot_price }) =>
    `${cleanText(ticker)} ends at or ${Number(ambush_strike) >= Number(spot_price) ? 'above' : 'below'} ` +
    `${strikeText(number(ambush_strike))} with a probability of ${share(merton_probability)}.`,
  calculate_kelly_sizing: ({ recommended_portfolio_allocation_pct: pct }) =>
    number(pct) === 0 ? 'The bet has no edge: risk nothing.' : `Risk ${percent(number(pct), 2, false)} of the capital.`,
  run_strategic_omni_radar: ({ ticker, state_density, whipsaw_risk_index: index }) => {
    const { expiry, quantiles } = (isObject(state_density) ? state_density : {}) as Values;
    const { p05, p95 } = (isObject(quantiles) ? quantiles : {}) as Values;
    const risk = number(index) === null ? 'unknown' : `${countText(number(index))} of 100`;
    return (
      `${cleanText(ticker)} settles on ${cleanText(expiry)} between ${price(number(p05))} and ${price(number(p95))} ` +
      `with a probability of 90 %. Whipsaw risk: ${risk}.`
    );
  },
  evaluate_market_hamiltonian: ({ State, Behavior, Directive }) => {
    const state = words(State);
    return `${state.charAt(0).toUpperCase()}${state.slice(1)}. Expect ${words(Behavior)}: ${words(Directive)}.`;
  },
  detect_lethal_nodes: ({ top_nodes }) => {
    const first: unknown = Array.isArray(top_nodes) ? top_nodes[0] : undefined;
    if (!isObject(first)) return 'No contract has open interest.';
    const shares = number(first.Dealer_Share_Exposure);
    return (
      `Largest: the ${strikeText(number(first.strike))} ${first.put_call === 'P' ? 'put' : 'call'} of ` +
      `${cleanText(first.expiry_date)}. Dealers ${(shares ?? 0) < 0 ? 'sell' : 'buy'} ` +
      `${amount(shares === null ? null : Math.abs(shares))} shares per +1 %.`
    );
  },
  evaluate_etf_contagion: ({ etf_proxy }, { single_name_ticker }) =>
    etf_proxy === null
      ? `The flow of ${cleanText(single_name_ticker)} does not spill into a sector ETF: a requirement is not met.`
      : `The flow of ${cleanText(single_name_ticker)} spills into ${cleanText(etf_proxy)}.`,
};

/** Returns one sentence that summarizes the answer of a tool. Returns an empty text if the tool has no summary. */
export function toolSentence(name: string, answer: Values, args: Values): string {
  return SENTENCES[name]?.(answer, args) ?? '';
}
