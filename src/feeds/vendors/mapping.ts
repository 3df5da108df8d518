import type { ClientError } from '../../core/errors.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { unreadable } from '../rejections.ts';
import { DATE_ORDERS, type DateOrder, isZone, type TimeForms } from './date-forms.ts';

/** The fields that the two options of a wide row have of their own. */
export const SIDE_FIELDS = ['symbol', 'bid', 'ask', 'last', 'volume', 'open_interest', 'iv', 'delta', 'gamma'] as const;
const HEAD_FIELDS = [
  ...(['underlying', 'as_of', 'spot', 'spot_bid', 'spot_ask', 'root', 'expiry', 'put_call', 'last_trade_at'] as const),
] as const;
export const CHAIN_FIELDS = [...HEAD_FIELDS, 'strike', 'multiplier', ...SIDE_FIELDS] as const;
export const PRINT_FIELDS = [
  ...([
    'executed_at',
    'underlying',
    'symbol',
    'root',
    'expiry',
    'put_call',
    'strike',
    'price',
    'size',
    'side',
  ] as const),
  ...(['bid', 'ask', 'delta', 'exchange', 'report_flags', 'condition', 'canceled', 'id', 'sequence'] as const),
] as const;
export const CLOSE_FIELDS = ['ticker', 'date', 'close', 'volume'] as const;

export type SideField = (typeof SIDE_FIELDS)[number];
export type MappedField = (typeof CHAIN_FIELDS)[number] | (typeof PRINT_FIELDS)[number] | (typeof CLOSE_FIELDS)[number];
export type MappingKind = 'chain' | 'prints' | 'closes';
export const FIELDS_OF: Readonly<Record<MappingKind, readonly MappedField[]>> = {
  chain: CHAIN_FIELDS,
  prints: PRINT_FIELDS,
  closes: CLOSE_FIELDS,
};

/** For each field, the names of the columns that may have it, the most likely first. */
export type ColumnNames = Readonly<Partial<Record<MappedField, readonly string[]>>>;

/** Says how the table of a vendor becomes Zomma's own table. Only plain values, because another process may read the file. */
export interface Mapping {
  /** The vendor's name, or the name of the mapping's file. */
  readonly vendor: string;
  readonly kind: MappingKind;
  /** The columns that only this vendor's tables have together, as `plainName` writes them. */
  readonly signature: readonly string[];
  readonly columns: ColumnNames;
  /** The columns of the call and of the put in a wide table, whose rows have both. */
  readonly call?: ColumnNames | undefined;
  readonly put?: ColumnNames | undefined;
  /** The columns with values of the underlying in the row that names no contract. */
  readonly underlyingRow?: ColumnNames | undefined;
  /** True if `call` and `put` follow from prefixes, so that a table may lack some of their columns. */
  readonly isPrefixed: boolean;
  /** Values that all rows share. */
  readonly constants: Readonly<Partial<Record<MappedField, string>>>;
  /** A regular expression on the path of the file, whose named groups are fields that all rows share. */
  readonly path?: string | undefined;
  /** The paths to the rows of a JSON document, such as `/results/*`. */
  readonly rows: readonly string[];
  /** JSON pointers to values that all rows share. Of several, the first that leads to a value counts. */
  readonly pointers: ColumnNames;
  readonly forms: TimeForms & {
    /**
     * How the time of a chain follows from rows with times of their own: the newest of all rows, or of the rows of a day, at latest the close.
     * If omitted, rows with different times are different chains.
     */
    readonly asOf?: 'newest' | 'day' | undefined;
    /** The factor of prices that are too large to be dollars. */
    readonly priceScale?: number | undefined;
    /** The factor from the written strikes to dollars, and from the written volatilities to decimals. If omitted, the column decides. */
    readonly strikeScale?: number | undefined;
    readonly ivScale?: number | undefined;
    /** The character before the decimals of numbers, if it is a comma. */
    readonly decimal?: ',' | undefined;
  };
  /** A second file with further columns of the same contracts. */
  readonly join?: { readonly file: string; readonly columns: ColumnNames } | undefined;
}

/** Maximum size of a mapping's file, bytes. */
export const MAPPING_BYTES_MAX = 64 * 1024;

/** Writes a column's name without case, spaces, brackets and marks, because vendors change them between files and years. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/**
 * Reads a mapping from the content of a TOML document. Throws a `ClientError` that names the document `name` and the key if a key is unknown or
 * a value has the wrong form.
 */
