import { merton } from '../../src/math/jump-diffusion.ts';
import { blackScholesPrice } from '../analytics/plain.ts';

/** A market whose laws are known: undiscounted price of an option on a forward of 1, as a function of the strike and of time. */
export type Model = (callPut: number, strike: number, years: number) => number;

/** Gatheral and Jacquier (2014), "Arbitrage-free SVI volatility surfaces", with the power-law curvature of section 4. */
export function ssvi(...shape: SsviShape): Model {
  return (callPut, strike, years) => lognormal(callPut, strike, ssviVariance(shape, Math.log(strike), years));
}

export type SsviShape = readonly [theta: (years: number) => number, rho: number, eta: number, gamma: number];

/** The total variance of SSVI at ln(K/F). */
export function ssviVariance([theta, rho, eta, gamma]: SsviShape, x: number, years: number): number {
  const w = theta(years);
  const phi = eta / (w ** gamma * (1 + w) ** (1 - gamma));
  return (w / 2) * (1 + rho * phi * x + Math.sqrt((phi * x + rho) ** 2 + 1 - rho * rho));
}

function lognormal(callPut: number, strike: number, variance: number): number {
  return blackScholesPrice({ callPut, spot: 1, strike, tte: 1, iv: Math.sqrt(variance), rate: 0, dividend: 0 });
}

/** Jumps per year, mean and standard deviation of the logarithm of a jump, and the volatility between the jumps. */
export interface JumpTerms {
  readonly jumpIntensity: number;
  readonly jumpMean: number;
  readonly jumpVol: number;
  readonly iv: number;
}

/** Merton (1976). */
export function mertonMarket(law: JumpTerms): Model {
  return (callPut, strike, years) => {
    const result = merton({ count: 1, spot: 1, strike, tte: years, rate: 0, dividend: 0, ...law });
    return (callPut === 1 ? result.call : result.put)[0]!;
  };
}

/**
 * A local volatility whose laws are known: those of a mixture of lognormals with the volatilities `vols` (Brigo and Mercurio 2002). The
 * forwards of the components move apart at first, and then stay, which skews the law.
 */
export function localVolatility(
  weights: readonly number[],
  vols: readonly number[],
  forwards: readonly number[],
): Model {
  return (callPut, strike, years) => {
    const part = 1 - Math.exp(-4 * years);
    return weights.reduce((sum, weight, i) => {
      const forward = 1 + part * (forwards[i]! - 1);
      return sum + weight * forward * lognormal(callPut, strike / forward, vols[i]! ** 2 * years);
    }, 0);
  };
}

export interface Heston {
  readonly v0: number;
  readonly kappa: number;
  readonly mean: number;
  readonly vol: number;
  readonly rho: number;
}

/** Heston (1993) by Lewis's single integral (2001), with the characteristic function of Albrecher et al. (2007). */
export function heston(law: Heston): Model {
  const termsOf = new Map<number, HestonTerm[]>();
  return (callPut, strike, years) => {
    const terms = termsOf.getOrInsertComputed(years, () => hestonTerms(law, years));
    let integral = 0;
    for (const { u, factor, angle } of terms) integral += factor * Math.cos(angle - u * Math.log(strike));
    const call = 1 - (Math.sqrt(strike) / Math.PI) * integral;
    return callPut === 1 ? call : call - 1 + strike;
  };
}

interface HestonTerm {
  readonly u: number;
  readonly factor: number;
  readonly angle: number;
}

/** The terms of the integral, which do not depend on the strike. */
function hestonTerms(law: Heston, years: number): HestonTerm[] {
  const terms: HestonTerm[] = [];
  const step = 0.1;
  for (let u = step / 2; u < 4000; u += step) {
    // E[exp(i z ln S)] at z = u - i/2.
    const [log, angle] = hestonExponent(u, years, law);
    const size = Math.exp(log);
    if (size < 1e-16) break;
    terms.push({ u, factor: (step * size) / (u * u + 0.25), angle });
  }
  return terms;
}

/** Real and imaginary part of the exponent of the characteristic function at u - i/2, of a forward of 1. */
function hestonExponent(u: number, years: number, { v0, kappa, mean, vol, rho }: Heston): [number, number] {
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
