import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { cachedSurface } from '../../analytics/surface/fit-surface.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { type JumpLaw, jumpLawAt } from '../../analytics/surface/jump-diffusion-law.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import { analysisCost } from '../engine/request-cost.ts';

/** Returns the volatility surface of a prepared chain, cached by the chain. A surface that is not cached costs as much as an analysis. */
export function surfaceOfPrepared(prepared: PreparedChain): Steps<FittedSurface> {
  return cachedSurface(prepared, analysisCost(prepared.chain));
}

/** Returns the price distribution at `endsAt`, ms since the epoch. `noJump` is the probability that no jump happens before. */
export function jumpLawOf(surface: FittedSurface, endsAt: number, noJump: number): Steps<JumpLaw> {
  return jumpLaws.of(surface, `${endsAt} ${noJump}`, {
    message: 'Fitting the distribution at the horizon',
    steps: () => jumpLawAt(surface, endsAt, noJump),
  });
}

const JUMP_LAWS_CACHED = 24;
const jumpLaws = new StepCache<FittedSurface, JumpLaw>(() => JUMP_LAWS_CACHED);