export function mappingOf(document: unknown, name: string): Mapping {
  const at = (key: string, reason: string) => unreadable(`mapping ${name}: ${key} ${reason}`);
  const top = tableOf(document, '', ['vendor', 'kind', 'signature', 'columns', 'call', 'put', ...REST], at);
  const kind = top.kind === undefined ? 'chain' : top.kind;
  if (kind !== 'chain' && kind !== 'prints' && kind !== 'closes') throw at('kind', 'is not chain, prints or closes');
  if (kind !== 'chain' && top.rows !== undefined) throw at('rows', 'is only for chains');
  const fields = FIELDS_OF[kind];
  const names = (key: string, allowed: readonly MappedField[]) =>
    top[key] === undefined ? undefined : columnNamesOf(tableOf(top[key], key, allowed, at), key, at);
  const texts = (key: string) =>
    Object.fromEntries(
      Object.entries(tableOf(top[key] ?? {}, key, fields, at)).map(([field, value]) => [
        field,
        textOf(value, `${key}.${field}`, at),
      ]),
    );
  const forms = tableOf(top.forms ?? {}, 'forms', FORMS, at);
  const wide = tableOf(top.wide ?? {}, 'wide', ['call', 'put'], at);
  const prefixed = (side: 'call' | 'put') =>
    wide[side] === undefined ? undefined : prefixedNames(textOf(wide[side], `wide.${side}`, at));
  const path = top.path === undefined ? undefined : patternOf(textOf(top.path, 'path', at), fields, at);
  const join = top.join === undefined ? undefined : tableOf(top.join, 'join', ['file', 'columns'], at);
  return {
    vendor: top.vendor === undefined ? name : textOf(top.vendor, 'vendor', at),
    kind,
    signature: listOf(top.signature ?? [], 'signature', at).map(plainName),
    columns: names('columns', fields) ?? {},
    call: names('call', SIDE_FIELDS) ?? prefixed('call'),
    put: names('put', SIDE_FIELDS) ?? prefixed('put'),
    underlyingRow: names('underlying_row', ['spot']),
    isPrefixed: top.wide !== undefined,
    constants: texts('constants'),
    path,
    rows: listOf(top.rows ?? [], 'rows', at),
    pointers: names('pointers', fields) ?? {},
    forms: {
      asOf: asOfFormOf(forms.as_of, at),
      priceScale: scaleOf(forms.price, 'forms.price', at),
      order: orderOf(forms.date, at),
      zone: zoneOf(forms.zone, at),
      close: closeTimeOf(forms.close, at),
      strikeScale: scaleOf(forms.strike, 'forms.strike', at),
      ivScale: scaleOf(forms.iv, 'forms.iv', at),
      decimal: decimalOf(forms.decimal, at),
    },
    join: join && {
      file: fileOf(join.file, at),
      columns: columnNamesOf(tableOf(join.columns ?? {}, 'join.columns', SIDE_FIELDS, at), 'join.columns', at),
    },
  };
}

const REST = ['wide', 'underlying_row', 'constants', 'path', 'rows', 'pointers', 'forms', 'join'];
const FORMS = ['date', 'zone', 'close', 'as_of', 'strike', 'iv', 'price', 'decimal'];

type Fail = (key: string, reason: string) => ClientError;

function tableOf(value: unknown, key: string, allowed: readonly string[], at: Fail): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw at(key || 'the file', 'is not a table');
  for (const name of Object.keys(value)) {
    if (allowed.includes(name)) continue;
    const full = key === '' ? name : `${key}.${name}`;
    throw at(full, `is not a key. The nearest are ${nearestNames(name, allowed).join(', ')}`);
  }
  return value as Record<string, unknown>;
}

function textOf(value: unknown, key: string, at: Fail): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (typeof value === 'number') return String(value);
  throw at(key, 'is not a text');
}

/** Returns a text, or a list of texts, as a list. */
function listOf(value: unknown, key: string, at: Fail): string[] {
  return (Array.isArray(value) ? value : [value]).map((each) => textOf(each, key, at));
}

function columnNamesOf(table: Record<string, unknown>, key: string, at: Fail): ColumnNames {
  return Object.fromEntries(
    Object.entries(table).map(([field, value]) => [field, listOf(value, `${key}.${field}`, at)]),
  );
}

/** Returns the names of one side's columns in a wide table whose columns have a prefix. */
function prefixedNames(prefix: string): ColumnNames {
  return Object.fromEntries(
    SIDE_FIELDS.map((field) => [field, [field, ...USUAL_NAMES[field]!].map((each) => prefix + each)]),
  );
}

