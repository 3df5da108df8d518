import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { addDays, newYorkDate, settlementInstant, YEAR_MS } from '../../../src/market/calendar.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { settlementOf } from '../../../src/market/option-symbol.ts';
import type { VarianceClock } from '../../../src/market/variance-clock.ts';
import { merton } from '../../../src/math/jump-diffusion.ts';
import { blackScholesPrice } from '../plain.ts';
import { AS_OF, contract, prepared, range } from '../small-chains.ts';

/** A market whose laws are known: undiscounted price of an option on a forward of 1, as a function of the strike and of time. */
export type Model = (callPut: number, strike: number, years: number) => number;

export const RATE = 0.04;
export const SPOT = 100;

/** Gatheral and Jacquier (2014), "Arbitrage-free SVI volatility surfaces", with the power-law curvature of section 4. */
export function ssvi(...shape: SsviShape): Model {
  return (callPut, strike, years) => {
    const iv = Math.sqrt(ssviVariance(shape, Math.log(strike), years));
    return blackScholesPrice({ callPut, spot: 1, strike, tte: 1, iv, rate: 0, dividend: 0 });
  };
}

export type SsviShape = readonly [theta: (years: number) => number, rho: number, eta: number, gamma: number];

/** The total variance of SSVI at ln(K/F). */
export function ssviVariance([theta, rho, eta, gamma]: SsviShape, x: number, years: number): number {
  const w = theta(years);
  const phi = eta / (w ** gamma * (1 + w) ** (1 - gamma));
  return (w / 2) * (1 + rho * phi * x + Math.sqrt((phi * x + rho) ** 2 + 1 - rho * rho));
}

export type MertonTerms = Readonly<Record<'iv' | 'jumpIntensity' | 'jumpMean' | 'jumpVol', number>>;

/** Merton (1976). */
export function mertonModel(law: MertonTerms): Model {
  return (callPut, strike, years) => {
    const result = merton({ count: 1, spot: 1, strike, tte: years, rate: 0, dividend: 0, ...law });
    return (callPut === 1 ? result.call : result.put)[0]!;
  };
}

/** Heston (1993) by Lewis's single integral (2001), with the characteristic function of Albrecher et al. (2007). */
export function hestonModel(heston: HestonTerms): Model {
  /** The terms of the integral, which do not depend on the strike, are computed once for each time. */
  const termsOf = new Map<number, ReturnType<typeof hestonTerms>>();
  return (callPut, strike, years) => {
    let integral = 0;
    const terms = termsOf.getOrInsertComputed(years, () => hestonTerms(years, heston));
    for (const { u, factor, angle } of terms) integral += factor * Math.cos(angle - u * Math.log(strike));
    const call = 1 - (Math.sqrt(strike) / Math.PI) * integral;
    return callPut === 1 ? call : call - 1 + strike;
  };
}

function hestonTerms(years: number, heston: HestonTerms) {
  const terms: { u: number; factor: number; angle: number }[] = [];
  const [step, end] = [0.1, 400];
  for (let u = step / 2; u < end; u += step) {
    // E[exp(i z ln S)] at z = u - i/2.
    const [log, angle] = hestonExponent(u, years, heston);
    const size = Math.exp(log);
    if (size < 1e-16) break;
    terms.push({ u, factor: (step * size) / (u * u + 0.25), angle });
  }
  return terms;
}

export interface HestonTerms {
  readonly v0: number;
  readonly kappa: number;
  readonly mean: number;
  readonly vol: number;
  readonly rho: number;
}

