/** The names of the tools, in the order in which clients see them. */
export const TOOL_NAMES = [
  'compute_options_greeks',
  'get_live_gex_nodes',
  'get_whale_prints',
  'calculate_merton_probability',
  'calculate_kelly_sizing',
  'run_strategic_omni_radar',
  'evaluate_market_hamiltonian',
  'detect_lethal_nodes',
  'evaluate_etf_contagion',
  'get_levels_history',
  'get_hedging_profile',
  'screen_tickers',
  'get_option_quotes',
] as const;
