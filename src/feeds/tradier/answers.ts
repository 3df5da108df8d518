import { entryOf, isRecord, type JsonRecord } from '../../json-shape.ts';
import type { ContractRow } from '../../market/build-chain.ts';
import { isDate } from '../../market/calendar.ts';
import { parseCallPut } from '../../market/option-symbol.ts';
import type { CollectedContracts } from '../http/provider-snapshot.ts';
import { jsonNumber } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';

/** Options of one ticker, collected over its expirations. */
export class OptionCollector implements CollectedContracts {
  readonly rows: ContractRow[] = [];
  readonly refused: Record<string, number> = {};
  offered = 0;

  constructor(readonly spot: number | undefined) {}

  /** Adds the options in the answer for one expiration. Counts those that cannot be used. */
  add(options: readonly unknown[], expiry: string): void {
    this.offered += options.length;
    for (const option of options) {
      if (!isRecord(option) || typeof option.root_symbol !== 'string') countRejected(this.refused, 'bad_symbol');
      else if ((option.expiration_date ?? expiry) !== expiry) countRejected(this.refused, 'other_expiry');
      else this.rows.push(contractOf(option, option.root_symbol, expiry));
    }
  }
}

/** Reads `{expirations: {date: "2026-12-18" or ["2026-12-18", ...]}}`. Throws a `ClientError` if there is no date. */
export function expirationsOf(answer: unknown, { refused }: OptionCollector): string[] {
  const dates: string[] = [];
  for (const date of listOf(entryOf(answer, 'expirations', 'date'))) {
    if (typeof date === 'string' && isDate(date)) dates.push(date);
    else countRejected(refused, 'bad_expiry');
  }
  if (dates.length === 0) throw unreadable('no expirations: `expirations.date` has no date');
  if (dates.length > EXPIRATIONS_MAX) throw unreadable(`more than ${EXPIRATIONS_MAX} expirations`);
  return [...new Set(dates)].sort();
}

/** Reads `{options: {option: {...} or [{...}, ...]}}`. `{options: null}` has no options. Throws a `ClientError` for any other form. */
export function listedOptions(answer: unknown): readonly unknown[] {
  if (!isRecord(answer) || !('options' in answer)) throw unreadable('an unexpected answer: `options` is missing');
  return listOf(entryOf(answer, 'options', 'option'));
}

/** Reads `{quotes: {quote: {last: 658.05}}}`. Returns `undefined` if there is no price. */
export function lastPriceOf(answer: unknown): number | undefined {
  const [quote] = listOf(entryOf(answer, 'quotes', 'quote'));
  const last = jsonNumber(entryOf(quote, 'last'));
  return last > 0 && Number.isFinite(last) ? last : undefined;
}

/** SPX has some sixty expirations. Each one takes a request. */
const EXPIRATIONS_MAX = 200;

/** Converts a list, a single entry or nothing to a list. */
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
    // The volatility of the mid quote, or of the smoothed surface if there is no quote.
    iv: midIv > 0 ? midIv : jsonNumber(greeks.smv_vol ?? greeks.mid_iv),
    delta: jsonNumber(greeks.delta),
    gamma: jsonNumber(greeks.gamma),
    multiplier: jsonNumber(option.contract_size),
  };
}
