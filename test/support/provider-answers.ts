import { newYorkTime } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import { formatOptionSymbol, rootOf } from '../../src/market/option-symbol.ts';

/** A chain in the format of each provider, after its documentation and recorded answers. */

export function cboeAnswer(chain: Chain) {
  const time = newYorkTime(chain.asOf).slice(0, 19);
  const options = rowsOf(chain).map((row) => ({
    ...{ option: row.symbol, bid: row.bid ?? 0, ask: row.ask ?? 0, iv: row.iv ?? 0, open_interest: row.openInterest },
    ...{ volume: row.volume, delta: row.delta, gamma: row.gamma },
    ...{ theta: 0, vega: 0, rho: 0, theo: 0, last_trade_price: row.last, last_trade_time: null, prev_day_close: 0 },
  }));
  const stamp = new Date(chain.asOf).toISOString().slice(0, 19).replace('T', ' ');
  const data = {
    ...{ symbol: chain.underlying, current_price: chain.spot, close: chain.spot, last_trade_time: time, options },
  };
  return { timestamp: stamp, data };
}

export function tradierQuote(chain: Chain) {
  return { quotes: { quote: { symbol: chain.underlying, type: 'stock', last: chain.spot } } };
}

export function tradierExpirations(chain: Chain) {
  return { expirations: { date: lone([...new Set(chain.series.map(({ expiry }) => expiry))].sort()) } };
}

export function tradierChain(chain: Chain, expiration: string) {
  const options = rowsOf(chain)
    .filter(({ expiry }) => expiry === expiration)
    .map((row) => ({
      symbol: row.symbol,
      ...{ root_symbol: row.root, expiration_date: row.expiry, strike: row.strike },
      option_type: row.callPut === 1 ? 'call' : 'put',
      contract_size: row.multiplier,
      ...{ bid: row.bid, ask: row.ask, last: row.last, volume: row.volume, open_interest: row.openInterest },
      greeks: { delta: row.delta, gamma: row.gamma, mid_iv: row.iv ?? 0, smv_vol: row.iv ?? 0 },
    }));
  return { options: options.length === 0 ? null : { option: lone(options) } };
}

/** Returns one page of a snapshot. `nextUrl` is set if there are more pages. */
export function massivePage(chain: Chain, from: number, limit: number, nextUrl: (from: number) => string) {
  const nanoseconds = chain.asOf * 1e6;
  const results = rowsOf(chain)
    .slice(from, from + limit)
    .map((row) => ({
      details: {
        ticker: `O:${row.symbol}`,
        contract_type: row.callPut === 1 ? 'call' : 'put',
        exercise_style: 'american',
        ...{ expiration_date: row.expiry, strike_price: row.strike, shares_per_contract: row.multiplier },
      },
      day: { volume: row.volume },
      // Like the service, which omits greeks that it does not have.
      ...(row.gamma !== null && { greeks: { delta: row.delta, gamma: row.gamma, theta: 0, vega: 0 } }),
      ...(row.iv !== null && { implied_volatility: row.iv }),
      ...(row.openInterest !== null && { open_interest: row.openInterest }),
      ...(row.bid !== null && { last_quote: { bid: row.bid, ask: row.ask, last_updated: nanoseconds } }),
      ...(row.last !== null && { last_trade: { price: row.last, sip_timestamp: nanoseconds } }),
      underlying_asset: { ticker: chain.underlying, price: chain.spot, last_updated: nanoseconds },
    }));
  const more = from + limit < chain.count && { next_url: nextUrl(from + limit) };
  return { status: 'OK', request_id: 'a1', results, ...more };
}

/**
 * Returns a table of ThetaData's terminal as rows, or `undefined` if the terminal answers that it has no data. The terminal has each root
 * under its own symbol, and leaves out rows without a value.
 */
