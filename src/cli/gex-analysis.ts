import type { ReadOptions } from '../analytics/chain/options.ts';
import { prepareChain } from '../analytics/chain/prepare.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { type GammaProfile, netGammaProfile } from '../analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../analytics/exposure/gex-levels.ts';
import { opinionPremium } from '../analytics/flow/flow.ts';
import { shownName } from '../clean-text.ts';
import { OperatorError } from '../errors.ts';
import type { Chain } from '../market/chain.ts';
import type { PrintSum } from '../market/prints.ts';
import type { Tape } from '../market/tape.ts';
import { byFlow, customersOf } from '../operations/dealer-sign.ts';
import { byPositions } from '../operations/gex-lens.ts';
import { reportGex } from '../operations/gex-report.ts';

/** Of the gamma profile: a fraction of spot to each side. */
const PROFILE_HALF_WIDTH = 0.2;

/** Prints around a chain, in time order. */
export interface PrintsAround {
  /** Large ones of the flow window, which ends at the later of the chain and the last print. */
  readonly large: readonly PrintSum[];
  /** Every one up to the chain's instant. */
  readonly tape: Tape;
}

export type GexAnalysis = ReturnType<typeof analyseGex>;

/** A chain made ready, and its levels with where they come from; by flow too, where there are prints. */
export function analyseGex(chain: Chain, { large, tape }: PrintsAround, { sign, ...options }: ReadOptions) {
  const conventional = prepareChain(chain, options);
  const positions = customersOf(chain, tape);
  if (sign === 'flow' && !positions) {
    throw new OperatorError(
      `no prints of ${chain.underlying} are known that could sign its options`,
      'name a tape with --prints, load one with `zomma ingest`, or leave --sign at its default',
    );
  }
  const prepared = sign === 'flow' ? byFlow(conventional, positions!) : conventional;
  const premium = opinionPremium(large);
  const report = {
    ...reportGex(prepared, gexLevels(prepared, premium)),
    by_flow: positions ? byPositions(conventional, positions) : null,
    source: shownName(chain.source),
    simulated: chain.simulated,
    as_of: new Date(chain.asOf).toISOString(),
    options: { ...options, sign },
  };
  return { prepared, report };
}

export function profileAround(prepared: PreparedChain): GammaProfile {
  return netGammaProfile(prepared, PROFILE_HALF_WIDTH);
}
