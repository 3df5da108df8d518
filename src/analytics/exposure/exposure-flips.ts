import type { Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type Exposures, pricedExposures } from './dollar-exposures.ts';
import { sketchExposures } from './exposure-sketch.ts';
import { type ChainPositions, positionsOf } from './gamma-profile.ts';

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
 * The distance between the spots of the coarse grid, as a fraction of the present spot. Afterwards, the interval with the sign change is
 * divided into `SUBINTERVALS` parts, and the flip is interpolated between exact exposures.
 */
const SPACING = 0.01;
const SUBINTERVALS = 4;
const MESSAGE = 'Pricing the chain at other spots';

/**
 * Finds the spots at which vanna and charm exposure change their signs. At most spots, the bounds of `sketchExposures` determine the sign.
 * The whole chain is priced only at spots with an uncertain sign, and at the two spots between which the flip is interpolated.
 */
export function* exposureFlips(prepared: PreparedChain, positions?: ChainPositions): Steps<ExposureFlips> {
  const { spot } = prepared.chain;
  const exact = new Map<number, Pick<Exposures, 'vex' | 'cex'>>();
  const price = function* (spots: readonly number[]): Steps<void> {
    const missing = spots.filter((each) => !exact.has(each));
    if (missing.length === 0) return;
    yield { message: MESSAGE };
    const priced = yield* pricedExposures(prepared, missing, MESSAGE);
    for (const [i, each] of missing.entries()) exact.set(each, priced[i]!);
  };
  const sketch = yield* sketchExposures(prepared, positions ?? (yield* positionsOf(prepared)), REACH);
  yield* price([spot]);
  const charm = exact.get(spot)!.cex / spot;
  /** Returns a number with the sign of the exposure at a spot, or `undefined` if the sign is uncertain. */
  const signAt = (name: 'vex' | 'cex', at: number) => {
    if (exact.has(at)) return Math.sign(exact.get(at)![name]);
    if (!sketch) return undefined;
    const [least, most] = name === 'vex' ? sketch(at).vanna : sketch(at).charm.map((each) => charm + each);
    if (least! > 0) return 1;
    return most! < 0 ? -1 : undefined;
  };
  const change = function* (name: 'vex' | 'cex', spots: readonly number[]): Steps<[number, number] | undefined> {
    yield* price(spots.filter((each) => signAt(name, each) === undefined));
    return nearestChange(
      spots,
      spots.map((each) => signAt(name, each)!),
      spot,
    );
  };
  const half = Math.round(REACH / SPACING);
  const grid = Array.from({ length: 2 * half + 1 }, (_, i) => spot * (1 + (i - half) * SPACING));
  const flip = function* (name: 'vex' | 'cex'): Steps<number> {
    const [from, to] = (yield* change(name, grid)) ?? [];
    if (from === undefined || to === undefined) return Number.NaN;
    const finer = Array.from({ length: SUBINTERVALS }, (_, i) => from + ((to - from) * i) / SUBINTERVALS).concat(to);
    const [low, high] = (yield* change(name, finer))!;
    yield* price([low, high]);
    const [a, b] = [exact.get(low)![name], exact.get(high)![name]];
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
