/** A setting of the service: its flag, what it means and what it is when nobody says. */
export interface Setting {
  readonly flag: string;
  readonly env: string;
  readonly help: string;
  readonly default?: string;
}

/** Every setting once: the command line takes its flags from here. */
export const SETTINGS = {
  dataDir: {
    flag: '--data-dir <dir>',
    env: 'ZOMMA_DATA_DIR',
    help: 'folder of the database and the server secret; made where it is missing',
    default: 'zomma-data',
  },
  host: { flag: '--host <host>', env: 'ZOMMA_HOST', help: 'address to listen on', default: '127.0.0.1' },
  port: { flag: '--port <port>', env: 'ZOMMA_PORT', help: 'port to listen on; 0 takes a free one', default: '8080' },
  feed: {
    flag: '--feed <feed>',
    env: 'ZOMMA_FEED',
    help: 'market data: "simulated", or "files:DIR" for a folder of option chains',
    default: 'simulated',
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
  logLevel: {
    flag: '--log-level <level>',
    env: 'ZOMMA_LOG_LEVEL',
    help: 'debug, info, warning or error',
    default: 'info',
  },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
