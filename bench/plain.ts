import type { OptionSet } from '../src/bench/workloads.ts';
import type { GreekName } from '../src/math/black-scholes.ts';

/**
 * Computes prices and Greeks with the kernels' formulas in plain TypeScript, one row at a time. The comparison shows the gain from WASM and
 * SIMD.
 */
export function plainGreeks(options: OptionSet, out: Readonly<Record<GreekName, Float64Array>>): void {
  for (let i = 0; i < options.count; i++) {
    const sign = options.callPut[i]!;
    const S = options.spot[i]!;
    const K = options.strike[i]!;
    const T = options.tte[i]!;
    const v = options.iv[i]!;
    const r = options.rate[i]!;
    const q = options.dividend[i]!;
    const rootT = Math.sqrt(T);
    const s = v * rootT;
    const m = (Math.log(S / K) + (r - q) * T) / s;
    const d1 = m + 0.5 * s;
    const d2 = m - 0.5 * s;
    const spotNow = S * Math.exp(-q * T);
    const strikeNow = K * Math.exp(-r * T);
    const shared = spotNow * density(d1);
    const spotLeg = sign * weighed(spotNow, shared, sign * d1);
    const strikeLeg = sign * weighed(strikeNow, shared, sign * d2);
    const carry = q * spotLeg - r * strikeLeg;
    const vega = shared * rootT;
    out.price[i] = Math.max(0, spotLeg - strikeLeg);
    out.delta[i] = spotLeg / S;
    out.gamma[i] = shared / (S * S * s);
    out.vega[i] = vega;
    out.theta[i] = carry - (shared * v) / (2 * rootT);
    out.rho[i] = strikeLeg * T;
    out.vanna[i] = (-shared * d2) / (S * v);
    out.charm[i] = (q * spotLeg - shared * ((r - q) / s - d2 / (2 * T))) / S;
    out.volga[i] = (vega * d1 * d2) / v;
  }
}

/** The contracts of a gamma profile. */
export type GammaColumns = Pick<OptionSet, 'count' | 'strike' | 'tte' | 'iv' | 'rate' | 'dividend'> & {
  readonly weight: Float64Array;
};

/** Computes a gamma profile: `sums[i]` is the sum of weight * gamma over the contracts, at the spot `levels[i]`. */
export function plainGammaProfile(contracts: GammaColumns, levels: Float64Array, sums: Float64Array): void {
  sums.fill(0);
  for (let row = 0; row < contracts.count; row++) {
    const T = contracts.tte[row]!;
    const q = contracts.dividend[row]!;
    const s = contracts.iv[row]! * Math.sqrt(T);
    const drift = (contracts.rate[row]! - q) * T;
    const scale = (contracts.weight[row]! * Math.exp(-q * T) * INV_SQRT_2_PI) / s;
    for (let i = 0; i < levels.length; i++) {
      const S = levels[i]!;
      const d1 = (Math.log(S / contracts.strike[row]!) + drift) / s + 0.5 * s;
      sums[i]! += (scale / S) * Math.exp(-0.5 * d1 * d1);
    }
  }
}

/** Computes the same profile, without logarithms in the inner loop and without the contracts of weight 0. */
export function tunedGammaProfile(contracts: GammaColumns, levels: Float64Array, sums: Float64Array): void {
  sums.fill(0);
  const logs = levels.map(Math.log);
  for (let row = 0; row < contracts.count; row++) {
    if (contracts.weight[row] === 0) continue;
    const T = contracts.tte[row]!;
    const q = contracts.dividend[row]!;
    const s = contracts.iv[row]! * Math.sqrt(T);
    const perDeviation = 1 / s;
    const d1At1 = ((contracts.rate[row]! - q) * T - Math.log(contracts.strike[row]!)) * perDeviation + 0.5 * s;
    const scale = contracts.weight[row]! * Math.exp(-q * T) * INV_SQRT_2_PI * perDeviation;
    for (let i = 0; i < levels.length; i++) {
      const d1 = d1At1 + logs[i]! * perDeviation;
      sums[i]! += (scale / levels[i]!) * Math.exp(-0.5 * d1 * d1);
    }
  }
}

