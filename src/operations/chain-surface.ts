import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { surfaceInSteps } from '../analytics/surface/fit-surface.ts';
import type { FittedSurface } from '../analytics/surface/fitted-surface.ts';
import { type JumpLaw, jumpLawInSteps } from '../analytics/surface/jump-law.ts';
import { StepCache, type Steps } from '../steps.ts';
import { analysisPrice } from './prices.ts';

/** Returns the surface of a prepared chain. If it is not cached, it costs as many tokens as the analysis of the chain. */
export function surfaceOfPrepared(prepared: PreparedChain): Steps<FittedSurface> {
  return surfaceInSteps(prepared, analysisPrice(prepared.chain));
}

/** Returns the law of a surface at an instant for a probability of no jump. The laws of the last few questions are cached. */
export function jumpLawOf(surface: FittedSurface, endsAt: number, noJump: number): Steps<JumpLaw> {
  return jumpLaws.of(surface, `${endsAt} ${noJump}`, {
    message: 'Fitting the law of the horizon',
    steps: () => jumpLawInSteps(surface, endsAt, noJump),
  });
}

const JUMP_LAWS_CACHED = 16;
const jumpLaws = new StepCache<FittedSurface, JumpLaw>(() => JUMP_LAWS_CACHED);