/** Real and imaginary part of the exponent of the characteristic function at u - i/2, of a forward of 1. */
function hestonExponent(u: number, years: number, { v0, kappa, mean, vol, rho }: HestonTerms): [number, number] {
  type Complex = readonly [number, number];
  const mul = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c];
  const div = ([a, b]: Complex, [c, d]: Complex): Complex => {
    const size = c * c + d * d;
    return [(a * c + b * d) / size, (b * c - a * d) / size];
  };
  const add = ([a, b]: Complex, [c, d]: Complex): Complex => [a + c, b + d];
  const scale = ([a, b]: Complex, by: number): Complex => [a * by, b * by];
  const exp = ([a, b]: Complex): Complex => [Math.exp(a) * Math.cos(b), Math.exp(a) * Math.sin(b)];
  const log = ([a, b]: Complex): Complex => [Math.log(Math.hypot(a, b)), Math.atan2(b, a)];
  const root = (z: Complex): Complex => exp(scale(log(z), 0.5));
  // i z with z = u - i/2.
  const iz: Complex = [0.5, u];
  const b = add([kappa, 0], scale(iz, -rho * vol));
  const d = root(add(mul(b, b), scale(add(iz, scale(mul(iz, iz), -1)), vol * vol)));
  const g = div(add(b, scale(d, -1)), add(b, d));
  const decay = exp(scale(d, -years));
  const minus = add(b, scale(d, -1));
  const one: Complex = [1, 0];
  const ratio = div(add(one, scale(mul(g, decay), -1)), add(one, scale(g, -1)));
  const c = scale(add(scale(minus, years), scale(log(ratio), -2)), (kappa * mean) / (vol * vol));
  const slope = scale(
    mul(minus, div(add(one, scale(decay, -1)), add(one, scale(mul(g, decay), -1)))),
    v0 / (vol * vol),
  );
  return add(c, slope) as [number, number];
}

/** A market in which the price also moves at once, by a lognormal factor of mean 1, just after some instant. */
export function withEvent(model: Model, move: number, afterYears: number): Model {
  const step = 0.5;
  const nodes = Array.from({ length: 25 }, (_, i) => step * (i - 12));
  return (callPut, strike, years) => {
    if (years <= afterYears) return model(callPut, strike, years);
    let price = 0;
    for (const z of nodes) {
      const factor = Math.exp(move * z - (move * move) / 2);
      const probability = (step * Math.exp(-(z * z) / 2)) / Math.sqrt(2 * Math.PI);
      price += probability * factor * model(callPut, strike / factor, years);
    }
    return price;
  };
}

/** Dates of weekly and then monthly expiries, up to two years. */
export const EXPIRIES = [4, 11, 18, 25, 32, 39, 46, 74, 102, 165, 256, 382, 655].map((days) =>
  addDays(newYorkDate(AS_OF), days),
);

/** The quotes of a market whose variance passes by a clock. On the `paired` dates, options settle at the open and others at the close. */
export function market(model: Model, clock: VarianceClock, paired: readonly string[] = []): PreparedChain {
  const rows: ContractRow[] = [];
  const tick = paired.length > 0 ? 0.005 : 0.01;
  const close = paired.length > 0 ? 'SPXW' : 'ACME';
  for (const [root, expiry] of [...EXPIRIES.map((each) => [close, each]), ...paired.map((each) => ['SPX', each])]) {
    const at = settlementInstant(expiry!, settlementOf(root!));
    const tte = (at - AS_OF) / YEAR_MS;
    const discount = Math.exp(-RATE * tte);
    const forward = SPOT / discount;
    for (const strike of range(40, 220, tte < 0.15 ? 1 : 2.5)) {
      for (const callPut of [1, -1]) {
        const price = discount * forward * model(callPut, strike / forward, clock.years(at));
        if (price < 2 * tick) continue;
        const [bid, ask] =
          paired.length > 0
            ? [Math.floor(price / tick - 1) * tick, Math.ceil(price / tick + 1) * tick]
            : [price - tick, price + tick];
        rows.push(contract({ root: root!, expiry: expiry!, strike, callPut, bid, ask }));
      }
    }
  }
  return prepared(rows, {}, paired.length > 0 ? { underlying: 'SPX' } : {});
}

/** Markets without an event. */
export const MODELS: [string, Model][] = [
  ['a flat volatility', ssvi((years) => 0.09 * years, 0, 1e-6, 0.5)],
  ['SSVI', ssvi((years) => 0.04 * years + 0.01 * (1 - Math.exp(-2 * years)), -0.6, 1, 0.45)],
  ['Merton', mertonModel({ iv: 0.16, jumpIntensity: 1.2, jumpMean: -0.07, jumpVol: 0.06 })],
  ['Heston', hestonModel({ v0: 0.04, kappa: 1.8, mean: 0.05, vol: 0.5, rho: -0.65 })],
];
