import { runToCompletion, type Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { pricedExposuresInSteps } from './dollar-exposures.ts';

/**
 * Spots at which vanna and charm exposure change sign, dollars: the nearest if there are several, `NaN` if there is none within `REACH`.
 */
export interface ExposureFlips {
  readonly vanna: number;
  readonly charm: number;
}

/** Search range, as a fraction of spot: as far as the narrowest gamma profile. */
const REACH = 0.2;
/**
 * Distance of the levels, as a fraction of spot. Each level prices the whole chain, so there are only as many as show the sign. The step
 * that contains a change is then divided in four.
 */
const STEP = 0.01;
const SUBSTEPS = 4;
const MESSAGE = 'Pricing the chain at other spots';

export function exposureFlips(prepared: PreparedChain): ExposureFlips {
  return runToCompletion(exposureFlipsInSteps(prepared));
}

export function* exposureFlipsInSteps(prepared: PreparedChain): Steps<ExposureFlips> {
  const { spot } = prepared.chain;
  const steps = Math.round(REACH / STEP);
  const levels = Array.from({ length: 2 * steps + 1 }, (_, i) => spot * (1 + (i - steps) * STEP));
  const coarse = yield* pricedExposuresInSteps(prepared, levels, MESSAGE);
  const flip = function* (name: 'vex' | 'cex'): Steps<number> {
    const values = coarse.map((each) => each[name]);
    const [from, to] = nearestChange(levels, values, spot) ?? [];
    if (from === undefined || to === undefined) return Number.NaN;
    const finer = Array.from({ length: SUBSTEPS + 1 }, (_, i) => from + ((to - from) * i) / SUBSTEPS);
    const exact = (yield* pricedExposuresInSteps(prepared, finer, MESSAGE)).map((each) => each[name]);
    const [low, high] = nearestChange(finer, exact, spot)!;
    const [a, b] = [exact[finer.indexOf(low)]!, exact[finer.indexOf(high)]!];
    return low + ((high - low) * a) / (a - b);
  };
  return { vanna: yield* flip('vex'), charm: yield* flip('cex') };
}

/** The two adjacent levels nearest to spot between which the values change sign. Returns `undefined` if there are none. */
function nearestChange(
  levels: readonly number[],
  values: readonly number[],
  spot: number,
): [from: number, to: number] | undefined {
  let nearest: [number, number] | undefined;
  const distance = ([from, to]: [number, number]) => Math.max(from - spot, spot - to, 0);
  for (let i = 1; i < levels.length; i++) {
    if (!(values[i - 1]! * values[i]! <= 0) || values[i - 1] === values[i]) continue;
    const step: [number, number] = [levels[i - 1]!, levels[i]!];
    if (nearest === undefined || distance(step) < distance(nearest)) nearest = step;
  }
  return nearest;
}
