import { findColumns, placesOf } from './find-columns.ts';
import { type MappedField, type Mapping, type MappingKind, mappingOf, plainName, USUAL_NAMES } from './mapping.ts';
import alphaVantage from './mappings/alpha-vantage.toml';
import alphaVantageJson from './mappings/alpha-vantage-json.toml';
import barchart from './mappings/barchart.toml';
import databentoTrades from './mappings/databento-trades.toml';
import datashop1545 from './mappings/datashop-1545.toml';
import datashopClose from './mappings/datashop-close.toml';
import datashopIntervals from './mappings/datashop-intervals.toml';
import datashopTrades from './mappings/datashop-trades.toml';
import deltaNeutral from './mappings/deltaneutral.toml';
import historicalOptionData from './mappings/historical-option-data.toml';
import iVolatility from './mappings/ivolatility.toml';
import massiveSnapshot from './mappings/massive-snapshot.toml';
import massiveTrades from './mappings/massive-trades.toml';
import optionsDx from './mappings/optionsdx.toml';
import orats from './mappings/orats.toml';
import oratsNearEod from './mappings/orats-near-eod.toml';
import records from './mappings/records.toml';
import schwabChain from './mappings/schwab-chain.toml';
import stooqBulk from './mappings/stooq-bulk.toml';
import thetaData from './mappings/thetadata.toml';
import thetaDataEod from './mappings/thetadata-eod.toml';
import thetaDataTrades from './mappings/thetadata-trades.toml';
import tradierChain from './mappings/tradier-chain.toml';
import yahooChain from './mappings/yahoo-chain.toml';
import yahooCloses from './mappings/yahoo-closes.toml';
import yfinance from './mappings/yfinance.toml';
import type { Stated } from './stated.ts';

/** The mappings of the vendors whose tables are recognized. Of several whose signatures fit, the first counts. */
const DOCUMENTS = {
  ...{
    historicalOptionData,
    deltaNeutral,
    iVolatility,
    datashopClose,
    datashop1545,
    datashopIntervals,
    datashopTrades,
  },
  ...{ massiveSnapshot, tradierChain, schwabChain, yahooChain, alphaVantageJson, records },
  ...{ stooqBulk, yahooCloses },
  ...{
    orats,
    oratsNearEod,
    optionsDx,
    thetaDataEod,
    thetaData,
    thetaDataTrades,
    massiveTrades,
    databentoTrades,
    yfinance,
    alphaVantage,
    barchart,
  },
};

let mappings: readonly Mapping[] | undefined;

/** Returns the mappings of all vendors that are recognized. */
export function vendorMappings(): readonly Mapping[] {
  mappings ??= Object.entries(DOCUMENTS).map(([name, document]) => mappingOf(document, name));
  return mappings;
}

/**
 * Returns the mapping of a table's columns, or `undefined`: the stated one if the table has all columns that it names, and otherwise that of the
 * vendor whose signature the columns have. A stated mapping without columns completes that of the vendor. With a stated time of day, a vendor's
 * mapping with this time comes first.
 */
export function mappingFor(names: readonly string[], kind: MappingKind, stated?: Stated): Mapping | undefined {
  const plain = new Set(names.map(plainName));
  const own = stated?.mapping;
  const vendors = vendorMappings().filter(
    (each) => each.kind === kind && each.rows.length === 0 && each.signature.every((name) => plain.has(name)),
  );
  const vendor = vendors.find(({ forms }) => stated?.close !== undefined && forms.close === stated.close) ?? vendors[0];
  if (own?.kind === kind && own.rows.length === 0 && !namesColumns(own) && vendor)
    return completed(vendor, own, stated?.isOfFolder ? placesOf(names) : new Map());
  if (own?.kind === kind && own.rows.length === 0 && absentColumns(own, plain).length === 0) {
    // A folder's mapping without columns is for the tables that have usual names.
    if (!stated?.isOfFolder || namesColumns(own) || isUsual(names, kind)) return own;
  }
  return vendor;
}

/** Returns the mapping of a vendor with what a mapping without columns states besides. Columns at `places` come before constants. */
function completed(vendor: Mapping, own: Mapping, places: ReadonlyMap<string, number>): Mapping {
  const given = (field: MappedField) => findColumns([field], vendor.columns, places)[field] !== undefined;
  const constants = Object.entries(own.constants).filter(([field]) => !given(field as MappedField));
  const forms = Object.entries(own.forms).filter(([, value]) => value !== undefined);
  return {
    ...vendor,
    constants: { ...vendor.constants, ...Object.fromEntries(constants) },
    forms: { ...vendor.forms, ...Object.fromEntries(forms) },
    path: own.path ?? vendor.path,
    join: own.join ?? vendor.join,
  };
}

