import { inverseNormalCdf, normalCdf } from '../../math/normal.ts';
import { type DayAhead, timesOf } from './day-ahead.ts';

/** Normal numbers beyond this absolute value have a probability of 1e-15. */
const Z_MAX = 8;
/** The number of steps of Simpson's rule between two breakpoints, even. */
const STEPS = 48;

/** A contract, with ln(F/K), the present delta, and the later delta of its forward (see `DayAhead`). */
export interface Rehedge extends Pick<DayAhead, 'laterFactor'> {
  /** +1 call, -1 put. */
  readonly callPut: number;
  readonly moneyness: number;
  /** Decimal per year, > 0. */
  readonly iv: number;
  /** Years to settlement. */
  readonly tte: number;
  readonly delta: number;
}

/**
 * Returns E|later delta - delta| per share, over the coming calendar day or until an earlier settlement. The forward is a martingale with
 * the contract's volatility, so the price settles beyond the strike with probability N(±d2). Before settlement, the expectation is an
 * integral over the normal number z of the day, split where the later delta equals the present one and where it changes fast.
 */
export function expectedAbsoluteChange({ callPut, moneyness, iv, tte, delta, laterFactor }: Rehedge): number {
  // A put's delta is that of its call less that of the forward, so both have the same change.
  const present = callPut === 1 ? delta : delta + laterFactor;
  const { day, left } = timesOf(tte);
  const [width, rest] = [iv * Math.sqrt(day), iv * Math.sqrt(left)];
  const mean = moneyness - (width * width) / 2;
  if (rest === 0) {
    const above = normalCdf(mean / width);
    return above * Math.abs(laterFactor - present) + (1 - above) * Math.abs(present);
  }
  const later = (z: number) => laterFactor * normalCdf((mean + width * z) / rest + rest / 2);
  const zOf = (d1: number) => (rest * (d1 - rest / 2) - mean) / width;
  const same = zOf(inverseNormalCdf(Math.min(Math.max(present / laterFactor, 0), 1)));
  const breaks = [same, ...[-6, -2, 0, 2, 6].map(zOf), -Z_MAX, -3, 0, 3, Z_MAX]
    .map((each) => Math.min(Math.max(each, -Z_MAX), Z_MAX))
    .sort((a, b) => a - b);
  let sum = 0;
  for (let i = 1; i < breaks.length; i++) {
    const [from, step] = [breaks[i - 1]!, (breaks[i]! - breaks[i - 1]!) / STEPS];
    if (step === 0) continue;
    for (let j = 0; j <= STEPS; j++) {
      const z = from + j * step;
      const weight = j === 0 || j === STEPS ? 1 : j % 2 === 1 ? 4 : 2;
      sum += (weight / 3) * step * Math.exp(-0.5 * z * z) * Math.abs(later(z) - present);
    }
  }
  return sum / Math.sqrt(2 * Math.PI);
}
