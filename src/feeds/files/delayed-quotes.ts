import { entryOf, isRecord, type JsonRecord, jsonExcess } from '../../json-shape.ts';
import { buildChain, CONTRACTS_MAX, type ContractRow } from '../../market/build-chain.ts';
import { newYorkInstant } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { type OptionSymbol, parseOptionSymbol } from '../../market/option-symbol.ts';
import { spotOf } from '../implied-spot.ts';
import { type InPieces, PIECE_ROWS } from '../in-pieces.ts';
import { jsonNumber } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { type Format, sourceOf } from './format.ts';
import { underlyingOfMost } from './roots.ts';

/**
 * The exchange's delayed-quotes JSON: `{timestamp, data: {current_price, last_trade_time, options: [...]}}`. The quotes have the time
 * `data.last_trade_time` (New York), else `timestamp` (UTC).
 */
export const delayedQuotes: Format = {
  claims: (text) => /^\s*\{/.test(text),

  *read({ text, ...file }) {
    const snapshot = yield* writtenChain(text, sourceOf(file));
    return snapshot === undefined ? [] : [{ kind: 'chain', ...snapshot }];
  },
};

/** Like `quotedChain`, for an answer as text. Also throws a `ClientError` if the text is not JSON, or exceeds the bounds of MARKET_JSON. */
export function* writtenChain(text: string, source: string, ticker?: string): ReturnType<typeof quotedChain> {
  const answer = parse(text);
  yield;
  return yield* quotedChain(answer, source, ticker);
}

/**
 * Builds the chain of a delayed-quotes answer. Its underlying is `ticker`, or else the underlying of most options. `offered` is the number
 * of options that were listed. Returns `undefined` if the JSON is of another kind. Throws a `ClientError` if no chain can be built from it.
 */
export function* quotedChain(
  answer: unknown,
  source: string,
  ticker?: string,
): InPieces<{ chain: Chain; offered: number } | undefined> {
  const data = entryOf(answer, 'data');
  if (!isRecord(answer) || !isRecord(data) || !Array.isArray(data.options)) {
    if (isRecord(data) && 'current_price' in data) throw unreadable('`data.options` is missing');
    return undefined;
  }
  const asOf = quotedAt(data.last_trade_time, answer.timestamp ?? data.timestamp);
  const refused: Record<string, number> = {};
  const rows: ContractRow[] = [];
  for (const [i, option] of (data.options as unknown[]).entries()) {
    if (i > 0 && i % PIECE_ROWS === 0) yield;
    const symbol = isRecord(option) && typeof option.option === 'string' ? parseOptionSymbol(option.option) : undefined;
    if (symbol === undefined || !isRecord(option)) {
      countRejected(refused, 'bad_symbol');
      continue;
    }
    rows.push(contractOf(symbol, option));
  }
  if (rows.length === 0) throw unreadable(`none of ${data.options.length} options has a symbol that can be read`);
  const price = [data.current_price, data.close].map(jsonNumber).find((value) => value > 0 && Number.isFinite(value));
  const underlying = ticker ?? underlyingOfMost(rows);
  yield;
  const head = { underlying, asOf, spot: spotOf(price, rows, asOf), source, simulated: false, refused };
  return { chain: buildChain(head, rows), offered: data.options.length };
}

function contractOf(symbol: OptionSymbol, option: JsonRecord): ContractRow {
  return {
    root: symbol.root,
    expiry: symbol.expiry,
    callPut: symbol.callPut,
    strike: symbol.strike,
    bid: jsonNumber(option.bid),
    ask: jsonNumber(option.ask),
    last: jsonNumber(option.last_trade_price),
    volume: jsonNumber(option.volume),
    openInterest: jsonNumber(option.open_interest),
    iv: jsonNumber(option.iv),
    delta: jsonNumber(option.delta),
    gamma: jsonNumber(option.gamma),
    multiplier: Number.NaN,
  };
}

/** The exchange's largest answer has 200,000 contracts with twenty values each. Other services send thirty values, in two objects. */
const MARKET_JSON = { containers: 3 * CONTRACTS_MAX, values: 32 * CONTRACTS_MAX };

function parse(text: string): unknown {
  const excess = jsonExcess(text, MARKET_JSON);
  if (excess !== undefined) throw unreadable(excess);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(`not valid JSON (${text.length} characters): ${(error as Error).message}`);
  }
}

function quotedAt(lastTradeTime: unknown, timestamp: unknown): number {
  const traded = typeof lastTradeTime === 'string' ? LOCAL_TIME.exec(lastTradeTime) : null;
  if (traded !== null) return instant(() => newYorkInstant(traded[1] ?? '', traded[2] ?? ''));
  const stamped = typeof timestamp === 'string' ? LOCAL_TIME.exec(timestamp) : null;
  if (stamped !== null) return instant(() => Temporal.Instant.from(`${stamped[1]}T${stamped[2]}Z`).epochMilliseconds);
  throw unreadable('neither `data.last_trade_time` nor `timestamp` is a valid time');
}

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)Z?$/;

/** Text of the right form may still be an invalid time, such as February 30. */
function instant(read: () => number): number {
  try {
    return read();
  } catch {
    throw unreadable('the time of the quotes is not in the calendar');
  }
}