function patternOf(text: string, fields: readonly string[], at: Fail): string {
  try {
    new RegExp(text);
  } catch (error) {
    throw at('path', `is not a regular expression: ${(error as Error).message}`);
  }
  for (const [, group = ''] of text.matchAll(/\(\?<(\w+)>/g)) {
    if (!fields.includes(group))
      throw at(
        'path',
        `has a group ${group}, which is no field. The nearest are ${nearestNames(group, fields).join(', ')}`,
      );
  }
  return text;
}

function orderOf(value: unknown, at: Fail): DateOrder | undefined {
  const found = DATE_ORDERS.find((order) => order === value);
  if (value === undefined || found !== undefined) return found;
  throw at('forms.date', `is not one of ${DATE_ORDERS.join(', ')}`);
}

function asOfFormOf(value: unknown, at: Fail): 'newest' | 'day' | undefined {
  if (value === undefined || value === 'newest' || value === 'day') return value;
  throw at('forms.as_of', 'is not "newest" or "day"');
}

function zoneOf(value: unknown, at: Fail): string | undefined {
  if (value === undefined || (typeof value === 'string' && isZone(value))) return value;
  throw at('forms.zone', 'is not the name of a time zone, such as America/New_York');
}

function closeTimeOf(value: unknown, at: Fail): string | undefined {
  if (value === undefined || (typeof value === 'string' && isTimeOfDay(value))) return value;
  throw at('forms.close', 'is not a time of day, such as 15:45');
}

/** Returns whether a text is a time of day, `HH:MM`. */
export function isTimeOfDay(text: string): boolean {
  return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}

function scaleOf(value: unknown, key: string, at: Fail): number | undefined {
  if (value === undefined || (typeof value === 'number' && value > 0 && Number.isFinite(value))) return value;
  throw at(key, 'is not a factor, such as 0.001 for thousandths');
}

function decimalOf(value: unknown, at: Fail): ',' | undefined {
  if (value === ',') return value;
  if (value === undefined || value === '.') return undefined;
  throw at('forms.decimal', 'is not "," or "."');
}

/** Returns the pattern of a second file's name. A mapping cannot name a file outside its folder. */
function fileOf(value: unknown, at: Fail): string {
  const text = textOf(value, 'join.file', at);
  if (/[/\\]|^\.\.?$/.test(text)) throw at('join.file', 'is not the name of a file in the same folder');
  return text;
}

/** The names that vendors use for each field, as `plainName` writes them. A mapping needs no entry for a field with such a name. */
export const USUAL_NAMES: ColumnNames = {
  underlying: ['underlying', 'underlyingsymbol', 'underlyingticker', 'ticker', 'symbol', 'root', 'underlier'],
  symbol: [
    ...['optionsymbol', 'contractsymbol', 'contractid', 'optionroot', 'optionchainid', 'optionticker', 'optionid'],
    ...['occsymbol', 'osi', 'contract', 'option', 'symbol', 'ticker'],
  ],
  as_of: [
    ...['asof', 'quotedatetime', 'quotedate', 'datadate', 'tradedate', 'snapshottime', 'snapshotdate', 'timestamp'],
    ...['quotetime', 'asofdate', 'date', 'datetime'],
  ],
  last_trade_at: ['lasttradedate', 'lasttradetime', 'lasttradeat', 'lasttradedatetime', 'lasttradetimestamp'],
  spot: [
    ...['spot', 'underlyinglast', 'underlyingprice', 'stockpriceclose', 'stockprice', 'spotprice', 'underlyingclose'],
    ...['activeunderlyingprice', 'underlyinglastprice', 'underlyingspot'],
  ],
  expiry: [
    ...['expiry', 'expiration', 'expirationdate', 'expirydate', 'expirdate', 'expiredate', 'expdate', 'exp'],
    ...['optionexpiration', 'exdate', 'maturity', 'maturitydate'],
  ],
  put_call: ['putcall', 'callput', 'optiontype', 'contracttype', 'right', 'type', 'cpflag', 'cp', 'pc', 'optionright'],
  strike: ['strike', 'strikeprice'],
  bid: ['bid', 'bidprice', 'bestbid', 'bestbidprice', 'nbbobid'],
  ask: ['ask', 'askprice', 'bestask', 'bestaskprice', 'bestoffer', 'offer', 'nbboask'],
  last: ['last', 'lastprice', 'lasttradeprice', 'lastsale', 'lasttrade'],
  volume: ['volume', 'tradevolume', 'vol', 'totalvolume', 'dayvolume', 'optionvolume'],
  open_interest: ['openinterest', 'openint', 'oi', 'openinterests'],
  iv: ['iv', 'impliedvol', 'impliedvolatility', 'ivmean', 'implvolatility', 'impvol', 'midiv', 'ivmid', 'volatility'],
  delta: ['delta'],
  gamma: ['gamma'],
  multiplier: ['multiplier', 'contractmultiplier', 'sharespercontract'],
  executed_at: [
    'executedat',
    'siptimestamp',
    'tsevent',
    'quotedatetime',
    'tradetime',
    'tradedatetime',
    'timestamp',
    'tsrecv',
  ],
  price: ['price', 'tradeprice', 'executionprice'],
  size: ['size', 'tradesize', 'quantity', 'qty', 'contracts'],
  side: ['side', 'aggressor', 'aggressorside'],
  exchange: ['exchange', 'exchangeid'],
  report_flags: ['reportflags', 'flags'],
  condition: ['upstreamconditiondetail', 'tradecondition'],
  canceled: ['canceled', 'cancelled'],
  id: ['id', 'tradeid'],
  sequence: ['sequence', 'sequencenumber'],
  ticker: ['ticker', 'symbol'],
  date: ['date', 'day'],
  close: ['close', 'closeprice', 'last'],
};
