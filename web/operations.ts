/**
 * An operation of the server that the page calls, with its address. A test compares this table with the server's registry, and compares the
 * calls of the page with this table.
 */
export interface WebOperation {
  readonly title: string;
  /** The REST route. A tool without a route of its own is called with `POST /api/v1/tools/{name}`. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** True if MCP offers the operation as a tool with the same name. */
  readonly isTool: boolean;
  /** True if the operation reads market data, so that the argument `at` can select an earlier moment. */
  readonly ofMarket: boolean;
  /** The URI of the MCP resource with the same figures, if such a resource exists. */
  readonly resource?: string;
}

const NODES = '/api/v1/nodes/gex/{ticker}';

const route = (title: string, path: string, more: Partial<WebOperation> = {}): WebOperation => ({
  title,
  method: 'GET',
  path,
  isTool: false,
  ofMarket: true,
  ...more,
});
const tool = (title: string, name: string, ofMarket = true): WebOperation => ({
  title,
  method: 'POST',
  path: `/api/v1/tools/${name}?extended=true`,
  isTool: true,
  ofMarket,
});

export const WEB_OPERATIONS = {
  get_gex_view: route('GEX view', `${NODES}/view`),
  get_live_gex_nodes: route('GEX levels', NODES, { isTool: true, resource: 'zomma://gex/{ticker}' }),
  get_gex_by_strike: route('GEX by strike', `${NODES}/strikes`, { resource: 'zomma://gex/{ticker}/strikes/all' }),
  get_gex_profile: route('Gamma profile', `${NODES}/profile`, { resource: 'zomma://gex/{ticker}/profile' }),
  get_gex_by_expiry: route('GEX and volatility by expiry', `${NODES}/expiries`),
  get_gex_matrix: route('GEX by strike and expiry', `${NODES}/matrix`, {
    resource: 'zomma://gex/{ticker}/matrix',
  }),
  get_level_record: route('Whether levels held', `${NODES}/record`, { resource: 'zomma://gex/{ticker}/record' }),
  get_gex_combined: route('GEX of an index with its fund', `${NODES}/combined`),
  get_gex_history: route('History of GEX levels', `${NODES}/history`),
  get_volatility_surface: route('Volatility surface', '/api/v1/surface/{ticker}'),
  get_flow_by_aggressor: route('Flow by aggressor', '/api/v1/flow/{ticker}'),
  get_signed_prints: route('Prints with their aggressors', '/api/v1/flow/{ticker}/prints'),
  get_target_universe: route('Target universe', '/api/v1/universe', { ofMarket: false, resource: 'zomma://universe' }),
  get_feed_status: route('Feeds', '/api/v1/feeds', { ofMarket: false }),
  compute_options_greeks: route('Option Greeks', '/api/v1/physics/greeks', {
    method: 'POST',
    isTool: true,
    ofMarket: false,
  }),
  get_whale_prints: tool('Large-print flow', 'get_whale_prints'),
  calculate_merton_probability: tool('Jump probability', 'calculate_merton_probability'),
  calculate_kelly_sizing: tool('Kelly sizing', 'calculate_kelly_sizing', false),
  run_strategic_omni_radar: tool('Full scan', 'run_strategic_omni_radar'),
  evaluate_market_hamiltonian: tool('Large flow compared with dealer hedging', 'evaluate_market_hamiltonian'),
  detect_lethal_nodes: tool('Contracts that dealers hedge most', 'detect_lethal_nodes'),
  evaluate_etf_contagion: tool('Spill into the sector ETF', 'evaluate_etf_contagion'),
} as const satisfies Readonly<Record<string, WebOperation>>;

export type WebOperationName = keyof typeof WEB_OPERATIONS;

/** Operations of the registry that no view calls, each with the reason. */
export const NOT_ON_PAGE: Readonly<Record<string, string>> = {
  compute_greeks_batch:
    'It takes columns of thousands of options from a program. The form of Option Greeks asks for one option. Bench times it with binary columns.',
  get_levels_history: 'An answer for agents: History shows the same levels, and Record whether they held.',
  solve_implied_volatilities: 'It takes columns of thousands of options from a program.',
  get_hedging_profile: 'An answer for agents. Profile draws the net gamma at the same spots.',
  screen_tickers: 'The view Scan compares the tickers of the universe by the live levels.',
  get_option_quotes: 'No view lists single contracts. The view Expiries has the same rows as its term structure.',
};

export type CallValue = string | number | boolean;

/** One call of an operation. A panel shows its answer, and offers the call to copy. */
export interface Call {
  readonly operation: WebOperationName;
  readonly args: Readonly<Record<string, CallValue>>;
}

/** Returns the path and the query of a call, and the JSON body if the call is a POST. */
export function requestOf({ operation, args }: Call): { method: 'GET' | 'POST'; path: string; body?: string } {
  const { method, path } = WEB_OPERATIONS[operation];
  const rest = { ...args };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  if (method === 'POST') return { method, path: filled, body: JSON.stringify(rest) };
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { method, path: query === '' ? filled : `${filled}?${query}` };
}

/**
 * Returns the call as a shell command with curl. `origin` is the address of the server. The command contains `$ZOMMA_KEY` instead of the
 * key.
 */
export function curlOf(call: Call, origin: string): string {
  const { method, path, body } = requestOf(call);
  const url = quoted(`${origin}${path}`);
  if (method === 'GET') return `curl -H "X-API-Key: $ZOMMA_KEY" ${url}`;
  return `curl -H "X-API-Key: $ZOMMA_KEY" -H 'Content-Type: application/json' -d ${quoted(body!)} ${url}`;
}

/**
 * Returns the message that an MCP client sends for the call, or the URI of the resource. Returns `undefined` if MCP has neither a tool nor
 * a resource for the call.
 */
export function mcpOf({ operation, args }: Call): string | undefined {
  const { isTool, resource }: WebOperation = WEB_OPERATIONS[operation];
  // The MCP tools and resources of a chain do not accept the options of the analysis.
  const isPlain = Object.keys(args).every((name) => name === 'ticker' || name === 'at');
  if (isTool && (isPlain || !resource)) {
    return JSON.stringify({ method: 'tools/call', params: { name: operation, arguments: args } });
  }
  if (!resource || !isPlain) return undefined;
  const uri = resource.replace('{ticker}', encodeURIComponent(String(args.ticker)));
  return JSON.stringify({ method: 'resources/read', params: { uri } });
}

/** Returns the call as a `zomma` command. The command reads the data folder of the server. */
export function commandOf({ operation, args }: Call): string {
  const { isTool }: WebOperation = WEB_OPERATIONS[operation];
  return `zomma call ${operation} ${quoted(JSON.stringify(args))}${isTool ? ' --extended' : ''}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