function isUsual(names: readonly string[], kind: MappingKind): boolean {
  if (kind === 'chain') return isUsualChain(names) && !names.some((name) => plainName(name) === 'calls');
  const plain = new Set(names.map(plainName));
  const has = (field: keyof typeof USUAL_NAMES) => USUAL_NAMES[field]!.some((name) => plain.has(name));
  return kind === 'closes'
    ? has('date') && has('close') && !has('strike')
    : has('executed_at') && has('price') && has('size');
}

function namesColumns({ signature, columns, call, put }: Mapping): boolean {
  return signature.length > 0 || [columns, call ?? {}, put ?? {}].some((each) => Object.keys(each).length > 0);
}

/** Returns the columns that a mapping names and a table does not have. Of several names of a field, one is enough. */
export function absentColumns(
  { signature, columns, underlyingRow = {}, isPrefixed, ...sides }: Mapping,
  plain: ReadonlySet<string>,
): string[] {
  const { call = {}, put = {} } = sides;
  // Of columns with a prefix, one is enough.
  const ofSides = [call, put].flatMap((side) => (isPrefixed ? [Object.values(side).flat()] : Object.values(side)));
  const named = [...Object.values(columns), ...Object.values(underlyingRow), ...ofSides].filter(
    (names) => names!.length > 0,
  );
  const absent = named.filter((names) => !names!.some((name) => plain.has(plainName(name)))).map((names) => names![0]!);
  return [...signature.filter((name) => !plain.has(name)), ...absent];
}

/** The mapping of a table of an unknown vendor whose columns have usual names. */
export const USUAL_CHAIN = mappingOf({ signature: [] }, 'a table of options');

/** Returns whether columns with usual names are a table of options: a contract, and quotes or volatilities. */
export function isUsualChain(names: readonly string[]): boolean {
  const plain = new Set(names.map(plainName));
  const has = (...fields: (keyof typeof USUAL_NAMES)[]) =>
    fields.every((field) => USUAL_NAMES[field]!.some((name) => plain.has(name)));
  const isContract = has('strike') && (has('expiry') || has('symbol'));
  return isContract && (has('bid', 'ask') || has('iv')) && !has('size');
}

/** Returns whether columns have contracts with open interest, and neither quotes nor prices nor volatilities. */
export function isInterestAlone(names: readonly string[]): boolean {
  const plain = new Set(names.map(plainName));
  const has = (field: keyof typeof USUAL_NAMES) => USUAL_NAMES[field]!.some((name) => plain.has(name));
  const isContract = has('strike') ? has('expiry') : has('symbol');
  return isContract && has('open_interest') && !(['bid', 'ask', 'last', 'iv', 'price', 'spot'] as const).some(has);
}

/** What the plain names of columns look like that vendors abbreviate. */
export const LIKELY_NAMES: readonly (readonly [MappedField, RegExp])[] = [
  ['expiry', /^exp|expir/],
  ['strike', /strike|^strk/],
  ['put_call', /callorput|putorcall|calls?puts?|^cp$|^pc$|optype/],
  ['open_interest', /^oi|open.?int|openi/],
  ['spot', /^(?:und|stock|stk|index|spot).*(?:px|price|last|close)$/],
  ['underlying', /^(?:und|stock|stk).*(?:sym|symbol|ticker|name)$/],
  ['bid', /^(?:best)?bid(?:px|price)?$/],
  ['ask', /^(?:best)?(?:ask|offer|ofr)(?:px|price)?$/],
  ['as_of', /^(?:quote|quot|snap|data|trade).*(?:time|date|dt|ts)$/],
];

/** Returns whether a line has at least three columns with names of market data. */
export function hasUsualNames(names: readonly string[]): boolean {
  const plain = names.map(plainName);
  const isLikely = (name: string) => USUAL.has(name) || LIKELY_NAMES.some(([, pattern]) => pattern.test(name));
  return plain.length >= 4 && plain.filter(isLikely).length >= 3;
}

/** Returns what columns lack of a chain and of a tape. */
export function missingFor(names: readonly string[]): string {
  const plain = new Set(names.map(plainName));
  const without = (fields: readonly (keyof typeof USUAL_NAMES)[]) =>
    fields.filter((field) => !USUAL_NAMES[field]!.some((name) => plain.has(name))).join(', ');
  const chain = without(['underlying', 'as_of', 'expiry', 'put_call', 'strike', 'bid', 'ask', 'open_interest']);
  const prints = without(['symbol', 'executed_at', 'price', 'size']);
  return `As a chain it lacks ${chain}; as a tape it lacks ${prints}`;
}

const USUAL: ReadonlySet<string> = new Set(Object.values(USUAL_NAMES).flat());
