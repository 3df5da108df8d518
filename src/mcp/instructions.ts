/** What an agent may ask, with the tool that answers it. */
const ANSWERS: readonly (readonly [question: string, tool: string])[] = [
  ['a whole picture of a ticker', 'run_strategic_omni_radar'],
  ['walls, gamma flip, max pain', 'get_live_gex_nodes'],
  ['levels on another day, what changed since', 'get_levels_history'],
  ['which tickers: highest IV rank, nearest to their flip', 'screen_tickers'],
  ['quotes, volatility and Greeks of listed options; term structure', 'get_option_quotes'],
  ['what dealers buy or sell if spot moves; chart', 'get_hedging_profile'],
  ['contracts that dealers hedge most', 'detect_lethal_nodes'],
  ['large trades in an expiry', 'get_whale_prints'],
  ['probability of ending beyond a price', 'calculate_merton_probability'],
  ['Greeks and price of an option from its inputs', 'compute_options_greeks'],
  ['size of a bet', 'calculate_kelly_sizing'],
  ['regime: flow against hedging', 'evaluate_market_hamiltonian'],
  ['spill of a flow into the sector ETF', 'evaluate_etf_contagion'],
];

/** The instructions of the server for models, at most 2 kB: a map from question to tool, and the limits of the figures. */
export function instructionsFor(tools: readonly string[]): string {
  const map = ANSWERS.filter(([, tool]) => tools.includes(tool)).map(([question, tool]) => `- ${question}: ${tool}`);
  return `${BEFORE}\n${map.join('\n')}\n${AFTER}`;
}

const BEFORE = 'Zomma computes options-market analytics from the quotes of its operator. Which tool answers what:';

const AFTER = `Tickers may be names or old symbols: the answer says how they were read. Errors name similar tickers.
Read provenance in every answer, and repeat what matters: age, stale, simulated (no real market), source, notes.
Limits: dealers are assumed long calls and short puts. Open interest is from the evening before. Probabilities are those of option prices, not forecasts. No orders, no news, no fundamentals, no single trades.
Most tools take "at", a past moment. Methods of each figure: zomma://methods/{tool}. Tickers with data: zomma://universe.`;
