import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { addDays, closeOf, newYorkDate, YEAR_MS } from '../../src/market/calendar.ts';
import type { ContractRow } from '../../src/market/contract-batch.ts';
import { volatilityOf } from '../analytics/plain.ts';
import { AS_OF, contract, prepared } from '../analytics/small-chains.ts';
import { heston, localVolatility, type Model, mertonMarket, ssvi } from './known-laws.ts';

/** A family of simulated markets, with the model of a draw. `uniform` returns a number between its arguments. */
type Family = (uniform: (low: number, high: number) => number) => Model;

/** The families of markets, with parameters in the range of stocks and indices. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  'local volatility': (uniform) => {
    const [share, low] = [uniform(0.15, 0.35), uniform(0.1, 0.25)];
    const fall = uniform(0.02, 0.05);
    return localVolatility(
      [1 - share, share],
      [low, low * uniform(1.5, 2.2)],
      [1 + (fall * share) / (1 - share), 1 - fall],
    );
  },
  Heston: (uniform) => {
    const v0 = uniform(0.15, 0.35) ** 2;
    const law = {
      kappa: uniform(1, 4),
      mean: v0 * uniform(0.8, 1.4),
      vol: uniform(0.3, 0.8),
      rho: uniform(-0.8, -0.3),
    };
    return heston({ v0, ...law });
  },
  Merton: (uniform) =>
    mertonMarket({
      jumpIntensity: uniform(0.3, 2),
      jumpMean: uniform(-0.12, 0),
      jumpVol: uniform(0.04, 0.12),
      iv: uniform(0.12, 0.3),
    }),
  SSVI: (uniform) => {
    const variance = uniform(0.15, 0.35) ** 2;
    return ssvi((years) => variance * years, uniform(-0.75, -0.2), uniform(0.6, 1.2), uniform(0.35, 0.5));
  },
};

const SPOT = 400;
const RATE = 0.04;
const TICK = 0.01;
const DAYS = [11, 32, 74, 165, 382];

/** A settlement of a simulated market. */
export interface Settlement {
  /** ms since the epoch. */
  readonly at: number;
  readonly years: number;
  /** Standard deviation at the money. */
  readonly deviation: number;
}

/**
 * The quotes of a market, rounded outwards to ticks, with strikes to `reach` standard deviations. The half-spread is `spread` of the price and
 * at least one tick, so that puts and calls far from the forward have no bid.
 */
export function simulatedMarket(
  model: Model,
  reach: number,
  spread = 0.01,
): { chain: PreparedChain; settlements: Settlement[] } {
  const rows: ContractRow[] = [];
  const settlements: Settlement[] = [];
  for (const days of DAYS) {
    const expiry = addDays(newYorkDate(AS_OF), days);
    const at = closeOf(expiry);
    const years = (at - AS_OF) / YEAR_MS;
    const forward = SPOT * Math.exp(RATE * years);
    const deviation = volatilityOf(1, 1, model(1, 1, years));
    settlements.push({ at, years, deviation });
    const step = Math.max(1, Math.round((forward * deviation) / 8));
    const [first, last] = [-reach, reach].map((z) => Math.round((forward * Math.exp(z * deviation)) / step));
    for (let i = first!; i <= last!; i++) {
      for (const callPut of [1, -1]) {
        const price = SPOT * model(callPut, (i * step) / forward, years);
        const half = Math.max(TICK, spread * price);
        const bid = Math.max(0, Math.floor((price - half) / TICK) * TICK);
        rows.push(contract({ expiry, strike: i * step, callPut, bid, ask: Math.ceil((price + half) / TICK) * TICK }));
      }
    }
  }
  return { chain: prepared(rows, {}, { spot: SPOT }), settlements };
}

/** The distance between two points of an integral over the log-price, and the range on each side, in standard deviations. */
const STEP = 1 / 40;
const RANGE = 30;

/**
 * Returns the true figures of a law by integrals of option prices over the strike (Carr and Madan 1998): the variance of a variance swap, the
 * kurtosis of the log-price, and the share of its fourth moment beyond two ratios of strike to forward.
 */
export function truthOf(model: Model, { years, deviation }: Settlement, [low, high]: readonly [number, number]) {
  const price = (x: number) => Math.max(0, model(x < 0 ? -1 : 1, Math.exp(x), years));
  const step = STEP * deviation;
  const points = Array.from({ length: Math.round((2 * RANGE) / STEP) }, (_, i) => (i + 0.5) * step - RANGE * deviation);
  const values = points.map((x) => price(x) * Math.exp(-x) * step);
  /** The integral of the second derivative of a function of the log-price, `second - first`, over a range. */
  const integral = (first: (x: number) => number, second: (x: number) => number, from = -Infinity, to = Infinity) =>
    points.reduce((sum, x, i) => (x > from && x < to ? sum + (second(x) - first(x)) * values[i]! : sum), 0);
  const raw = [1, 2, 3, 4].map((k) =>
    integral(
      (x) => k * x ** (k - 1),
      (x) => k * (k - 1) * x ** (k - 2),
    ),
  ) as [number, number, number, number];
  const [mean, second, third, fourth] = raw;
  const variance = second - mean * mean;
  const central = fourth - 4 * mean * third + 6 * mean * mean * second - 3 * mean ** 4;
  const beyond = (strike: number, side: 1 | -1) => {
    const x = Math.log(strike);
    const h = 1e-4 * strike;
    const below = ((-side * (model(side, strike - h, years) - model(side, strike + h, years))) / (2 * h)) * -1;
    const d = x - mean;
    const edge = d ** 4 * below + side * ((4 * d ** 3) / strike) * model(side, strike, years);
    const [from, to] = side < 0 ? [-Infinity, x] : [x, Infinity];
    return (
      edge +
      integral(
        (y) => 4 * (y - mean) ** 3,
        (y) => 12 * (y - mean) ** 2,
        from,
        to,
      )
    );
  };
  return {
    varianceSwap: Math.sqrt((-2 * mean) / years),
    kurtosis: central / variance ** 2,
    share: (beyond(low, -1) + beyond(high, 1)) / central,
  };
}