export function thetadataTable(
  path: string,
  query: URLSearchParams,
  chainOf: (ticker: string, day?: string) => Chain | undefined,
): Readonly<Record<string, string | number>>[] | undefined {
  const symbol = query.get('symbol') ?? '';
  const date = query.get('date') ?? query.get('start_date');
  const day = date?.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  if ((query.get('end_date') ?? date) !== date) return undefined;
  const chain = path.startsWith('option/') ? chainOf(rootOf(symbol).underlying, day) : chainOf(symbol);
  if (chain === undefined) return undefined;
  const timestamp = newYorkTime(chain.asOf).slice(0, 19).concat('.000');
  if (path === 'index/snapshot/price') return [{ timestamp, symbol, price: chain.spot }];
  const trades = { open: 0, high: 0, low: 0 };
  if (path === 'stock/snapshot/ohlc') return [{ timestamp, symbol, ...trades, close: chain.spot, volume: 1, count: 1 }];
  const right = query.get('right');
  const rows = rowsOf(chain).filter(
    ({ root, callPut }) => root === symbol && (right === null || right === (callPut === 1 ? 'call' : 'put')),
  );
  const contract = (row: (typeof rows)[number]) => ({
    ...{ symbol, expiration: row.expiry, strike: row.strike.toFixed(3), right: row.callPut === 1 ? 'CALL' : 'PUT' },
  });
  const quote = (row: (typeof rows)[number]) => ({
    ...{ bid_size: 5, bid_exchange: 6, bid: row.bid ?? 0, bid_condition: 50 },
    ...{ ask_size: 25, ask_exchange: 6, ask: row.ask ?? 0, ask_condition: 50 },
  });
  const ohlc = (row: (typeof rows)[number]) => ({ ...trades, close: row.last ?? 0, volume: row.volume ?? 0, count: 3 });
  const interest = rows.filter((row) => row.openInterest !== null);
  const tables: Readonly<Record<string, () => Readonly<Record<string, string | number>>[]>> = {
    'option/snapshot/quote': () => rows.map((row) => ({ timestamp, ...contract(row), ...quote(row) })),
    'option/snapshot/ohlc': () => rows.map((row) => ({ timestamp, ...contract(row), ...ohlc(row) })),
    'option/snapshot/open_interest': () =>
      interest.map((row) => ({ timestamp, ...contract(row), open_interest: row.openInterest! })),
    'option/history/eod': () =>
      rows.map((row) => {
        const created = { created: `${day}T17:16:56.205`, last_trade: timestamp };
        return { ...contract(row), ...created, ...ohlc(row), ...quote(row) };
      }),
    'option/history/open_interest': () =>
      interest.map((row) => ({ ...contract(row), timestamp: `${day}T06:30:04`, open_interest: row.openInterest! })),
  };
  const table = tables[path]?.();
  return table?.length ? table : undefined;
}

/** Writes rows as ThetaData's terminal does, and any other value as one line of JSON. */
export function csvText(answer: unknown): string {
  const isTable = Array.isArray(answer) && answer.every((row) => typeof row === 'object' && !Array.isArray(row));
  if (!isTable) return `${JSON.stringify(answer)}\r\n`;
  const names = [...new Set(answer.flatMap((row) => Object.keys(row)))];
  return [names, ...answer.map((row) => names.map((name) => row[name] ?? ''))]
    .map((row) => `${row.join(',')}\r\n`)
    .join('');
}

/** Tradier writes a list of one entry as the entry itself. */
function lone<T>(list: readonly T[]): T | readonly T[] {
  return list.length === 1 ? list[0]! : list;
}

/** Returns the contracts as rows: null for a missing value, and 0 for -0, which JSON does not have. */
export function rowsOf(chain: Chain) {
  const given = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value + 0);
  return Array.from({ length: chain.count }, (_, i) => {
    const { root, expiry } = chain.series[chain.seriesIndex[i]!]!;
    const [callPut, strike] = [chain.callPut[i] === 1 ? 1 : -1, chain.strike[i]!] as const;
    return {
      ...{ root, expiry, callPut, strike, multiplier: chain.multiplier[i]! },
      symbol: formatOptionSymbol({ root, expiry, callPut, strike }, 'compact'),
      ...{ bid: given(chain.bid[i]), ask: given(chain.ask[i]), last: given(chain.last[i]) },
      ...{ volume: given(chain.volume[i]), openInterest: given(chain.openInterest[i]), iv: given(chain.iv[i]) },
      ...{ delta: given(chain.delta[i]), gamma: given(chain.gamma[i]) },
    };
  });
}
