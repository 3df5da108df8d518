/** A setting of the service: its flag, its environment variable, its help text and its default. */
export interface Setting {
  /** Missing for credentials. They come from the environment only, because every user of the machine can see a command line. */
  readonly flag?: string;
  readonly env: string;
  readonly help: string;
  readonly default?: string;
}

/** The hidden command by which the service starts a child process of itself. The child process reads market data. */
export const READER_COMMAND = 'read-market-data';

/** All settings of the service. The command line derives its flags from this table. */
export const SETTINGS = {
  dataDir: {
    flag: '--data-dir <dir>',
    env: 'ZOMMA_DATA_DIR',
    help: 'folder of the database and the server secret; created if it does not exist',
    default: 'zomma-data',
  },
  dataMax: {
    flag: '--data-max <size>',
    env: 'ZOMMA_DATA_MAX',
    help: 'maximum size of the data folder, e.g. 20GB; at this size, or with less than 256 MB free on the disk, no market data is stored until there is room',
  },
  host: { flag: '--host <host>', env: 'ZOMMA_HOST', help: 'address to listen on', default: '127.0.0.1' },
  port: { flag: '--port <port>', env: 'ZOMMA_PORT', help: 'port to listen on; 0 picks a free port', default: '8080' },
  feed: {
    flag: '--feed <feed>',
    env: 'ZOMMA_FEED',
    help: 'sources of market data, separated by commas: "simulated", "files:DIR" (a folder of option chains), "tradier", "massive", "cboe" (its terms restrict automated use)',
    default: 'simulated',
  },
  feedRate: {
    flag: '--feed-rate <n>',
    env: 'ZOMMA_FEED_RATE',
    help: 'maximum requests per minute to each provider (default: a rate that suits the provider)',
  },
  feedEvery: {
    flag: '--feed-every <seconds>',
    env: 'ZOMMA_FEED_EVERY',
    help: 'seconds from one poll of a provider to the next (default: an interval that suits the provider)',
  },
  feedHours: {
    flag: '--feed-hours <hours>',
    env: 'ZOMMA_FEED_HOURS',
    help: 'when to poll providers: "session" (only in trading hours) or "always"',
    default: 'session',
  },
  cboeUrl: {
    flag: '--cboe-url <url>',
    env: 'ZOMMA_CBOE_URL',
    help: 'base URL of the feed "cboe"',
    default: 'https://cdn.cboe.com',
  },
  tradierUrl: {
    flag: '--tradier-url <url>',
    env: 'ZOMMA_TRADIER_URL',
    help: 'base URL of the feed "tradier"',
    default: 'https://api.tradier.com',
  },
  tradierToken: { env: 'ZOMMA_TRADIER_TOKEN', help: 'access token of the feed "tradier"' },
  massiveUrl: {
    flag: '--massive-url <url>',
    env: 'ZOMMA_MASSIVE_URL',
    help: 'base URL of the feed "massive", for chains',
    default: 'https://api.massive.com',
  },
  massiveSocketUrl: {
    flag: '--massive-socket-url <url>',
    env: 'ZOMMA_MASSIVE_SOCKET_URL',
    help: 'WebSocket URL of the feed "massive", for trades',
    default: 'wss://socket.massive.com/options',
  },
  massiveKey: { env: 'ZOMMA_MASSIVE_KEY', help: 'API key of the feed "massive"' },
  key: { env: 'ZOMMA_KEY', help: 'API key that "zomma mcp --url" sends to the running server' },
  setAside: {
    flag: '--set-aside <dir>',
    env: 'ZOMMA_SET_ASIDE',
    help: 'folder to which the "files" feed moves files without usable data; without it, they stay in place',
  },
  seed: { flag: '--seed <n>', env: 'ZOMMA_SEED', help: 'seed of the simulated market', default: '1' },
  rateLimit: {
    flag: '--rate-limit <rate>',
    env: 'ZOMMA_RATE_LIMIT',
    help: 'maximum requests per account, e.g. 600/min (burst of 600, refilled evenly), or "off"',
    default: '600/min',
  },
  tlsCert: {
    flag: '--tls-cert <file>',
    env: 'ZOMMA_TLS_CERT',
    help: 'certificate chain, PEM; turns on HTTPS (HTTP/1.1 and HTTP/2)',
  },
  tlsKey: { flag: '--tls-key <file>', env: 'ZOMMA_TLS_KEY', help: 'private key of the certificate, PEM' },
  behindProxy: {
    flag: '--behind-proxy',
    env: 'ZOMMA_BEHIND_PROXY',
    help: 'allow plain HTTP on addresses other than loopback, because a proxy in front serves HTTPS',
  },
  allowedHosts: {
    flag: '--allowed-hosts <names>',
    env: 'ZOMMA_ALLOWED_HOSTS',
    help: "names to accept in the Host header, separated by commas. On a loopback address without --behind-proxy, the machine's own names are accepted too. Otherwise, without this setting, every name is accepted. /health accepts every name",
  },
  allowedOrigins: {
    flag: '--allowed-origins <origins>',
    env: 'ZOMMA_ALLOWED_ORIGINS',
    help: "origins of web pages that may call the server, separated by commas, e.g. https://agents.example.com; pages of the server's own host may always call it",
  },
  universe: { flag: '--universe <file>', env: 'ZOMMA_UNIVERSE', help: 'JSON file of the tracked tickers by theme' },
  largePrintMin: {
    flag: '--large-print-min <usd>',
    env: 'ZOMMA_LARGE_PRINT_MIN',
    help: 'minimum premium of a large print, dollars',
    default: '100000',
  },
  contagionMin: {
    flag: '--contagion-min <usd>',
    env: 'ZOMMA_CONTAGION_MIN',
    help: 'minimum flow that can spill into a sector ETF, dollars',
    default: '1000000',
  },
  staleAfter: {
    flag: '--stale-after <minutes>',
    env: 'ZOMMA_STALE_AFTER',
    help: 'age from which quotes count as stale, minutes',
    default: '30',
  },
  keepChains: {
    flag: '--keep-chains <days>',
    env: 'ZOMMA_KEEP_CHAINS',
    help: 'days to keep snapshots; without it, they are kept for good. Levels are always kept for good',
  },
  keepIntraday: {
    flag: '--keep-intraday <days>',
    env: 'ZOMMA_KEEP_INTRADAY',
    help: "days to keep every snapshot; of an earlier day, only the day's last snapshot is kept. Without it, every snapshot is kept",
  },
  keepPrints: {
    flag: '--keep-prints <days>',
    env: 'ZOMMA_KEEP_PRINTS',
    help: 'days to keep option prints, at least 31; without it, they are kept for good',
  },
  logLevel: {
    flag: '--log-level <level>',
    env: 'ZOMMA_LOG_LEVEL',
    help: 'lowest level to log: debug, info, warning or error',
    default: 'info',
  },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
