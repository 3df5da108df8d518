import type { ChainReadOptions } from '../analytics/chain/options.ts';
import { prepareChain } from '../analytics/chain/prepare.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { type GammaProfile, netGammaProfile } from '../analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../analytics/exposure/gex-levels.ts';
import { directionalPremium } from '../analytics/flow/flow.ts';
import { shownName } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { runToCompletion } from '../core/steps.ts';
import type { Chain } from '../market/chain.ts';
import type { PrintSum } from '../market/prints.ts';
import type { PrintsQuery } from '../market/tape.ts';
import { reportGex } from '../operations/gex/gex-report.ts';
import { byPositions } from '../operations/gex/level-variants.ts';
import { customerPositionsOf, withFlowSign } from '../operations/reading/dealer-sign.ts';

/** Distance from spot to each end of the gamma profile, as a fraction of spot. */
const PROFILE_HALF_WIDTH = 0.2;

export interface ChainPrints {
  /** The large prints of the flow window. The window ends at the time of the chain or of the last print, whichever is later. */
  readonly large: readonly PrintSum[];
  /** All prints up to the time of the chain. */
  readonly tape: PrintsQuery;
}

export type GexAnalysis = ReturnType<typeof analyseGex>;

/**
 * Prepares a chain and computes its levels with their provenance, and the levels by flow if there are prints. Throws `OperatorError` if
 * `sign` is `flow` and no unsettled contract has a print. Is not the operation `get_live_gex_nodes`, which needs a market: a chain file has
 * no closing prices for `hedging` and no tracked tickers. Both build their reports with `reportGex` and `byPositions`, so both have the
 * same fields.
 */
export function analyseGex(chain: Chain, { large, tape }: ChainPrints, { sign, ...options }: ChainReadOptions) {
  const { cashDividends: _, ...reported } = options;
  const conventional = runToCompletion(prepareChain(chain, options));
  const positions = runToCompletion(customerPositionsOf(chain, tape));
  if (sign === 'flow' && !positions) {
    throw new OperatorError(
      `there are no prints of unsettled contracts of ${chain.underlying}`,
      'Name a tape with --prints, load one with `zomma ingest`, or leave --sign at its default.',
    );
  }
  const prepared = sign === 'flow' ? withFlowSign(conventional, positions!) : conventional;
  const premium = directionalPremium(large);
  const report = {
    ...reportGex(prepared, runToCompletion(gexLevels(prepared, premium))),
    by_flow: positions ? runToCompletion(byPositions(conventional, positions)) : null,
    source: shownName(chain.source),
    simulated: chain.simulated,
    as_of: new Date(chain.asOf).toISOString(),
    options: { ...reported, sign },
  };
  return { prepared, report };
}

export function profileAround(prepared: PreparedChain): GammaProfile {
  return runToCompletion(netGammaProfile(prepared, PROFILE_HALF_WIDTH));
}
