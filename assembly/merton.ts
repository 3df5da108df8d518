import { COLUMN } from './block';
import { density, weighed } from './normal';
import { logRatio } from './scalar-log';

/**
 * More jumps than this are not expected by any answer. It bounds the work: with so many expected, the Poisson weights underflow
 * after less than TERMS_MAX terms.
 */
const JUMPS_EXPECTED_MAX: f64 = 256.0;
const TERMS_MAX: i32 = 1200;
/** What is left out, relative to each sum. */
const REMAINDER: f64 = 1e-17;
const D_MAX: f64 = 1e9;

/**
 * Merton, "Option pricing when underlying stock returns are discontinuous", J. Financial Economics 3 (1976): the probabilities
 * of ending at or above the strike and below it, and the prices of call and put. Given n jumps the log-return is normal with
 * variance s^2 T + n d^2; n is Poisson with mean l T, and with mean l (1 + k) T where spot is the unit of account.
 *
 * All four are sums of positive terms, each taken until its own remainder is below 1e-17 of it, so that a probability of 1e-100
 * is as accurate as its complement. NaN where more than 256 jumps are expected.
 */
export function merton(count: i32, block: usize): void {
  const spot = block + 0 * COLUMN;
  const strike = block + 1 * COLUMN;
  const tte = block + 2 * COLUMN;
  const iv = block + 3 * COLUMN;
  const rate = block + 4 * COLUMN;
  const dividend = block + 5 * COLUMN;
  const jumpIntensity = block + 6 * COLUMN;
  const jumpMean = block + 7 * COLUMN;
  const jumpVol = block + 8 * COLUMN;
  const probAbove = block + 9 * COLUMN;
  const probBelow = block + 10 * COLUMN;
  const call = block + 11 * COLUMN;
  const put = block + 12 * COLUMN;
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += 8) {
    const S = load<f64>(spot + at);
    const K = load<f64>(strike + at);
    const T = load<f64>(tte + at);
    const v = load<f64>(iv + at);
    const r = load<f64>(rate + at);
    const q = load<f64>(dividend + at);
    const m = load<f64>(jumpMean + at);
    const d = load<f64>(jumpVol + at);

    const k = Math.expm1(m + 0.5 * d * d);
    const jumps = load<f64>(jumpIntensity + at) * T;
    const jumpsInSpot = jumps * (1.0 + k);
    const diffusionVariance = v * v * T;
    const x = logRatio(S, K) + (r - q) * T - 0.5 * diffusionVariance - jumps * k;

    const unknown: f64 = jumps <= JUMPS_EXPECTED_MAX && jumpsInSpot <= JUMPS_EXPECTED_MAX ? 0.0 : NaN;
    const strikeNow = K * Math.exp(-r * T) + unknown;
    let strikePart = strikeNow * Math.exp(-jumps);
    let spotPart = S * Math.exp(-q * T) * Math.exp(-jumpsInSpot) + unknown;
    let strikeAbove: f64 = 0.0;
    let strikeBelow: f64 = 0.0;
    let spotAbove: f64 = 0.0;
    let spotBelow: f64 = 0.0;
    for (let n = 0; n < TERMS_MAX; n++) {
      const jumped = <f64>n;
      const deviation = Math.sqrt(diffusionVariance + jumped * d * d);
      const d2 = standardised(x + jumped * m, deviation);
      const d1 = d2 + deviation;
      // As in black-scholes.ts, one density for both legs: spotPart phi(d1) = strikePart phi(d2).
      const shared = Math.abs(d1) < Math.abs(d2) ? spotPart * density(d1) : strikePart * density(d2);
      strikeAbove += weighed(strikePart, shared, d2);
      strikeBelow += weighed(strikePart, shared, -d2);
      spotAbove += weighed(spotPart, shared, d1);
      spotBelow += weighed(spotPart, shared, -d1);

      const next = jumped + 1.0;
      strikePart *= jumps / next;
      spotPart *= jumpsInSpot / next;
      // From here the parts fall at least geometrically, by jumps / (next + 1); before the mode that exceeds 1 and the bound is
      // negative, which no part meets.
      if (
        strikePart <= REMAINDER * (1.0 - jumps / (next + 1.0)) * Math.min(strikeAbove, strikeBelow) &&
        spotPart <= REMAINDER * (1.0 - jumpsInSpot / (next + 1.0)) * Math.min(spotAbove, spotBelow)
      ) {
        break;
      }
    }
    store<f64>(probAbove + at, Math.min(1.0, strikeAbove / strikeNow));
    store<f64>(probBelow + at, Math.min(1.0, strikeBelow / strikeNow));
    store<f64>(call + at, Math.max(0.0, spotAbove - strikeAbove));
    store<f64>(put + at, Math.max(0.0, strikeBelow - spotBelow));
  }
}

/** x / deviation; without deviation the outcome is certain, and x = 0 is at the strike, which counts as above. */
function standardised(x: f64, deviation: f64): f64 {
  if (deviation === 0.0) return x < 0.0 ? -D_MAX : D_MAX;
  return Math.max(-D_MAX, Math.min(D_MAX, x / deviation));
}
