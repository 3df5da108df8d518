import { entryOf, isRecord, jsonExcess } from '../../core/json-shape.ts';
import type { Steps } from '../../core/steps.ts';
import { buildChain, CONTRACTS_MAX } from '../../market/build-chain.ts';
import { newYorkInstant } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { ContractBatch, type QuoteField } from '../../market/contract-batch.ts';
import { parseOptionSymbol } from '../../market/option-symbol.ts';
import { spotOf } from '../implied-spot.ts';
import { jsonNumber } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { READING, STEP_ROWS } from './format.ts';
import { underlyingOfMost } from './roots.ts';

/** Parses an answer, and then works like `quotedChain`. Also throws a `ClientError` if the text is not JSON or exceeds MARKET_JSON. */
export function* writtenChain(text: string, source: string, ticker?: string): ReturnType<typeof quotedChain> {
  const answer = parseMarketJson(text);
  yield READING;
  return yield* quotedChain(answer, source, ticker);
}

/**
 * Builds the chain of `ticker`, or of the underlying of most options, from an answer with the exchange's delayed quotes (Cboe), the JSON
 * `{timestamp, data: {current_price, last_trade_time, options: [...]}}`. The time of the quotes is `last_trade_time` (New York), or else
 * `timestamp` (UTC). The answer lists `offered` options.
 * Returns `undefined` if the JSON does not contain delayed quotes. Throws a `ClientError` if no chain can be built.
 */
export function* quotedChain(
  answer: unknown,
  source: string,
  ticker?: string,
): Steps<{ chain: Chain; offered: number; notes?: string[] } | undefined> {
  const data = entryOf(answer, 'data');
  if (!isRecord(answer) || !isRecord(data) || !Array.isArray(data.options)) {
    if (isRecord(data) && 'current_price' in data) throw unreadable('`data.options` is missing');
    return undefined;
  }
  const asOf = quotedAt(data.last_trade_time, answer.timestamp ?? data.timestamp);
  const refused: Record<string, number> = {};
  using contracts = new ContractBatch();
  const { rows } = contracts;
  for (const [i, option] of (data.options as unknown[]).entries()) {
    if (i > 0 && i % STEP_ROWS === 0) yield READING;
    const symbol = isRecord(option) && typeof option.option === 'string' ? parseOptionSymbol(option.option) : undefined;
    if (symbol === undefined || !isRecord(option)) {
      countRejected(refused, 'bad_symbol');
      continue;
    }
    contracts.add(symbol, symbol.callPut, symbol.strike, (field) =>
      field === 'multiplier' ? Number.NaN : jsonNumber(option[FIELDS[field] ?? field]),
    );
  }
  if (rows.length === 0) throw unreadable(`none of ${data.options.length} options has a symbol that can be read`);
  const price = [data.current_price, data.close].map(jsonNumber).find((value) => value > 0 && Number.isFinite(value));
  const underlying = ticker ?? underlyingOfMost(contracts.series);
  yield READING;
  const notes: string[] = [];
  const head = {
    underlying,
    asOf,
    spot: spotOf(price, contracts, rows, asOf, notes),
    source,
    simulated: false,
    refused,
  };
  return { chain: buildChain(head, contracts), offered: data.options.length, ...(notes.length > 0 && { notes }) };
}

/** The JSON names that differ from the names of their fields. */
const FIELDS: Partial<Record<QuoteField, string>> = { last: 'last_trade_price', openInterest: 'open_interest' };

/** Limits for the JSON text of a chain with CONTRACTS_MAX contracts. Services send up to two objects with thirty values for each. */
const MARKET_JSON = { containers: 3 * CONTRACTS_MAX, values: 32 * CONTRACTS_MAX };

/** Parses JSON, or JSON Lines as a list. Throws a `ClientError` if the text is neither, or exceeds MARKET_JSON. */
export function parseMarketJson(text: string): unknown {
  const excess = jsonExcess(text, MARKET_JSON);
  if (excess !== undefined) throw unreadable(excess);
  try {
    return JSON.parse(text);
  } catch (error) {
    const lines = jsonLines(text);
    if (lines !== undefined) return lines;
    throw unreadable(`not valid JSON (${text.length} characters): ${(error as Error).message}`);
  }
}

/** Returns the documents of JSON Lines, or `undefined` if a line is not JSON. */
function jsonLines(text: string): unknown[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2) return undefined;
  try {
    return lines.map((line) => JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Returns the time of the quotes, ms since the epoch. Throws a `ClientError` if there is no valid time. */
function quotedAt(lastTradeTime: unknown, timestamp: unknown): number {
  const traded = typeof lastTradeTime === 'string' ? LOCAL_TIME.exec(lastTradeTime) : null;
  if (traded !== null) return instant(() => newYorkInstant(traded[1] ?? '', traded[2] ?? ''));
  const stamped = typeof timestamp === 'string' ? LOCAL_TIME.exec(timestamp) : null;
  if (stamped !== null) return instant(() => Temporal.Instant.from(`${stamped[1]}T${stamped[2]}Z`).epochMilliseconds);
  throw unreadable('neither `data.last_trade_time` nor `timestamp` is a valid time');
}

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)Z?$/;

/** Returns the result of `read`. Throws a `ClientError` if `read` throws, for example because of the date February 30. */
function instant(read: () => number): number {
  try {
    return read();
  } catch {
    throw unreadable('the time of the quotes does not exist: it is not in the calendar');
  }
}
