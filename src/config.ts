/** A setting of the service: its flag, what it means and what it is when nobody says. */
export interface Setting {
  /** Without one it is a credential, from the environment alone: a command line is visible to all users of a machine. */
  readonly flag?: string;
  readonly env: string;
  readonly help: string;
  readonly default?: string;
}

/** The command with which the service starts itself to read market data apart; in no help. */
export const READER_COMMAND = 'read-market-data';

/** Every setting once: the command line takes its flags from here. */
export const SETTINGS = {
  dataDir: {
    flag: '--data-dir <dir>',
    env: 'ZOMMA_DATA_DIR',
    help: 'folder of the database and the server secret; made where it is missing',
    default: 'zomma-data',
  },
  dataMax: {
    flag: '--data-max <size>',
    env: 'ZOMMA_DATA_MAX',
    help: 'most that the data folder may take, e.g. 20GB: above it no market data is stored until there is room; without it, as long as 256 MB of the disk are free',
  },
  host: { flag: '--host <host>', env: 'ZOMMA_HOST', help: 'address to listen on', default: '127.0.0.1' },
  port: { flag: '--port <port>', env: 'ZOMMA_PORT', help: 'port to listen on; 0 takes a free one', default: '8080' },
  feed: {
    flag: '--feed <feed>',
    env: 'ZOMMA_FEED',
    help: 'market data, several with commas between: "simulated", "files:DIR" for a folder of option chains, or "cboe" (its terms restrict automated use), "tradier", "massive"',
    default: 'simulated',
  },
  feedRate: {
    flag: '--feed-rate <n>',
    env: 'ZOMMA_FEED_RATE',
    help: 'requests per minute to a feed over the network, instead of what suits the provider',
  },
  feedEvery: {
    flag: '--feed-every <seconds>',
    env: 'ZOMMA_FEED_EVERY',
    help: 'seconds from one round of asking a feed over the network to the next, instead of what suits the provider',
  },
  feedHours: {
    flag: '--feed-hours <hours>',
    env: 'ZOMMA_FEED_HOURS',
    help: 'when a feed over the network is asked: "session", in trading hours, or "always"',
    default: 'session',
  },
  cboeUrl: {
    flag: '--cboe-url <url>',
    env: 'ZOMMA_CBOE_URL',
    help: 'where the feed "cboe" asks',
    default: 'https://cdn.cboe.com',
  },
  tradierUrl: {
    flag: '--tradier-url <url>',
    env: 'ZOMMA_TRADIER_URL',
    help: 'where the feed "tradier" asks',
    default: 'https://api.tradier.com',
  },
  tradierToken: { env: 'ZOMMA_TRADIER_TOKEN', help: 'access token of the feed "tradier"' },
  massiveUrl: {
    flag: '--massive-url <url>',
    env: 'ZOMMA_MASSIVE_URL',
    help: 'where the feed "massive" asks for chains',
    default: 'https://api.massive.com',
  },
  massiveSocketUrl: {
    flag: '--massive-socket-url <url>',
    env: 'ZOMMA_MASSIVE_SOCKET_URL',
    help: 'where the feed "massive" hears of trades',
    default: 'wss://socket.massive.com/options',
  },
  massiveKey: { env: 'ZOMMA_MASSIVE_KEY', help: 'API key of the feed "massive"' },
  key: { env: 'ZOMMA_KEY', help: 'API key with which "zomma mcp --url" asks a running server' },
  setAside: {
    flag: '--set-aside <dir>',
    env: 'ZOMMA_SET_ASIDE',
    help: 'folder to which files go of which nothing can be taken; without it they stay',
  },
  seed: { flag: '--seed <n>', env: 'ZOMMA_SEED', help: 'seed of the simulated market', default: '1' },
  rateLimit: {
    flag: '--rate-limit <rate>',
    env: 'ZOMMA_RATE_LIMIT',
    help: 'requests per account, e.g. 600/min (burst 600, refilled evenly) or off',
    default: '600/min',
  },
  tlsCert: {
    flag: '--tls-cert <file>',
    env: 'ZOMMA_TLS_CERT',
    help: 'certificate chain, PEM: serve HTTPS (HTTP/1.1 and HTTP/2)',
  },
  tlsKey: { flag: '--tls-key <file>', env: 'ZOMMA_TLS_KEY', help: 'private key of the certificate, PEM' },
  behindProxy: {
    flag: '--behind-proxy',
    env: 'ZOMMA_BEHIND_PROXY',
    help: 'a proxy in front serves HTTPS: allow plain HTTP on other addresses than loopback',
  },
  allowedHosts: {
    flag: '--allowed-hosts <names>',
    env: 'ZOMMA_ALLOWED_HOSTS',
    help: "names by which the server may be asked, with commas between; on a loopback address without --behind-proxy the machine's own are, elsewhere all without it; /health is asked under every name",
  },
  allowedOrigins: {
    flag: '--allowed-origins <origins>',
    env: 'ZOMMA_ALLOWED_ORIGINS',
    help: 'origins of web pages that may ask besides those of its own host, with commas between, e.g. https://agents.example.com',
  },
  universe: { flag: '--universe <file>', env: 'ZOMMA_UNIVERSE', help: 'JSON file of tracked tickers by theme' },
  largePrintMin: {
    flag: '--large-print-min <usd>',
    env: 'ZOMMA_LARGE_PRINT_MIN',
    help: 'least premium of a large print, dollars',
    default: '100000',
  },
  contagionMin: {
    flag: '--contagion-min <usd>',
    env: 'ZOMMA_CONTAGION_MIN',
    help: 'least flow that can spill into a sector ETF, dollars',
    default: '1000000',
  },
  staleAfter: {
    flag: '--stale-after <minutes>',
    env: 'ZOMMA_STALE_AFTER',
    help: 'age from which quotes are called stale, minutes',
    default: '30',
  },
  keepChains: {
    flag: '--keep-chains <days>',
    env: 'ZOMMA_KEEP_CHAINS',
    help: 'days of snapshots that are kept; without it, all. Levels are kept for good',
  },
  keepIntraday: {
    flag: '--keep-intraday <days>',
    env: 'ZOMMA_KEEP_INTRADAY',
    help: "days of which every snapshot is kept, of earlier ones the day's last; without it, all",
  },
  keepPrints: {
    flag: '--keep-prints <days>',
    env: 'ZOMMA_KEEP_PRINTS',
    help: 'days of option prints that are kept, 31 at least; without it, all',
  },
  logLevel: {
    flag: '--log-level <level>',
    env: 'ZOMMA_LOG_LEVEL',
    help: 'debug, info, warning or error',
    default: 'info',
  },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
