import { memoize } from '../core/cache.ts';
import { memoizeBytes } from '../core/memoize-bytes.ts';
import { isDate } from './calendar.ts';
import { parseDigits } from './digits.ts';

/** A parsed OSI symbol, together with the properties of its root. */
export interface OptionSymbol extends Root {
  /** The root of the series, for example `SPXW`. */
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** +1 call, -1 put. */
  readonly callPut: 1 | -1;
  /** The strike, dollars, in steps of 0.001. */
  readonly strike: number;
}

type SymbolSeries = Omit<OptionSymbol, 'callPut' | 'strike'>;

/** The properties of a root. */
export interface Root {
  /** The underlying of the options with this root, for example `SPX` for `SPXW`. */
  readonly underlying: string;
  /** Whether the contracts deliver something other than 100 plain shares, for example after a merger (root AMD1). */
  readonly adjusted: boolean;
}

/**
 * Parses an OSI option symbol. The root may be padded to six characters (`AAPL  260918C00320000`), and the symbol may have the prefix `O:`.
 * Returns `undefined` for any other text, for example with an impossible date, a strike of 0 or lower-case letters.
 */
export function parseOptionSymbol(text: string): OptionSymbol | undefined {
  // Reads the fields by their positions, because a regular expression takes three times as long. A chain has tens of thousands of symbols.
  const from = text.startsWith('O:') ? 2 : 0;
  const dateStart = text.length - TAIL_LENGTH;
  let rootEnd = dateStart;
  while (rootEnd > from && text.charCodeAt(rootEnd - 1) === SPACE) rootEnd--;
  if (!isRoot(text, from, rootEnd) || (rootEnd !== dateStart && dateStart - from !== ROOT_LENGTH)) return undefined;
  const side = text.charCodeAt(dateStart + 6);
  const callPut = side === CALL ? 1 : side === PUT ? -1 : undefined;
  const thousandths = parseDigits(text, dateStart + 7, text.length);
  const expiry = expiryOf(text.slice(dateStart, dateStart + 6));
  if (callPut === undefined || !(thousandths > 0) || expiry === undefined) return undefined;
  const root = text.slice(from, rootEnd);
  const { underlying, adjusted } = rootOf(root);
  return { root, underlying, adjusted, expiry, callPut, strike: thousandths / 1000 };
}

/** Works like `parseOptionSymbol` for the UTF-8 text in the bytes [from, to). Symbols of a series mostly have the same object `series`. */
export function optionSymbolIn(
  bytes: Uint8Array,
  from: number,
  to: number,
): (Pick<OptionSymbol, 'callPut' | 'strike'> & { readonly series: SymbolSeries }) | undefined {
  const sideAt = to - STRIKE_LENGTH - 1;
  if (sideAt <= from) return undefined;
  const callPut = bytes[sideAt] === CALL ? 1 : bytes[sideAt] === PUT ? -1 : undefined;
  const series = seriesIn(bytes, from, sideAt);
  let thousandths = 0;
  for (let at = sideAt + 1; at < to; at++) {
    const digit = bytes[at]! - 0x30;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    thousandths = 10 * thousandths + digit;
  }
  if (series === undefined || callPut === undefined || thousandths === 0) return undefined;
  return { series, callPut, strike: thousandths / 1000 };
}

/** Returns the OSI symbol of a contract. A `padded` symbol has 21 characters, and a `compact` symbol has no spaces. */
export function formatOptionSymbol(
  contract: Pick<OptionSymbol, 'root' | 'expiry' | 'callPut' | 'strike'>,
  style: 'padded' | 'compact' = 'padded',
): string {
  const root = style === 'padded' ? contract.root.padEnd(ROOT_LENGTH) : contract.root;
  const date = contract.expiry.slice(2).replaceAll('-', '');
  const strike = String(Math.round(contract.strike * 1000)).padStart(8, '0');
  return `${root}${date}${contract.callPut === 1 ? 'C' : 'P'}${strike}`;
}

/** Parses the side of an option in any case. Returns 1 for `C`, `CALL` or `CE`, -1 for `P`, `PUT` or `PE`, `undefined` for other texts. */
export function parseCallPut(text: string): 1 | -1 | undefined {
  return CALL_PUT.get(text) ?? CALL_PUT.get(text.toUpperCase());
}

const CALL_PUT: ReadonlyMap<string, 1 | -1> = new Map([
  ['C', 1],
  ...['CALL', 'CALLS', 'CE'].map((word) => [word, 1] as const),
  ['P', -1],
  ...['PUT', 'PUTS', 'PE'].map((word) => [word, -1] as const),
]);

const ROOTS_CACHED_MAX = 10_000;

