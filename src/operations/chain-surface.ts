import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { fitSurfaceInSteps } from '../analytics/surface/fit-surface.ts';
import type { FittedSurface } from '../analytics/surface/fitted-surface.ts';
import { StepCache, type Steps } from '../steps.ts';
import { analysisPrice } from './prices.ts';

/** Returns the surface of a prepared chain. It is cached for the chain. It costs as many tokens as the analysis of the chain. */
export function surfaceOfPrepared(prepared: PreparedChain): Steps<FittedSurface> {
  return surfaces.of(prepared, '', {
    message: 'Fitting the surface',
    tokens: analysisPrice(prepared.chain),
    steps: () => fitSurfaceInSteps(prepared),
  });
}

const surfaces = new StepCache<PreparedChain, FittedSurface>(() => 1);
