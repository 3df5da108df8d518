import type { Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { pricedExposures } from './dollar-exposures.ts';

/**
 * The spots, in dollars, at which vanna and charm exposure change their signs. If an exposure changes its sign at several spots, the flip
 * is the spot nearest to the present spot. A flip is `NaN` if there is no sign change within `REACH`.
 */
export interface ExposureFlips {
  readonly vanna: number;
  readonly charm: number;
}

/** The search range on each side of spot, as a fraction of spot. The narrowest gamma profile has the same range. */
const REACH = 0.2;
/**
 * The distance between the spots of the coarse grid, as a fraction of the present spot. The grid is coarse, because the whole chain is
 * priced at each of its spots. Afterwards, the interval with the sign change is divided into four parts.
 */
const SPACING = 0.01;
const SUBINTERVALS = 4;
const MESSAGE = 'Pricing the chain at other spots';

/** Finds the spots at which vanna and charm exposure change their signs. */
export function* exposureFlips(prepared: PreparedChain): Steps<ExposureFlips> {
  const { spot } = prepared.chain;
  const half = Math.round(REACH / SPACING);
  const spots = Array.from({ length: 2 * half + 1 }, (_, i) => spot * (1 + (i - half) * SPACING));
  const coarse = yield* pricedExposures(prepared, spots, MESSAGE);
  const flip = function* (name: 'vex' | 'cex'): Steps<number> {
    const values = coarse.map((each) => each[name]);
    const [from, to] = nearestChange(spots, values, spot) ?? [];
    if (from === undefined || to === undefined) return Number.NaN;
    const finer = Array.from({ length: SUBINTERVALS + 1 }, (_, i) => from + ((to - from) * i) / SUBINTERVALS);
    const exact = (yield* pricedExposures(prepared, finer, MESSAGE)).map((each) => each[name]);
    const [low, high] = nearestChange(finer, exact, spot)!;
    const [a, b] = [exact[finer.indexOf(low)]!, exact[finer.indexOf(high)]!];
    return low + ((high - low) * a) / (a - b);
  };
  return { vanna: yield* flip('vex'), charm: yield* flip('cex') };
}

/**
 * Returns the two adjacent spots between which the values change their sign. If the sign changes several times, returns the two spots
 * nearest to `spot`. Returns `undefined` if the sign never changes.
 */
function nearestChange(
  spots: readonly number[],
  values: readonly number[],
  spot: number,
): [from: number, to: number] | undefined {
  let nearest: [number, number] | undefined;
  const distance = ([from, to]: [number, number]) => Math.max(from - spot, spot - to, 0);
  for (let i = 1; i < spots.length; i++) {
    if (!(values[i - 1]! * values[i]! <= 0) || values[i - 1] === values[i]) continue;
    const interval: [number, number] = [spots[i - 1]!, spots[i]!];
    if (nearest === undefined || distance(interval) < distance(nearest)) nearest = interval;
  }
  return nearest;
}
