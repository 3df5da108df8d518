import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { cachedSurface } from '../../analytics/surface/fit-surface.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { type JumpLaw, jumpLawAt } from '../../analytics/surface/jump-diffusion-law.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import { analysisCost } from '../engine/request-cost.ts';

/**
 * Returns the volatility surface of a prepared chain. The surface is cached for the chain. If the surface is not cached, the request costs
 * as many rate-limit tokens as the analysis of the chain.
 */
export function surfaceOfPrepared(prepared: PreparedChain): Steps<FittedSurface> {
  return cachedSurface(prepared, analysisCost(prepared.chain));
}

/**
 * Returns the probability distribution of the price at `endsAt` (ms since the epoch). `noJump` is the probability that no jump happens
 * before `endsAt`. The last JUMP_LAWS_CACHED distributions of each surface are cached.
 */
export function jumpLawOf(surface: FittedSurface, endsAt: number, noJump: number): Steps<JumpLaw> {
  return jumpLaws.of(surface, `${endsAt} ${noJump}`, {
    message: 'Fitting the distribution at the horizon',
    steps: () => jumpLawAt(surface, endsAt, noJump),
  });
}

const JUMP_LAWS_CACHED = 16;
const jumpLaws = new StepCache<FittedSurface, JumpLaw>(() => JUMP_LAWS_CACHED);
