import { isIP } from 'node:net';
import { durationMs } from '../core/duration-text.ts';
import { SettingError } from '../core/errors.ts';
import { LOG_LEVELS, type LogLevel } from '../core/events.ts';

// These functions convert the text of a setting to its value. Each function throws `SettingError` if the text is invalid.

/** The rate limit of an account: a token bucket. A request takes one token. An expensive computation takes further tokens. */
export interface RateLimitPolicy {
  /** Number of tokens in a full bucket, which is the number of one-token requests that an idle account may send at once. */
  readonly burst: number;
  /** The time in which an empty bucket fills up at a constant rate, s. */
  readonly windowS: number;
}

export function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new SettingError(`${flag} must be a whole number from 0 to 999999999`, `Use e.g. ${flag} 1.`);
}

export function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new SettingError(`"${text}" is not a port`, 'Use 0 to 65535. With 0, the system chooses a free port.');
}

/** Returns the parser of a whole number that is at least 1. */
export function oneOrMore(flag: string, hint: string): (text: string) => number {
  return (text) => {
    const value = wholeNumber(text, flag);
    if (value > 0) return value;
    throw new SettingError(`${flag} must be 1 or more`, hint);
  };
}

/** Returns the parser of a setting that has one of some values. */
export function choiceOf<const Value extends string>(flag: string, values: readonly Value[], hint: string) {
  return (text: string): Value => {
    const value = values.find((each) => each === text);
    if (value !== undefined) return value;
    throw new SettingError(`${flag} "${text}" is not known`, hint);
  };
}

/** The tools that MCP offers: all tools, or only the tools of the API contract. */
export type ToolSelection = 'all' | 'contract';

/** Parses a rate limit such as `600/min`, or `off`. */
export function rateLimitOf(text: string): RateLimitPolicy | 'off' {
  if (text === 'off') return text;
  const [, count, unit] = /^([1-9]\d{0,6})\/(s|min|h)$/.exec(text) ?? [];
  if (count !== undefined) return { burst: Number(count), windowS: WINDOW_S[unit as keyof typeof WINDOW_S] };
  throw new SettingError(
    `"${text}" is not a rate limit`,
    'Use COUNT/s, COUNT/min or COUNT/h, such as 600/min, or off.',
  );
}

const WINDOW_S = { s: 1, min: 60, h: 3600 } as const;

export function switchOf(text: string, name: string): boolean {
  const value = text.toLowerCase();
  if (['0', 'false', 'no', 'off'].includes(value)) return false;
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  throw new SettingError(`${name} is neither on nor off`, 'Use on or off, or true or false.');
}

/** Parses a list of lower-case texts, separated by commas. `what` is what an entry must be. */
function listOf(text: string, isValid: (entry: string) => boolean, what: string, hint: string): string[] {
  const entries = text
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const wrong = entries.find((each) => !isValid(each));
  if (wrong === undefined) return entries;
  throw new SettingError(`"${wrong}" is not ${what}`, hint);
}

