import * as values from './setting-values.ts';

/** A setting of the service: its flag, its environment variable, its help text and its default. */
export interface Setting {
  /**
   * The flag, with a placeholder if the flag takes a value. A credential has no flag, because every user of the machine can see command
   * lines. A credential comes from the environment or from a file. Only for ZOMMA_KEY, `zomma mcp` adds the flag `--key`.
   */
  readonly flag?: string;
  /** The environment variable. `inGroup` derives the name of the variable from the name of the setting. */
  readonly env: string;
  /** The commands that use the setting. */
  readonly group: SettingGroup;
  /** The provider that accepts the credential. Undefined if the setting is not the credential of a provider. */
  readonly provider?: string;
  readonly help: string;
  /** The default, written like a value of the flag. */
  readonly default?: string;
  /**
   * Converts the text of the setting to its value. Throws `SettingError` if the text is invalid. Never returns `undefined`, which the
   * command-line parser would replace by an empty string. Without `parse`, the text is the value.
   */
  readonly parse?: (text: string) => unknown;
}

/**
 * The commands that use the settings of each group read the stored market (`data`), poll feeds, listen for HTTP requests (`server`), offer
 * MCP tools, write a log, or call a running server (`client`).
 */
export type SettingGroup = 'data' | 'feeds' | 'server' | 'mcp' | 'log' | 'client';

/** Name of the hidden command that the service runs as a child process to read market data. */
export const READER_COMMAND = 'read-market-data';
/** Name of the hidden command that `zomma backup` runs as a child process to copy the database. */
export const COPIER_COMMAND = 'copy-database';

