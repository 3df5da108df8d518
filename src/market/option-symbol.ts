import { isDate } from './calendar.ts';

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
  const match = OSI.exec(text);
  if (match === null) return undefined;
  const [, root = '', padding = '', year, month, day, side, strike] = match;
  if (padding !== '' && root.length + padding.length !== ROOT_LENGTH) return undefined;
  const expiry = `20${year}-${month}-${day}`;
  const thousandths = Number(strike);
  if (thousandths === 0 || !isDate(expiry)) return undefined;
  return { root, ...rootOf(root), expiry, callPut: side === 'C' ? 1 : -1, strike: thousandths / 1000 };
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

/** Root (1 to 6 characters, a digit last where adjusted), padding, date, side, strike in thousandths. */
const OSI = /^(?:O:)?([A-Z](?:[A-Z]{0,5}|[A-Z]{0,4}[1-9]))( *)(\d\d)(\d\d)(\d\d)([CP])(\d{8})$/;
const ROOT_LENGTH = 6;

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