export function hostNames(text: string): string[] {
  const hint = 'Use a name without a port, e.g. --allowed-hosts zomma.example.com.';
  return listOf(text, (name) => !/:\d*$|[/*]/.test(name), 'the name of a host', hint);
}

export function origins(text: string): string[] {
  const hint = 'Use scheme, name and port only, e.g. --allowed-origins https://agents.example.com.';
  return listOf(text, (page) => URL.parse(page)?.origin === page, 'an origin', hint);
}

/** Parses networks such as `10.0.0.0/8,::1`. */
export function networksOf(text: string, flag: string): string[] {
  return listOf(text, isNetwork, 'a network', `Use addresses or networks, e.g. ${flag} 10.0.0.0/8.`);
}

function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

/** Parses the networks of trusted proxies. A network must not have every address, because clients would then name themselves. */
export function proxyNetworksOf(text: string): string[] {
  const networks = networksOf(text, '--trusted-proxies');
  const all = networks.find((each) => each.endsWith('/0'));
  if (all === undefined) return networks;
  throw new SettingError(
    `--trusted-proxies "${all}" trusts every client, so each could claim any address`,
    'Name the addresses of your proxies, e.g. --trusted-proxies 10.0.0.0/8.',
  );
}

/** Parses a bearer token (RFC 6750). The message of an error does not have the token. */
export function bearerTokenOf(text: string): string {
  if (/^[A-Za-z0-9._~+/-]{16,512}=*$/.test(text)) return text;
  throw new SettingError(
    'ZOMMA_MY_KEY_TOKEN is not a token of at least 16 characters',
    'Use letters, digits and -._~+/ only, for example the output of `openssl rand -hex 32`.',
  );
}

/** Parses an address such as `127.0.0.1:9464` or `[::1]:9464`. */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const [, inBrackets, name, port] = /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = inBrackets ?? name;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new SettingError(`--ops "${text}" is not an address`, 'Use HOST:PORT, e.g. --ops 127.0.0.1:9464.');
}

/** Parses the threshold above which a step is slow, ms: at least the maximum duration of a step. */
export function slowStepMs(text: string): number {
  const value = wholeNumber(text, '--slow-step');
  if (value >= 25) return value;
  throw new SettingError('--slow-step must be at least 25', 'Use milliseconds, e.g. --slow-step 250.');
}

/** The first segments of the paths that the service itself serves. */
const OWN_PATHS = new Set(['api', 'docs', 'health', 'mcp', 'messages', 'openapi.json', 'ready', 'sse', 'web']);

/** Parses a proxy's path for the service. Removes slashes at the end, so `/` becomes ''. */
export function basePathOf(text: string): string {
  const path = text.replace(/\/+$/, '');
  if (OWN_PATHS.has(path.split('/')[1] ?? '')) {
    throw new SettingError(
      `--base-path "${text}" begins like a path of the service itself`,
      'Use another path, e.g. --base-path /zomma.',
    );
  }
  if (/^(?:\/[\w.~-]+)*$/.test(path) && !/\/\.\.?(?:\/|$)/.test(path)) return path;
  throw new SettingError(
    `--base-path "${text}" is not a path`,
    'Use a path of letters, digits, and - . _ ~ that begins with a slash, e.g. --base-path /zomma.',
  );
}

const MB = 1_000_000;
const SIZE_UNITS: Readonly<Record<string, number>> = { MB, GB: 1_000 * MB, TB: 1_000_000 * MB };

/** Parses a size above 0, such as `20GB`. Returns the number of bytes. */
export function sizeOf(text: string): number {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)\s?([MGT]B)$/i.exec(text.trim()) ?? [];
  const bytes = Number(number) * (SIZE_UNITS[unit?.toUpperCase() ?? ''] ?? Number.NaN);
  if (bytes > 0) return bytes;
  throw new SettingError(
    '--data-max is not a size',
    'Use MB, GB or TB, such as 20GB. Omit the flag for no limit on the folder. The limit by free disk space still applies.',
  );
}

export function dollars(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new SettingError(
    `${flag} must be an amount of dollars, at least 0`,
    `Use a number without unit, e.g. ${flag} 100000.`,
  );
}

export function minutesInMs(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value * 60_000;
  throw new SettingError('--stale-after must be a number of minutes above 0', 'Use a number, e.g. --stale-after 30.');
}

/** Minimum of `--keep-prints`. The 30-day flow window begins in the middle of a day, so it needs the prints of 31 days. */
export const KEEP_PRINTS_DAYS_MIN = 31;

/** Minimum of `--keep-levels`, because History shows the levels of a month, up to 31 days. */
export const KEEP_LEVELS_DAYS_MIN = 31;

export function days(text: string, flag: string, least: number): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= least) return Number(text);
  throw new SettingError(
    `${flag} must be a whole number of days, at least ${least}`,
    `Use e.g. ${flag} 90, or leave the flag out to keep everything.`,
  );
}

export function logLevelOf(text: string): LogLevel {
  const level = LOG_LEVELS.find((each) => each === text);
  if (level) return level;
  throw new SettingError(`"${text}" is not a log level`, `Use one of: ${LOG_LEVELS.join(', ')}.`);
}

/** Parses the place of the data: "sqlite", or a URL of Postgres without a password, which every user of the machine could see. */
export function storeOf(text: string): string {
  if (text === 'sqlite') return text;
  if (!/^postgres(?:ql)?:\/\//.test(text)) {
    throw new SettingError(
      '--store is neither "sqlite" nor a URL of Postgres',
      'Use e.g. --store postgres://zomma@db1,db2/zomma.',
    );
  }
  if (!/^postgres(?:ql)?:\/\/[^/?#@]*:[^/?#]*@/.test(text)) return text;
  throw new SettingError(
    '--store has a password, which every user of the machine could see',
    'Write the password to a file that only this user may read, and name it in ZOMMA_STORE_PASSWORD_FILE.',
  );
}

/** Parses the name of a replica, which appears in the database and in metrics. */
export function replicaOf(text: string): string {
  if (/^[\w.-]{1,50}$/.test(text)) return text;
  throw new SettingError('--replica is not a name', 'Use up to 50 letters, digits, dots, dashes and underscores.');
}

/** Parses a time such as `15m`. Returns ms. */
export function durationIn(text: string, flag: string): number {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw new SettingError(`${flag} "${text}" is not a time`, `Use e.g. ${flag} 15m or ${flag} 1h.`);
}
