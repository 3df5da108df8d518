import { cleanLine } from '../core/clean-text.ts';
import { ClientError, type FieldError } from '../core/errors.ts';
import { isRecord } from '../core/json-shape.ts';
import { canonicalTicker } from './option-symbol.ts';
import { createTickerNames, type NamesOfTickers, type TickerNames } from './ticker-names.ts';

/** The watched tickers by theme, and the sector ETF of each single name (share of one company). A universe never changes. */
export interface Universe {
  /** The tickers of each theme. Themes and tickers are in display order. */
  readonly themes: Readonly<Record<string, readonly string[]>>;
  /** All tickers without duplicates, in the order of the themes. */
  readonly tickers: ReadonlySet<string>;
  /** The sector ETF (the proxy) of each single name. ETFs and single names without a proxy have no entry. */
  readonly proxies: ReadonlyMap<string, string>;
  /** Names that clients may use instead of tickers. A ticker with a name need not be in the universe. */
  readonly names: TickerNames;
}

/**
 * Parses an operator's universe from JSON text: `{"themes": {"name": ["SPY", ...]}, "proxies": {"SMH": ["NVDA", ...]}, "names": {"META":
 * ["Facebook", ...]}}`. If `proxies` is absent, the standard proxies apply. The entries of `names` are added to the standard names. Throws
 * `ClientError` if the text is not valid. The error names every invalid field as a JSON Pointer.
 */
export function loadUniverse(json: string): Universe {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new ClientError('invalid_parameter', `The universe is not JSON: ${(error as Error).message}`, { hint: HINT });
  }
  if (!isRecord(parsed) || !isRecord(parsed.themes)) {
    throw new ClientError('invalid_parameter', 'The universe has no object `themes`', { hint: HINT });
  }
  const fieldErrors: FieldError[] = [];
  for (const key of Object.keys(parsed)) {
    if (!FIELDS.includes(key)) fieldErrors.push({ field: pointer(key), expected: 'themes, proxies or names' });
  }
  const themes = tickerLists(parsed.themes, '/themes', fieldErrors);
  for (const theme of Object.keys(themes)) {
    if (!isThemeName(theme))
      fieldErrors.push({ field: `/themes${pointer(theme)}`, expected: 'a name of visible characters, not __proto__' });
  }
  const proxies = parsed.proxies === undefined ? SECTOR_PROXIES : tickerLists(parsed.proxies, '/proxies', fieldErrors);
  const names = parsed.names === undefined ? {} : nameLists(parsed.names, fieldErrors);
  for (const [field, map] of Object.entries({ '/proxies': proxies, '/names': names })) {
    for (const ticker of Object.keys(map)) {
      if (!TICKER.test(ticker))
        fieldErrors.push({ field: `${field}${pointer(ticker)}`, expected: 'an upper-case ticker as key' });
    }
  }
  const count = Object.values(themes).reduce((sum, tickers) => sum + tickers.length, 0);
  if (count === 0) fieldErrors.push({ field: '/themes', expected: 'at least one ticker' });
  if (count > TICKERS_MAX) fieldErrors.push({ field: '/themes', expected: `at most ${TICKERS_MAX} tickers` });
  if (fieldErrors.length > 0) {
    const [first] = fieldErrors;
    throw new ClientError(
      'invalid_parameter',
      `The universe is not valid: ${first?.field} must be ${first?.expected}`,
      {
        hint: HINT,
        fieldErrors,
      },
    );
  }
  return universeOf(themes, proxies, names);
}

const HINT =
  'Write it as {"themes": {"name": ["SPY", "QQQ"]}, "proxies": {"SMH": ["NVDA"]}, "names": {"META": ["Facebook"]}}. ' +
  '`proxies` and `names` are optional.';
const FIELDS: readonly string[] = ['themes', 'proxies', 'names'];
const TICKER = /^[A-Z][A-Z0-9]{0,5}(?:\.[A-Z])?$/;
/** Maximum number of tickers. The server polls the chain of each ticker every minute, and stores the chains in memory. */
const TICKERS_MAX = 1_000;

/** Returns whether a theme may have this name, a key of JSON: no control characters, direction marks, zero width or prototype names. */
function isThemeName(name: string): boolean {
  return name !== '__proto__' && !/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/u.test(name);
}

