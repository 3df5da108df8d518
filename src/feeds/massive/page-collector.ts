import { entryOf, isRecord, type JsonRecord } from '../../core/json-shape.ts';
import { CONTRACTS_MAX, type ContractRow } from '../../market/build-chain.ts';
import { parseOptionSymbol } from '../../market/option-symbol.ts';
import type { CollectedContracts } from '../http/poll-tickers.ts';
import { jsonNumber } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { instantMs } from './instant.ts';

/** The contracts of one underlying, collected from the pages of its snapshot. */
export class PageCollector implements CollectedContracts {
  readonly rows: ContractRow[] = [];
  readonly refused: Record<string, number> = {};
  offered = 0;
  spot: number | undefined;
  /**
   * The newest time of a quote or of the underlying that is not after `untilMs`, ms since the epoch. `undefined` if there is no time up to
   * `untilMs`.
   */
  newestMs: number | undefined;

  constructor(private readonly untilMs: number) {}

  /**
   * Adds a page. Returns the address of the next page, or `undefined` after the last page. Throws a `ClientError` if the answer is not a
   * page, or if the pages have more than CONTRACTS_MAX contracts.
   */
  add(page: unknown): string | undefined {
    const results = entryOf(page, 'results');
    if (!Array.isArray(results)) throw unreadable('the answer is unexpected, because `results` is missing');
    this.offered += results.length;
    if (this.offered > CONTRACTS_MAX) throw unreadable(`the pages have more than ${CONTRACTS_MAX} contracts`);
    for (const result of results) this.#addContract(result);
    const next = entryOf(page, 'next_url') ?? '';
    if (typeof next !== 'string') throw unreadable('`next_url` is not an address');
    return next === '' ? undefined : next;
  }

  #addContract(result: unknown): void {
    const ticker = entryOf(result, 'details', 'ticker');
    const symbol = typeof ticker === 'string' ? parseOptionSymbol(ticker) : undefined;
    if (symbol === undefined || !isRecord(result)) {
      countRejected(this.refused, 'bad_symbol');
      return;
    }
    const price = jsonNumber(
      entryOf(result, 'underlying_asset', 'price') ?? entryOf(result, 'underlying_asset', 'value'),
    );
    if (price > 0 && Number.isFinite(price)) this.spot = price;
    for (const field of ['last_quote', 'underlying_asset']) {
      const at = instantMs(entryOf(result, field, 'last_updated'));
      if (at <= this.untilMs) this.newestMs = Math.max(at, this.newestMs ?? at);
    }
    const { root, expiry, callPut, strike } = symbol;
    this.rows.push({ root, expiry, callPut, strike, ...valuesOf(result) });
  }
}

function valuesOf(result: JsonRecord) {
  return {
    bid: jsonNumber(entryOf(result, 'last_quote', 'bid')),
    ask: jsonNumber(entryOf(result, 'last_quote', 'ask')),
    last: jsonNumber(entryOf(result, 'last_trade', 'price')),
    volume: jsonNumber(entryOf(result, 'day', 'volume')),
    openInterest: jsonNumber(result.open_interest),
    iv: jsonNumber(result.implied_volatility),
    delta: jsonNumber(entryOf(result, 'greeks', 'delta')),
    gamma: jsonNumber(entryOf(result, 'greeks', 'gamma')),
    multiplier: jsonNumber(entryOf(result, 'details', 'shares_per_contract')),
  };
}