/** Returns the underlying of a root, and whether its deliverable is adjusted. Memoized, because many rows of a chain share a root. */
export const rootOf: (root: string) => Root = memoize(ROOTS_CACHED_MAX, (root) => {
  const plain = root.replace(/[1-9]$/, '');
  return { underlying: UNDERLYING_OF_ROOT[plain] ?? plain, adjusted: plain !== root };
});

/** Returns the root of a ticker's plain options: the ticker without a dot, such as `BRKB` for `BRK.B`. */
export function rootOfTicker(ticker: string): string {
  return ticker.replace('.', '');
}

/** Converts a ticker to the form that Zomma uses. Sources write tickers in several spellings: `_SPX`, `^RUT`, `I:NDX`, `brk/b`. */
export function canonicalTicker(text: string): string {
  return text
    .trim()
    .toUpperCase()
    .replace(/^(?:[_^$]|I:)/, '')
    .replace(/[/-]/, '.');
}

/** Returns whether a text is a canonical ticker such as `BRK.B` or `AMD1`. Every text from outside the program must be checked. */
export function isTicker(text: string): boolean {
  return TICKER.test(text);
}

const TICKER = /^[A-Z][A-Z0-9.]{0,9}$/;

/** Returns whether options of a root settle at the opening prices of the expiry date (AM) or at the close (PM). */
export function settlementOf(root: string): 'AM' | 'PM' {
  return AM_SETTLED_ROOTS.has(root) ? 'AM' : 'PM';
}

/** Returns whether a root belongs to index options. */
export function isIndexRoot(root: string): boolean {
  return INDEX_ROOTS.has(root);
}

/** Returns whether a root belongs to index options with European exercise. */
export function isEuropeanIndexRoot(root: string): boolean {
  return EUROPEAN_INDEX_ROOTS.has(root);
}

/** The number of characters after the root: 6 for the date, 1 for the side, and 8 for the strike in thousandths of a dollar. */
const TAIL_LENGTH = 15;
const STRIKE_LENGTH = 8;
const ROOT_LENGTH = 6;
const [SPACE, CALL, PUT] = [0x20, 0x43, 0x50];

/** Returns whether [from, to) is a root: 1 to 6 capitals, of which the last may be a digit 1 to 9, as in adjusted contracts. */
function isRoot(text: string, from: number, to: number): boolean {
  if (to <= from || to - from > ROOT_LENGTH) return false;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    const isCapital = code >= 0x41 && code <= 0x5a;
    if (!isCapital && !(i > from && i === to - 1 && code >= 0x31 && code <= 0x39)) return false;
  }
  return true;
}

/** Maximum number of cached expiries. A chain has a few dozen expiries. */
const EXPIRIES_CACHED_MAX = 4_000;

/** Converts `YYMMDD` to `YYYY-MM-DD`. Returns `undefined` if the date does not exist. */
const expiryOf = memoize(EXPIRIES_CACHED_MAX, (digits: string): string | undefined => {
  const expiry = `20${digits.slice(0, 2)}-${digits.slice(2, 4)}-${digits.slice(4)}`;
  return isDate(expiry) ? expiry : undefined;
});

const SERIES_CACHED_MAX = 4_096;

/** Parses the root and the expiry of a symbol. The strike is an example. */
const seriesIn = memoizeBytes(SERIES_CACHED_MAX, (text): SymbolSeries | undefined =>
  parseOptionSymbol(`${text}C00001000`),
);

export const AM_SETTLED_ROOTS: ReadonlySet<string> = new Set(['SPX', 'NDX', 'RUT', 'DJX', 'VIX', 'VIXW']);

/** Roots of index options with European exercise (contract specifications of Cboe and Nasdaq), for which put-call parity is exact. */
export const EUROPEAN_INDEX_ROOTS: ReadonlySet<string> = new Set([
  ...['SPX', 'SPXW', 'SPXPM', 'XSP', 'NANOS', 'XEO', 'DJX', 'VIX', 'VIXW'],
  ...['RUT', 'RUTW', 'MRUT', 'RLG', 'RLV', 'RUI', 'NDX', 'NDXP', 'XND', 'NQX', 'MXEA', 'MXEF'],
]);

/** OEX is the only index whose options have American exercise. */
const INDEX_ROOTS: ReadonlySet<string> = new Set([...EUROPEAN_INDEX_ROOTS, 'OEX']);

/** The ticker for each root that differs from it: of weekly or PM-settled index options, and of share classes, whose tickers have a dot. */
const UNDERLYING_OF_ROOT: Readonly<Record<string, string>> = {
  SPXW: 'SPX',
  SPXPM: 'SPX',
  NDXP: 'NDX',
  RUTW: 'RUT',
  VIXW: 'VIX',
  BRKB: 'BRK.B',
  BFB: 'BF.B',
  HEIA: 'HEI.A',
  LENB: 'LEN.B',
  MOGA: 'MOG.A',
};
