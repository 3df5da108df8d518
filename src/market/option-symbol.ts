import { isDate } from './calendar.ts';
import { digitsOf } from './digits.ts';

/** What an OSI symbol says, and what follows from its root. */
export interface OptionSymbol extends Root {
  /** The series' root, e.g. `SPXW`. */
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** +1 call, -1 put. */
  readonly callPut: 1 | -1;
  /** Dollars, in steps of 0.001. */
  readonly strike: number;
}

export interface Root {
  /** The ticker options of this root are about, e.g. `SPX` for `SPXW`. */
  readonly underlying: string;
  /** Delivers something other than 100 plain shares, after a merger or split (AMD1). */
  readonly adjusted: boolean;
}

/**
 * Reads an OSI option symbol: 21 characters with the root padded (`AAPL  260918C00320000`), unpadded, or either with the
 * `O:` prefix. Undefined for anything else: an impossible date, a strike of 0, lower case.
 */
export function parseOptionSymbol(text: string): OptionSymbol | undefined {
  // By position: a chain has tens of thousands, and a pattern with seven groups costs three times as much.
  const from = text.startsWith('O:') ? 2 : 0;
  const dateAt = text.length - TAIL_LENGTH;
  let rootEnd = dateAt;
  while (rootEnd > from && text.charCodeAt(rootEnd - 1) === SPACE) rootEnd--;
  if (!isRoot(text, from, rootEnd) || (rootEnd !== dateAt && dateAt - from !== ROOT_LENGTH)) return undefined;
  const side = text.charCodeAt(dateAt + 6);
  const callPut = side === CALL ? 1 : side === PUT ? -1 : undefined;
  const thousandths = digitsOf(text, dateAt + 7, text.length);
  const expiry = expiryOf(text.slice(dateAt, dateAt + 6));
  if (callPut === undefined || !(thousandths > 0) || expiry === undefined) return undefined;
  const root = text.slice(from, rootEnd);
  const { underlying, adjusted } = rootOf(root);
  return { root, underlying, adjusted, expiry, callPut, strike: thousandths / 1000 };
}

/** The symbol as OSI writes it: `padded` to 21 characters, or `compact`. */
export function formatOptionSymbol(
  contract: Pick<OptionSymbol, 'root' | 'expiry' | 'callPut' | 'strike'>,
  style: 'padded' | 'compact' = 'padded',
): string {
  const root = style === 'padded' ? contract.root.padEnd(ROOT_LENGTH) : contract.root;
  const date = contract.expiry.slice(2).replaceAll('-', '');
  const strike = String(Math.round(contract.strike * 1000)).padStart(8, '0');
  return `${root}${date}${contract.callPut === 1 ? 'C' : 'P'}${strike}`;
}

/** Underlying of a root, and whether its deliverable is adjusted. */
export function rootOf(root: string): Root {
  const known = ROOTS.get(root);
  if (known !== undefined) return known;
  const plain = root.replace(/[1-9]$/, '');
  const found = { underlying: UNDERLYING_OF_ROOT[plain] ?? plain, adjusted: plain !== root };
  if (ROOTS.size < ROOTS_REMEMBERED_MAX) ROOTS.set(root, found);
  return found;
}

/** The root under which plain options of a ticker trade: `BRKB` for `BRK.B`, else the ticker. */
export function rootOfTicker(ticker: string): string {
  return ticker.replace('.', '');
}

/** A ticker as Zomma writes it, from any of the spellings in use: `_SPX`, `^RUT`, `I:NDX`, `brk/b`. */
export function canonicalTicker(text: string): string {
  return text
    .trim()
    .toUpperCase()
    .replace(/^(?:[_^$]|I:)/, '')
    .replace(/[/-]/, '.');
}

/** Whether a canonical ticker is one: `SPY`, `BRK.B`, `AMD1`. Text from outside is no ticker before it has passed this. */
export function isTicker(text: string): boolean {
  return TICKER.test(text);
}

const TICKER = /^[A-Z][A-Z0-9.]{0,9}$/;

/** AM roots settle at the opening prices of the expiry date, all others at the close. */
export function settlementOf(root: string): 'AM' | 'PM' {
  return AM_SETTLED_ROOTS.has(root) ? 'AM' : 'PM';
}

export function isIndexRoot(root: string): boolean {
  return INDEX_ROOTS.has(root);
}

export function isEuropeanIndexRoot(root: string): boolean {
  return EUROPEAN_INDEX_ROOTS.has(root);
}

/** Date (6 digits), side, strike in thousandths (8 digits): what follows the root and its padding. */
const TAIL_LENGTH = 15;
const ROOT_LENGTH = 6;
const [SPACE, CALL, PUT] = [0x20, 0x43, 0x50];

/** 1 to 6 capitals, the last of two or more a digit from 1 where the root is adjusted. */
function isRoot(text: string, from: number, to: number): boolean {
  if (to <= from || to - from > ROOT_LENGTH) return false;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    const isCapital = code >= 0x41 && code <= 0x5a;
    if (!isCapital && !(at > from && at === to - 1 && code >= 0x31 && code <= 0x39)) return false;
  }
  return true;
}

/** `YYYY-MM-DD` of a symbol's `YYMMDD`; undefined where the calendar has no such date. */
function expiryOf(digits: string): string | undefined {
  const known = EXPIRIES.get(digits);
  if (known !== undefined) return known;
  const expiry = `20${digits.slice(0, 2)}-${digits.slice(2, 4)}-${digits.slice(4)}`;
  if (!isDate(expiry)) return undefined;
  if (EXPIRIES.size < EXPIRIES_REMEMBERED_MAX) EXPIRIES.set(digits, expiry);
  return expiry;
}

/** A chain has some dozens. No more than a century of days can come. */
const EXPIRIES = new Map<string, string>();
const EXPIRIES_REMEMBERED_MAX = 4_000;

export const AM_SETTLED_ROOTS: ReadonlySet<string> = new Set(['SPX', 'NDX', 'RUT', 'DJX', 'VIX', 'VIXW']);

/**
 * Cash-settled index roots of European exercise (Cboe's and Nasdaq's contract specifications): for these put-call parity
 * holds exactly.
 */
export const EUROPEAN_INDEX_ROOTS: ReadonlySet<string> = new Set([
  ...['SPX', 'SPXW', 'SPXPM', 'XSP', 'NANOS', 'XEO', 'DJX', 'VIX', 'VIXW'],
  ...['RUT', 'RUTW', 'MRUT', 'RLG', 'RLV', 'RUI', 'NDX', 'NDXP', 'XND', 'NQX', 'MXEA', 'MXEF'],
]);

/** OEX is the American exception among the indices. */
const INDEX_ROOTS: ReadonlySet<string> = new Set([...EUROPEAN_INDEX_ROOTS, 'OEX']);

/** Roots that are not the ticker itself: weeklies and PM twins of indices, and share classes, whose dot OSI cannot write. */
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

/** A chain asks for the same root on every row. Bounded: roots come from outside. */
const ROOTS = new Map<string, Root>();
const ROOTS_REMEMBERED_MAX = 10_000;