/**
 * Computes implied volatilities with Newton's method on the price. The first value is the inflection of the price as a function of
 * volatility (Manaster and Koehler 1982). A bracket bounds all values.
 */
export function plainImpliedVolatility(options: OptionSet, prices: Float64Array, iv: Float64Array): void {
  for (let i = 0; i < options.count; i++) {
    const sign = options.callPut[i]!;
    const T = options.tte[i]!;
    const spotNow = options.spot[i]! * Math.exp(-options.dividend[i]! * T);
    const strikeNow = options.strike[i]! * Math.exp(-options.rate[i]! * T);
    const x = Math.log(spotNow / strikeNow);
    let s = Math.sqrt(2 * Math.abs(x)) || 0.2 * Math.sqrt(T);
    let [low, high] = [0, 10];
    for (let step = 0; step < 100; step++) {
      const d1 = x / s + 0.5 * s;
      const shared = spotNow * density(d1);
      const price = sign * (weighed(spotNow, shared, sign * d1) - weighed(strikeNow, shared, sign * (d1 - s)));
      const error = price - prices[i]!;
      if (error > 0) high = Math.min(high, s);
      else low = Math.max(low, s);
      let next = s - error / shared;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const change = Math.abs(next - s);
      s = next;
      if (change <= 1e-14 * s) break;
    }
    iv[i] = s / Math.sqrt(T);
  }
}

/**
 * Computes the probability that spot is at or above the strike at expiry, as a Poisson-weighted sum. Ends at a weight below 1e-17 of the
 * sum.
 */
export function plainMerton(
  options: OptionSet,
  jumps: { jumpIntensity: Float64Array; jumpMean: Float64Array; jumpVol: Float64Array },
  above: Float64Array,
): void {
  for (let i = 0; i < options.count; i++) {
    const T = options.tte[i]!;
    const v = options.iv[i]!;
    const [m, d] = [jumps.jumpMean[i]!, jumps.jumpVol[i]!];
    const expected = jumps.jumpIntensity[i]! * T;
    const compensator = jumps.jumpIntensity[i]! * Math.expm1(m + 0.5 * d * d);
    const x =
      Math.log(options.spot[i]! / options.strike[i]!) +
      (options.rate[i]! - options.dividend[i]! - compensator - 0.5 * v * v) * T;
    let weight = Math.exp(-expected);
    let sum = 0;
    for (let n = 0; n < 1200; n++) {
      const d2 = (x + n * m) / Math.sqrt(v * v * T + n * d * d);
      sum += weight * weighed(1, density(d2), d2);
      weight *= expected / (n + 1);
      if (n > expected && weight < 1e-17 * sum) break;
    }
    above[i] = sum;
  }
}

const INV_SQRT_2_PI = 0.3989422804014327;

/** Returns the density of the standard normal distribution. */
export function density(x: number): number {
  return INV_SQRT_2_PI * Math.exp(-0.5 * x * x);
}

/** Returns value * N(d), a term of the price. N is the normal distribution function. `shared` is value * phi(d), with the density phi. */
export function weighed(value: number, shared: number, d: number): number {
  const tail = shared * mills(Math.abs(d));
  return d < 0 ? tail : value - tail;
}

/** Returns N(-x) / phi(x) for x >= 0, with the rational approximation of the kernels. */
function mills(x: number): number {
  return polynomial(P, x) / polynomial(Q, x);
}

function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
}

const P = [
  1.2533141373155003, 1.934653577146081, 1.477734861707109, 0.7170283568146741, 0.24114299823053004,
  0.05804522847137155, 0.009997476944762872, 0.0011918879056637371, 0.00008989335304680117, 0.000003312647866482141,
];
const Q = [
  1, 2.3415147805097583, 2.547320323376744, 1.6997775430138469, 0.7727232026769386, 0.2509606755725133,
  0.059230491552283014, 0.010087370285375504, 0.001195200553752128, 0.00008989335304442532, 0.000003312647866493582,
];
