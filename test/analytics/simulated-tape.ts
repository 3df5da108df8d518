import type { Chain } from '../../src/market/chain.ts';
import type { Print } from '../../src/market/prints.ts';
import { AS_OF, chainOf, EXPIRY, LATER, quoted, range } from './small-chains.ts';

/** A tape with known aggressors that the prints do not state, so that the result of signing can be compared with the truth. */
export interface Tape {
  readonly chain: Chain;
  /** In time order, over the thirty days before the chain. No print states a side. */
  readonly trades: readonly Trade[];
  /** Customers' true net position by row of the chain, within open interest. */
  readonly book: Float64Array;
}

export interface Trade {
  readonly print: Print;
  /** +1 if a customer bought, -1 if a customer sold. */
  readonly truth: 1 | -1;
  /** Whether it traded at the middle of the quote at that moment. */
  readonly atMid: boolean;
}

/** Share of prints with a quote from before a move (STALE), and of prints without a quote (WITHOUT). */
const STALE = 0.03;
const WITHOUT = 0.02;

/**
 * Customers mostly sell calls and buy puts. Every net position results from many trades in both directions. Two thirds
 * trade at the quote, a quarter between the quote and its middle, the rest at the middle. Each trade moves the middle
 * in its direction.
 */
export function simulatedTape(seed: number): Tape {
  const uniform = mulberry(seed);
  const rows = [EXPIRY, LATER].flatMap((expiry) =>
    quoted({ strikes: range(85, 115, 1.25), expiry, halfSpread: 0.02 }).map((row) => ({
      ...row,
      openInterest: Math.floor(50 + 4_000 * uniform() ** 3),
    })),
  );
  const chain = chainOf(rows);
  const book = Float64Array.from({ length: chain.count }, (_, row) => {
    const lean = chain.callPut[row] === 1 ? -0.3 : 0.4;
    const share = Math.max(-1, Math.min(1, lean + 1.2 * (uniform() - 0.5)));
    return Math.round(share * chain.openInterest[row]!);
  });
  const trades = Array.from(book, (net, row) => tradesOf(chain, row, net, uniform)).flat();
  return { chain, book, trades: trades.sort((a, b) => a.print.at - b.print.at) };
}

function tradesOf(chain: Chain, row: number, net: number, uniform: () => number): Trade[] {
  const churn = Math.floor(0.4 * chain.openInterest[row]! * uniform());
  const lots = [...lotsOf(churn + Math.max(net, 0), 1, uniform), ...lotsOf(churn + Math.max(-net, 0), -1, uniform)];
  const order = lots.map((lot) => ({ lot, at: uniform() })).sort((a, b) => a.at - b.at);
  let mid = (chain.ask[row]! + 0.1) * (0.8 + 0.4 * uniform());
  const half = 0.01 + 0.02 * mid;
  return order.map(({ lot: { size, truth }, at }, n): Trade => {
    const chance = uniform();
    const reach = chance < 0.65 ? 1 : chance < 0.9 ? 0.1 + 0.9 * uniform() : 0;
    const price = mid + truth * reach * half;
    const luck = uniform();
    const shown = luck < STALE ? mid + 3 * half * (uniform() - 0.5) : mid;
    const quote = luck > 1 - WITHOUT ? { bid: null, ask: null } : { bid: shown - half, ask: shown + half };
    mid = Math.max(2 * half, mid + half * (0.3 * truth * reach + 0.4 * (uniform() - 0.5)));
    const { root, expiry } = chain.series[chain.seriesIndex[row]!]!;
    const print: Print = {
      ...{ id: `${row}-${n}`, underlying: 'ACME', root, expiry, strike: chain.strike[row]!, multiplier: 100 },
      ...{ callPut: chain.callPut[row] === 1 ? 1 : -1, price, size },
      at: Math.floor(AS_OF - 30 * 86_400_000 * (1 - at)),
      ...{ side: null, ...quote, delta: null, multiLeg: false, sweep: false, block: false },
      ...{ canceled: false, simulated: false },
    };
    return { print, truth, atMid: reach === 0 };
  });
}

function lotsOf(contracts: number, truth: 1 | -1, uniform: () => number): { size: number; truth: 1 | -1 }[] {
  const lots: { size: number; truth: 1 | -1 }[] = [];
  for (let left = contracts; left > 0; ) {
    const size = Math.min(left, 1 + Math.floor(150 * uniform() ** 2));
    lots.push({ size, truth });
    left -= size;
  }
  return lots;
}

/** Mulberry32: a small seeded generator, good enough to draw a market. */
function mulberry(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
