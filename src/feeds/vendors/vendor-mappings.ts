import { type Mapping, type MappingKind, mappingOf, plainName, USUAL_NAMES } from './mapping.ts';
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
import records from './mappings/records.toml';
import schwabChain from './mappings/schwab-chain.toml';
import thetaData from './mappings/thetadata.toml';
import thetaDataTrades from './mappings/thetadata-trades.toml';
import tradierChain from './mappings/tradier-chain.toml';
import yahooChain from './mappings/yahoo-chain.toml';
import yfinance from './mappings/yfinance.toml';

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
  ...{ orats, optionsDx, thetaData, thetaDataTrades, massiveTrades, databentoTrades, yfinance, alphaVantage, barchart },
};

let mappings: readonly Mapping[] | undefined;

/** Returns the mappings of all vendors that are recognized. */
export function vendorMappings(): readonly Mapping[] {
  mappings ??= Object.entries(DOCUMENTS).map(([name, document]) => mappingOf(document, name));
  return mappings;
}

/** Returns the mapping whose signature a table's columns have, or `undefined`. With `close`, a mapping with this time of day comes first. */
export function vendorOf(names: readonly string[], kind: MappingKind, close?: string): Mapping | undefined {
  const plain = new Set(names.map(plainName));
  const fits = vendorMappings().filter(
    (each) => each.kind === kind && each.rows.length === 0 && each.signature.every((name) => plain.has(name)),
  );
  return fits.find(({ forms }) => close !== undefined && forms.close === close) ?? fits[0];
}

/** The mapping of a table of an unknown vendor whose columns have usual names. */
export const USUAL_CHAIN = mappingOf({ signature: [] }, 'a table of options');

/** Returns whether columns with usual names are a table of options: a contract, and quotes or volatilities. */
export function isUsualChain(names: readonly string[]): boolean {
  const plain = new Set(names.map(plainName));
  const has = (...fields: (keyof typeof USUAL_NAMES)[]) =>
    fields.every((field) => USUAL_NAMES[field]!.some((name) => plain.has(name)));
  const isContract = has('strike') && (has('expiry') || has('symbol'));
  return isContract && (has('bid', 'ask') || has('iv') || has('open_interest')) && !has('size');
}

/** Returns whether a line has at least three columns with names of market data. */
export function hasUsualNames(names: readonly string[]): boolean {
  const plain = names.map(plainName);
  return plain.length >= 4 && plain.filter((name) => USUAL.has(name)).length >= 3;
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
