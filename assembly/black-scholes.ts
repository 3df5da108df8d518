import { logRatio } from './log';
import { density, weighed } from './normal';

/** No two doubles are this close in logarithm: at or below it the option has no time value left. */
const DEVIATION_MIN: f64 = 1e-100;
/** N and phi have long reached their limits; bounded so that phi(d) * d is 0 and not 0 * Infinity. */
const D_MAX: f64 = 1e9;

/**
 * Black-Scholes-Merton with continuous yield (Merton 1973; Haug, The Complete Guide to Option Pricing Formulas, 2nd ed.,
 * chapter 2): price and raw partial derivatives of `count` options. T = 0 or v = 0 gives the intrinsic value and its
 * derivatives (half the delta at the strike itself, nothing in the terms that carry the density).
 *
 * One density serves both legs, since S e^(-qT) phi(d1) = K e^(-rT) phi(d2): in the tails its rounding is then common to them
 * and does not grow in their difference.
 */
export function blackScholes(
  count: i32,
  callPut: usize,
  spot: usize,
  strike: usize,
  tte: usize,
  iv: usize,
  rate: usize,
  dividend: usize,
  price: usize,
  delta: usize,
  gamma: usize,
  vega: usize,
  theta: usize,
  rho: usize,
  vanna: usize,
  charm: usize,
  volga: usize,
): void {
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += 8) {
    const sign = load<f64>(callPut + at);
    const S = load<f64>(spot + at);
    const K = load<f64>(strike + at);
    const T = load<f64>(tte + at);
    const v = load<f64>(iv + at);
    const r = load<f64>(rate + at);
    const q = load<f64>(dividend + at);

    const x = logRatio(S, K) + (r - q) * T;
    const rootT = Math.sqrt(T);
    const s = v * rootT;
    const expired = s < DEVIATION_MIN;
    const m: f64 = expired ? (x > 0.0 ? D_MAX : x < 0.0 ? -D_MAX : 0.0) : x / s;
    const half: f64 = expired ? 0.0 : 0.5 * s;
    const d1 = Math.max(-D_MAX, Math.min(D_MAX, m + half));
    const d2 = Math.max(-D_MAX, Math.min(D_MAX, m - half));

    const spotNow = S * Math.exp(-q * T);
    const strikeNow = K * Math.exp(-r * T);
    const shared = Math.abs(d1) < Math.abs(d2) ? spotNow * density(d1) : strikeNow * density(d2);
    const spotLeg = weighed(spotNow, shared, sign * d1);
    const strikeLeg = weighed(strikeNow, shared, sign * d2);
    const carry = sign * (q * spotLeg - r * strikeLeg);
    store<f64>(price + at, Math.max(0.0, sign * (spotLeg - strikeLeg)));
    store<f64>(delta + at, (sign * spotLeg) / S);
    store<f64>(rho + at, sign * strikeLeg * T);

    if (expired) {
      store<f64>(gamma + at, 0.0);
      store<f64>(vega + at, 0.0);
      store<f64>(vanna + at, 0.0);
      store<f64>(volga + at, 0.0);
      store<f64>(theta + at, carry);
      store<f64>(charm + at, (sign * q * spotLeg) / S);
    } else {
      store<f64>(gamma + at, shared / S / S / s);
      store<f64>(vega + at, shared * rootT);
      store<f64>(vanna + at, (-shared * d2) / S / v);
      store<f64>(volga + at, (shared * rootT * d1 * d2) / v);
      store<f64>(theta + at, carry - (shared * v) / (2.0 * rootT));
      store<f64>(charm + at, (sign * q * spotLeg - shared * ((r - q) / s - d2 / (2.0 * T))) / S);
    }
  }
}
