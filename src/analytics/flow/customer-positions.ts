import { byRange, type Steps } from '../../core/steps.ts';
import type { Chain, Series } from '../../market/chain.ts';
import { BY_CONTRACT, CELL, type TapeSums } from '../../market/tape-sums.ts';
import { firstAtLeast } from '../exposure/strike-index.ts';
import type { SideRule, SignedPrint } from './trade-side.ts';

/** Customers' holdings of a chain's contracts, estimated from the tape. */
export interface CustomerPositions {
  /** For each row of the chain, the contracts that customers bought minus the contracts that customers sold: + for long, - for short. */
  readonly net: Float64Array;
  /** The number of the chain's live contracts that have at least one print with a known side. */
  readonly contracts: number;
  /** The number of contracts whose net position was reduced to the number of contracts that can be open. */
  readonly capped: number;
  /** The number of prints of the chain's live contracts, by the rule that determined the side. */
  readonly prints: Readonly<Record<SideRule, number>>;
}

/**
 * Adds up the prints with a known side up to the time of the chain's quotes, by contract. A net position is at most the previous day's open
 * interest plus the day's volume, because customers cannot hold more than is open. Missing figures count as 0.
 */
export function customerPositions(chain: Chain, signed: Iterable<SignedPrint>): CustomerPositions {
  const live = liveSeries(chain);
  const net = new Float64Array(chain.count);
  const signedRows = new Set<number>();
  const prints = { feed: 0, quote: 0, tick: 0, unknown: 0 };
  for (const { print, aggressor, by } of signed) {
    if (print.at > chain.asOf) continue;
    const row = rowOf(chain, live.get(seriesKey(print)), print.callPut, print.strike);
    if (row < 0) continue;
    prints[by]++;
    if (aggressor === 0) continue;
    net[row]! += aggressor * print.size;
    signedRows.add(row);
  }
  return cappedPositions(chain, net, signedRows, prints);
}

/** The number of contracts, or of cells of a tape, that one step handles. */
const STEP_ROWS = 32_768;

/** Returns the customer positions that result from the sums of a tape. The tape must end at the time of the chain's quotes. */
export function* positionsFromSums(chain: Chain, { contracts, byContract, cells }: TapeSums): Steps<CustomerPositions> {
  const message = 'Finding the sides of prints';
  const live = liveSeries(chain);
  const series = contracts.series.map((each) => live.get(seriesKey(each)));
  const net = new Float64Array(chain.count);
  const signedRows = new Set<number>();
  const prints = { feed: 0, quote: 0, tick: 0, unknown: 0 };
  const { strike, seriesIndex } = contracts;
  const rows = new Int32Array(strike.length);
  yield* byRange(strike.length, STEP_ROWS, message, (from, to) => {
    for (let contract = from; contract < to; contract++) {
      const index = seriesIndex[contract]!;
      const row = rowOf(chain, series[index], contracts.series[index]!.callPut, strike[contract]!);
      rows[contract] = row;
      if (row < 0) continue;
      const offset = contract * BY_CONTRACT.width;
      const feed = byContract[offset + BY_CONTRACT.feed]!;
      const quote = byContract[offset + BY_CONTRACT.quote]!;
      const tick = byContract[offset + BY_CONTRACT.tick]!;
      net[row] = byContract[offset + BY_CONTRACT.net]!;
      prints.feed += feed;
      prints.quote += quote;
      prints.tick += tick;
      if (feed + quote + tick > 0) signedRows.add(row);
    }
  });
  yield* byRange(cells.contract.length, STEP_ROWS, message, (from, to) => {
    for (let cell = from; cell < to; cell++) {
      if (rows[cells.contract[cell]!]! >= 0) prints.unknown += cells.values[cell * CELL.width + CELL.pendingPrints]!;
    }
  });
  return cappedPositions(chain, net, signedRows, prints);
}

function cappedPositions(
  chain: Chain,
  net: Float64Array,
  signedRows: ReadonlySet<number>,
  prints: CustomerPositions['prints'],
): CustomerPositions {
  let capped = 0;
  for (const row of signedRows) {
    const open = (chain.openInterest[row]! || 0) + (chain.volume[row]! || 0);
    if (Math.abs(net[row]!) <= open) continue;
    net[row] = Math.sign(net[row]!) * open;
    capped++;
  }
  return { net, contracts: signedRows.size, capped, prints };
}

/** Returns the series that are neither settled nor adjusted, by `ROOT EXPIRY`. */
function liveSeries(chain: Chain): Map<string, Series> {
  const live = new Map<string, Series>();
  for (const series of chain.series) {
    if (!series.adjusted && chain.asOf < series.settlesAt) live.set(seriesKey(series), series);
  }
  return live;
}

function seriesKey({ root, expiry }: Pick<Series, 'root' | 'expiry'>): string {
  return `${root} ${expiry}`;
}

/** Returns the row of a contract, or -1 if the series lacks the contract. Rows ascend by strike, and each call comes before its put. */
function rowOf({ strike, callPut }: Chain, series: Series | undefined, side: number, price: number): number {
  if (!series) return -1;
  const first = firstAtLeast(strike, price, series.start, series.end);
  for (let row = first; row < series.end && strike[row] === price; row++) if (callPut[row] === side) return row;
  return -1;
}
