import { entryOf, isRecord, type JsonRecord } from '../../core/json-shape.ts';
import type { ContractRow } from '../../market/build-chain.ts';
import { isDate } from '../../market/calendar.ts';
import { parseCallPut } from '../../market/option-symbol.ts';
import type { CollectedContracts } from '../http/poll-tickers.ts';
import { jsonNumber } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';

/** The options of one ticker, collected from several answers. Each answer is for one of the ticker's expirations. */
export class OptionCollector implements CollectedContracts {
  readonly rows: ContractRow[] = [];
  readonly refused: Record<string, number> = {};
  offered = 0;

  constructor(readonly spot: number | undefined) {}

  /** Adds the options in the answer for one expiration. Counts unusable options in `refused`. */
  add(options: readonly unknown[], expiry: string): void {
    this.offered += options.length;
    for (const option of options) {
      if (!isRecord(option) || typeof option.root_symbol !== 'string') countRejected(this.refused, 'bad_symbol');
      else if ((option.expiration_date ?? expiry) !== expiry) countRejected(this.refused, 'other_expiry');
      else this.rows.push(contractOf(option, option.root_symbol, expiry));
    }
  }
}

/**
 * Returns the dates, in ascending order, of an answer of the form `{expirations: {date: "2026-12-18" or ["2026-12-18", ...]}}`. Counts
 * invalid dates in `refused`. Throws a `ClientError` if there is no date, or if there are more than EXPIRATIONS_MAX dates.
 */
export function expirationsOf(answer: unknown, { refused }: OptionCollector): string[] {
  const dates: string[] = [];
  for (const date of listOf(entryOf(answer, 'expirations', 'date'))) {
    if (typeof date === 'string' && isDate(date)) dates.push(date);
    else countRejected(refused, 'bad_expiry');
  }
  if (dates.length === 0) throw unreadable('the provider lists no expirations: `expirations.date` has no date');
  if (dates.length > EXPIRATIONS_MAX) throw unreadable(`the provider lists more than ${EXPIRATIONS_MAX} expirations`);
  return [...new Set(dates)].sort();
}

/**
 * Returns the options of an answer of the form `{options: {option: {...} or [{...}, ...]}}`. The answer `{options: null}` has no options.
 * Throws a `ClientError` if `options` is missing.
 */
export function listedOptions(answer: unknown): readonly unknown[] {
  if (!isRecord(answer) || !('options' in answer))
    throw unreadable('the answer is unexpected, because `options` is missing');
  return listOf(entryOf(answer, 'options', 'option'));
}

/** Returns the price in an answer of the form `{quotes: {quote: {last: 658.05}}}`, or `undefined` if the answer has no price. */
export function lastPriceOf(answer: unknown): number | undefined {
  const [quote] = listOf(entryOf(answer, 'quotes', 'quote'));
  const last = jsonNumber(entryOf(quote, 'last'));
  return last > 0 && Number.isFinite(last) ? last : undefined;
}

/** Maximum number of expirations of a ticker. Each expiration takes a request. SPX has some sixty expirations. */
const EXPIRATIONS_MAX = 200;

/** Returns a list unchanged, and any other value as a list with one element. Returns an empty list for null or a missing value. */
function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function contractOf(option: JsonRecord, root: string, expiry: string): ContractRow {
  const greeks = isRecord(option.greeks) ? option.greeks : {};
  const midIv = jsonNumber(greeks.mid_iv);
  return {
    root,
    expiry,
    callPut: typeof option.option_type === 'string' ? (parseCallPut(option.option_type) ?? 0) : 0,
    strike: jsonNumber(option.strike),
    bid: jsonNumber(option.bid),
    ask: jsonNumber(option.ask),
    last: jsonNumber(option.last),
    volume: jsonNumber(option.volume),
    openInterest: jsonNumber(option.open_interest),
    // `mid_iv` is the implied volatility of the mid quote. Without `mid_iv`, the code uses Tradier's smoothed volatility.
    iv: midIv > 0 ? midIv : jsonNumber(greeks.smv_vol ?? greeks.mid_iv),
    delta: jsonNumber(greeks.delta),
    gamma: jsonNumber(greeks.gamma),
    multiplier: jsonNumber(option.contract_size),
  };
}