/** All settings of the service. The command line derives its flags and their types from this table. */
export const SETTINGS = {
  ...inGroup('data', {
    dataDir: {
      flag: '--data-dir <dir>',
      help: 'folder of the database and the server secret. If the folder does not exist, serve, start, ingest and restore create it, and mcp creates it if --feed is given. Other commands never create it',
      default: 'zomma-data',
    },
    store: {
      flag: '--store <url>',
      help: 'where the data is decided: "sqlite", a file in the data folder, or the URL of a Postgres database that several servers share, e.g. postgres://zomma@db1,db2/zomma. The data folder then has a copy',
      default: 'sqlite',
      parse: values.storeOf,
    },
    storePassword: {
      help: 'password of the user that --store names. A server reads it when it starts. Each new connection reads the file that PGPASSFILE names, which has the form of libpq, if this setting is not given',
    },
    universe: {
      flag: '--universe <file>',
      help: 'JSON file of the tracked tickers by theme (default: a built-in universe of 59 tickers)',
    },
    largePrintMin: {
      flag: '--large-print-min <usd>',
      help: 'minimum premium of a large print, dollars',
      default: '100000',
      parse: (text) => values.dollars(text, '--large-print-min'),
    },
    contagionMin: {
      flag: '--contagion-min <usd>',
      help: "minimum absolute value of whale_fiat at which evaluate_etf_contagion names a sector ETF, dollars. If the premium of the stock's large prints over 30 days is known, the absolute value must also be at least 1 % of this premium",
      default: '1000000',
      parse: (text) => values.dollars(text, '--contagion-min'),
    },
    staleAfter: {
      flag: '--stale-after <minutes>',
      help: 'age above which quotes count as stale, minutes of trading hours',
      default: '30',
      parse: values.minutesInMs,
    },
  }),
  ...inGroup('server', {
    host: { flag: '--host <host>', help: 'address to listen on', default: '127.0.0.1' },
    port: {
      flag: '--port <port>',
      help: 'port to listen on. With 0, the system chooses a free port',
      default: '8080',
      parse: values.portOf,
    },
    replica: {
      flag: '--replica <name>',
      help: 'name of this server among those that share the database of --store (default: the host name)',
      parse: values.replicaOf,
    },
    trustMembers: {
      flag: '--trust-members <time>',
      help: 'with a Postgres database as --store: how long members are admitted while the database is away, e.g. 15m. Then new requests get 503, because a revocation might have been missed',
      default: '15m',
      parse: (text) => values.durationIn(text, '--trust-members'),
    },
    synchronous: {
      flag: '--synchronous <state>',
      help: 'with a Postgres database as --store: with "on", writes wait for its synchronous standby, if it has one. With "off", a fail-over may lose the last ones',
      default: 'on',
      parse: values.choiceOf('--synchronous', ['on', 'off'], 'Use --synchronous on or --synchronous off.'),
    },
    rateLimit: {
      flag: '--rate-limit <rate>',
      help: 'rate limit of each account in tokens, e.g. 600/min (up to 600 tokens at once, refilled evenly over a minute), or "off". A request takes one token, and expensive work takes further tokens',
      default: '600/min',
      parse: values.rateLimitOf,
    },
    tls: {
      flag: '--tls <mode>',
      help: 'with "internal", serves HTTPS with a certificate of an authority of its own, which the server makes in the data folder and renews. "zomma tls trust" tells clients how to trust it. Takes the place of --tls-cert and --tls-key',
      parse: values.choiceOf('--tls', ['internal'], 'Use --tls internal, or give --tls-cert and --tls-key.'),
    },
    tlsCert: {
      flag: '--tls-cert <file>',
      help: 'PEM file with the certificate chain. Turns on HTTPS (HTTP/1.1 and HTTP/2)',
    },
    tlsKey: { flag: '--tls-key <file>', help: 'PEM file with the private key of the certificate' },
    tlsClientCa: {
      flag: '--tls-client-ca <file>',
      help: 'PEM file with one or more certificate authorities. Only clients with a certificate of one of them can connect (mutual TLS), on every path. Without this setting, clients need no certificate',
    },
    behindProxy: {
      flag: '--behind-proxy',
      default: 'false',
      help: 'allow plain HTTP on addresses other than loopback, because a proxy in front serves HTTPS',
      parse: (text) => values.switchOf(text, '--behind-proxy'),
    },
    allowedHosts: {
      flag: '--allowed-hosts <names>',
      help: 'names to accept in the Host header, separated by commas. If --host is a loopback address and --behind-proxy is not set, the local names (localhost, 127.0.0.1, [::1] and the value of --host) are always accepted, and by default no others. With another --host or with --behind-proxy, every name is accepted by default. /health and /ready accept every name',
      parse: values.hostNames,
    },
    allowedOrigins: {
      flag: '--allowed-origins <origins>',
      help: "origins of web pages that may call the server, separated by commas, e.g. https://agents.example.com. Pages from the server's own host and port may always call the server",
      parse: values.origins,
    },
    trustedProxies: {
      flag: '--trusted-proxies <networks>',
      help: 'networks of proxies, separated by commas, e.g. 127.0.0.1,10.0.0.0/8. Of their requests, X-Forwarded-For names the client, for the log and for limits per address',
      parse: values.proxyNetworksOf,
    },
    myKey: {
      flag: '--my-key <who>',
      default: 'loopback',
      help: 'who may call /api/v1/auth/my-key, which gives the key of a member for the UUID, without --my-key-from and without a token: "loopback", clients on this machine, or "any"',
      parse: values.choiceOf(
        '--my-key',
        ['loopback', 'any'],
        'Use loopback or any, or name networks with --my-key-from.',
      ),
    },
    myKeyFrom: {
      flag: '--my-key-from <networks>',
      help: 'networks of the clients that may call /api/v1/auth/my-key instead, separated by commas, e.g. 10.0.0.5,10.1.0.0/16. Name the operator terminal here',
      parse: (text) => values.networksOf(text, '--my-key-from'),
    },
    myKeyToken: {
      help: 'bearer token that /api/v1/auth/my-key demands in the header Authorization, at least 16 characters. With a token, clients of every network may call it, unless --my-key-from is given',
      parse: values.bearerTokenOf,
    },
    accessLog: {
      flag: '--access-log',
      default: 'false',
      help: 'log every request at the level info: client address, method, route, status, duration, bytes, account and request id',
      parse: (text) => values.switchOf(text, '--access-log'),
    },
    slowStep: {
      flag: '--slow-step <ms>',
      help: 'log each time that one step of work blocks all other requests for longer than this, milliseconds, at least 25',
      default: '250',
      parse: values.slowStepMs,
    },
    basePath: {
      flag: '--base-path <path>',
      help: 'path of a proxy below which the service is reached, e.g. /zomma. Addresses that the service gives begin with it. The proxy may pass the path on, or remove it',
      default: '',
      parse: values.basePathOf,
    },
    ops: {
      flag: '--ops <host:port>',
      help: 'address for monitoring, e.g. 127.0.0.1:9464. It serves /live, /ready and /metrics (Prometheus) without keys, so only the monitoring should reach it. Without this setting, there is none',
      parse: values.hostAndPort,
    },
    keepChains: {
      flag: '--keep-chains <days>',
      help: 'number of days before the present day for which snapshots are kept. The newest snapshot of each ticker is never removed, however old it is. The levels of a removed snapshot are not removed. Without this setting, snapshots have no maximum age',
      parse: (text) => values.days(text, '--keep-chains', 1),
    },
    keepIntraday: {
      flag: '--keep-intraday <days>',
      help: 'number of days before the present day for which every recorded snapshot is kept. Of each earlier day, only the last snapshot of each ticker is kept, until --keep-chains removes it. Without this setting, every recorded snapshot is kept until --keep-chains removes it',
      parse: (text) => values.days(text, '--keep-intraday', 1),
    },
    keepPrints: {
      flag: '--keep-prints <days>',
      help: 'number of days before the present day for which option prints are kept, at least 31. Without this setting, prints are never removed',
      parse: (text) => values.days(text, '--keep-prints', values.KEEP_PRINTS_DAYS_MIN),
    },
    keepLevels: {
      flag: '--keep-levels <days>',
      help: 'number of days before the present day for which recorded levels are kept, at least 31. History, ranks and the record of levels read them. Without this setting, levels are never removed',
      parse: (text) => values.days(text, '--keep-levels', values.KEEP_LEVELS_DAYS_MIN),
    },
  }),
  ...inGroup('feeds', {
    dataMax: {
      flag: '--data-max <size>',
      help: 'maximum size of the data folder, e.g. 20GB. If the folder reaches this size, no market data is stored until the folder is 2 % below this size. A second limit applies with and without this setting: no market data is stored while the free space of the disk is less than 256 MB or less than a tenth of the disk, whichever is smaller',
      parse: values.sizeOf,
    },
    feed: {
      flag: '--feed <feed>',
      help: 'sources of market data, separated by commas: "simulated", "files:DIR" (a folder of files with chains, prints, closes or dividends), "tradier", "massive", "thetadata" (its terminal on this machine), "cboe" (its terms restrict automated use)',
      default: 'simulated',
    },
    feedRate: {
      flag: '--feed-rate <n>',
      help: 'maximum requests per minute to each provider (default: 30 for cboe, 120 for tradier or 60 for its sandbox, 600 for massive and thetadata)',
      parse: values.oneOrMore('--feed-rate', 'Use 1 or more requests per minute, e.g. --feed-rate 60.'),
    },
    feedEvery: {
      flag: '--feed-every <seconds>',
      help: 'seconds from one poll of a provider to the next (default: 300 for cboe, 60 for tradier, massive and thetadata). The default is longer if --feed-rate does not allow the requests of one poll in this time',
      parse: values.oneOrMore('--feed-every', 'Use 1 or more seconds, e.g. --feed-every 60.'),
    },
    feedHours: {
      flag: '--feed-hours <hours>',
      help: 'when to poll providers: "session" (in trading hours, once at the start of the service, and once after the close, when the closing quotes are available) or "always"',
      default: 'session',
      parse: values.choiceOf('--feed-hours', ['session', 'always'], 'Use --feed-hours session or always.'),
    },
    cboeUrl: { flag: '--cboe-url <url>', help: 'base URL of the feed "cboe"', default: 'https://cdn.cboe.com' },
    tradierUrl: {
      flag: '--tradier-url <url>',
      help: 'base URL of the feed "tradier"',
      default: 'https://api.tradier.com',
    },
    tradierToken: { provider: 'tradier', help: 'access token of the feed "tradier"' },
    massiveUrl: {
      flag: '--massive-url <url>',
      help: 'base URL of the feed "massive", for chains',
      default: 'https://api.massive.com',
    },
    massiveSocketUrl: {
      flag: '--massive-socket-url <url>',
      help: 'WebSocket URL of the feed "massive", for trades',
      default: 'wss://socket.massive.com/options',
    },
    massiveKey: { provider: 'massive', help: 'API key of the feed "massive"' },
    thetadataUrl: {
      flag: '--thetadata-url <url>',
      help: 'base URL of the Theta Terminal, for the feed "thetadata" and for zomma ingest thetadata',
      default: 'http://127.0.0.1:25503',
    },
    setAside: {
      flag: '--set-aside <dir>',
      help: 'folder to which the "files" feed moves files without usable data. It may neither contain the drop folder nor be inside it. Without this setting, such files stay in place',
    },
    seed: {
      flag: '--seed <n>',
      help: 'seed of the simulated market',
      default: '1',
      parse: (text) => values.wholeNumber(text, '--seed'),
    },
    simClock: {
      flag: '--sim-clock <hours>',
      help: 'hours of the simulated market: "always" (its quotes change every minute, also at night and on Sundays, and the price of each index fund crosses its gamma flip within minutes) or "real" (its quotes change only while the exchange is open)',
      default: 'always',
      parse: values.choiceOf('--sim-clock', ['always', 'real'], 'Use --sim-clock always or real.'),
    },
    past: {
      flag: '--past <on|off>',
      help: 'whether the simulated market gets a past on its first start: closes of 60 trading days, and half hours of five',
      default: 'on',
      parse: (text) => values.switchOf(text, '--past'),
    },
    keepFiles: {
      flag: '--keep-files <days>',
      help: 'number of days after which the "files" feed deletes files that it has read completely, counted from the last change of the file to that of the newest file. Without this setting, the feed deletes no file',
      parse: (text) => values.days(text, '--keep-files', 1),
    },
  }),
  ...inGroup('mcp', {
    tools: {
      flag: '--tools <which>',
      help: 'tools that MCP offers: "all", or "contract" (only the nine tools of the API contract)',
      default: 'all',
      parse: values.choiceOf('--tools', ['all', 'contract'], 'Use --tools all or --tools contract.'),
    },
  }),
  ...inGroup('log', {
    logLevel: {
      flag: '--log-level <level>',
      help: 'lowest level to log: debug, info, warning or error',
      default: 'info',
      parse: values.logLevelOf,
    },
  }),
  ...inGroup('client', {
    key: {
      help: 'API key that "zomma mcp --url" sends to the running server and "zomma connect --url" prints, if --key is not given',
    },
  }),
};

