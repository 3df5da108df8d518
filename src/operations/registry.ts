import type { Operation } from './engine/operation.ts';
import { getExchangeCalendar } from './exchange-calendar.ts';
import { getFeedStatus } from './feed-status.ts';
import { evaluateEtfContagion } from './flow/etf-contagion.ts';
import { getFlowByAggressor } from './flow/flow-by-aggressor.ts';
import { getSignedPrints } from './flow/signed-prints.ts';
import { getWhalePrints } from './flow/whale-prints.ts';
import { getGexCombined } from './gex/gex-combined.ts';
import { getGexByExpiry } from './gex/gex-expiries.ts';
import { getGexMatrix } from './gex/gex-matrix.ts';
import { getLiveGexNodes } from './gex/gex-nodes.ts';
import { getGexProfile } from './gex/gex-profile.ts';
import { getGexByStrike } from './gex/gex-strikes.ts';
import { getGexView } from './gex/gex-view.ts';
import { getHedgingProfile } from './gex/hedging-profile.ts';
import { detectLethalNodes } from './gex/lethal-nodes.ts';
import { getGexHorizons } from './gex/level-horizons.ts';
import { evaluateMarketHamiltonian } from './gex/market-hamiltonian.ts';
import { getDayChanges } from './history/day-changes.ts';
import { getGexHistory } from './history/gex-history.ts';
import { getLevelRecord } from './history/levels-held.ts';
import { getLevelsHistory } from './history/levels-history.ts';
import { getLevelsOfTickers } from './history/levels-of-tickers.ts';
import { getNewestLevels } from './history/newest-of-tickers.ts';
import { getOpenInterestChanges } from './history/open-interest-changes.ts';
import { screenTickers } from './history/screen-tickers.ts';
import { computeGreeksBatch } from './options/greeks-batch.ts';
import { solveImpliedVolatilities } from './options/implied-volatilities.ts';
import { calculateKellySizing } from './options/kelly-sizing.ts';
import { getOptionQuotes } from './options/option-quotes.ts';
import { computeOptionsGreeks } from './options/options-greeks.ts';
import { calculateMertonProbability } from './surface/merton-probability.ts';
import { runStrategicOmniRadar } from './surface/omni-radar.ts';
import { getVolatilitySurface } from './surface/surface-report.ts';
import { targetUniverse } from './target-universe.ts';

/** The tools of the API contract, in the contract's order. */
const CONTRACT = {
  compute_options_greeks: computeOptionsGreeks,
  get_live_gex_nodes: getLiveGexNodes,
  get_whale_prints: getWhalePrints,
  calculate_merton_probability: calculateMertonProbability,
  calculate_kelly_sizing: calculateKellySizing,
  run_strategic_omni_radar: runStrategicOmniRadar,
  evaluate_market_hamiltonian: evaluateMarketHamiltonian,
  detect_lethal_nodes: detectLethalNodes,
  evaluate_etf_contagion: evaluateEtfContagion,
};

/** Tools that are not part of the API contract. */
const FURTHER_TOOLS = {
  get_levels_history: getLevelsHistory,
  get_hedging_profile: getHedgingProfile,
  screen_tickers: screenTickers,
  get_option_quotes: getOptionQuotes,
};

/** All operations, including those that are not tools. The typed client gets its types from this object. */
export const REGISTRY = {
  ...CONTRACT,
  ...FURTHER_TOOLS,
  get_target_universe: targetUniverse,
  compute_greeks_batch: computeGreeksBatch,
  solve_implied_volatilities: solveImpliedVolatilities,
  get_gex_profile: getGexProfile,
  get_gex_by_strike: getGexByStrike,
  get_gex_by_expiry: getGexByExpiry,
  get_gex_view: getGexView,
  get_gex_horizons: getGexHorizons,
  get_gex_matrix: getGexMatrix,
  get_gex_combined: getGexCombined,
  get_volatility_surface: getVolatilitySurface,
  get_flow_by_aggressor: getFlowByAggressor,
  get_signed_prints: getSignedPrints,
  get_gex_history: getGexHistory,
  get_newest_levels: getNewestLevels,
  get_levels_of_tickers: getLevelsOfTickers,
  get_day_changes: getDayChanges,
  get_level_record: getLevelRecord,
  get_open_interest_changes: getOpenInterestChanges,
  get_feed_status: getFeedStatus,
  get_exchange_calendar: getExchangeCalendar,
};

export const OPERATIONS = Object.values(REGISTRY) as unknown as readonly Operation[];

/** Operations that are tools. MCP lists these tools. `POST /api/v1/tools/{name}` and the CLI call these tools. */
export const TOOLS = OPERATIONS.filter((operation) => operation.tool !== undefined);

/** The tools of the API contract. */
export const CONTRACT_TOOLS = Object.values(CONTRACT) as unknown as readonly Operation[];

export function findOperation(name: string): Operation | undefined {
  return OPERATIONS.find((operation) => operation.name === name);
}
