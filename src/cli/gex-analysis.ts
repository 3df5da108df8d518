import { type GammaProfile, netGammaProfile } from '../analytics/gamma-profile.ts';
import { gexLevels } from '../analytics/gex-levels.ts';
import type { AnalysisOptions } from '../analytics/options.ts';
import { prepareChain } from '../analytics/prepare.ts';
import type { PreparedChain } from '../analytics/prepared-chain.ts';
import type { Chain } from '../market/chain.ts';
import { reportGex } from '../operations/gex-report.ts';

/** Of the gamma profile: a fraction of spot to each side. */
const PROFILE_HALF_WIDTH = 0.2;

export type GexAnalysis = ReturnType<typeof analyseGex>;

/** A chain made ready, and its levels with where they come from. */
export function analyseGex(chain: Chain, premium: ReadonlyMap<string, number>, options: AnalysisOptions) {
  const prepared = prepareChain(chain, options);
  const report = {
    ...reportGex(prepared, gexLevels(prepared, premium)),
    source: chain.source,
    simulated: chain.simulated,
    as_of: new Date(chain.asOf).toISOString(),
    options,
  };
  return { prepared, report };
}

export function profileAround(prepared: PreparedChain): GammaProfile {
  return netGammaProfile(prepared, PROFILE_HALF_WIDTH);
}