/** Returns a list of tickers for each name. Adds an error to `fieldErrors` for each invalid value and each repeated ticker. */
function tickerLists(value: unknown, path: string, fieldErrors: FieldError[]): Record<string, string[]> {
  if (!isRecord(value)) {
    fieldErrors.push({ field: path, expected: 'an object of ticker lists' });
    return {};
  }
  const lists = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const [name, list] of Object.entries(value)) {
    const field = `${path}${pointer(name)}`;
    if (!Array.isArray(list)) {
      fieldErrors.push({ field, expected: 'a list of tickers' });
      continue;
    }
    const tickers = list.map((entry, index) => {
      const ticker = typeof entry === 'string' ? canonicalTicker(entry) : '';
      if (!TICKER.test(ticker))
        fieldErrors.push({ field: `${field}/${index}`, expected: 'a ticker such as SPY or BRK.B' });
      else if (seen.has(ticker))
        fieldErrors.push({ field: `${field}/${index}`, expected: `listed once (${ticker} is listed twice)` });
      seen.add(ticker);
      return ticker;
    });
    lists.set(name, tickers);
  }
  return Object.fromEntries(lists);
}

/** Returns the names of each ticker. Adds an error to `fieldErrors` for each value that is not a list of names. */
function nameLists(value: unknown, fieldErrors: FieldError[]): NamesOfTickers {
  if (!isRecord(value)) {
    fieldErrors.push({ field: '/names', expected: 'an object of lists of names' });
    return {};
  }
  const isList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((name) => typeof name === 'string' && /[a-z0-9]/i.test(name));
  for (const [ticker, list] of Object.entries(value)) {
    if (!isList(list)) fieldErrors.push({ field: `/names${pointer(ticker)}`, expected: 'a list of names' });
  }
  return value as NamesOfTickers;
}

function universeOf(
  themes: Readonly<Record<string, readonly string[]>>,
  proxies: Readonly<Record<string, readonly string[]>>,
  names: NamesOfTickers = {},
): Universe {
  return {
    themes,
    tickers: new Set(Object.values(themes).flat()),
    names: createTickerNames(names),
    proxies: new Map(
      Object.entries(proxies).flatMap(([etf, singles]) => singles.map((single) => [single, etf] as const)),
    ),
  };
}

/** Returns a key as a part of a JSON Pointer for a message: a slash and the escaped, cleaned key (RFC 6901). */
function pointer(key: string): string {
  return `/${cleanLine(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The single names of each sector ETF, which its index contains or whose risk it shares: IBIT and MSTR both hold bitcoin. */
const SECTOR_PROXIES: Readonly<Record<string, readonly string[]>> = {
  SMH: ['NVDA', 'AVGO', 'TSM', 'INTC', 'AMD'],
  IGV: ['MSFT', 'ORCL', 'PLTR'],
  XLK: ['AAPL', 'SMCI'],
  XLC: ['GOOGL', 'META', 'SNAP', 'DIS', 'WBD', 'AMC'],
  XLY: ['AMZN', 'TSLA', 'RIVN', 'LCID', 'NIO'],
  XRT: ['GME'],
  XLF: ['JPM', 'GS', 'BRK.B', 'PYPL', 'SOFI', 'HOOD', 'AFRM', 'UPST', 'COIN'],
  IBIT: ['MSTR'],
  XLE: ['XOM'],
  XLB: ['FCX'],
  XLI: ['BA', 'CHPT'],
  ICLN: ['PLUG'],
  XLV: ['PFE', 'JNJ'],
  XLP: ['KO', 'PG', 'WMT', 'COST'],
};

/** The default universe has nine themes and 59 tickers. */
export const STANDARD_UNIVERSE: Universe = universeOf(
  {
    beta_lords: ['SPY', 'QQQ', 'IWM', 'DIA', 'SMH', 'XLF', 'VXX'],
    hyperscalers: ['NVDA', 'MSFT', 'AAPL', 'GOOGL', 'AMZN', 'META', 'AVGO', 'ORCL', 'TSM'],
    macro_anchors: ['TLT', 'HYG', 'UUP', 'FXI', 'EEM', 'JPM', 'GS'],
    energy_metals: ['XLE', 'USO', 'GLD', 'SLV', 'XOM', 'FCX', 'GDX'],
    capital_incinerators: ['RIVN', 'LCID', 'PLUG', 'NIO', 'SNAP', 'CHPT'],
    toxic_tech_and_rot: ['INTC', 'BA', 'PYPL', 'DIS', 'WBD', 'PFE'],
    fintech_decay: ['SOFI', 'HOOD', 'AFRM', 'UPST', 'COIN'],
    cult_proxies_and_traps: ['TSLA', 'PLTR', 'MSTR', 'GME', 'AMC', 'SMCI'],
    sedated_leviathans: ['BRK.B', 'JNJ', 'KO', 'PG', 'WMT', 'COST'],
  },
  SECTOR_PROXIES,
);
