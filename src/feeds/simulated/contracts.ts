import { YEAR_MS } from '../../market/calendar.ts';
import { greeks } from '../../math/black-scholes.ts';
import type { Instrument } from './instruments.ts';
import type { Term } from './listing.ts';
import { shortIvAt, spotAt } from './price-path.ts';
import { type SimulatedSmile, smileVolatility } from './simulated-smile.ts';

/** A contract to be priced. */
export type Contract = Readonly<{ term: Term; callPut: 1 | -1; strike: number }>;

/** The quote of a contract. */
export interface Quote {
  /** Model price, dollars. */
  readonly price: number;
  readonly bid: number;
  readonly ask: number;
  readonly delta: number;
}

/**
 * Computes the quotes of several contracts of one instrument, each at the time `atOf` of its index. American options are priced as European
 * ones: early exercise is worth less than the spread, except for puts deep in the money, whose quotes are somewhat too low.
 */
export function quotesOf(
  instrument: Instrument,
  contracts: readonly Contract[],
  atOf: (index: number) => number,
): Quote[] {
  const { dividend } = instrument;
  const column = () => new Float64Array(contracts.length);
  const columns = { callPut: column(), spot: column(), strike: column(), tte: column(), iv: column() };
  for (const [i, { term, callPut, strike }] of contracts.entries()) {
    const at = atOf(i);
    const spot = spotAt(instrument, at);
    const tte = Math.max(SHORTEST_MS, term.settlesAt - at) / YEAR_MS;
    columns.callPut[i] = callPut;
    columns.spot[i] = spot;
    columns.strike[i] = strike;
    columns.tte[i] = tte;
    columns.iv[i] = smileVolatility(
      simulatedSmileOf(instrument, at),
      Math.log(strike / spot) - (RATE - dividend) * tte,
      tte,
    );
  }
  const model = greeks({ count: contracts.length, ...columns, rate: RATE, dividend });
  return contracts.map((_, i) => {
    const price = model.price[i]!;
    const tick = tickOf(instrument, price);
    const half = halfSpread(instrument, tick, price, model.vega[i]!);
    const [bid, ask] = [bidOf(price, half, tick), askOf(price, half, tick)];
    return { price, bid, ask, delta: rounded(model.delta[i]!) };
  });
}

/**
 * Returns the tick size of a contract with this price, dollars: 0.01 for the busiest funds and for prices below 3 dollars, else 0.05. For an
 * index 0.05 below 3 dollars, else 0.1.
 */
export function tickOf(instrument: Instrument, price: number): number {
  if (instrument.otherRoot !== instrument.root) return price < 3 ? 0.05 : 0.1;
  return instrument.cadence === 'daily' || price < 3 ? 0.01 : 0.05;
}

/** The risk-free rate, continuously compounded, per year. */
export const RATE = 0.04;
/** The least time to settlement in the computation of prices, ms. If the time is shorter, the code uses the minimum, as the analyses do. */
export const SHORTEST_MS = 15 * 60_000;
const LONG_OVER_BASE = 1.1;

/** Returns the volatility surface of an instrument at an instant. */
export function simulatedSmileOf(instrument: Instrument, atMs: number): SimulatedSmile {
  const { baseIv, skew } = instrument;
  return { shortIv: shortIvAt(instrument, atMs), longIv: LONG_OVER_BASE * baseIv, skew };
}

/** Returns half of the difference between the unrounded ask and bid, dollars. The spread grows with the price and with vega. */
export function halfSpread({ cadence }: Instrument, tick: number, price: number, vega: number): number {
  const busy = cadence === 'daily';
  return tick / 2 + (busy ? 0.001 : 0.006) * price + (busy ? 0.0005 : 0.002) * vega;
}

/** Returns the bid for a model price, dollars. A bid below one tick becomes 0. */
export function bidOf(price: number, half: number, tick: number): number {
  return rounded(bidTicks(price, half, tick) * tick);
}

/** Returns the ask for a model price, dollars. The ask is at least one tick larger than the bid. */
export function askOf(price: number, half: number, tick: number): number {
  return rounded(Math.max(bidTicks(price, half, tick) + 1, Math.ceil((price + half) / tick)) * tick);
}

function bidTicks(price: number, half: number, tick: number): number {
  return Math.max(0, Math.floor((price - half) / tick));
}

/** Rounds to four decimals, as real feeds do. */
export function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