/** Adds the group and the environment variable to settings. For example, `dataDir` gets the variable `ZOMMA_DATA_DIR`. */
function inGroup<
  Group extends SettingGroup,
  const Rows extends Readonly<Record<string, Omit<Setting, 'env' | 'group'>>>,
>(group: Group, rows: Rows) {
  const settings = Object.entries(rows).map(([name, row]) => {
    const env = `ZOMMA_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
    return [name, { ...row, env, group }];
  });
  return Object.fromEntries(settings) as {
    readonly [Name in keyof Rows]: Rows[Name] & { readonly env: string; readonly group: Group };
  };
}

export type SettingName = keyof typeof SETTINGS;

type Parsed<Own> = Own extends { readonly parse: (text: string) => infer Value } ? Value : string;
type ValueOf<Own> = Own extends { readonly default: string } ? Parsed<Own> : Parsed<Own> | undefined;

/** The values of all settings. A setting without a text and without a default has the value `undefined`. */
export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

type NameIn<Group extends SettingGroup> = {
  [Name in SettingName]: (typeof SETTINGS)[Name]['group'] extends Group ? Name : never;
}[SettingName];

/** The values of the settings of some groups. */
export type ValuesIn<Group extends SettingGroup> = Pick<SettingValues, NameIn<Group>>;

/** Returns the names of the settings of some groups, group by group. */
export function settingsIn(...groups: readonly SettingGroup[]): SettingName[] {
  const names = Object.keys(SETTINGS) as SettingName[];
  return groups.flatMap((group) => names.filter((name) => SETTINGS[name].group === group));
}

/** Converts the text of a setting to its value. Throws `SettingError` if the text is invalid. */
export function parseSetting<Name extends SettingName>(name: Name, text: string): SettingValues[Name] {
  const { parse }: Setting = SETTINGS[name];
  return (parse ? parse(text) : text) as SettingValues[Name];
}
