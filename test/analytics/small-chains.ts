import { type AnalysisOptions, DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { buildChain, type ChainHead } from '../../src/market/build-chain.ts';
import { settlementInstant } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { ContractRow } from '../../src/market/contract-batch.ts';
import { settlementOf } from '../../src/market/option-symbol.ts';
import type { Print } from '../../src/market/prints.ts';
import { blackScholesPrice } from './plain.ts';

/** 15:00 in New York on a Monday, one hour before the close. */
export const AS_OF = Date.parse('2026-01-05T20:00:00Z');
export const TODAY = '2026-01-05';
/** A third Friday, 11 days later. */
export const EXPIRY = '2026-01-16';
export const LATER = '2026-02-20';

export const HEAD: ChainHead = { underlying: 'ACME', asOf: AS_OF, spot: 100, source: 'test', simulated: false };

/** A contract without any value except its terms. */
export function contract(overrides: Partial<ContractRow> = {}): ContractRow {
  const none = Number.NaN;
  return {
    ...{ root: 'ACME', expiry: EXPIRY, callPut: 1, strike: 100, bid: none, ask: none, last: none, volume: none },
    ...{ openInterest: none, iv: none, delta: none, gamma: none, multiplier: none },
    ...overrides,
  };
}

export interface Quotes {
  readonly strikes: readonly number[];
  readonly root?: string;
  readonly expiry?: string;
  /** Decimal per year, the same for the call and the put of a strike. */
  readonly iv?: number | ((strike: number) => number);
  readonly rate?: number;
  readonly dividend?: number;
  readonly spot?: number;
  readonly asOf?: number;
  /** Half the distance between bid and ask. */
  readonly halfSpread?: number;
  /** The values other than quotes. */
  readonly rest?: Partial<ContractRow>;
}

/** Calls and puts quoted around their Black-Scholes prices, without the feed's own volatility, delta and gamma. */
export function quoted(quotes: Quotes): ContractRow[] {
  const { strikes, root = 'ACME', expiry = EXPIRY, iv = 0.3, rate = 0.04, dividend = 0, halfSpread = 0 } = quotes;
  const { spot = HEAD.spot, asOf = AS_OF, rest = {} } = quotes;
  const tte = yearsTo(root, expiry, asOf);
  return strikes.flatMap((strike) =>
    [1, -1].map((callPut) => {
      const its = typeof iv === 'number' ? iv : iv(strike);
      const price = blackScholesPrice({ callPut, spot, strike, tte, iv: its, rate, dividend });
      return contract({ root, expiry, strike, callPut, bid: price - halfSpread, ask: price + halfSpread, ...rest });
    }),
  );
}

export function yearsTo(root: string, expiry: string, asOf = AS_OF): number {
  return (settlementInstant(expiry, settlementOf(root)) - asOf) / (365.25 * 86_400_000);
}

export function chainOf(rows: readonly ContractRow[], head: Partial<ChainHead> = {}): Chain {
  return buildChain({ ...HEAD, ...head }, rows);
}

export function preparedChain(chain: Chain, options: Partial<AnalysisOptions> = {}): PreparedChain {
  return runToCompletion(prepareChain(chain, { ...DEFAULT_OPTIONS, ...options }));
}

export function prepared(
  rows: readonly ContractRow[],
  options: Partial<AnalysisOptions> = {},
  head: Partial<ChainHead> = {},
): PreparedChain {
  return preparedChain(chainOf(rows, head), options);
}

/** The contracts of a prepared chain, each as an option of the plain implementation. */
export function contractsIn(ready: PreparedChain) {
  const { count, callPut, strike, tte, iv, rate, dividend, weight, position, multiplier, seriesIndex } = ready;
  return Array.from({ length: count }, (_, i) => ({
    ...{ spot: ready.chain.spot, callPut: callPut[i]!, strike: strike[i]!, tte: tte[i]!, iv: iv[i]! },
    ...{ rate: rate[i]!, dividend: dividend[i]!, multiplier: multiplier[i]!, series: seriesIndex[i]! },
    ...{ weight: weight[i]!, position: position[i]! },
  }));
}

const FIELDS = ['bid', 'ask', 'last', 'volume', 'openInterest', 'iv', 'delta', 'gamma', 'multiplier'] as const;

/** The contracts of a chain as a feed delivers them. */
export function rowsIn(chain: Chain): ContractRow[] {
  return Array.from(chain.strike, (strike, i) => {
    const { root, expiry } = chain.series[chain.seriesIndex[i]!]!;
    const values = Object.fromEntries(FIELDS.map((field) => [field, chain[field][i]!]));
    return { root, expiry, callPut: chain.callPut[i]!, strike, ...values } as ContractRow;
  });
}

/** Strikes, each with a figure of its call and one of its put, from a text such as `90 0/3, 100 1/0`. */
export function linesOf(text: string): [strike: number, call: number, put: number][] {
  return text.split(', ').map((line) => line.split(/[ /]/).map(Number) as [number, number, number]);
}

/** Gamma as given by a feed, so that a test can set the weight of every contract. The forward is spot, without rates. */
export const FEED_GAMMA = { gamma: 'feed', forward: 'flat', rate: 0, dividend: 0 } as const;

export function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.floor((to - from) / step + 1e-9) + 1 }, (_, i) => from + i * step);
}

export function print(overrides: Partial<Print> = {}): Print {
  return {
    ...{ id: 'p1', underlying: 'ACME', root: 'ACME', expiry: EXPIRY, callPut: 1, strike: 100, price: 5, size: 400 },
    ...{ multiplier: 100, at: AS_OF, side: null, bid: null, ask: null, delta: null, multiLeg: false, sweep: false },
    ...{ block: false, canceled: false, simulated: false },
    ...overrides,
  };
}
