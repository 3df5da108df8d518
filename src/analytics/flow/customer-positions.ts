import type { Chain } from '../../market/chain.ts';
import { BY_CONTRACT, CELL, type TapeSums } from '../../market/tape-sums.ts';
import { contractKey, type SideRule, type SignedPrint } from './trade-side.ts';

/** What the tape says customers hold of a chain's contracts. */
export interface CustomerPositions {
  /** By row of the chain: contracts, + long, - short, what was bought to what was sold. */
  readonly net: Float64Array;
  /** Live contracts of the chain that have a signed print. */
  readonly contracts: number;
  /** Contracts whose net position came out above what can be open, and was held at it. */
  readonly capped: number;
  /** Prints of its live contracts, by what told their side. */
  readonly prints: Readonly<Record<SideRule, number>>;
}

/**
 * Adds signed prints up by contract, those after the chain's instant left out. Nobody can hold more than is open: a net position
 * stays within the open interest (which is the day before's; not given is none) and what was traded since.
 */
export function customerPositions(chain: Chain, signed: Iterable<SignedPrint>): CustomerPositions {
  const rows = rowsByContract(chain);
  const net = new Float64Array(chain.count);
  const seen = new Set<number>();
  const prints = { feed: 0, quote: 0, tick: 0, unknown: 0 };
  for (const { print, aggressor, by } of signed) {
    if (print.at > chain.asOf) continue;
    const row = rows.get(contractKey(print));
    if (row === undefined) continue;
    prints[by]++;
    if (aggressor === 0) continue;
    net[row]! += aggressor * print.size;
    seen.add(row);
  }
  return held(chain, net, seen, prints);
}

/** The same of a tape up to the chain's instant that was added up. */
export function summedPositions(chain: Chain, { contracts, byContract, cells }: TapeSums): CustomerPositions {
  const rows = rowsByContract(chain);
  const net = new Float64Array(chain.count);
  const seen = new Set<number>();
  const prints = { feed: 0, quote: 0, tick: 0, unknown: 0 };
  const rowOf = Array.from(contracts.strike, (strike, contract) =>
    rows.get(contractKey({ ...contracts.series[contracts.seriesIndex[contract]!]!, strike })),
  );
  for (const [contract, row] of rowOf.entries()) {
    if (row === undefined) continue;
    const figure = (field: keyof typeof BY_CONTRACT) => byContract[contract * BY_CONTRACT.width + BY_CONTRACT[field]]!;
    net[row] = figure('net');
    prints.feed += figure('feed');
    prints.quote += figure('quote');
    prints.tick += figure('tick');
    if (figure('feed') + figure('quote') + figure('tick') > 0) seen.add(row);
  }
  for (const [cell, contract] of cells.contract.entries()) {
    if (rowOf[contract] !== undefined) prints.unknown += cells.values[cell * CELL.width + CELL.pendingPrints]!;
  }
  return held(chain, net, seen, prints);
}

function held(
  chain: Chain,
  net: Float64Array,
  seen: ReadonlySet<number>,
  prints: CustomerPositions['prints'],
): CustomerPositions {
  let capped = 0;
  for (const row of seen) {
    const open = (chain.openInterest[row]! || 0) + (chain.volume[row]! || 0);
    if (Math.abs(net[row]!) <= open) continue;
    net[row] = Math.sign(net[row]!) * open;
    capped++;
  }
  return { net, contracts: seen.size, capped, prints };
}

function rowsByContract(chain: Chain): Map<string, number> {
  const rows = new Map<string, number>();
  for (const { root, expiry, start, end, adjusted, settlesAt } of chain.series) {
    if (adjusted || chain.asOf >= settlesAt) continue;
    for (let row = start; row < end; row++) {
      rows.set(contractKey({ root, expiry, callPut: chain.callPut[row]!, strike: chain.strike[row]! }), row);
    }
  }
  return rows;
}
